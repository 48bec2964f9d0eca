//! The live page as an operator meets it: a real server with 200 bots on, and a real browser that clicks.

mod panels;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::PoisonError,
    thread,
    time::{Duration, Instant},
};

use decitick_client::{
    client::{ClientNotice, EndReason},
    driver::UdpDriver,
};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{
    browser::Browser,
    join,
    page::{address, directory, link, option},
    server::{PATIENCE, PROCESSORS, Server},
};

use self::panels::{
    sees_entities, sees_health, sees_players, sees_scripts, sees_the_log, sees_the_map,
    stops_and_starts_a_script,
};

const BOTS: usize = 200;
/// What somebody calls himself who hopes that the page takes it for more than a name.
const MARKUP: &str = "<img onerror=alert(1)>";
const PANELS: [&str; 6] = ["health", "map", "players", "entities", "scripts", "log"];
/// Wide and narrow, in pixels.
const SIZES: [(u32, u32); 2] = [(1280, 900), (390, 844)];
/// A picture of less is of nothing.
const PICTURE_BYTES: usize = 10_000;

const THINGS: &str = r#"[
    (kind: Vehicle, model: 411, position: (40.0, 0.0, 3.0), motion: Orbit(centre: (0.0, 0.0, 3.0), radius: 40.0, seconds_per_turn: 20.0)),
    (kind: Pickup, model: 1240, position: (0.0, 26.0, 3.0), trigger_radius: Some(1.5)),
    (kind: Checkpoint, model: 0, position: (60.0, 20.0, 3.0), trigger_radius: Some(4.0)),
    (kind: Npc, model: 7, position: (-50.0, 0.0, 3.0)),
    (kind: Object, model: 1225, position: (25.0, 45.0, 3.0)),
]"#;
const SHAKY: &str = "fn resource_start() {\n    zones::sphere(#{x: 20, y: -30, z: 3}, 35);\n    zones::box(#{x: -60, y: -60, z: 0}, #{x: -20, y: -30, z: 20});\n    timers::every(700, || throw \"nobody is <b>home</b>\");\n}\n";

struct Bots(Child);

impl Bots {
    fn join(server: &Server) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_decitick"))
            .args([
                "bots",
                &server.addresses()[0].to_string(),
                "--count",
                &BOTS.to_string(),
            ])
            .args(["--seconds", "3600", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Bots {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The operator's desk: a server that is looked at.
struct Desk {
    browser: Browser,
    server: Option<Server>,
    directory: tempfile::TempDir,
    page: std::net::SocketAddr,
}

impl Desk {
    /// `None` where no browser is installed.
    fn set_up() -> Option<Self> {
        let browser = Browser::start_or_skip()?;
        let directory = directory(true);
        let path = directory.path();
        fs::write(path.join("assets/things.ron"), THINGS).unwrap();
        let shaky = path.join("scripts/shaky");
        fs::create_dir(&shaky).unwrap();
        fs::write(
            shaky.join("resource.ron"),
            "(description: \"fails all the time\")",
        )
        .unwrap();
        fs::write(shaky.join("main.rhai"), SHAKY).unwrap();
        let server = Server::start(path, &["--set", "resources=[\"freeroam\", \"shaky\"]"]);
        let page = address(&server);
        Some(Self {
            browser,
            server: Some(server),
            directory,
            page,
        })
    }

    fn sign_in(&mut self) {
        let link = link(self.directory.path(), self.page);
        self.browser.go(&link);
        self.live();
    }

    fn live(&mut self) {
        self.until("document.getElementById('connection')?.dataset.state === 'live'");
    }

    fn until(&mut self, expression: &str) {
        self.browser.wait_until(expression);
    }

    fn value(&mut self, expression: &str) -> Value {
        self.browser.value_of(expression)
    }

    /// Goes to a panel by its link, and sees no other.
    fn open(&mut self, panel: &str) {
        self.browser.click(&format!("#nav-{panel}"));
        let shown = "[...document.querySelectorAll('main > section')].filter((one) => !one.hidden).map((one) => one.id).join()";
        self.until(&format!("{shown} === 'panel-{panel}'"));
    }

    /// What is wrong in the page, but for a server that was not there.
    fn complaints(&mut self) -> Vec<String> {
        let all = self.browser.complaints();
        all.into_iter().filter(|one| !one.contains("net::ERR_")).collect()
    }
}

fn key_of(server: &Server) -> [u8; 32] {
    let identity = super::json(&server.console("identity --json"));
    let digits = identity["public_key"].as_str().unwrap();
    std::array::from_fn(|index| u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).unwrap())
}

/// Reads what comes, so that the session goes on.
fn keep(driver: &mut UdpDriver, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        driver.next_notice(Duration::from_millis(20)).unwrap();
    }
}

/// Plays until the session ends, which takes as long as everything that comes before it.
fn plays_on(driver: &mut UdpDriver) -> EndReason {
    let deadline = Instant::now() + 10 * PATIENCE;
    loop {
        if let Some(ClientNotice::Ended(reason)) = driver.next_notice(Duration::from_millis(50)).unwrap() {
            return reason;
        }
        assert!(Instant::now() < deadline, "the session goes on");
    }
}

#[test]
fn an_operator_sees_every_panel_with_200_bots_on_acts_reloads_and_restarts() {
    let _processors = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    let Some(mut desk) = Desk::set_up() else { return };
    let server = desk.server.as_ref().unwrap();
    let key = key_of(server);
    let udp = server.addresses()[0];
    let victim = thread::spawn(move || {
        let mut driver = join(udp, key, MARKUP);
        plays_on(&mut driver)
    });
    let bots = Bots::join(server);
    desk.browser.resize(1280, 900);
    desk.sign_in();
    sees_health(&mut desk);
    sees_the_map(&mut desk);
    sees_players(&mut desk);
    sees_entities(&mut desk);
    sees_scripts(&mut desk);
    stops_and_starts_a_script(&mut desk);
    sees_the_log(&mut desk);
    assert_eq!(desk.complaints(), Vec::<String>::new());
    take_pictures(&mut desk);
    kicks(&mut desk);
    let end = victim.join().unwrap();
    assert!(matches!(end, EndReason::Kicked { .. }), "{end:?}");
    assert!(format!("{end:?}").contains("no <b>markup</b>"), "{end:?}");
    reloads(&mut desk);
    restarts(&mut desk, bots);
    signs_out(&mut desk);
    assert_eq!(desk.complaints(), Vec::<String>::new());
}

/// Pictures of every panel in both sizes; kept for docs/ when that is asked for.
fn take_pictures(desk: &mut Desk) {
    let kept: Option<PathBuf> =
        std::env::var_os("DECITICK_BLESS").map(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/page"));
    for (width, height) in SIZES {
        desk.browser.resize(width, height);
        for panel in PANELS {
            desk.open(panel);
            ready(desk, panel);
            assert_eq!(
                desk.value("document.documentElement.scrollWidth <= innerWidth"),
                json!(true),
                "{panel} is wider than {width} pixels"
            );
            desk.value("scrollTo(0, 0)");
            let picture = desk.browser.picture();
            assert!(
                picture.len() > PICTURE_BYTES,
                "{panel} at {width}: {} bytes",
                picture.len()
            );
            if let Some(kept) = &kept {
                fs::create_dir_all(kept).unwrap();
                fs::write(kept.join(format!("{panel}-{width}.png")), picture).unwrap();
            }
        }
    }
    desk.browser.resize(1280, 900);
}

/// Waits until a panel shows what it is to show.
fn ready(desk: &mut Desk, panel: &str) {
    desk.until("document.getElementById('act-result').hidden");
    match panel {
        "map" => {
            desk.until("Number(document.getElementById('map-canvas').dataset.dots) > 150");
            desk.until("document.querySelector('#map-selected [data-component]') !== null");
        }
        "entities" => desk.until("document.querySelectorAll('#inspect [data-path]').length > 20"),
        "log" => desk.until("document.getElementById('log-newest').hidden"),
        "scripts" => desk.until("document.querySelector('.error-row') !== null"),
        _ => desk.until("document.getElementById('tick-p99').textContent !== '-'"),
    }
    // A few updates, so that there are trails and no half-filled table.
    let tick = "Number(document.getElementById('header-uptime').textContent.match(/\\d+/g).join(''))";
    let before = desk.value(tick);
    desk.until(&format!("{tick} > {before} + 3 || {tick} < {before}"));
    if panel == "map" {
        desk.browser.press("map-fit");
        let frames = desk.value("decitickPage.frames()").as_u64().unwrap();
        desk.until(&format!("decitickPage.frames() > {}", frames + 2));
    }
}

fn kicks(desk: &mut Desk) {
    desk.open("players");
    desk.browser.fill("players-filter", "onerror");
    desk.until("document.querySelectorAll('#players-table tbody tr').length === 1");
    desk.browser.click("#players-table [data-act=kick]");
    desk.until("document.getElementById('act-dialog').open");
    let about = desk.value("document.getElementById('act-about').textContent");
    assert!(about.as_str().unwrap().starts_with(MARKUP), "{about}");
    desk.browser.fill("act-reason", "no <b>markup</b>");
    desk.browser.click("#act-confirm");
    desk.until("document.getElementById('act-result').textContent.includes('was kicked')");
    desk.until("document.querySelectorAll('#players-table tbody tr').length === 0");
    desk.browser.fill("players-filter", "");
    desk.until(&format!(
        "document.querySelectorAll('#players-table tbody tr').length === {BOTS}"
    ));
}

fn reloads(desk: &mut Desk) {
    desk.value("globalThis.before = true");
    desk.browser.reload();
    desk.until("globalThis.before === undefined && document.readyState === 'complete'");
    desk.live();
    desk.until("!document.getElementById('panel-players').hidden");
    desk.until(&format!(
        "document.querySelectorAll('#players-table tbody tr').length === {BOTS}"
    ));
}

fn restarts(desk: &mut Desk, bots: Bots) {
    drop(bots);
    let server = desk.server.take().unwrap();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().0, Some(0));
    desk.until("document.getElementById('connection').dataset.state === 'lost'");
    desk.until("!document.getElementById('banner').hidden && document.getElementById('banner').textContent.includes('does not answer')");
    let option = option(desk.page, true);
    let server = Server::start(desk.directory.path(), &["--set", &option]);
    let mut ada = join(server.addresses()[0], key_of(&server), "Ada");
    desk.server = Some(server);
    let deadline = Instant::now() + PATIENCE;
    let back = "document.getElementById('connection').dataset.state === 'live' && document.getElementById('banner').hidden && \
                document.querySelector('#players-table tbody')?.innerText.includes('Ada')";
    while desk.value(back) != json!(true) {
        assert!(Instant::now() < deadline, "the page does not come back");
        keep(&mut ada, Duration::from_millis(200));
    }
    assert_eq!(
        desk.value("document.querySelectorAll('#players-table tbody tr').length"),
        json!(1),
        "nobody of before is left"
    );
}

fn signs_out(desk: &mut Desk) {
    desk.browser.click("#sign-out");
    desk.until(
        "!document.getElementById('signed-out').hidden && document.getElementById('panel-players').hidden",
    );
    desk.browser.reload();
    desk.until("document.readyState === 'complete' && !document.getElementById('signed-out')?.hidden");
    let shown = desk.value("document.getElementById('signed-out').innerText");
    assert!(shown.as_str().unwrap().contains("decitick page"), "{shown}");
    // One refusal is what a page without a sign-in meets; the browser tells of it.
    let told = desk.complaints();
    assert!(told.iter().all(|one| one.contains("401")), "{told:?}");
}
