//! Measures the server against bare loops that do the same without a server around them (docs/benchmarks.md).
//!
//! The server is the real binary, a process of its own on one core; load, clients and the program itself are on the
//! other. `cargo bench --bench first_players` runs every row, `-- hello lane` only those. `DECITICK_BIN` names another
//! binary than the one Cargo just built.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement prints its table, and stops at the first thing that is not as it must be"
)]

#[expect(dead_code, reason = "the other program of this directory uses the rest")]
mod bare;
mod rows;
#[expect(dead_code, reason = "the other program of this directory uses the rest")]
mod support;

fn main() {
    support::program::run(&rows::ALL);
}
