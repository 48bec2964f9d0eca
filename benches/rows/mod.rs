//! One module for each row of the table in docs/benchmarks.md.

mod flood;
mod idle;
mod join;
mod lane;
mod query;
mod stall;

use crate::support::program::Row;

/// All of them.
pub(crate) const ALL: [Row; 7] = [
    ("hello", flood::hellos),
    ("junk", flood::junk),
    ("join", join::storm),
    ("query", query::answers),
    ("lane", lane::chat),
    ("idle", idle::thousand),
    ("stall", stall::half_a_second),
];
