//! What an operator does with each panel, and sees.

use serde_json::json;

use super::{BOTS, Desk, MARKUP};

pub(super) fn sees_health(desk: &mut Desk) {
    desk.until(&format!(
        "Number(document.getElementById('players-now').textContent) > {BOTS}"
    ));
    desk.until("['well', 'strained', 'ill'].includes(document.getElementById('verdict').dataset.verdict)");
    desk.until("document.getElementById('tick-p99').textContent.endsWith(' ms')");
    desk.until("document.getElementById('memory-now').textContent.endsWith(' MB')");
    for chart in ["tick", "late", "players", "traffic", "drops", "memory"] {
        desk.until(&format!(
            "(() => {{ const chart = document.getElementById('chart-{chart}'); return chart.getAttribute('aria-label').includes('now:') && \
             chart.getContext('2d').getImageData(0, 0, chart.width, chart.height).data.some((byte) => byte > 0); }})()"
        ));
    }
    // With the keyboard too.
    desk.value("document.getElementById('chart-tick').focus()");
    desk.value("document.getElementById('chart-tick').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}))");
    desk.until("document.querySelector('#chart-tick + .reading').textContent.includes(' ago: ')");
}

pub(super) fn sees_the_map(desk: &mut Desk) {
    desk.open("map");
    desk.until("Number(document.getElementById('map-canvas').dataset.dots) > 150");
    for _ in 0..4 {
        desk.browser.press("map-out");
    }
    desk.until("Number(document.getElementById('map-canvas').dataset.zones) === 2");
    desk.until("/[1-9] things, 2 zones/.test(document.getElementById('map-counts').textContent)");
    // A click on a dot looks into it.
    let entity = entity_of_victim(desk);
    desk.until(&format!("decitickPage.mapPoint({}) !== null", json!(entity)));
    let point = desk.value(&format!(
        "(() => {{ document.getElementById('map-canvas').scrollIntoView(); return decitickPage.mapPoint({}); }})()",
        json!(entity)
    ));
    desk.browser
        .click_at(point["x"].as_f64().unwrap(), point["y"].as_f64().unwrap());
    desk.until("document.querySelector('#map-selected [data-component=\"Motion\"]') !== null");
    let shown = desk.value("document.querySelector('#map-selected h3').textContent");
    assert!(!shown.as_str().unwrap().is_empty());
    let frames = desk.value("decitickPage.frames()").as_u64().unwrap();
    desk.until(&format!("decitickPage.frames() > {}", frames + 5));
    desk.until("Number(document.getElementById('map-dimension').value) === 0");
}

fn entity_of_victim(desk: &mut Desk) -> String {
    let server = desk.server.as_ref().unwrap();
    let found = super::super::json(&server.console("entities DisplayName limit 1000 --json"));
    let rows = found["entities"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["is"].as_str().unwrap().contains(MARKUP));
    row.unwrap()["entity"].as_str().unwrap().to_owned()
}

pub(super) fn sees_players(desk: &mut Desk) {
    desk.open("players");
    desk.until(&format!(
        "document.querySelectorAll('#players-table tbody tr').length === {}",
        BOTS + 1
    ));
    desk.until(&format!(
        "[...document.querySelectorAll('#players-table [data-column=name]')].some((cell) => cell.textContent === {})",
        json!(MARKUP)
    ));
    assert_eq!(
        desk.value("document.querySelectorAll('img').length"),
        json!(0),
        "a name is text"
    );
    desk.browser.click("#players-table [data-sort=name]");
    desk.until("document.querySelector('[aria-sort=ascending] button').dataset.sort === 'name'");
    let names = "[...document.querySelectorAll('#players-table tbody tr')].map((row) => row.querySelector('[data-column=name]').textContent.toLowerCase())";
    desk.until(&format!(
        "((names) => names.every((name, index) => index === 0 || names[index - 1] <= name))({names})"
    ));
    desk.browser.click("#players-table [data-sort=name]");
    desk.until(&format!(
        "((names) => names.every((name, index) => index === 0 || names[index - 1] >= name))({names})"
    ));
    desk.browser.fill("players-filter", "onerror");
    desk.until("document.querySelectorAll('#players-table tbody tr').length === 1");
    desk.browser.fill("players-filter", "");
    desk.until(&format!(
        "document.querySelectorAll('#players-table tbody tr').length === {}",
        BOTS + 1
    ));
}

pub(super) fn sees_entities(desk: &mut Desk) {
    desk.open("entities");
    desk.browser.fill(
        "entities-query",
        "Motion where Motion.position.x > -100000 limit 20",
    );
    desk.browser.press("entities-find");
    desk.until("document.querySelectorAll('#entities-results [data-entity]').length === 20");
    desk.browser
        .click("#entities-results [data-entity]:nth-child(3) button");
    let place = "document.querySelector('#inspect [data-component=Motion] [data-path=\"position.x\"] td')?.textContent";
    desk.until(&format!("Boolean({place})"));
    desk.browser
        .click("#inspect [data-component=Motion] [data-path=\"position.x\"] .watch");
    let before = desk.value(place);
    desk.until(&format!("{place} !== {before}"));
    desk.until("document.querySelectorAll('#inspect .watched ol > li').length > 2");
    desk.until(
        "document.querySelector('#inspect .hidden-list').textContent.includes('SessionToken is secret')",
    );
    desk.browser.fill("entities-query", "Motoin");
    desk.browser.press("entities-find");
    desk.until("document.getElementById('entities-told').textContent.includes('Motion')");
    desk.browser.fill("entities-query", "entities");
    desk.browser.fill("entities-query", "Vit");
    desk.until("[...document.querySelectorAll('#entities-words option')].some((option) => option.value.trim() === 'Vitals')");
    desk.browser.fill("entities-query", "Connection");
    desk.browser.press("entities-find");
    desk.until("document.querySelectorAll('#entities-results [data-entity]').length === 50");
}

pub(super) fn sees_scripts(desk: &mut Desk) {
    desk.open("scripts");
    desk.until("document.querySelector('[data-resource=freeroam]')?.dataset.state === 'running'");
    desk.until("document.querySelector('[data-resource=shaky] + .error-row code')?.textContent.includes('scripts/shaky/main.rhai:4:')");
    desk.until("document.querySelector('[data-resource=shaky] + .error-row code').textContent.includes('<b>home</b>')");
    desk.browser.click("[data-resource=freeroam] [data-act=restart]");
    desk.until("document.getElementById('act-dialog').open");
    desk.browser.click("#act-cancel");
    desk.until("!document.getElementById('act-dialog').open");
    desk.browser.click("[data-resource=freeroam] [data-act=restart]");
    desk.browser.click("#act-confirm");
    desk.until("document.getElementById('act-result').textContent.includes('freeroam')");
    desk.server
        .as_ref()
        .unwrap()
        .wait_for_line("\"command\":\"resource restart freeroam\"");
}

/// What was stopped here can be started here.
pub(super) fn stops_and_starts_a_script(desk: &mut Desk) {
    for (action, state) in [("stop", "stopped"), ("start", "running")] {
        desk.browser
            .click(&format!("[data-resource=shaky] [data-act={action}]"));
        desk.until("document.getElementById('act-dialog').open");
        desk.browser.click("#act-confirm");
        desk.until(&format!(
            "document.querySelector('[data-resource=shaky]')?.dataset.state === '{state}'"
        ));
    }
    desk.until("document.querySelector('[data-resource=shaky] + .error-row code') !== null");
}

pub(super) fn sees_the_log(desk: &mut Desk) {
    desk.open("log");
    desk.until("document.querySelectorAll('#log-lines li[data-number]').length > 100");
    desk.until("document.getElementById('log-lines').textContent.includes('the live page acted')");
    desk.browser.fill("log-filter", "acted restart");
    desk.until("[...document.querySelectorAll('#log-lines li[data-number]')].filter((line) => !line.hidden).length === 1");
    desk.browser.fill("log-filter", "");
    desk.browser.press("log-pause");
    desk.until("document.getElementById('log-pause').getAttribute('aria-pressed') === 'true'");
    desk.browser.press("log-pause");
}
