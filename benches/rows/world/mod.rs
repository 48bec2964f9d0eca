//! One module for each row about the world in docs/benchmarks.md.

mod alone;
mod curve;
mod peers;
mod relay;

use crate::support::program::Row;

/// All of them.
pub(crate) const ALL: [Row; 5] = [
    ("grid", alone::grid),
    ("streaming", alone::streaming),
    ("combat", alone::combat),
    ("relay", relay::curve),
    ("peers", peers::renet),
];
