//! The `decitick` binary: reads its words and runs a command.

use std::process::ExitCode;

use clap::Parser;
use decitick::{cli::Cli, commands};

fn main() -> ExitCode {
    commands::run(Cli::parse().into_command())
}
