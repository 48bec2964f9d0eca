//! A snapshot of the server in numbers, gathered at the end of a tick when somebody asked for one. It knows no format
//! and no transport (docs/metrics.md).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    admission::HandshakeLimits,
    anatomy::{Histogram, TickAnatomy},
    bans::BanList,
    clock::Clock,
    combat::HitTally,
    console::ConsoleStreams,
    lane::OutboundLane,
    limits::LimitTable,
    liveness::{Keepalive, SmoothedRtt},
    metrics::{
        LANE_DEPTH, LOSS_RATIO, MAX_RESOURCES, MetricsDesk, MetricsSnapshot, RTT_SECONDS, ResourceFigures,
    },
    phase::Phase,
    server::PublicFace,
    session::SlotTable,
    tally::{DoorTable, SettledTally, TickTimes},
    thing::ThingBook,
    zone::ZoneBook,
};

use crate::{
    console::StreamSystems,
    script::{ResourceReport, ResourceState, ScriptHost},
    tick::{Tick, TickSystems},
};

/// Gathers snapshots when they are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsPlugin;

impl Plugin for MetricsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            gather_metrics
                .run_if(|desk: Res<'_, MetricsDesk>| desk.wanted)
                .in_set(TickSystems::Inspect)
                .after(StreamSystems::End),
        );
    }
}

type Connections<'w, 's> = Query<
    'w,
    's,
    (
        &'static Phase,
        &'static SmoothedRtt,
        &'static Keepalive,
        &'static OutboundLane,
    ),
>;

/// What is counted of the whole server.
type Counts<'w> = (
    Res<'w, SettledTally>,
    Res<'w, TickTimes>,
    Res<'w, TickAnatomy>,
    Res<'w, HitTally>,
    Res<'w, HandshakeLimits>,
);

/// What there is.
type Levels<'w> = (
    Res<'w, SlotTable>,
    Res<'w, BanList>,
    Res<'w, ThingBook>,
    Res<'w, ZoneBook>,
    Res<'w, ConsoleStreams>,
);

/// Puts a snapshot on the desk.
pub fn gather_metrics(
    mut desk: ResMut<'_, MetricsDesk>,
    clock: Res<'_, Clock>,
    face: Res<'_, PublicFace>,
    (settled, times, anatomy, hits, limits): Counts<'_>,
    (slots, bans, things, zones, streams): Levels<'_>,
    scripts: Option<Res<'_, ScriptHost>>,
    connections: Connections<'_, '_>,
) {
    desk.wanted = false;
    let mut phases = [Phase::PreAuth, Phase::PreSpawn, Phase::Spawned].map(|phase| (phase, 0u64));
    let (mut rtt, mut loss) = (Histogram::new(RTT_SECONDS), Histogram::new(LOSS_RATIO));
    let mut lane_depth = Histogram::new(LANE_DEPTH);
    let mut lane_depth_max = 0;
    for (phase, smoothed, keepalive, lane) in &connections {
        for (of, count) in &mut phases {
            *count += u64::from(of == phase);
        }
        if let Some(measured) = smoothed.measured() {
            rtt.observe(measured.as_secs_f64());
        }
        loss.observe(keepalive.loss_percent() / 100.0);
        let depth = lane.depth();
        lane_depth.observe(depth as f64);
        lane_depth_max = lane_depth_max.max(depth as u64);
    }
    let tally = settled.0.clone();
    let mut tables = tally.door.tables.clone();
    tables.extend(tick_tables(&limits));
    desk.snapshot = Some(MetricsSnapshot {
        version: face.version.clone(),
        uptime: clock.since_start,
        players: phases.map(|(phase, count)| (phase.name(), count)).to_vec(),
        max_players: u64::from(slots.open()),
        ticks: anatomy.ticks.clone(),
        overruns: times.overruns,
        skipped: times.skipped,
        steps: anatomy.steps(),
        systems: anatomy.systems.clone(),
        tally,
        rtt,
        loss,
        lane_depth,
        lane_depth_max,
        tables,
        resources: scripts.map(|host| resources(&host)).unwrap_or_default(),
        bans: bans.len() as u64,
        things: things.len() as u64,
        zones: zones.len() as u64,
        hits: hits.clone(),
        console_streams: streams.0.len() as u64,
    });
}

fn resources(host: &ScriptHost) -> Vec<ResourceFigures> {
    let figures = |report: ResourceReport| ResourceFigures {
        name: report.name,
        running: report.state == ResourceState::Running,
        calls: report.figures.calls,
        errors: report.figures.errors,
        time: report.figures.time,
        memory_bytes: report.memory_bytes,
    };
    host.reports()
        .into_iter()
        .take(MAX_RESOURCES)
        .map(figures)
        .collect()
}

/// The tables of the tick, under the names that `limits` on the console shows.
fn tick_tables(limits: &HandshakeLimits) -> [DoorTable; 4] {
    let row = |name, table: &LimitTable| DoorTable {
        name,
        entries: table.len(),
        capacity: table.capacity(),
        refused: table.refused(),
    };
    [
        row("admission", &limits.admissions),
        row("repeated_hello", &limits.repeated_hellos),
        row("signed_refusal", &limits.refusals),
        row("wrong_password", limits.passwords.table()),
    ]
}
