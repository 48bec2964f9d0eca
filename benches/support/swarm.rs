//! Many light clients in one thread: they join, acknowledge, answer keepalives, walk and chat, and check as little as
//! can be, so that the load's core holds a thousand of them.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use decitick_protocol::{
    ChatSend, ClientAck, ClientHello, ClientLaneEvent, ClientPong, PROTOCOL_VERSION, PacketId, PlainText,
    PlayerSync, RequestSpawn, SessionPacket, Vec3,
};

use super::{
    scene::{Scene, moment},
    sight::Sight,
    stamped::{Stamped, since_1970},
};

/// How long a sweep over all sockets waits for the next.
const SWEEP: Duration = Duration::from_millis(2);

/// Metres from the middle of the circle on which a player walks.
const CIRCLE: f32 = 3.0;
/// Radians from frame to frame there: 3 m/s at 10 Hz.
const STEP: f32 = 0.1;

struct Player {
    socket: UdpSocket,
    number: usize,
    id: u32,
    token: u64,
    next_event: u32,
    next_chat: u32,
    chats_acknowledged: u32,
    acknowledge: bool,
    /// Where the server put it.
    home: Option<Vec3>,
    seq: u32,
    next_sync: Instant,
    /// Lengths of what came after the ServerHello while they were recorded.
    lengths: Vec<usize>,
}

/// What a swarm sent and received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Lane events that came in order.
    pub(crate) events: u64,
    /// Frames that were sent.
    pub(crate) frames: u64,
}

/// The clients.
pub(crate) struct Swarm {
    players: Vec<Player>,
    pub(crate) counts: Counts,
    pub(crate) recording: bool,
    /// What they see of each other, once they stroll.
    pub(crate) sight: Option<Sight>,
    scene: Option<Scene>,
    stamped: Stamped,
    frames_every: Option<Duration>,
    started: Instant,
    out: Vec<u8>,
}

impl Swarm {
    /// `count` clients of `server`; none has sent anything yet.
    pub(crate) fn new(server: SocketAddr, count: usize) -> Self {
        let now = Instant::now();
        let player = |number| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(server).unwrap();
            socket.set_nonblocking(true).unwrap();
            Player {
                socket,
                number,
                id: 0,
                token: 0,
                next_event: 1,
                next_chat: 1,
                chats_acknowledged: 0,
                acknowledge: false,
                home: None,
                seq: 0,
                next_sync: now,
                lengths: Vec::new(),
            }
        };
        Self {
            players: (0..count).map(player).collect(),
            counts: Counts::default(),
            recording: false,
            sight: None,
            scene: None,
            stamped: Stamped::new(),
            frames_every: None,
            started: now,
            out: Vec::new(),
        }
    }

    /// All say hello at once; returns how long it took until the last was let in.
    pub(crate) fn join_all(&mut self) -> Duration {
        self.started = Instant::now();
        let mut asked = self.started;
        self.ask_again();
        while self.players.iter().any(|player| player.token == 0) {
            assert!(
                self.started.elapsed() < Duration::from_secs(20),
                "not all could join in 20 s"
            );
            if asked.elapsed() > Duration::from_millis(500) {
                asked = Instant::now();
                self.ask_again();
            }
            self.sweep();
        }
        self.started.elapsed()
    }

    fn ask_again(&mut self) {
        for index in 0..self.players.len() {
            if self.players[index].token == 0 {
                self.hello(index, 0);
            }
            // The first answers are read while the last hellos are sent.
            if index % 64 == 63 {
                for earlier in index - 63..=index {
                    self.receive(earlier);
                }
            }
        }
    }

    fn hello(&mut self, index: usize, cookie: u64) {
        let mut name = [0; 64];
        for (place, byte) in name.iter_mut().zip(format!("Player {index:04}").bytes()) {
            *place = byte;
        }
        let mut nonce = [0x5a; 32];
        nonce[..8].copy_from_slice(&(index as u64).to_le_bytes());
        let hello = ClientHello {
            protocol_version: PROTOCOL_VERSION,
            name,
            cookie,
            nonce,
            password_proof: [0; 32],
            credential_key: [0; 32],
            credential_proof: [0; 64],
        };
        self.out.clear();
        hello.encode(&mut self.out);
        self.send(index);
    }

    fn send(&mut self, index: usize) {
        // A full buffer loses it, as a network might; whoever counts looks at what came.
        if self.players[index].socket.send(&self.out).is_ok() {
            self.counts.sent += 1;
        }
    }

    /// Every player asks for a body and sends a frame so often, spread over the time between two.
    pub(crate) fn walk(&mut self, every: Duration) {
        self.frames_every = Some(every);
        let now = Instant::now();
        for index in 0..self.players.len() {
            self.players[index].next_sync = now + every.mul_f64(moment(index));
            let token = self.players[index].token;
            self.out.clear();
            SessionPacket::RequestSpawn(RequestSpawn).encode(token, &mut self.out);
            self.send(index);
        }
    }

    /// The same, but each walks in a circle from where the server put it, so that every frame is another, and who
    /// sees what of whom is counted.
    pub(crate) fn stroll(&mut self, every: Duration, scene: Scene) {
        let mut sight = Sight::new(self.players.len());
        for player in &self.players {
            sight.know(player.number, player.id);
            Stamped::enable(&player.socket);
        }
        self.sight = Some(sight);
        self.scene = Some(scene);
        self.walk(every);
    }

    /// One player says a line of 40 bytes.
    pub(crate) fn say(&mut self, index: usize) {
        let player = &mut self.players[index];
        let text = PlainText::parse(&format!("{:-<40}", player.next_chat)).unwrap();
        self.out.clear();
        ClientLaneEvent::ChatSend(ChatSend { text }).encode(player.token, player.next_chat, &mut self.out);
        player.next_chat += 1;
        self.send(index);
    }

    /// Lines of a player that were not acknowledged yet.
    pub(crate) fn unacknowledged(&self, index: usize) -> u32 {
        let player = &self.players[index];
        player.next_chat - 1 - player.chats_acknowledged
    }

    /// Runs all clients for so long.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let started = Instant::now();
        while started.elapsed() < time {
            self.sweep();
        }
    }

    /// Receives and answers what there is, once; then waits a little.
    pub(crate) fn sweep(&mut self) {
        let now = Instant::now();
        for index in 0..self.players.len() {
            self.receive(index);
            if std::mem::take(&mut self.players[index].acknowledge) {
                let player = &self.players[index];
                let ack = ClientAck {
                    ack: player.next_event - 1,
                };
                self.out.clear();
                SessionPacket::Ack(ack).encode(player.token, &mut self.out);
                self.send(index);
            }
            if let Some(every) = self.frames_every
                && self.players[index].home.is_some()
                && self.players[index].next_sync <= now
            {
                self.frame(index, every);
            }
        }
        thread::sleep(SWEEP.saturating_sub(now.elapsed()));
    }

    fn frame(&mut self, index: usize, every: Duration) {
        let player = &mut self.players[index];
        player.next_sync += every;
        player.seq += 1;
        let (position, velocity) = match (self.scene, player.home) {
            (Some(scene), Some(home)) => in_a_circle(home, scene.phase(player.number), player.seq),
            _ => to_and_fro(player.number, player.seq),
        };
        if let Some(sight) = &mut self.sight {
            sight.sent(index, player.seq, since_1970());
        }
        let frame = PlayerSync {
            seq: player.seq,
            position,
            velocity,
            heading: 0.5,
            area: 0,
            keys: 0,
            weapon: 0,
            stance: 0,
        };
        self.out.clear();
        SessionPacket::PlayerSync(frame).encode(player.token, &mut self.out);
        self.counts.frames += 1;
        self.send(index);
    }

    fn receive(&mut self, index: usize) {
        let mut buffer = [0; 2048];
        if self.sight.is_some() {
            while let Some((length, arrived)) = self.stamped.receive(&self.players[index].socket, &mut buffer)
            {
                self.take(index, &buffer[..length], arrived);
            }
            return;
        }
        while let Ok(length) = self.players[index].socket.recv(&mut buffer) {
            self.take(index, &buffer[..length], Duration::ZERO);
        }
    }

    fn take(&mut self, index: usize, datagram: &[u8], arrived: Duration) {
        self.counts.received += 1;
        let player = &mut self.players[index];
        if self.recording && player.token != 0 {
            player.lengths.push(datagram.len());
        }
        let Some(id) = PacketId::from_byte(datagram[0]) else {
            return;
        };
        match id {
            PacketId::ConnectChallenge if player.token == 0 => {
                self.hello(index, u64::from_le_bytes(datagram[1..9].try_into().unwrap()));
            }
            PacketId::ServerHello => {
                player.id = number_at(datagram, 3);
                player.token = u64::from_le_bytes(datagram[7..15].try_into().unwrap());
            }
            PacketId::RemotePlayerSync => {
                if let Some(sight) = &mut self.sight {
                    sight.frames(index, &datagram[2..], arrived);
                }
            }
            PacketId::ServerKeepalive => {
                let nonce = number_at(datagram, 1);
                self.out.clear();
                SessionPacket::Pong(ClientPong { nonce }).encode(player.token, &mut self.out);
                self.send(index);
            }
            PacketId::ServerAck => player.chats_acknowledged = number_at(datagram, 1),
            PacketId::ConnectReject | PacketId::KickNotify => {
                panic!("player {index} was thrown out: {datagram:02x?}")
            }
            id if id.is_server_lane() => {
                player.acknowledge = true;
                if number_at(datagram, 1) == player.next_event {
                    player.next_event += 1;
                    self.counts.events += 1;
                    self.event(index, id, datagram);
                }
            }
            _ => {}
        }
    }

    /// A lane event, in order.
    fn event(&mut self, index: usize, id: PacketId, datagram: &[u8]) {
        match (id, &mut self.sight) {
            (PacketId::SpawnPlayer, _) => {
                let component = |at| f32::from_bits(number_at(datagram, at));
                let (x, y, z) = (component(5), component(9), component(13));
                self.players[index].home = Some(Vec3 { x, y, z });
            }
            (PacketId::PlayerStreamIn, Some(sight)) => sight.enter(index, number_at(datagram, 5)),
            (PacketId::PlayerStreamOut, Some(sight)) => sight.leave(index, number_at(datagram, 5)),
            _ => {}
        }
    }

    /// What each got after its ServerHello while it was recorded.
    pub(crate) fn lengths(&self) -> Vec<Vec<usize>> {
        self.players.iter().map(|player| player.lengths.clone()).collect()
    }
}

/// Position and velocity on a grid of 40 m.
fn to_and_fro(number: usize, seq: u32) -> (Vec3, Vec3) {
    let swing = if seq % 20 < 10 { 0.3 } else { -0.3 };
    let position = Vec3 {
        x: 40.0 * (number % 32) as f32 + swing,
        y: 40.0 * (number / 32) as f32,
        z: 3.0,
    };
    let velocity = Vec3 {
        x: swing,
        y: 0.0,
        z: 0.0,
    };
    (position, velocity)
}

/// Position and velocity on a circle that begins at `home`.
fn in_a_circle(home: Vec3, phase: f32, seq: u32) -> (Vec3, Vec3) {
    let (sin_before, cos_before) = phase.sin_cos();
    let (sin, cos) = (phase + STEP * seq as f32).sin_cos();
    let position = Vec3 {
        x: home.x + CIRCLE * (sin - sin_before),
        y: home.y + CIRCLE * (cos_before - cos),
        z: home.z,
    };
    // Radians of a frame are a tenth of those of a second.
    let speed = CIRCLE * STEP * 10.0;
    let velocity = Vec3 {
        x: speed * cos,
        y: speed * sin,
        z: 0.0,
    };
    (position, velocity)
}

fn number_at(datagram: &[u8], start: usize) -> u32 {
    u32::from_le_bytes(datagram[start..start + 4].try_into().unwrap())
}
