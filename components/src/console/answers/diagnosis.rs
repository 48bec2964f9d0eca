//! Answers of the commands that say why: where the time of ticks goes, who sees whom, what a connection says, how bad the
//! network is made.

mod netsim;
mod ticks;
mod trace;
mod why;

pub use netsim::NetsimAnswer;
pub use ticks::{SlowAnswer, SlowRow, SystemRow, SystemsAnswer};
pub use trace::{TraceAnswer, TraceFields, TraceRow, TraceValue};
pub use why::{ReverseAnswer, SightAnswer, SightReason, WhyAnswer};
