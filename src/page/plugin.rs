//! What those who look are told of that the tick does not know: the log, and the memory of the process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    change_detection::DetectChangesMut,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use decitick_components::live::{ProcessMemory, RecentLog};
use decitick_systems::tick::{Tick, TickSystems};

use crate::{edge_runtime::EdgeRuntime, metrics::ProcessFigures, telemetry::LogTail};

/// How often the memory is measured.
const MEASURED: Duration = Duration::from_secs(1);
/// Lines that are taken over in one tick.
const LINES_PER_TICK: usize = 200;

/// What the process holds, measured beside the tick; clones share it. 0: not known.
#[derive(Clone, Debug, Default)]
pub struct ResidentMemory(Arc<AtomicU64>);

impl ResidentMemory {
    /// Measures once a second until the runtime ends.
    #[must_use]
    pub fn start(runtime: &EdgeRuntime) -> Self {
        let gauge = Self::default();
        let measured = gauge.clone();
        runtime.spawn(async move {
            loop {
                let bytes = ProcessFigures::read().resident_bytes.unwrap_or(0);
                measured.0.store(bytes, Ordering::Relaxed);
                tokio::time::sleep(MEASURED).await;
            }
        });
        gauge
    }
}

/// Where the tick takes it from.
#[derive(Resource, Debug)]
pub struct LiveEdge {
    /// The last lines of the log.
    pub log: Option<LogTail>,
    /// The memory of the process.
    pub memory: ResidentMemory,
}

/// Adds the systems; the [`LiveEdge`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveEdgePlugin;

impl Plugin for LiveEdgePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            (take_log.run_if(|log: Res<'_, RecentLog>| log.wanted), take_memory).in_set(TickSystems::Receive),
        );
    }
}

fn take_log(edge: Res<'_, LiveEdge>, mut log: ResMut<'_, RecentLog>) {
    if let Some(tail) = &edge.log {
        for line in tail.after(log.newest(), LINES_PER_TICK) {
            log.push(line);
        }
    }
}

fn take_memory(edge: Res<'_, LiveEdge>, mut memory: ResMut<'_, ProcessMemory>) {
    let bytes = edge.memory.0.load(Ordering::Relaxed);
    let now = ProcessMemory((bytes > 0).then_some(bytes));
    memory.set_if_neq(now);
}
