//! Words of gamemode scripts: what a resource is made of, what it asks workers for, what is wrong with it, and how the
//! shell lends the tick a stopwatch and a memory gauge. Nothing here knows the script language.

mod bundle;
mod fault;
mod gauges;
mod work;

pub use bundle::{MAIN_FILE, Manifest, ResourceName, ScriptBundle};
pub use fault::ScriptFault;
pub use gauges::{Deadline, MemoryGauge, Stopwatch};
pub use work::{
    ScriptAnswer, ScriptAnswers, ScriptOutcome, ScriptWork, SqlAnswer, SqlKind, SqlStatement, SqlValue,
    StoreChange,
};
