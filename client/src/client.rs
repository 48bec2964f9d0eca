//! The sans-IO client: bytes and time in, bytes, notices and the next deadline out.
//!
//! A program hands every datagram of the server's address to [`Client::handle`], sends what [`Client::poll_transmit`]
//! writes until it has no more, reads [`Client::poll_event`], and comes back at [`Client::poll_timeout`] or with the next
//! datagram, whichever is first. Time is a `Duration` since any fixed moment that never runs backwards. Nothing here
//! knows of sockets, clocks or randomness, and nothing of how the server works inside: it is written from
//! docs/protocol.md.

mod breach;
mod config;
mod counters;
mod grace;
mod handshake;
mod intake;
mod knowledge;
mod lane_in;
mod lane_out;
mod ledger;
mod login;
mod notices;
mod own;
mod pre_auth;
mod roster;
mod send_error;
mod serial;
mod session;
mod things;
mod views;
mod world_clock;

use std::collections::VecDeque;
use std::time::Duration;

use decitick_protocol::{
    ChatSend, ClientEvent, ClientLaneEvent, EventData, HitReport, MAX_BODY_PART, MAX_PACKET, POSITION_LIMIT,
    PlainText, PlayerSync, ServerPacket, Text,
};

pub use self::breach::{Breach, Fault, Subject};
pub use self::config::{ClientConfig, PinnedServer};
pub use self::counters::{ClientCounters, DropReason, RecordDrop};
pub use self::lane_out::LaneFull;
pub use self::notices::{ClientNotice, EndReason, Welcome, hex};
pub use self::own::{FISTS, OwnState, WeaponTable};
pub use self::roster::{LivePlayer, Roster, Sighting};
pub use self::send_error::SendError;
pub use self::serial::is_newer;
pub use self::things::{Thing, Things};
pub use self::views::{OpenView, is_safe_page};

use self::handshake::{Handshake, Step};
use self::intake::Taken;
use self::session::{Body, Session};

/// One connection attempt and, when it succeeds, the session it opens. It ends once and never starts again.
#[derive(Debug)]
pub struct Client {
    state: State,
    counters: ClientCounters,
    notices: VecDeque<ClientNotice>,
}

#[derive(Debug)]
enum State {
    Attempt(Box<Handshake>),
    Session(Box<Session>),
    Ended {
        reason: EndReason,
        goodbye: Option<Vec<u8>>,
    },
}

impl Client {
    /// Starts an attempt at `now`. `nonce` is 32 fresh bytes of a cryptographic generator, never used for another attempt:
    /// the server's signature over it is what proves the server.
    #[must_use]
    pub fn new(config: ClientConfig, nonce: [u8; 32], now: Duration) -> Self {
        Self {
            state: State::Attempt(Box::new(Handshake::new(config, nonce, now))),
            counters: ClientCounters::default(),
            notices: VecDeque::new(),
        }
    }

    /// Takes a datagram that came from the server's address at `now`. Whatever it holds, it is either handled or dropped
    /// and counted ([`Client::counters`]).
    pub fn handle(&mut self, now: Duration, datagram: &[u8]) {
        self.advance(now);
        self.counters.datagrams_in += 1;
        self.counters.bytes_in += datagram.len() as u64;
        match self.take(now, datagram) {
            Ok(()) => self.counters.handled += 1,
            Err(reason) => self.counters.drop_datagram(reason),
        }
    }

    /// Writes one datagram that is due at `now` into `out`, which is cleared first, and says whether there was one. Call it
    /// until there is none.
    pub fn poll_transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        out.clear();
        self.advance(now);
        let wrote = match &mut self.state {
            State::Attempt(attempt) => attempt.poll_transmit(now, out),
            State::Session(session) => session.poll_transmit(now, &mut self.counters, out),
            State::Ended { goodbye, .. } => goodbye.take().is_some_and(|datagram| {
                *out = datagram;
                true
            }),
        };
        if wrote {
            self.counters.datagrams_out += 1;
            self.counters.bytes_out += out.len() as u64;
        }
        wrote
    }

    /// When to call [`Client::poll_transmit`] again at the latest; a time that has passed means now. `None` once the client
    /// has ended and nothing is left to send.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        match &self.state {
            State::Attempt(attempt) => Some(attempt.due()),
            State::Session(session) => Some(session.due()),
            State::Ended { goodbye, .. } => goodbye.as_ref().map(|_| Duration::ZERO),
        }
    }

    /// The next notice. A program that does not fetch them loses frames first; then the lane stops being acknowledged.
    pub fn poll_event(&mut self) -> Option<ClientNotice> {
        self.notices.pop_front()
    }

    /// Asks for a body. The wish is sent every 500 ms until SpawnPlayer arrives; while the login is undecided it is only
    /// remembered, and first sent after AuthAccepted. Without a session it does nothing.
    pub fn request_spawn(&mut self) {
        if let State::Session(session) = &mut self.state
            && session.body == Body::None
        {
            session.body = Body::Asked(Duration::ZERO);
        }
    }

    /// Takes the player's newest frame; it goes out with the next [`Client::poll_transmit`], and again every 100 ms until a
    /// newer one comes. The client numbers its frames itself: `seq` is not read.
    ///
    /// # Errors
    /// [`SendError`]: no session, an undecided login, no body, or a frame no server would take.
    pub fn sync(&mut self, frame: PlayerSync) -> Result<(), SendError> {
        let session = self.accepted_mut()?;
        if session.body != Body::Spawned {
            return Err(SendError::NotSpawned);
        }
        let finite = frame.velocity.is_finite() && frame.heading.is_finite();
        if !finite || !frame.position.is_within(POSITION_LIMIT) {
            return Err(SendError::BadFrame);
        }
        session.frames.snapshot = Some(frame);
        session.frames.fresh = true;
        Ok(())
    }

    /// Sends a line of chat, 1..=128 bytes without control characters, and gives its event id.
    ///
    /// # Errors
    /// [`SendError`]: no session, an undecided login, a text that cannot be sent, or a full lane.
    pub fn send_chat(&mut self, text: &str) -> Result<u32, SendError> {
        let text = PlainText::parse(text).map_err(|fault| SendError::BadEvent {
            fault: fault.to_string(),
        })?;
        self.send_lane(&ClientLaneEvent::ChatSend(ChatSend { text }))
    }

    /// Sends an event for the gamemode and gives its event id. `name` has 1..=64 bytes; `data` is one MessagePack value of
    /// at most 1,024 bytes.
    ///
    /// # Errors
    /// [`SendError`]: no session, an undecided login, a name or value that cannot be sent, or a full lane.
    pub fn send_event(&mut self, name: &str, data: &[u8]) -> Result<u32, SendError> {
        let name = Text::parse(name).map_err(|fault| SendError::BadEvent {
            fault: fault.to_string(),
        })?;
        let data = EventData::parse(data.to_vec()).map_err(|fault| SendError::BadEvent {
            fault: fault.to_string(),
        })?;
        self.send_lane(&ClientLaneEvent::ClientEvent(ClientEvent { name, data }))
    }

    /// Tells the server that the player's shot hit somebody, and gives the event id. Whether it counts is the server's
    /// decision (docs/protocol.md 2.5), and there is no answer but its consequences.
    ///
    /// # Errors
    /// [`SendError`]: no session, an undecided login, no body, a hit that cannot be sent, a weapon the player does not
    /// hold, or a full lane.
    pub fn report_hit(&mut self, hit: HitReport) -> Result<u32, SendError> {
        let session = self.accepted_mut()?;
        if session.body != Body::Spawned {
            return Err(SendError::NotSpawned);
        }
        if !hit.origin.is_finite() || !hit.hit.is_finite() || hit.body_part > MAX_BODY_PART {
            return Err(SendError::BadHit);
        }
        if !session.own.holds(hit.weapon) {
            return Err(SendError::WeaponNotHeld { weapon: hit.weapon });
        }
        self.send_lane(&ClientLaneEvent::HitReport(hit))
    }

    /// Puts any event on the client's lane and gives its id. It is sent until the server acknowledges it.
    ///
    /// # Errors
    /// [`SendError`]: no session, an event that the server ignores before or after the login's decision
    /// (docs/protocol.md 1.5), or a full lane.
    pub fn send_lane(&mut self, event: &ClientLaneEvent) -> Result<u32, SendError> {
        let session = self.session_mut()?;
        match event {
            ClientLaneEvent::ViewStatus(_) | ClientLaneEvent::ViewAction(_) => {}
            ClientLaneEvent::AuthAssertion(_) if session.auth_pending => {}
            ClientLaneEvent::AuthAssertion(_) => return Err(SendError::LoginDecided),
            _ if session.auth_pending => return Err(SendError::LoginPending),
            _ => {}
        }
        session.send_lane(event).map_err(SendError::LaneFull)
    }

    /// Ends the attempt or the session. Of a session the server is told, once, with the next [`Client::poll_transmit`].
    pub fn bye(&mut self) {
        self.end(EndReason::Bye);
    }

    /// What was received, sent and dropped.
    #[must_use]
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    fn take(&mut self, now: Duration, datagram: &[u8]) -> Result<(), DropReason> {
        if datagram.len() > MAX_PACKET {
            return Err(DropReason::TooLong);
        }
        match &mut self.state {
            State::Ended { .. } => Err(DropReason::AfterEnd),
            State::Attempt(attempt) => {
                let step = attempt.handle(now, datagram);
                self.follow(now, step)
            }
            State::Session(session) => {
                let packet = ServerPacket::decode(datagram).map_err(|_| DropReason::Malformed)?;
                session.last_heard = now;
                match session.take(now, packet, &mut self.counters, &mut self.notices) {
                    Taken::Handled => Ok(()),
                    Taken::Dropped(reason) => Err(reason),
                    Taken::Ended(reason) => {
                        self.finish(reason, None);
                        Ok(())
                    }
                }
            }
        }
    }

    fn follow(&mut self, now: Duration, step: Step) -> Result<(), DropReason> {
        match step {
            Step::Challenged => {}
            Step::Accepted(hello) => {
                let session = Session::new(&hello, now);
                self.notices
                    .push_back(ClientNotice::Joined(session.welcome.clone()));
                self.state = State::Session(Box::new(session));
            }
            Step::Refused(reject) => {
                let text = reject.text.as_str().to_owned();
                let reason = EndReason::Rejected {
                    reason: reject.reason,
                    text,
                    seconds: reject.ban_seconds,
                };
                self.finish(reason, None);
            }
            Step::IdentityChanged(found) => self.finish(EndReason::IdentityChanged { found }, None),
            Step::Dropped(reason) => return Err(reason),
        }
        Ok(())
    }

    /// Ends what ran out of time, and delivers what waited for room among the notices.
    fn advance(&mut self, now: Duration) {
        match &mut self.state {
            State::Attempt(attempt) if attempt.is_over(now) => self.finish(EndReason::NoAnswer, None),
            State::Session(session) if session.is_silent(now) => {
                let reason = if session.auth_pending {
                    EndReason::LoginRefused { reason: None }
                } else {
                    EndReason::Silence
                };
                self.end(reason);
            }
            State::Session(session) => session.deliver(now, &mut self.counters, &mut self.notices),
            State::Attempt(_) | State::Ended { .. } => {}
        }
    }

    /// Ends with a goodbye when there is a session to leave.
    fn end(&mut self, reason: EndReason) {
        let goodbye = self.session().map(|session| {
            let mut datagram = Vec::new();
            session.write_bye(&mut datagram);
            datagram
        });
        self.finish(reason, goodbye);
    }

    fn finish(&mut self, reason: EndReason, goodbye: Option<Vec<u8>>) {
        if matches!(self.state, State::Ended { .. }) {
            return;
        }
        self.notices.push_back(ClientNotice::Ended(reason.clone()));
        self.state = State::Ended { reason, goodbye };
    }

    fn session(&self) -> Option<&Session> {
        match &self.state {
            State::Session(session) => Some(session),
            _ => None,
        }
    }

    /// The session, once the login is decided or when there was none.
    fn accepted_mut(&mut self) -> Result<&mut Session, SendError> {
        let session = self.session_mut()?;
        if session.auth_pending {
            return Err(SendError::LoginPending);
        }
        Ok(session)
    }

    fn session_mut(&mut self) -> Result<&mut Session, SendError> {
        match &mut self.state {
            State::Session(session) => Ok(session),
            _ => Err(SendError::NoSession),
        }
    }
}

#[cfg(test)]
mod tests;
