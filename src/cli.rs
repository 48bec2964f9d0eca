//! The command line: every command and option by name, and what `--help` says.
//!
//! Only reads words; what the commands do is said by `commands`. A wrong word ends the program with
//! exit code 2 and the nearest right one.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use decitick_components::settings::LogFormat;

use crate::settings_file::{Overrides, SetOption};

/// The words the program was called with.
#[derive(Debug, Parser)]
#[command(
    name = "decitick",
    version,
    about = "A headless game server: UDP sessions on a fixed 100 ms tick",
    long_about = "A headless game server: UDP sessions on a fixed 100 ms tick.\n\n\
                  Without a command it serves the current directory. A server directory holds assets/server.ron \
                  (the configuration), scripts/, the server's key and its ban list; `decitick init DIR` makes one.",
    after_help = "Exit codes: 0 fine, 1 run-time failure (a bad key file or ban list too), 2 usage or configuration.\n\
                  Logs go to standard error; RUST_LOG filters them, as in RUST_LOG=info,decitick_systems=debug.",
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: ServeOptions,
}

impl Cli {
    /// The command to run: `serve` of the current directory when none was named.
    pub fn into_command(self) -> Command {
        let Self { command, options } = self;
        command.unwrap_or(Command::Serve(ServeArguments {
            directory: PathBuf::from("."),
            options,
        }))
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server of a server directory
    #[command(after_help = "SIGINT and SIGTERM stop gracefully within 2 s, a second signal at once.")]
    Serve(ServeArguments),
    /// Make a server directory; files that are there already are left as they are
    Init(InitArguments),
    /// Judge configuration, assets, scripts, client files, key and ban list without listening
    #[command(after_help = "Prints every fault as FILE:LINE:COLUMN and exits with 1 when there is any.")]
    Check(CheckArguments),
    /// Ask a server who it is, and verify the signature of its answer
    Query(QueryArguments),
    /// Let many real clients join, play and measure a server
    #[command(
        after_help = "Exits with 1 when a client fails to join or to stay, or sees the server break a rule of its protocol."
    )]
    Bots(BotsArguments),
    /// Attach to a running server, or run one command in it
    Console(ConsoleArguments),
    /// Print a one-use link to the live page of a running server
    #[command(
        after_help = "The link is good within 60 s, in a browser of this machine; from elsewhere use a tunnel with the same port on\nboth sides: ssh -L 7780:127.0.0.1:7780 HOST"
    )]
    Page(PageArguments),
    /// Print the completions of a shell
    #[command(
        after_help = "For bash: decitick completions bash > ~/.local/share/bash-completion/completions/decitick"
    )]
    Completions(CompletionsArguments),
}

/// What `serve` is told.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The server directory
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// How this start differs from the configuration.
    #[command(flatten)]
    pub options: ServeOptions,
}

/// How one start differs from the configuration.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// Listen on this UDP address instead of the configured ones; may be given several times
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<SocketAddr>,
    /// Set one key of the configuration to a RON value; may be given several times
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = |text: &str| Ok::<_, std::convert::Infallible>(parse_set_option(text)),
        long_help = "Set one key of the configuration to a RON value; may be given several times.\n\
                     A nested key has dots, a text has quotes:\n  \
                     --set max_players=200 --set limits.packet_burst=800 --set 'name=\"My server\"'"
    )]
    pub set: Vec<SetOption>,
    /// How log lines look, instead of the configured way
    #[arg(long, value_name = "FORMAT")]
    pub log: Option<LogChoice>,
    /// Do not read commands from standard input
    #[arg(long)]
    pub no_console: bool,
}

impl ServeOptions {
    /// What is put over the configuration file.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            listen: self.listen.clone(),
            set: self.set.clone(),
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogChoice {
    /// For people, in colour on a terminal
    Pretty,
    /// For people, short
    Compact,
    /// One JSON object a line
    Json,
}

impl From<LogChoice> for LogFormat {
    fn from(choice: LogChoice) -> Self {
        match choice {
            LogChoice::Pretty => Self::Pretty,
            LogChoice::Compact => Self::Compact,
            LogChoice::Json => Self::Json,
        }
    }
}

/// What `init` is told.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The directory to make or to complete
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// What `check` is told.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The server directory
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
}

/// What `query` is told.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// The server, as in example.org:7777; an IPv6 address stands in square brackets
    #[arg(value_name = "HOST:PORT", value_parser = parse_host_and_port)]
    pub server: String,
    /// Fail unless the server has this public key (64 hexadecimal digits, as `identity` in its console prints)
    #[arg(long, value_name = "HEX", value_parser = parse_public_key)]
    pub key: Option<[u8; 32]>,
    /// Print one JSON value
    #[arg(long)]
    pub json: bool,
}

/// What `bots` is told.
#[derive(Debug, Args)]
pub struct BotsArguments {
    /// The server, as in example.org:7777; an IPv6 address stands in square brackets
    #[arg(value_name = "HOST:PORT", value_parser = parse_host_and_port)]
    pub server: String,
    /// How many clients join
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    /// How long they play once all have joined
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400 * 30))]
    pub seconds: u64,
    /// Frames that each client sends in a second
    #[arg(long, value_name = "HZ", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rate: u32,
    /// The server's password
    #[arg(long, value_name = "P", hide_default_value = true, default_value = "")]
    pub password: String,
    /// How they log in when the server asks for it; without this they fail there
    #[arg(
        long,
        value_name = "WAY",
        long_help = "How they log in when the server asks for it; without this they fail there.\n\
                     They talk to the sample resource `login`, each for an account named after itself:\n  \
                     password    logs in, or makes the account\n  \
                     credential  does so once, asks to be remembered, leaves and comes back; that is measured\n  \
                     web         goes to the site that the server names, as a browser would"
    )]
    pub login: Option<LoginWay>,
    /// The password of their accounts, at the server or at the site it sends them to
    #[arg(long, value_name = "TEXT", default_value = "decitick-bot", requires = "login")]
    pub login_password: String,
    /// How they move
    #[arg(long, value_name = "WAY", default_value = "random")]
    pub walk: Walk,
    /// Hits that each client reports in a second while it has somebody in reach of its weapon; 0: none
    #[arg(long, value_name = "F", default_value_t = 0.5, value_parser = parse_shots_per_second)]
    pub shots_per_second: f64,
    /// Print one JSON value at the end, and no progress
    #[arg(long)]
    pub json: bool,
}

/// How bots log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LoginWay {
    /// With an account and a password
    Password,
    /// With a stored credential
    Credential,
    /// At a login provider's site
    Web,
}

/// How bots move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Walk {
    /// Each its own way
    #[default]
    Random,
    /// Not at all
    Still,
    /// All around one spot, so that everybody sees everybody
    Crowd,
}

/// What `console` is told.
#[derive(Debug, Args)]
pub struct ConsoleArguments {
    /// The directory of the running server
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Run one command, print its answer and exit with 0, or with 1 when it failed
    #[arg(short, long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// Show a live view of the server, refreshed each second; without a terminal one picture of it
    #[arg(long, conflicts_with = "command")]
    pub top: bool,
}

/// What `page` is told.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// The directory of the running server
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// What the server was started with, if it concerns `page`; as with `serve`
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = |text: &str| Ok::<_, std::convert::Infallible>(parse_set_option(text))
    )]
    pub set: Vec<SetOption>,
}

/// What `completions` is told.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// The words that complete the program's name in a shell, as a script for it.
#[must_use]
pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "decitick", &mut script);
    script
}

/// Never fails, since clap would print the whole text, and it may hold a password. A text without `=` is a key
/// without a value, which loading the settings refuses by its key.
fn parse_set_option(text: &str) -> SetOption {
    let (key, value) = text.split_once('=').unwrap_or_else(|| {
        // Only what can be a key is shown in a complaint.
        let end =
            text.find(|character: char| !(character.is_ascii_alphanumeric() || "._".contains(character)));
        (end.and_then(|end| text.get(..end)).unwrap_or(text), "")
    });
    SetOption {
        key: key.trim().to_owned(),
        value: value.to_owned(),
    }
}

fn parse_host_and_port(text: &str) -> Result<String, String> {
    let wanted = "a host and a port are wanted, as in example.org:7777 or [::1]:7777";
    if text.parse::<SocketAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    let (host, port) = text.rsplit_once(':').ok_or(wanted)?;
    let host_is_name = !host.is_empty()
        && !host.contains(|character: char| character.is_whitespace() || ":[]/".contains(character));
    let port_is_number = port.parse::<u16>().is_ok_and(|port| port != 0);
    if host_is_name && port_is_number {
        Ok(text.to_owned())
    } else {
        Err(wanted.to_owned())
    }
}

fn parse_shots_per_second(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|shots| (0.0..=20.0).contains(shots))
        .ok_or_else(|| "a number from 0 to 20 is wanted".to_owned())
}

fn parse_public_key(text: &str) -> Result<[u8; 32], String> {
    decitick_components::settings::parse_key(text)
        .ok_or_else(|| "a key of 64 hexadecimal digits is wanted".to_owned())
}

#[cfg(test)]
mod tests;
