//! One function for each row about gamemodes in docs/benchmarks.md.

mod bare;
mod burn;
mod calls;
mod stage;
mod ticks;
mod words;

use crate::support::program::Row;

/// All of them.
pub(crate) const ALL: [Row; 7] = [
    ("calls", calls::handlers),
    ("position", words::position),
    ("near", words::near),
    ("words", words::state_and_messages),
    ("timers", ticks::timers),
    ("tick", ticks::mirror),
    ("burn", burn::every_handler),
];
