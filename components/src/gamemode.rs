//! Questions that must be answered inside a tick, and who answers them.
//!
//! The modules that ask and the module that runs scripts do not know each other; they meet in this resource. It
//! answers yes to everything until something else is put in its place.

use std::{fmt, net::IpAddr};

use bevy_ecs::resource::Resource;

pub use decitick_protocol::RejectText;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// May somebody with this name connect from this address?
    PlayerConnecting {
        /// The name, already judged by the core rules.
        name: &'a str,
        /// The canonical address.
        ip: IpAddr,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on as if nobody had been asked.
    Default,
    /// No, with a text for the one who asked.
    Refuse(RejectText),
}

/// Somebody who answers.
pub trait Judge: Send + Sync {
    /// Answers one question. It must be quick: the tick waits.
    fn ask(&mut self, question: &Question<'_>) -> Answer;
}

/// The one who answers now.
#[derive(Resource)]
pub struct Gamemode(pub Box<dyn Judge>);

impl Default for Gamemode {
    fn default() -> Self {
        Self(Box::new(Agreeable))
    }
}

impl fmt::Debug for Gamemode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gamemode")
    }
}

struct Agreeable;

impl Judge for Agreeable {
    fn ask(&mut self, _: &Question<'_>) -> Answer {
        Answer::Default
    }
}
