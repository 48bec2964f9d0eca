//! The operator's console as values: the grammar of its commands, the letters between an edge and the tick,
//! and the answers with their two renderings (text for people, serde for JSON).
//!
//! It knows no socket, no terminal and no world: edges in the shell carry lines and answers, a system executes
//! commands. docs/console.md describes it for operators.

mod answers;
mod arguments;
mod command;
mod commands;
mod error;
mod grammar;
mod mailbox;
mod selection;
mod streams;
mod text_table;

pub use answers::*;
pub use command::{
    ClockAction, ConsoleCommand, GrantName, MAX_SHUTDOWN_SECONDS, ModeText, NetsimAction, NoticeText,
    PasswordAction, ResourceAction, SayText, TimeAction,
};
pub use commands::{COMMANDS, CommandInfo, find, help_for, help_overview, may_hold_secret, nearest};
pub use error::{ArgumentFault, ConsoleError};
pub use grammar::{ConsoleLine, MAX_LINE, asks_for_json, parse};
pub use mailbox::{ConsoleAnswer, ConsoleInbox, ConsoleLeft, ConsoleOutbox, ConsoleRequest};
pub use selection::{
    Comparison, DEFAULT_ENTITIES, EntitiesQuery, EntityWord, FieldCondition, FieldWord, MAX_ENTITIES,
    MAX_SELECTED, MAX_TYPE_NAME,
};
pub use streams::{ConsoleStream, ConsoleStreams, MAX_STREAMS, StreamSubject, WatchedComponent, goes_on};
pub use text_table::{Layout, cut, display_width, wrapped};
