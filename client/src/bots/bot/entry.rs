//! How a bot gets in: it logs in where the server asks for it, and with a credential it comes twice. What it says on the
//! way is decided by `login.rs`; here that is carried out and measured.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::{RejectReason, ServerLaneEvent, ViewData, ViewOpen, ViewState};
use mio::Token;

use super::{Bot, Keepalives, Plan, Stage};
use crate::bots::browser::Visit;
use crate::bots::login::{Failure, Login, Move, PATIENCE, Talk};
use crate::bots::measure::Measurements;
use crate::client::{Client, EndReason, SendError, Welcome, is_safe_page};
use crate::driver::{Link, fresh_nonce};

/// How long a bot without a way to log in waits for a server that may let it in unasked.
const UNASKED: Duration = Duration::from_secs(3);
/// From a bot's goodbye to its coming back: the server takes goodbyes once a tick.
const BACK_AFTER: Duration = Duration::from_millis(300);
/// How long a bot that comes back finds its name taken when its goodbye was lost: until that session times out.
const NAME_TAKEN: Duration = Duration::from_secs(20);
/// How often it tries meanwhile.
const NAME_TAKEN_RETRY: Duration = Duration::from_secs(1);

/// How far a bot has got in.
#[derive(Default)]
pub(super) struct Entry {
    talk: Option<Talk>,
    /// When ServerHello came.
    hello_at: Duration,
    /// When its patience ends, while the login is undecided.
    gives_up_at: Option<Duration>,
    /// When it comes again, after it left to be remembered.
    back_at: Option<Duration>,
    /// When it left.
    left: Option<Duration>,
    /// It has been told to show a page, and what it is to open there.
    view: Option<OpenPage>,
}

/// The login page, once it is open.
struct OpenPage {
    view_id: u16,
    /// Its path at the server's client files.
    path: String,
}

impl Entry {
    /// When the bot has something to do about getting in.
    pub(super) fn due(&self) -> Option<Duration> {
        let again = self.talk.as_ref().and_then(Talk::due);
        [self.gives_up_at, self.back_at, again]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether the bot has left to come back.
    pub(super) const fn is_between(&self) -> bool {
        self.back_at.is_some()
    }

    /// Nothing more is to be done.
    fn end(&mut self) {
        self.talk = None;
        self.gives_up_at = None;
        self.back_at = None;
        self.view = None;
    }
}

impl Bot {
    /// ServerHello came.
    pub(super) fn take_hello(
        &mut self,
        now: Duration,
        welcome: &Welcome,
        plan: &Plan,
        measured: &mut Measurements,
    ) {
        self.me = (welcome.player_id, welcome.player_token);
        self.entry.hello_at = now;
        // Asked for now, it goes out as soon as the server may grant it.
        self.client.request_spawn();
        if !welcome.auth_pending {
            return self.enter(now, measured);
        }
        let patience = plan.login.map_or(UNASKED, |_| PATIENCE);
        self.entry.gives_up_at = Some(now + patience);
        self.entry.talk = plan
            .login
            .filter(|_| !self.has_left())
            .map(|way| Talk::new(way, &self.account, &plan.login_password, &welcome.server_key));
    }

    /// Takes an event that may be about getting in.
    pub(super) fn take_login_event(
        &mut self,
        now: Duration,
        event: &ServerLaneEvent,
        plan: &Plan,
        measured: &mut Measurements,
    ) {
        if self.stage == Stage::Gone {
            return;
        }
        match event {
            ServerLaneEvent::ViewOpen(open) => self.take_view(open, plan, measured),
            ServerLaneEvent::ViewData(data) => self.take_view_data(now, data, plan, measured),
            ServerLaneEvent::ViewClose(close) if self.is_login_view(close.view_id) => self.entry.view = None,
            ServerLaneEvent::AuthAccepted(_) => self.take_accepted(now, plan, measured),
            _ => {}
        }
    }

    /// Does what is due at `now` about getting in.
    pub(super) fn work_on_entry(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        if self.entry.back_at.is_some_and(|at| at <= now) {
            self.entry.back_at = None;
            if let Err(error) = self.come_back(now, plan) {
                let note = format!("the system gave no socket to come back with: {error}");
                return self.give_up(Failure::new("socket", note), measured);
            }
        }
        if self.entry.gives_up_at.is_some_and(|at| at <= now) {
            let failure = if plan.login.is_none() {
                login_needed()
            } else {
                let seconds = PATIENCE.as_secs();
                Failure::new(
                    "login_timeout",
                    format!("the login was not decided within {seconds} s"),
                )
            };
            return self.give_up(failure, measured);
        }
        if let Some(talk) = &mut self.entry.talk {
            let next = talk.again(now);
            self.carry_out(next, plan, measured);
        }
    }

    /// Takes what a visit to a site ended with.
    pub(in crate::bots) fn take_visit(
        &mut self,
        outcome: Result<String, String>,
        measured: &mut Measurements,
    ) {
        if self.entry.talk.is_none() {
            return;
        }
        let sent = outcome.and_then(|token| {
            self.client
                .send_assertion(&token)
                .map_err(|error| error.to_string())
        });
        if let Err(note) = sent {
            self.give_up(Failure::new("site_failed", note), measured);
        }
    }

    /// Whether an ended session is only the first of two, or one of several tries to come back.
    pub(super) fn comes_back_after(&mut self, now: Duration, reason: &EndReason) -> bool {
        if self.entry.is_between() {
            return true;
        }
        let name_taken = matches!(
            reason,
            EndReason::Rejected {
                reason: RejectReason::NameTaken,
                ..
            }
        );
        let again = name_taken && self.entry.left.is_some_and(|left| now < left + NAME_TAKEN);
        if again {
            self.entry.back_at = Some(now + NAME_TAKEN_RETRY);
        }
        again
    }

    /// The session ended for good.
    pub(super) fn end_entry(&mut self) {
        self.entry.end();
    }

    fn take_view(&mut self, open: &ViewOpen, plan: &Plan, measured: &mut Measurements) {
        let (resource, page) = (open.resource.as_str(), open.page.as_str());
        let is_safe = is_safe_page(resource) && is_safe_page(page);
        // Nothing is drawn, so a page is loaded when it could be.
        let status = if is_safe {
            ViewState::Loaded
        } else {
            ViewState::Failed
        };
        let told = self.client.view_status(open.view_id, status).map(drop);
        if !self.client.is_auth_pending() {
            return;
        }
        if self.has_left() {
            let note = "the credential was not remembered: the server asked for a login again";
            self.give_up(Failure::new("credential_not_remembered", note), measured);
        } else if plan.login.is_none() {
            self.give_up(login_needed(), measured);
        } else if !is_safe {
            let note = "the server opened a login page outside its client files";
            self.give_up(Failure::new("login_page_unsafe", note), measured);
        } else {
            self.entry.view = Some(OpenPage {
                view_id: open.view_id,
                path: format!("{resource}/{page}"),
            });
            self.check_sent(told, measured);
        }
    }

    fn take_view_data(&mut self, now: Duration, data: &ViewData, plan: &Plan, measured: &mut Measurements) {
        if !self.is_login_view(data.view_id) {
            return;
        }
        if let Some(talk) = &mut self.entry.talk {
            let next = talk.told(now, data.data.as_bytes());
            self.carry_out(next, plan, measured);
        }
    }

    fn carry_out(&mut self, next: Move, plan: &Plan, measured: &mut Measurements) {
        match next {
            Move::Nothing => {}
            Move::Act(action) => {
                let Some(page) = &self.entry.view else {
                    return;
                };
                let sent = self.client.view_action(page.view_id, &action).map(drop);
                self.check_sent(sent, measured);
            }
            Move::Visit { site, ticket } => self.visit(site, ticket, plan, measured),
            Move::Fail(failure) => self.give_up(failure, measured),
        }
    }

    fn visit(&mut self, site: String, ticket: String, plan: &Plan, measured: &mut Measurements) {
        let (Some(browser), Some(talk), Some(page), Some(welcome)) = (
            &plan.browser,
            &self.entry.talk,
            &self.entry.view,
            self.client.welcome(),
        ) else {
            let note = "the site was named after the page was closed";
            return self.give_up(Failure::new("site_failed", note), measured);
        };
        let files = SocketAddr::new(self.link.server().ip(), welcome.client_files_port);
        browser.go(Visit {
            bot: self.index,
            site,
            server: talk.server_key().to_owned(),
            ticket,
            return_url: format!("http://{files}/{}", page.path),
            account: talk.account().to_owned(),
            password: plan.login_password.clone(),
        });
    }

    fn take_accepted(&mut self, now: Duration, plan: &Plan, measured: &mut Measurements) {
        let registered = self.entry.talk.as_ref().is_some_and(Talk::has_registered);
        measured.logins.registered += u64::from(registered);
        let was_asked = self.entry.talk.is_some();
        self.entry.end();
        if plan.login == Some(Login::Credential) && was_asked {
            return self.leave(now);
        }
        if plan.login.is_some() {
            measured.logins.done += 1;
            measured.login.record(now.saturating_sub(self.entry.hello_at));
        }
        if self.stage == Stage::Joining {
            self.enter(now, measured);
        }
    }

    /// The bot is in.
    fn enter(&mut self, now: Duration, measured: &mut Measurements) {
        self.stage = Stage::Joined;
        self.joined = now;
        measured
            .join
            .record(self.entry.hello_at.saturating_sub(self.started));
    }

    /// Goes, to come back with nothing but its credential.
    fn leave(&mut self, now: Duration) {
        self.entry.left = Some(now);
        self.entry.back_at = Some(now + BACK_AFTER);
        self.client.bye();
    }

    /// Starts the next session, from another port: the server could take this one for the old session.
    fn come_back(&mut self, now: Duration, plan: &Plan) -> io::Result<()> {
        let mut link = Link::open(self.link.server())?;
        link.register(&plan.registry, Token(self.index))?;
        self.not_sent_before += self.link.not_sent();
        self.client = Client::new(self.config.clone(), fresh_nonce()?, now);
        self.link = link;
        self.started = now;
        self.keepalives = Keepalives::default();
        Ok(())
    }

    fn has_left(&self) -> bool {
        self.entry.left.is_some()
    }

    fn is_login_view(&self, view_id: u16) -> bool {
        self.entry
            .view
            .as_ref()
            .is_some_and(|view| view.view_id == view_id)
    }

    fn check_sent(&mut self, sent: Result<(), SendError>, measured: &mut Measurements) {
        if let Err(error) = sent {
            self.give_up(Failure::new("login_not_sent", error.to_string()), measured);
        }
    }

    /// Ends the bot for a reason of its own.
    fn give_up(&mut self, failure: Failure, measured: &mut Measurements) {
        self.entry.end();
        self.stage = Stage::Gone;
        self.client.bye();
        measured.fail_with(failure.reason.to_owned(), failure.note);
    }
}

fn login_needed() -> Failure {
    Failure::new(
        "login_needed",
        "the server asks for a login: try --login password",
    )
}
