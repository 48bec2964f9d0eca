//! The stand-in's login: it speaks what the sample resource `login` speaks, and misbehaves on request.

use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::*;
use rmp::{decode, encode};

use super::Server;

const VIEW: u16 = 77;

/// How this server lets clients in.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Gate {
    /// Every account exists, with a password that nobody knows.
    pub(in super::super) accounts_taken: bool,
    /// Offers a login at a site, and runs that.
    pub(in super::super) site: bool,
    /// That site knows nobody.
    pub(in super::super) site_refuses: bool,
    /// Does not keep credentials.
    pub(in super::super) forgets: bool,
    /// Answers the first action of everybody with a wait of one second.
    pub(in super::super) waits: bool,
    /// Kicks who is not in after this time.
    pub(in super::super) kicks_after: Option<Duration>,
    /// Tells those who wait who is there.
    pub(in super::super) leaks: bool,
    /// Asks for nothing, and decides after this time.
    pub(in super::super) accepts_unasked_after: Option<Duration>,
    /// Asks for nothing and decides nothing.
    pub(in super::super) mute: bool,
}

/// What the server knows of a client it has not let in.
#[derive(Debug, Default)]
pub(super) struct Pending {
    has_waited: bool,
}

impl Server {
    /// Holds a new session, when there is a gate and its credential is not remembered.
    pub(super) fn hold(&mut self, now: Duration, from: SocketAddr) {
        let Some(gate) = self.behaviour.gate.clone() else {
            return;
        };
        self.sessions.get_mut(&from).unwrap().pending = Some(Pending::default());
        let credential = self.sessions[&from].credential;
        if self.remembered.contains(&credential) {
            return self.let_in(now, from, "credential");
        }
        if gate.leaks {
            let joined = JoinedPlayer {
                player_id: 999,
                player_token: 1,
                name: Text::parse("Somebody").unwrap(),
            };
            let players = vec![joined];
            self.send_event(now, from, PlayerJoin { players });
        }
        if gate.mute || gate.accepts_unasked_after.is_some() {
            return;
        }
        let resource = Text::parse("login").unwrap();
        let manifest = FilesManifest {
            resource: resource.clone(),
            sha256: [1; 32],
        };
        self.send_event(now, from, manifest);
        let open = ViewOpen {
            view_id: VIEW,
            resource,
            page: Text::parse("login.html").unwrap(),
        };
        self.send_event(now, from, open);
        self.ask(now, from);
    }

    /// Kicks or lets in whose time has come.
    pub(super) fn watch_pending(&mut self, now: Duration, address: SocketAddr) {
        let Some(gate) = self.behaviour.gate.clone() else {
            return;
        };
        let session = &self.sessions[&address];
        let is_over = |after: Option<Duration>| after.is_some_and(|after| now >= session.since + after);
        if session.pending.is_none() {
            return;
        }
        if is_over(gate.kicks_after) {
            self.sessions.remove(&address);
            let reason = KickReason::parse("login refused by the test").unwrap();
            self.send_packet(address, &ServerPacket::Kick(KickNotify { reason }));
        } else if is_over(gate.accepts_unasked_after) {
            self.let_in(now, address, "unasked");
        }
    }

    /// Takes an event of a client that is held.
    pub(super) fn take_login(&mut self, now: Duration, from: SocketAddr, event: ClientLaneEvent) {
        match event {
            ClientLaneEvent::ViewStatus(status) if status.view_id == VIEW => {
                assert_eq!(status.status, ViewState::Loaded);
                self.seen.lock().unwrap().pages_loaded += 1;
                // The resource may say again what it said when the page was opened.
                self.ask(now, from);
            }
            ClientLaneEvent::ViewAction(action) if action.view_id == VIEW => self.act(now, from, &action),
            ClientLaneEvent::AuthAssertion(assertion) => {
                if assertion.jwt.parts()[1] == self.ticket(from) {
                    self.let_in(now, from, "web");
                } else {
                    self.tell(now, from, &[("state", "error"), ("text", "invalid")]);
                }
            }
            _ => self.seen.lock().unwrap().too_early += 1,
        }
    }

    fn act(&mut self, now: Duration, from: SocketAddr, action: &ViewAction) {
        let gate = self.behaviour.gate.clone().unwrap();
        let pending = self.sessions.get_mut(&from).unwrap().pending.as_mut().unwrap();
        if gate.waits && !std::mem::replace(&mut pending.has_waited, true) {
            return self.send_wait(now, from);
        }
        let action = Action::read(action.data.as_bytes());
        match action.what.as_str() {
            "web" => {
                let site = self.site.as_ref().unwrap().url();
                let ticket = self.ticket(from);
                let server: String = super::identity()
                    .public_key()
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                let texts = [
                    ("state", "web"),
                    ("site", site.as_str()),
                    ("server", &server),
                    ("ticket", &ticket),
                ];
                self.tell(now, from, &texts);
            }
            _ if gate.accounts_taken => {
                self.tell(now, from, &[("state", "error"), ("text", "no such login")]);
            }
            "login" if self.accounts.get(&action.account) == Some(&action.password) => {
                self.remember(from, action.remember);
                self.let_in(now, from, "login");
            }
            "register" if !self.accounts.contains_key(&action.account) => {
                self.accounts.insert(action.account, action.password);
                self.remember(from, action.remember);
                self.let_in(now, from, "register");
            }
            _ => self.tell(now, from, &[("state", "error"), ("text", "no such login")]),
        }
    }

    fn remember(&mut self, from: SocketAddr, wanted: bool) {
        let credential = self.sessions[&from].credential;
        let forgets = self.behaviour.gate.as_ref().unwrap().forgets;
        if wanted && !forgets && credential != [0; 32] {
            self.remembered.insert(credential);
        }
    }

    fn let_in(&mut self, now: Duration, from: SocketAddr, how: &'static str) {
        self.sessions.get_mut(&from).unwrap().pending = None;
        self.seen.lock().unwrap().logins.push(how);
        if !matches!(how, "credential" | "unasked") {
            self.send_event(now, from, ViewClose { view_id: VIEW });
        }
        self.send_event(now, from, AuthAccepted);
    }

    fn ask(&mut self, now: Duration, from: SocketAddr) {
        let site = self.behaviour.gate.as_ref().unwrap().site;
        let mut data = Vec::new();
        encode::write_map_len(&mut data, 3).unwrap();
        write_texts(&mut data, &[("state", "ask")]);
        encode::write_str(&mut data, "web").unwrap();
        encode::write_bool(&mut data, site).unwrap();
        encode::write_str(&mut data, "remember").unwrap();
        encode::write_bool(&mut data, self.sessions[&from].credential != [0; 32]).unwrap();
        self.send_data(now, from, data);
    }

    fn send_wait(&mut self, now: Duration, from: SocketAddr) {
        let mut data = Vec::new();
        encode::write_map_len(&mut data, 3).unwrap();
        write_texts(&mut data, &[("state", "wait"), ("text", "too many attempts")]);
        encode::write_str(&mut data, "seconds").unwrap();
        encode::write_sint(&mut data, 1).unwrap();
        self.send_data(now, from, data);
    }

    fn tell(&mut self, now: Duration, from: SocketAddr, texts: &[(&str, &str)]) {
        let mut data = Vec::new();
        encode::write_map_len(&mut data, texts.len() as u32).unwrap();
        write_texts(&mut data, texts);
        self.send_data(now, from, data);
    }

    fn send_data(&mut self, now: Duration, from: SocketAddr, data: Vec<u8>) {
        let data = EventData::parse(data).unwrap();
        self.send_event(now, from, ViewData { view_id: VIEW, data });
    }

    fn ticket(&self, from: SocketAddr) -> String {
        format!("ticket{}", self.sessions[&from].player.0)
    }
}

fn write_texts(out: &mut Vec<u8>, texts: &[(&str, &str)]) {
    for text in texts.iter().flat_map(|(key, value)| [key, value]) {
        encode::write_str(out, text).unwrap();
    }
}

/// What a page sent.
#[derive(Default)]
struct Action {
    what: String,
    account: String,
    password: String,
    remember: bool,
}

impl Action {
    fn read(data: &[u8]) -> Self {
        let mut rest = data;
        let mut action = Self::default();
        for _ in 0..decode::read_map_len(&mut rest).unwrap() {
            let (key, after) = decode::read_str_from_slice(rest).unwrap();
            rest = after;
            if key == "remember" {
                action.remember = decode::read_bool(&mut rest).unwrap();
                continue;
            }
            let (value, after) = decode::read_str_from_slice(rest).unwrap();
            rest = after;
            let field = match key {
                "do" => &mut action.what,
                "account" => &mut action.account,
                "password" => &mut action.password,
                _ => panic!("{key} is not of the contract"),
            };
            *field = value.to_owned();
        }
        assert!(rest.is_empty());
        action
    }
}
