//! What the live view knows of a server: its JSON answers, read leniently, so that a view of another version still shows
//! what it understands.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Everything that one refresh asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) status: Status,
    pub(super) players: Players,
    pub(super) resources: Vec<Resource>,
    /// None: the server does not tell.
    pub(super) systems: Option<Vec<System>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) name: String,
    pub(super) uptime_s: u64,
    pub(super) players: u64,
    pub(super) max_players: u64,
    pub(super) players_spawned: u64,
    pub(super) tick: Tick,
    pub(super) packets_in_per_s: f64,
    pub(super) packets_out_per_s: f64,
    pub(super) bytes_in_per_s: f64,
    pub(super) bytes_out_per_s: f64,
    pub(super) drops_by_reason: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Tick {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) max_ms: f64,
    pub(super) overruns: u64,
    pub(super) skipped: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Players {
    pub(super) players: Vec<Player>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Player {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) address: String,
    pub(super) phase: String,
    pub(super) rtt_ms: Option<u64>,
    pub(super) loss_percent: f64,
    pub(super) queue_length: u64,
    pub(super) idle_ms: u64,
}

/// The answer of `resource list`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Resources {
    pub(super) resources: Vec<Resource>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) state: String,
    pub(super) errors: u64,
    pub(super) ms_per_s: f64,
    pub(super) longest_call_ms: f64,
}

/// The answer of `systems`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Systems {
    pub(super) systems: Vec<System>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct System {
    pub(super) system: String,
    pub(super) avg_ms: f64,
    pub(super) max_ms: f64,
    pub(super) share_percent: f64,
}
