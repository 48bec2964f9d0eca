//! Work that must not run on the tick thread, and its answers: key derivation and the ban list on disk.

use crate::inspection::summary;
use std::collections::VecDeque;

use bevy_ecs::resource::Resource;
use decitick_protocol::{Password, PasswordKey};

use crate::{
    bans::BanList,
    script::{ScriptAnswer, ScriptWork},
};

/// A wish of the tick.
#[derive(Debug)]
pub enum WorkerRequest {
    /// Derive the key of a password. The newest request wins.
    DerivePassword {
        /// Counts requests.
        request: u64,
        /// The password.
        password: Password,
    },
    /// Write the ban list.
    SaveBans {
        /// Counts requests.
        request: u64,
        /// The list as it is to be on disk.
        bans: BanList,
    },
    /// Something for a gamemode.
    Script(ScriptWork),
}

/// An answer to the tick.
#[derive(Debug)]
pub enum WorkerAnswer {
    /// The key of a password.
    PasswordDerived {
        /// The request it answers.
        request: u64,
        /// The key.
        key: PasswordKey,
    },
    /// The ban list is on disk, or is not and why.
    BansSaved {
        /// The request it answers.
        request: u64,
        /// The error in words for the operator.
        result: Result<(), String>,
    },
    /// Something for a gamemode is done.
    Script(ScriptAnswer),
}

/// Wishes of this tick.
#[derive(Resource, Debug, Default)]
pub struct WorkerOutbox(pub Vec<WorkerRequest>);

/// Answers that came in.
#[derive(Resource, Debug, Default)]
pub struct WorkerInbox(pub VecDeque<WorkerAnswer>);

summary!(|outbox: WorkerOutbox| { waiting: usize = outbox.0.len() });
summary!(|inbox: WorkerInbox| { waiting: usize = inbox.0.len() });
