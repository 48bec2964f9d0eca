//! Questions that programs ask about the running world, in the shapes of the Bevy Remote Protocol, and the letters that
//! carry them between an edge and the tick.
//!
//! Plain values: which bytes a question comes in, and who may ask, is the shell's matter; how it is answered is for the
//! systems. Everything here reads; there is no question that changes anything (docs/remote.md).

mod error;
mod question;

use std::collections::VecDeque;

use bevy_ecs::resource::Resource;

pub use error::{RemoteError, codes};
pub use question::{
    CommandOf, ComponentSelector, ComponentsOf, ListOf, MAX_NAME_BYTES, MAX_NAMES, QueryData, QueryFilter,
    RemoteEntity, RemoteQuery, RemoteQuestion, RemoteWatch, ResourceOf, SchemaFilter, TypeLimit,
};

/// One question that an edge took in.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteRequest {
    /// What the answer names.
    pub id: u64,
    /// What is asked.
    pub asked: Asked,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Something that is answered once.
    Once(RemoteQuestion),
    /// Something that is told of until the asker leaves.
    Watch(RemoteWatch),
}

/// A result as JSON text, or why there is none.
pub type RemoteResult = Result<String, RemoteError>;

/// What a question was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteAnswer {
    /// The request it answers.
    pub id: u64,
    /// The result.
    pub result: RemoteResult,
    /// Whether it is one event of a watch, and others may follow. The end of a watch is an error.
    pub more: bool,
}

/// Questions that wait for the tick, oldest first.
#[derive(Resource, Debug, Default)]
pub struct RemoteInbox(pub VecDeque<RemoteRequest>);

impl RemoteInbox {
    /// Questions that may wait. Beyond it an edge answers "busy".
    pub const CAPACITY: usize = 64;

    /// How many more may be added.
    #[must_use]
    pub fn room(&self) -> usize {
        Self::CAPACITY.saturating_sub(self.0.len())
    }
}

/// Requests whose askers left or were cut off. Filled by the edge, taken by whoever answers.
#[derive(Resource, Debug, Default)]
pub struct RemoteLeft(pub Vec<u64>);

/// Watches whose readers have not taken yet what they were told last. Filled by the edge before each tick; a watch that
/// can wait waits for them.
#[derive(Resource, Debug, Default)]
pub struct RemoteSlow(pub Vec<u64>);

/// Answers of this tick, in order.
#[derive(Resource, Debug, Default)]
pub struct RemoteOutbox(pub Vec<RemoteAnswer>);
