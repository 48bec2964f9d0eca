//! The HTTP side of a download: requests, what must be true of their responses, and how long they may take.

use std::fmt::Write as _;
use std::io::Read;
use std::net::SocketAddr;
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body, BodyReader};

use super::{DownloadLimits, FilesError};
use crate::driver::Clock;
use crate::files::ManifestFile;

/// Bytes of the head of a response.
const HEAD_BYTES: usize = 16 * 1024;
/// Bytes that are taken at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Asks one server for the files of one resource.
pub(super) struct Fetcher {
    agent: Agent,
    /// Up to the name of a file.
    base: String,
    limits: DownloadLimits,
}

impl Fetcher {
    pub(super) fn new(address: SocketAddr, resource: &str, limits: DownloadLimits) -> Self {
        let config = Agent::config_builder()
            // What the environment says about proxies is not meant for a game's server, nor is a redirect elsewhere.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_response_header_size(HEAD_BYTES)
            .user_agent(concat!("decitick-client/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(limits.connect_time))
            .timeout_send_request(Some(limits.silent_time))
            .timeout_recv_response(Some(limits.silent_time))
            .timeout_per_read(Some(limits.silent_time))
            .build();
        Self {
            agent: config.new_agent(),
            base: format!("http://{address}/{}/", escaped(resource)),
            limits,
        }
    }

    /// A file from its beginning.
    pub(super) fn whole(&self, name: &str) -> Result<Arriving, FilesError> {
        let response = self.ask(name, None)?;
        match response.status() {
            StatusCode::OK => Ok(self.arriving(name, response)),
            status => Err(refused(name, status)),
        }
    }

    /// A file from a place on, and the place from which it comes: the server may send it whole instead.
    pub(super) fn from(&self, file: &ManifestFile, place: u64) -> Result<(Arriving, u64), FilesError> {
        if place == 0 {
            return Ok((self.whole(&file.name)?, 0));
        }
        let response = self.ask(&file.name, Some((file, place)))?;
        let begins = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT if range(&response) == Some((place, file.size)) => place,
            status => return Err(refused(&file.name, status)),
        };
        Ok((self.arriving(&file.name, response), begins))
    }

    fn ask(&self, name: &str, from: Option<(&ManifestFile, u64)>) -> Result<Response<Body>, FilesError> {
        let mut request = self.agent.get(format!("{}{}", self.base, escaped(name)));
        if let Some((file, place)) = from {
            let mut etag = String::from("\"");
            for byte in file.sha256 {
                // Writing to a string cannot fail.
                let _ = write!(etag, "{byte:02x}");
            }
            etag.push('"');
            request = request
                .header(header::RANGE, format!("bytes={place}-"))
                .header(header::IF_RANGE, etag);
        }
        request.call().map_err(|error| FilesError::Connection {
            name: name.to_owned(),
            error: error.into_io(),
        })
    }

    fn arriving(&self, name: &str, response: Response<Body>) -> Arriving {
        let clock = Clock::start();
        Arriving {
            name: name.to_owned(),
            reader: response.into_body().into_reader(),
            piece: vec![0; PIECE_BYTES],
            came: 0,
            window: Window {
                since: clock.now(),
                bytes: 0,
            },
            clock,
            limits: self.limits,
        }
    }
}

fn refused(name: &str, status: StatusCode) -> FilesError {
    FilesError::Status {
        name: name.to_owned(),
        status: status.as_u16(),
    }
}

/// Where a partial response begins and how large the whole is: `bytes 5-9/10`.
fn range(response: &Response<Body>) -> Option<(u64, u64)> {
    let value = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (span, size) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = span.split_once('-')?;
    Some((first.parse().ok()?, size.parse().ok()?))
}

/// The content of a response on its way.
pub(super) struct Arriving {
    name: String,
    reader: BodyReader<'static>,
    piece: Vec<u8>,
    came: u64,
    window: Window,
    clock: Clock,
    limits: DownloadLimits,
}

/// Time over which the pace is judged.
struct Window {
    since: Duration,
    bytes: u64,
}

impl Arriving {
    /// The next bytes; none at the end, and none after `most` in all.
    pub(super) fn next(&mut self, most: u64) -> Result<Option<&[u8]>, FilesError> {
        let left = usize::try_from(most.saturating_sub(self.came)).unwrap_or(usize::MAX);
        let room = self.piece.get_mut(..left.min(PIECE_BYTES)).unwrap_or_default();
        let read = self.reader.read(room).map_err(|error| FilesError::Connection {
            name: self.name.clone(),
            error,
        })?;
        self.came = self.came.saturating_add(read as u64);
        self.judge_pace(read as u64)?;
        Ok(self.piece.get(..read).filter(|piece| !piece.is_empty()))
    }

    fn judge_pace(&mut self, read: u64) -> Result<(), FilesError> {
        self.window.bytes = self.window.bytes.saturating_add(read);
        let now = self.clock.now();
        let time = now.saturating_sub(self.window.since);
        if read == 0 || time < self.limits.pace_time {
            return Ok(());
        }
        if (self.window.bytes as f64) < time.as_secs_f64() * self.limits.pace_bytes_per_second as f64 {
            return Err(FilesError::Slow {
                name: self.name.clone(),
            });
        }
        self.window = Window { since: now, bytes: 0 };
        Ok(())
    }
}

/// A path with everything escaped that is not a letter, digit, `-`, `_`, `~`, `.` or a slash between parts.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_~./".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
