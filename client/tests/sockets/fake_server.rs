//! A server of a few lines, made of the protocol crate's primitives: handshake, query, keepalive, spawn, chat echo and
//! frames, and a login before all that. It stands in for the real one, and misbehaves on request.

mod arena;
mod gate;
mod play;
mod site;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use decitick_protocol::*;

pub(super) use self::gate::Gate;

use self::gate::Pending;
use self::site::Site;

#[expect(
    clippy::disallowed_types,
    reason = "the stand-in of the server needs a socket"
)]
type Socket = std::net::UdpSocket;

/// How this server behaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Behaviour {
    /// Every n-th datagram of either way is lost; 0: none.
    pub(super) lose_every: u64,
    /// The first n datagrams are lost too.
    pub(super) lose_first: u64,
    /// Password it asks for.
    pub(super) password: Option<Password>,
    /// A new session is kicked after this time.
    pub(super) kick_after: Option<Duration>,
    /// Names that contain this are refused as taken.
    pub(super) refuse: Option<&'static str>,
    /// Keeps sending frames of players that were streamed out at once.
    pub(super) frames_after_stream_out: bool,
    /// Streams everybody in twice.
    pub(super) streams_in_twice: bool,
    /// Gives weapons and counts hits: two kill.
    pub(super) fights: bool,
    /// Shows an entity that moves.
    pub(super) things: bool,
    /// Holds newcomers until they have logged in.
    pub(super) gate: Option<Gate>,
    /// Answers nothing.
    pub(super) silent: bool,
}

/// What the server saw, for tests to look at.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) byes: usize,
    pub(super) chats: Vec<String>,
    pub(super) malformed: usize,
    /// Hits on somebody with a body, told from where the shooter's last frame was.
    pub(super) good_hits: u64,
    /// Any other hit.
    pub(super) bad_hits: u64,
    pub(super) deaths: u64,
    /// Packets of a client whose login was undecided that docs/protocol.md 1.5 does not let it send.
    pub(super) too_early: u64,
    /// Logins let in, by how.
    pub(super) logins: Vec<&'static str>,
    /// Pages that were reported as loaded.
    pub(super) pages_loaded: u64,
}

pub(super) struct FakeServer {
    pub(super) address: SocketAddr,
    pub(super) seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub(super) fn identity() -> ServerIdentity {
    ServerIdentity::from_seed(&[0x42; 32])
}

impl FakeServer {
    pub(super) fn start(behaviour: Behaviour) -> Self {
        let socket = Socket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let mut server = Server::new(socket, behaviour, Arc::clone(&seen));
        let ends = Arc::clone(&stop);
        #[expect(
            clippy::disallowed_methods,
            reason = "the stand-in of the server runs beside the client"
        )]
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                server.turn();
            }
        });
        Self {
            address,
            seen,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

struct Session {
    token: u64,
    player: (u32, u32),
    credential: [u8; 32],
    pending: Option<Pending>,
    since: Duration,
    next_keepalive: Duration,
    next_event: u32,
    unacked: BTreeMap<u32, (Vec<u8>, Duration)>,
    expected: u32,
    spawned: bool,
    was_spawned: bool,
    health: u8,
    frame: Option<PlayerSync>,
    last_frame: Option<PlayerSync>,
}

struct Server {
    socket: Socket,
    behaviour: Behaviour,
    seen: Arc<Mutex<Seen>>,
    started: Instant,
    cookies: CookieKey,
    password: Option<PasswordKey>,
    sessions: BTreeMap<SocketAddr, Session>,
    accounts: BTreeMap<String, String>,
    remembered: BTreeSet<[u8; 32]>,
    site: Option<Site>,
    next_tick: Duration,
    next_player: u32,
    datagrams: u64,
    ticks: u32,
}

impl Server {
    fn new(socket: Socket, behaviour: Behaviour, seen: Arc<Mutex<Seen>>) -> Self {
        let key = identity().public_key();
        #[expect(
            clippy::disallowed_methods,
            reason = "the stand-in of the server lives in real time"
        )]
        let started = Instant::now();
        Self {
            socket,
            password: behaviour
                .password
                .as_ref()
                .map(|password| PasswordKey::derive(password, &key)),
            site: behaviour.gate.as_ref().and_then(Site::open),
            behaviour,
            seen,
            accounts: BTreeMap::new(),
            remembered: BTreeSet::new(),
            started,
            cookies: CookieKey::new([9; 16]),
            sessions: BTreeMap::new(),
            next_tick: Duration::ZERO,
            next_player: 0,
            datagrams: 0,
            ticks: 0,
        }
    }

    fn turn(&mut self) {
        let mut room = [0; 2048];
        if let Ok((length, from)) = self.socket.recv_from(&mut room)
            && !self.is_lost()
            && !self.behaviour.silent
        {
            self.take(self.started.elapsed(), from, &room[..length]);
        }
        if let Some(site) = &self.site {
            site.serve();
        }
        let now = self.started.elapsed();
        if now >= self.next_tick {
            self.next_tick = now + Duration::from_millis(100);
            self.tick(now);
        }
    }

    fn is_lost(&mut self) -> bool {
        self.datagrams += 1;
        if self.datagrams <= self.behaviour.lose_first {
            return true;
        }
        self.behaviour.lose_every > 0 && self.datagrams.is_multiple_of(self.behaviour.lose_every)
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        if !self.is_lost() {
            let _ = self.socket.send_to(datagram, to);
        }
    }

    fn send_packet(&mut self, to: SocketAddr, packet: &ServerPacket) {
        let mut datagram = Vec::new();
        packet.encode(&mut datagram);
        self.send(to, &datagram);
    }

    fn send_event(&mut self, now: Duration, to: SocketAddr, event: impl Into<ServerLaneEvent>) {
        let Some(session) = self.sessions.get_mut(&to) else {
            return;
        };
        let mut datagram = Vec::new();
        event.into().encode(session.next_event, &mut datagram);
        session
            .unacked
            .insert(session.next_event, (datagram.clone(), now));
        session.next_event += 1;
        self.send(to, &datagram);
    }

    fn take(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match ClientPacket::decode(datagram) {
            Ok(ClientPacket::Query(request)) => self.answer_query(from, &request.nonce),
            Ok(ClientPacket::Hello(hello)) => self.take_hello(now, from, &hello),
            Ok(ClientPacket::Session {
                session_token,
                packet,
            }) if self.knows(from, session_token) => {
                self.take_session(now, from, packet);
            }
            Ok(ClientPacket::Lane {
                session_token,
                event_id,
                event,
            }) if self.knows(from, session_token) => {
                self.take_lane(now, from, event_id, event);
            }
            Ok(_) => {}
            Err(_) => self.seen.lock().unwrap().malformed += 1,
        }
    }

    fn knows(&self, from: SocketAddr, token: u64) -> bool {
        self.sessions
            .get(&from)
            .is_some_and(|session| session.token == token)
    }

    fn answer_query(&mut self, to: SocketAddr, nonce: &[u8; 32]) {
        let body = QueryBody {
            protocol_version: PROTOCOL_VERSION,
            server_version: ShownText::parse("0.0.0").unwrap(),
            minimum_client_version: ShownText::default(),
            name: ShownText::parse("Stand-in").unwrap(),
            mode: ShownText::default(),
            players: self.sessions.len() as u16,
            max_players: 1000,
            flags: u8::from(self.password.is_some()),
        };
        let mut datagram = Vec::new();
        identity().sign_query_answer(nonce, &body, &mut datagram);
        self.send(to, &datagram);
    }

    fn take_hello(&mut self, now: Duration, from: SocketAddr, hello: &ClientHello) {
        if self.cookies.judge(now, from, hello.cookie).is_none() {
            let cookie = self.cookies.issue(now, from);
            return self.send_packet(from, &ServerPacket::Challenge(ConnectChallenge { cookie }));
        }
        let key = self.password.as_ref();
        let name = PlayerName::from_field(&hello.name).unwrap();
        if key.is_some_and(|key| !key.verify(hello.cookie, &hello.nonce, &hello.password_proof)) {
            return self.refuse(from, RejectReason::WrongPassword, &hello.nonce);
        }
        if self
            .behaviour
            .refuse
            .is_some_and(|part| name.as_str().contains(part))
        {
            return self.refuse(from, RejectReason::NameTaken, &hello.nonce);
        }
        if !self.sessions.contains_key(&from) {
            self.open_session(now, from, hello.credential_key);
            self.hold(now, from);
        }
        let session = &self.sessions[&from];
        let mut datagram = Vec::new();
        ServerHello {
            protocol_version: PROTOCOL_VERSION,
            player_id: session.player.0,
            session_token: session.token,
            player_token: session.player.1,
            hours: 12,
            minutes: 0,
            weather: 1,
            driveby_interval: [0; 12],
            garage_doors: 0,
            client_files_port: 7778,
            auth_pending: session.pending.is_some(),
            server_key: [0; 32],
            signature: [0; 64],
        }
        .encode(&mut datagram);
        identity().seal_hello(&hello.nonce, &mut datagram).unwrap();
        self.send(from, &datagram);
    }

    fn refuse(&mut self, to: SocketAddr, reason: RejectReason, nonce: &[u8; 32]) {
        let mut datagram = Vec::new();
        ConnectReject::unsigned(reason).encode(&mut datagram);
        identity().seal_reject(nonce, &mut datagram).unwrap();
        self.send(to, &datagram);
    }

    fn open_session(&mut self, now: Duration, from: SocketAddr, credential: [u8; 32]) {
        let id = self.next_player;
        self.next_player += 1;
        let session = Session {
            token: 0xABCD_0000 + u64::from(id),
            player: (id, id + 1),
            credential,
            pending: None,
            since: now,
            next_keepalive: now,
            next_event: 1,
            unacked: BTreeMap::new(),
            expected: 1,
            spawned: false,
            was_spawned: false,
            health: 100,
            frame: None,
            last_frame: None,
        };
        self.sessions.insert(from, session);
    }
}
