//! Answers that go on: what `watch` and `trace` were asked, until when, and who wants it.

use std::time::Duration;

use bevy_ecs::{component::ComponentId, entity::Entity, resource::Resource};

use super::{answers::Shown, command::ConsoleCommand, grammar::parse, text_table::Layout};

/// Answers that may go on at once on the whole server.
pub const MAX_STREAMS: usize = 32;

/// One answer that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsoleStream {
    /// The request it answers.
    pub id: u64,
    /// Whether each part is one JSON value.
    pub json: bool,
    /// For whom its parts are laid out.
    pub layout: Layout,
    /// When it ends by itself, since the start of the server.
    pub ends: Duration,
    /// What it tells of.
    pub subject: StreamSubject,
}

/// A component whose changes are told.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedComponent {
    /// Whose.
    pub entity: Entity,
    /// The component.
    pub component: ComponentId,
    /// When the watch began, since the start of the server.
    pub began: Duration,
    /// Changes that were told.
    pub changes: u64,
    /// Each value that was told last, by its path.
    pub told: Vec<(String, Shown)>,
}

/// What an answer that goes on tells of.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamSubject {
    /// Changes of a component.
    Watch(WatchedComponent),
    /// The packets of a connection.
    Trace {
        /// The connection.
        entity: Entity,
    },
}

/// Whether the answer to a line goes on until its time is over, so that its asker may end it before.
#[must_use]
pub fn goes_on(line: &str) -> bool {
    parse(line).is_ok_and(|line| {
        matches!(
            line.command,
            ConsoleCommand::Watch { .. } | ConsoleCommand::Trace { .. }
        )
    })
}

/// Every answer that goes on, oldest first.
#[derive(Resource, Clone, Debug, Default)]
pub struct ConsoleStreams(pub Vec<ConsoleStream>);

impl ConsoleStreams {
    /// Begins one; false when [`MAX_STREAMS`] go on already.
    pub fn begin(&mut self, stream: ConsoleStream) -> bool {
        let room = self.0.len() < MAX_STREAMS;
        if room {
            self.0.push(stream);
        }
        room
    }

    /// Ends those whose askers are gone; nobody is told.
    pub fn forget(&mut self, left: &[u64]) {
        self.0.retain(|stream| !left.contains(&stream.id));
    }

    /// Takes out those whose time is over.
    pub fn take_ended(&mut self, now: Duration) -> Vec<ConsoleStream> {
        self.0.extract_if(.., |stream| stream.ends <= now).collect()
    }
}
