//! How the server is: what is recorded each second, and how it is now.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use bevy_ecs::{
    system::{Res, ResMut},
    world::World,
};
use decitick_components::{
    bans::BanList,
    clock::Clock,
    live::{HealthHistory, HealthSecond, ProcessMemory, Signs, Totals},
    phase::Phase,
    server::Lifecycle,
    session::SlotTable,
    tally::{DropCounts, RecentDrops, SettledTally, TickTimes},
    thing::ThingBook,
    zone::ZoneBook,
};
use serde::Serialize;

use crate::script::{ResourceReport, ResourceState, ScriptHost};

/// Seconds that a verdict looks back on.
const MINUTE: usize = 60;
/// Ticks from which on their 99th percentile says something.
const JUDGED: usize = 100;
/// Ticks of a second.
const TICKS: usize = 10;

/// Records the second that is over.
pub(in super::super) fn record_health(
    clock: Res<'_, Clock>,
    times: Res<'_, TickTimes>,
    settled: Res<'_, SettledTally>,
    slots: Res<'_, SlotTable>,
    memory: Res<'_, ProcessMemory>,
    mut history: ResMut<'_, HealthHistory>,
) {
    if !history.is_due(clock.since_start) {
        return;
    }
    let tally = &settled.0;
    let totals = Totals {
        overruns: times.overruns,
        skipped: times.skipped,
        datagrams_in: tally.door.received,
        datagrams_out: tally.sent.datagrams,
        bytes_in: tally.door.received_bytes,
        bytes_out: tally.sent.bytes + tally.door.answered_bytes,
        drops: tally.all_drops().total(),
        kernel_lost: tally.door.kernel_lost,
    };
    history.record(
        clock.since_start,
        times.newest(TICKS),
        totals,
        slots.taken(),
        memory.0,
    );
}

/// How the server is, as JSON.
#[derive(Default)]
pub(super) struct Now(pub(super) String);

#[derive(Serialize)]
struct NowAnswer {
    verdict: &'static str,
    why: Vec<String>,
    players: u16,
    spawned: usize,
    max_players: u16,
    tick: TickNow,
    drops: DropsNow,
    queued: u64,
    resident_bytes: Option<u64>,
    things: usize,
    zones: usize,
    bans: usize,
}

#[derive(Serialize)]
struct TickNow {
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    overruns: u64,
    skipped: u64,
}

#[derive(Serialize)]
struct DropsNow {
    total: u64,
    by_reason: BTreeMap<&'static str, u64>,
    last_minute: BTreeMap<&'static str, u64>,
}

/// Reads it off the world.
pub(super) fn now(world: &World) -> Now {
    let times = world.resource::<TickTimes>();
    let (p50, p99, max) = times.percentiles();
    let mut signs = Signs {
        // Of fewer it is the longest, and the first ticks of a server are long.
        p99: if times.count() < JUDGED {
            Duration::ZERO
        } else {
            p99
        },
        stopping: world.resource::<Lifecycle>().stop_at.is_some(),
        ..Signs::default()
    };
    signs.add(world.resource::<HealthHistory>().newest(MINUTE));
    let reports = world.get_resource::<ScriptHost>().map(ScriptHost::reports);
    for ResourceReport { name, state, .. } in reports.unwrap_or_default() {
        match state {
            ResourceState::Paused => signs.paused.push(name),
            ResourceState::Faulty => signs.faulty.push(name),
            ResourceState::Running | ResourceState::Waiting => {}
        }
    }
    let (verdict, why) = signs.judge();
    let slots = world.resource::<SlotTable>();
    let tally = &world.resource::<SettledTally>().0;
    let drops = tally.all_drops();
    let milliseconds = |time: Duration| (time.as_secs_f64() * 1e5).round() / 100.0;
    let answer = NowAnswer {
        verdict: verdict.name(),
        why,
        players: slots.taken(),
        spawned: slots
            .iter()
            .filter(|&(_, entity)| world.get::<Phase>(entity) == Some(&Phase::Spawned))
            .count(),
        max_players: slots.open(),
        tick: TickNow {
            p50_ms: milliseconds(p50),
            p99_ms: milliseconds(p99),
            max_ms: milliseconds(max),
            overruns: times.overruns,
            skipped: times.skipped,
        },
        drops: DropsNow {
            total: drops.total(),
            by_reason: by_reason(&drops),
            last_minute: by_reason(&world.resource::<RecentDrops>().last_minute()),
        },
        queued: tally.queued(),
        resident_bytes: world.resource::<ProcessMemory>().0,
        things: world.resource::<ThingBook>().len(),
        zones: world.resource::<ZoneBook>().len(),
        bans: world.resource::<BanList>().len(),
    };
    // Plain values always become JSON.
    Now(serde_json::to_string(&answer).unwrap_or_else(|_| "{}".to_owned()))
}

fn by_reason(drops: &DropCounts) -> BTreeMap<&'static str, u64> {
    drops
        .nonzero()
        .map(|(reason, count)| (reason.name(), count))
        .collect()
}

/// One second as a JSON list, in the order of docs/page.md.
pub(super) fn write_second(second: &HealthSecond, out: &mut String) {
    let HealthSecond {
        at_s,
        tick_mean_ms,
        tick_max_ms,
        players,
        counts,
        resident_bytes,
    } = second;
    let Totals {
        overruns,
        skipped,
        datagrams_in,
        datagrams_out,
        bytes_in,
        bytes_out,
        drops,
        kernel_lost: _,
    } = counts;
    let _ = write!(
        out,
        "[{at_s},{tick_mean_ms:.2},{tick_max_ms:.2},{overruns},{skipped},{players},{datagrams_in},{datagrams_out},{bytes_in},{bytes_out},{drops},"
    );
    let _ = match resident_bytes {
        Some(bytes) => write!(out, "{bytes}]"),
        None => write!(out, "null]"),
    };
}
