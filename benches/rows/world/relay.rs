//! Everybody walks at 10 Hz and sees the neighbours: 100 to 1,000 players, spread and in one spot.

use crate::{
    rows::curve,
    support::{
        scene::{Form, Scene},
        table::Table,
    },
};

const COUNTS: [usize; 4] = [100, 200, 500, 1_000];

/// The curve against a bare loop, and the targets at a thousand.
pub(crate) fn curve(table: &mut Table) {
    let mut lines = vec![
        "| players | form | in view | CPU ms/s ours / bare | us a record | ratio | tick p50 / p99 / longest ms (p99 on core) | \
         overruns | delivered | superseded ours / bare | latency p50 ms ours / bare | ratio |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for form in [Form::Spread, Form::Crowd] {
        for players in COUNTS {
            lines.push(point(table, Scene { players, form }));
        }
    }
    let players = 1_000;
    let form = Form::Mill;
    lines.push(point(table, Scene { players, form }));
    println!();
    for line in lines {
        println!("{line}");
    }
}

fn point(table: &mut Table, scene: Scene) -> String {
    let ours = curve::server(scene);
    let bare = curve::bare(scene);
    let ticks = ours.ticks;
    println!(
        "{} {}: {}; {} lost; {} ticks seen; the console's last minute, join included: {:?} ms; {:.1} MiB; latency \
         p99 {:.1} / {:.1} ms; unasked {} of {}",
        scene.players,
        scene.form,
        ours.used.shares(),
        ours.lost,
        ticks.count,
        ours.minute,
        ours.resident_mib,
        ours.seen.latency_p99_ms,
        bare.seen.latency_p99_ms,
        ours.seen.unasked,
        ours.seen.expected,
    );
    if bare.seen.delivered != bare.seen.expected {
        println!(
            "the bare loop delivered {} of {}",
            bare.seen.delivered, bare.seen.expected
        );
    }
    if scene.players == 1_000 {
        targets(table, scene, &ours, &bare);
    }
    format!(
        "| {} | {} | {} | {:.0} / {:.0} | {:.2} / {:.2} | {:.2} | {:.2} / {:.2} / {:.2} ({:.2}) | {} | {:.2} % | {:.1} / {:.1} % | \
         {:.1} / {:.1} | {:.3} |",
        scene.players,
        scene.form,
        scene.view(),
        ours.cpu.a_second,
        bare.cpu.a_second,
        ours.cpu.a_record,
        bare.cpu.a_record,
        ours.cpu.a_record / bare.cpu.a_record,
        ticks.p50,
        ticks.p99,
        ticks.longest,
        ticks.running_p99,
        ours.overruns,
        ours.seen.delivered_percent(),
        ours.seen.superseded_percent(),
        bare.seen.superseded_percent(),
        ours.seen.latency_p50_ms,
        bare.seen.latency_p50_ms,
        ours.seen.latency_p50_ms / bare.seen.latency_p50_ms,
    )
}

fn targets(table: &mut Table, scene: Scene, ours: &curve::Ours, bare: &curve::Theirs) {
    let what = format!(
        "1,000 players at 10 Hz, {}, {} in view:",
        scene.form,
        scene.view()
    );
    let tick_target = match scene.form {
        Form::Spread => Some(5.0),
        Form::Crowd => Some(10.0),
        Form::Mill => None,
    };
    if scene.form == Form::Spread {
        let cpu = format!("{what} CPU for a relayed record");
        let (mine, theirs) = (ours.cpu.a_record, bare.cpu.a_record);
        table.ratio(&cpu, 1.6, mine, theirs, "us");
        let delivered = ours.seen.delivered_percent();
        let text = format!("{delivered:.3} % of {}", ours.seen.expected);
        table.row(
            &format!("{what} delivered"),
            "100 %",
            text,
            Some(ours.seen.delivered == ours.seen.expected),
        );
        let latency = format!("{what} latency client to client, p50");
        let (mine, theirs) = (ours.seen.latency_p50_ms, bare.seen.latency_p50_ms);
        table.ratio(&latency, 1.05, mine, theirs, "ms");
    }
    let target = tick_target.map_or_else(String::new, |most| format!("at most {most} ms"));
    let text = format!(
        "{:.2} ms ({:.2} of them on the core), longest {:.2} ms",
        ours.ticks.p99, ours.ticks.running_p99, ours.ticks.longest
    );
    table.row(
        &format!("{what} tick p99"),
        target,
        text,
        tick_target.map(|most| ours.ticks.p99 <= most),
    );
    table.row(
        &format!("{what} overruns"),
        if tick_target.is_some() { "none" } else { "" },
        ours.overruns.to_string(),
        tick_target.map(|_| ours.overruns == 0),
    );
}
