//! What a monitoring system is told: one snapshot of counters and levels, gathered when it is asked for.
//!
//! Plain numbers. How they are written, and whom they are given to, is the shell's matter (docs/metrics.md).

use std::time::Duration;

use bevy_ecs::resource::Resource;

use crate::{
    anatomy::{Histogram, SystemTimes},
    combat::HitTally,
    tally::{DoorTable, Tally},
};

/// Upper bounds of round trips, in seconds.
pub const RTT_SECONDS: &[f64] = &[0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0];
/// Upper bounds of the share of keepalives that were not answered.
pub const LOSS_RATIO: &[f64] = &[0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
/// Upper bounds of the events that wait or are unacknowledged in a lane.
pub const LANE_DEPTH: &[f64] = &[0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0];
/// Gamemodes that are told of; more than anybody runs, so that names cannot grow without bound.
pub const MAX_RESOURCES: usize = 256;

/// Where a snapshot is asked for and put.
#[derive(Resource, Debug, Default)]
pub struct MetricsDesk {
    /// Whether somebody wants one this tick.
    pub wanted: bool,
    /// The one that was gathered.
    pub snapshot: Option<MetricsSnapshot>,
}

/// The server in numbers, at the end of a tick.
#[derive(Clone, Debug)]
pub struct MetricsSnapshot {
    /// The version of the program.
    pub version: String,
    /// Since the server started.
    pub uptime: Duration,
    /// Sessions by the name of their phase, every phase once.
    pub players: Vec<(&'static str, u64)>,
    /// Sessions that are possible.
    pub max_players: u64,
    /// How long ticks took, in seconds.
    pub ticks: Histogram,
    /// Ticks that took longer than a tick lasts.
    pub overruns: u64,
    /// Ticks that were skipped.
    pub skipped: u64,
    /// What each step of the tick took since the start.
    pub steps: Vec<(&'static str, Duration)>,
    /// What each system took since the start.
    pub systems: Vec<SystemTimes>,
    /// Traffic, drops, sends and lanes.
    pub tally: Tally,
    /// Round trips of the connections there are now, in seconds.
    pub rtt: Histogram,
    /// Loss of the connections there are now, as a ratio.
    pub loss: Histogram,
    /// Lane depths of the connections there are now.
    pub lane_depth: Histogram,
    /// The deepest lane.
    pub lane_depth_max: u64,
    /// Every limit table, of the door and of the tick.
    pub tables: Vec<DoorTable>,
    /// Every gamemode.
    pub resources: Vec<ResourceFigures>,
    /// Bans there are.
    pub bans: u64,
    /// Things there are.
    pub things: u64,
    /// Zones there are.
    pub zones: u64,
    /// Claimed hits.
    pub hits: HitTally,
    /// Console answers that go on, such as `watch`.
    pub console_streams: u64,
}

/// What one gamemode cost since it was started.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceFigures {
    /// Its name.
    pub name: String,
    /// Whether it runs, and is not paused, waiting or faulty.
    pub running: bool,
    /// Calls of handlers and callbacks.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Time of all calls together.
    pub time: Duration,
    /// Bytes that its values hold.
    pub memory_bytes: u64,
}
