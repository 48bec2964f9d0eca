//! `decitick page`: asks the running server for a link to its live page, and prints it.

use std::{
    fmt,
    io::{self, IsTerminal, Read, Write},
    net::{SocketAddr, TcpStream},
    process::ExitCode,
    time::Duration,
};

use serde_json::Value;

use crate::{
    access_token::{self, AccessToken, TokenError},
    cli::PageArguments,
    fault::ConfigurationError,
    page::LINK_SECONDS,
    settings_file::{self, Overrides},
};

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the longest answer that is looked at.
const ANSWER_BYTES: u64 = 16 * 1024;

/// Prints a link, or says why there is none.
#[must_use]
pub fn run(arguments: &PageArguments) -> ExitCode {
    match link(arguments) {
        Ok(link) => {
            if writeln!(io::stdout().lock(), "{link}").is_err() {
                return ExitCode::FAILURE;
            }
            if io::stdout().is_terminal() {
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
    let answer = ask(address, &token).map_err(|error| PageError::NoServer { address, error })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let told: Value = serde_json::from_str(body).unwrap_or_default();
    let word = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    match (word("/link"), word("/error/message")) {
        (Some(link), _) => Ok(link.to_owned()),
        (None, message) => Err(PageError::Refused {
            address,
            told: message
                .or_else(|| head.lines().next())
                .map(|told| decitick_protocol::escape_for_display(told, 300))
                .unwrap_or_default(),
        }),
    }
}

/// One request, whose answer ends with the connection.
fn ask(address: SocketAddr, token: &AccessToken) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!(
        "POST /link HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        token.reveal()
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
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
    /// Nobody answers.
    NoServer { address: SocketAddr, error: io::Error },
    /// The server gives no link.
    Refused { address: SocketAddr, told: String },
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
                "no live page answers at {address}: {error}; is the server running, and with this address? (`--set` says what it was started with)"
            ),
            Self::Refused { address, told } => write!(
                f,
                "what answers at {address} gives no link: {told}; is it the server of this directory?"
            ),
        }
    }
}
