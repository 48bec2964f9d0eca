//! The commands of the program, one a module, and the words that lead to each.

pub mod bots;
pub mod check;
pub mod console;
pub mod init;
pub mod page;
pub mod query;
pub mod serve;

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use decitick_client::bots::{BotsOptions, Login, WalkKind};
use decitick_protocol::Password;

use crate::cli::{
    BotsArguments, Command, CompletionsArguments, ConsoleArguments, LoginWay, QueryArguments, Walk,
    completions,
};

/// Runs a command to its end.
#[must_use]
pub fn run(command: Command) -> ExitCode {
    match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Init(arguments) => match init::run(&arguments.directory, &mut io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&error);
                ExitCode::FAILURE
            }
        },
        Command::Check(arguments) => match check::run(&arguments.directory, &mut io::stdout().lock()) {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        },
        Command::Query(QueryArguments { server, key, json }) => {
            query::run(&query::QueryOptions { server, key, json })
        }
        Command::Bots(arguments) => run_bots(arguments),
        Command::Page(arguments) => page::run(&arguments),
        Command::Completions(CompletionsArguments { shell }) => {
            match io::stdout().lock().write_all(&completions(shell)) {
                // A closed pipe has had enough of it.
                Ok(()) => ExitCode::SUCCESS,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
                Err(error) => {
                    complain(&error);
                    ExitCode::FAILURE
                }
            }
        }
        Command::Console(ConsoleArguments {
            directory,
            command,
            top,
        }) => console::run(&console::ConsoleArguments {
            directory,
            command,
            top,
        }),
    }
}

fn run_bots(arguments: BotsArguments) -> ExitCode {
    let password = match arguments.password.as_str() {
        "" => None,
        text => match Password::parse(text) {
            Ok(password) => Some(password),
            Err(fault) => {
                complain(&format_args!("--password: {fault}"));
                return ExitCode::from(2);
            }
        },
    };
    let options = BotsOptions {
        duration: Duration::from_secs(arguments.seconds),
        rate_hz: f64::from(arguments.rate),
        shots_per_second: arguments.shots_per_second,
        password,
        login: arguments.login.map(|way| match way {
            LoginWay::Password => Login::Password,
            LoginWay::Credential => Login::Credential,
            LoginWay::Web => Login::Web,
        }),
        login_password: arguments.login_password,
        walk: match arguments.walk {
            Walk::Random => WalkKind::Random,
            Walk::Still => WalkKind::Still,
            Walk::Crowd => WalkKind::Crowd,
        },
        ..BotsOptions::new(arguments.server, arguments.count as usize)
    };
    bots::run(&options, arguments.json)
}

/// One line on standard error.
pub(crate) fn complain(problem: &impl std::fmt::Display) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "decitick: {problem}");
}
