//! `decitick page`: prints a link to the live page of a running server. The link is made here, with the token of the server
//! directory: nothing secret is told to whatever listens at the page's address.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    net::{SocketAddr, TcpStream},
    process::ExitCode,
    time::Duration,
};

use crate::{
    access_token::{self, TokenError},
    cli::PageArguments,
    fault::ConfigurationError,
    page::{LINK_SECONDS, ticket, unix_ms},
    settings_file::{self, Overrides},
};

/// How long a server may take to be there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints a link, or says why there is none.
#[must_use]
pub fn run(arguments: &PageArguments) -> ExitCode {
    match link(arguments) {
        Ok(link) => {
            if writeln!(io::stdout().lock(), "{link}").is_err() {
                return ExitCode::FAILURE;
            }
            if io::stderr().is_terminal() {
                let _ = writeln!(io::stderr(), "good for one use within {LINK_SECONDS} s");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            super::complain(&error);
            error.exit_code()
        }
    }
}

fn link(arguments: &PageArguments) -> Result<String, PageError> {
    let overrides = Overrides {
        listen: Vec::new(),
        set: arguments.set.clone(),
    };
    let settings = settings_file::load(&arguments.directory, &overrides).map_err(PageError::Settings)?;
    let address = settings.page.ok_or(PageError::NotSet)?.listen;
    if address.port() == 0 {
        return Err(PageError::AnyPort);
    }
    let token = access_token::load(&arguments.directory, access_token::PAGE)
        .map_err(PageError::Token)?
        .ok_or(PageError::NeverStarted)?;
    // That something is there is all that is asked.
    TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| PageError::NoServer { address, error })?;
    let ticket = ticket(&token, unix_ms()).map_err(PageError::NoTicket)?;
    Ok(format!("http://{address}/enter?ticket={ticket}"))
}

/// Why there is no link.
#[derive(Debug)]
enum PageError {
    /// The settings have faults.
    Settings(ConfigurationError),
    /// There is no page.
    NotSet,
    /// The system chose the port.
    AnyPort,
    /// The token cannot be read.
    Token(TokenError),
    /// There is no token yet.
    NeverStarted,
    /// Nobody listens.
    NoServer { address: SocketAddr, error: io::Error },
    /// The system gives no random bytes.
    NoTicket(io::Error),
}

impl PageError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Settings(_) | Self::NotSet | Self::AnyPort => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::NotSet => f.write_str(
                "this server has no live page; write `page: Some((listen: \"127.0.0.1:7780\")),` into assets/server.ron and restart it",
            ),
            Self::AnyPort => f.write_str(
                "page.listen has port 0, so the system chose the port; the server's log tells it: give --set 'page=Some((listen:\"127.0.0.1:PORT\"))'",
            ),
            Self::Token(error) => error.fmt(f),
            Self::NeverStarted => f.write_str(
                "there is no page_token in this directory: the server has not run with `page` set; (re)start it, and name its directory here",
            ),
            Self::NoServer { address, error } => write!(
                f,
                "no live page is at {address}: {error}; is the server running, and with this address? (`--set` says what it was started with)"
            ),
            Self::NoTicket(error) => write!(f, "the system gives no random bytes: {error}"),
        }
    }
}
