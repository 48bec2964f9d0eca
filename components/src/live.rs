//! What somebody who looks at a running server wants to see, and what is remembered for the moment in which somebody
//! does: the last ten minutes in figures, the last lines of the log, the memory of the process (docs/page.md).
//!
//! Plain values: how they are gathered is for the systems, who may look and how it is shown is for the shell.

mod health;
mod log;
mod verdict;

use bevy_ecs::resource::Resource;
use bevy_reflect::Reflect;
use serde::Deserialize;

use crate::{inspection::summary, remote::RemoteEntity};

pub use health::{HealthHistory, HealthSecond, Totals};
pub use log::{LogLine, RecentLog};
pub use verdict::{Signs, Verdict};

/// What one viewer wants to be told of, twice a second: the parameters of `decitick.live+watch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiveRequest {
    /// How the server is, with the last ten minutes.
    pub health: bool,
    /// Who is connected.
    pub players: bool,
    /// Who and what is where.
    pub map: Option<MapOf>,
    /// The gamemodes.
    pub scripts: bool,
    /// The log.
    pub log: bool,
    /// Every value of one entity.
    pub inspect: Option<RemoteEntity>,
}

/// Which part of the world a map shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MapOf {
    /// The area (interior) number; 0 is outside.
    pub area: u8,
    /// The dimension.
    pub dimension: u32,
}

/// Bytes of memory of the process, as the shell measured them last; none where the system does not tell.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub struct ProcessMemory(pub Option<u64>);

summary!(|memory: ProcessMemory| { resident_bytes: u64 = memory.0.unwrap_or(0) });
summary!(|history: HealthHistory| { seconds: usize = history.len() });
summary!(|log: RecentLog| {
    lines: usize = log.len(),
    wanted: bool = log.wanted,
});
