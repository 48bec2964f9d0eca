//! The `decitick` binary: reads its words and runs a command.

use std::process::ExitCode;

use clap::Parser;
use decitick::{cli::Cli, commands};

/// Counts what each thread holds, so that the memory of a script call can be bounded.
#[global_allocator]
static ALLOCATOR: alloc_metrics::MetricAlloc<std::alloc::System> =
    alloc_metrics::MetricAlloc::new(std::alloc::System);

fn main() -> ExitCode {
    commands::run(Cli::parse().into_command())
}
