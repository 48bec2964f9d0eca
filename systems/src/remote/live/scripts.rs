//! The gamemodes, as rows.

use std::fmt::Write as _;

use bevy_ecs::world::World;
use decitick_components::metrics::MAX_RESOURCES;

use super::{super::json, table::Facts};
use crate::script::{ResourceReport, ScriptHost};

/// Characters of an error that are told.
const ERROR: usize = 500;

/// What a row of the gamemodes says.
#[derive(Debug, PartialEq)]
pub(super) struct ScriptFacts {
    description: String,
    state: &'static str,
    calls: u64,
    errors: u64,
    /// In hundredths of a millisecond a second.
    time: u128,
    /// In hundredths of a millisecond.
    longest: u128,
    memory_bytes: u64,
    last_error: Option<String>,
}

/// A row for each gamemode there is.
pub(super) fn rows(world: &World) -> impl Iterator<Item = (String, ScriptFacts)> {
    let reports = world
        .get_resource::<ScriptHost>()
        .map(ScriptHost::reports)
        .unwrap_or_default();
    reports.into_iter().take(MAX_RESOURCES).map(facts)
}

fn facts(report: ResourceReport) -> (String, ScriptFacts) {
    let facts = ScriptFacts {
        description: report.description,
        state: report.state.name(),
        calls: report.figures.calls,
        errors: report.figures.errors,
        time: report.figures.last_second.as_micros() / 10,
        longest: report.figures.longest.as_micros() / 10,
        memory_bytes: report.memory_bytes,
        last_error: report.last_error.map(|error| error.chars().take(ERROR).collect()),
    };
    (report.name, facts)
}

impl Facts for ScriptFacts {
    fn write(&self, out: &mut String) {
        let Self {
            description,
            state,
            calls,
            errors,
            time,
            longest,
            memory_bytes,
            last_error,
        } = self;
        let _ = write!(
            out,
            ",{},\"{state}\",{calls},{errors},{}.{:02},{}.{:02},{memory_bytes},",
            json::string(description),
            time / 100,
            time % 100,
            longest / 100,
            longest % 100,
        );
        match last_error {
            Some(error) => out.push_str(&json::string(error)),
            None => out.push_str("null"),
        }
    }
}
