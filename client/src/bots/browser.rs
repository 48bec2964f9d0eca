//! The part of a web login that a browser plays: it visits the login provider's site, fills in the form and comes back
//! with a token. It works on a few threads of its own, so that a slow site holds up nobody else.

use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use decitick_protocol::escape_for_display;
use mio::Waker;
use ureq::http::StatusCode;
use ureq::http::header::LOCATION;
use ureq::{Agent, Body};

/// Visits at once.
const THREADS: usize = 8;
/// Longest time of one request, from connecting to the last byte.
const REQUEST_TIME: Duration = Duration::from_secs(3);
/// Most bytes of a page that are read.
const PAGE_BYTES: u64 = 256 * 1024;

/// A visit to a site. `Debug` shows no secret.
pub(super) struct Visit {
    /// The bot that goes there.
    pub(super) bot: usize,
    /// The site's URL, as the server named it.
    pub(super) site: String,
    /// The server's public key in lower-case hex.
    pub(super) server: String,
    /// The connection's ticket.
    pub(super) ticket: String,
    /// The page the site sends the player back to.
    pub(super) return_url: String,
    /// Name of the account at the site.
    pub(super) account: String,
    /// Its password.
    pub(super) password: String,
}

impl fmt::Debug for Visit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Visit")
            .field("bot", &self.bot)
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

/// What a visit ended with.
pub(super) struct Visited {
    /// The bot that went.
    pub(super) bot: usize,
    /// The token, not judged; or what went wrong, fit to be shown.
    pub(super) outcome: Result<String, String>,
}

/// The threads that visit sites. They end when it is dropped, after the visits under way.
#[derive(Debug)]
pub(super) struct Browser {
    visits: Sender<Visit>,
    results: Receiver<Visited>,
}

impl Browser {
    /// Starts the threads; `waker` is woken for each result.
    ///
    /// # Errors
    /// What the kernel says when it gives no thread.
    pub(super) fn open(waker: Waker) -> io::Result<Self> {
        let (visits, queue) = channel();
        let (results_in, results) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let waker = Arc::new(waker);
        let agent = agent();
        for _ in 0..THREADS {
            let (agent, queue) = (agent.clone(), Arc::clone(&queue));
            let (results, waker) = (results_in.clone(), Arc::clone(&waker));
            let work = move || {
                while let Some(visit) = next(&queue) {
                    let outcome = make(&agent, &visit);
                    let bot = visit.bot;
                    if results.send(Visited { bot, outcome }).is_err() || waker.wake().is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new()
                .name("bot-browser".to_owned())
                .spawn(work)?;
        }
        Ok(Self { visits, results })
    }

    /// Queues a visit.
    pub(super) fn go(&self, visit: Visit) {
        // The threads live as long as this end does.
        let _ = self.visits.send(visit);
    }

    /// The next result that is there.
    pub(super) fn back(&self) -> Option<Visited> {
        self.results.try_recv().ok()
    }
}

fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        // A redirect is the answer that is waited for, and goes to the game.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(REQUEST_TIME))
        // The environment of the process is not the player's: what is named is what is visited.
        .proxy(None)
        .user_agent("decitick-bots")
        .build()
        .into()
}

/// The next visit, once there is one; `None` when no more come.
fn next(queue: &Mutex<Receiver<Visit>>) -> Option<Visit> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn make(agent: &Agent, visit: &Visit) -> Result<String, String> {
    if !visit.site.starts_with("http://") {
        let site = escape_for_display(&visit.site, 120);
        return Err(format!(
            "the bots visit plain http:// sites only, and this is {site}"
        ));
    }
    let carried = [
        ("server", visit.server.as_str()),
        ("ticket", visit.ticket.as_str()),
        ("return", visit.return_url.as_str()),
    ];
    let mut page = agent
        .get(&visit.site)
        .query_pairs(carried)
        .call()
        .map_err(|error| shown("the site's page", &error))?;
    if page.status() != StatusCode::OK {
        return Err(format!(
            "the site's page was answered with {}",
            page.status().as_u16()
        ));
    }
    read(page.body_mut())?;

    let path = visit.site.split(['?', '#']).next().unwrap_or_default();
    let form = [
        ("account", visit.account.as_str()),
        ("password", visit.password.as_str()),
    ];
    let mut answer = agent
        .post(path)
        .send_form(carried.into_iter().chain(form))
        .map_err(|error| shown("the site's form", &error))?;
    let status = answer.status();
    let location = answer
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok());
    let token =
        location.and_then(|location| location.strip_prefix(&visit.return_url)?.strip_prefix("#token="));
    match token {
        Some(token) if status == StatusCode::SEE_OTHER => Ok(token.to_owned()),
        _ if status == StatusCode::SEE_OTHER => {
            Err("the site sent the player elsewhere than to the return page with a token".to_owned())
        }
        _ => {
            read(answer.body_mut())?;
            if status == StatusCode::UNAUTHORIZED {
                return Err("the site does not know this account with this password; start it with --any-account PASSWORD, and give the bots the same with --login-password".to_owned());
            }
            Err(format!(
                "the site answered the form with {} instead of 303",
                status.as_u16()
            ))
        }
    }
}

/// Reads a page to its end, so that the connection can be used again.
fn read(body: &mut Body) -> Result<(), String> {
    body.with_config()
        .limit(PAGE_BYTES)
        .read_to_vec()
        .map(drop)
        .map_err(|error| shown("the site's page", &error))
}

/// What went wrong, in words. A URL is left out: it carries the ticket.
fn shown(what: &str, error: &ureq::Error) -> String {
    let words = match error {
        ureq::Error::BadUri(_) => "its URL is not valid".to_owned(),
        other => escape_for_display(&other.to_string(), 120),
    };
    format!("{what} could not be had: {words}")
}
