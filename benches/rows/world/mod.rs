//! One module for each row about the world in docs/benchmarks.md.

mod alone;
mod curve;
mod peers;
mod relay;

use crate::support::table::Table;

/// A row: its name on the command line, and what it does.
pub(crate) type Row = (&'static str, fn(&mut Table));

/// All of them.
pub(crate) const ALL: [Row; 5] = [
    ("grid", alone::grid),
    ("streaming", alone::streaming),
    ("combat", alone::combat),
    ("relay", relay::curve),
    ("peers", peers::renet),
];
