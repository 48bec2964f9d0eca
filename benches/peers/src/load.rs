//! Clients of the renet server in one thread; each sends a frame every 100 ms and counts what it sees of the others.

use std::{
    error::Error,
    net::{SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use renet::{ConnectionConfig, DefaultChannel, RenetClient};
use renet_netcode::{ClientAuthentication, NetcodeClientTransport};

use crate::{
    BEAT, PROTOCOL, RECORD,
    scene::{Scene, moment},
    sight::Sight,
    since_1970,
};

const WINDOW: Duration = Duration::from_secs(5);
/// Before the window: all have joined and walk.
const SETTLE: Duration = Duration::from_secs(1);
/// After it: until what is on its way has come.
const DRAIN: Duration = Duration::from_millis(350);
/// How long all may take to join.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a sweep over all clients waits for the next.
const SWEEP: Duration = Duration::from_millis(2);
/// Where the sequence number is in a frame's message.
const SEQUENCE: usize = 9;

struct Client {
    renet: RenetClient,
    transport: NetcodeClientTransport,
    last: Instant,
    seq: u32,
    next_frame: Instant,
}

struct Load {
    clients: Vec<Client>,
    sight: Sight,
    walking: bool,
}

/// Joins, walks, and says on standard output: `open`, `closed`, then frames, relayed, expected, delivered and the
/// latency's p50 in milliseconds.
pub(crate) fn run(address: SocketAddr, scene: Scene) -> Result<(), Box<dyn Error>> {
    let mut load = Load::new(address, scene)?;
    let started = Instant::now();
    while !load.clients.iter().all(|client| client.renet.is_connected()) {
        if started.elapsed() > PATIENCE {
            return Err("not all could join in 20 s".into());
        }
        load.sweep()?;
    }
    load.walk();
    load.run_for(SETTLE)?;
    load.sight.open();
    println!("open");
    load.run_for(WINDOW)?;
    println!("closed");
    load.sight.close();
    load.run_for(DRAIN)?;
    let seen = load.sight.seen();
    println!(
        "{} {} {} {} {}",
        seen.frames, seen.relayed, seen.expected, seen.delivered, seen.latency_p50_ms
    );
    Ok(())
}

impl Load {
    fn new(address: SocketAddr, scene: Scene) -> Result<Self, Box<dyn Error>> {
        let mut sight = Sight::new(scene.players);
        let mut clients = Vec::new();
        for number in 0..scene.players {
            sight.know(number, number as u32);
            clients.push(Client::new(address, number)?);
        }
        for viewer in 0..scene.players {
            for other in scene.in_view(viewer) {
                sight.enter(viewer, other as u32);
            }
        }
        Ok(Self {
            clients,
            sight,
            walking: false,
        })
    }

    /// Frames from now on, spread over the time between two.
    fn walk(&mut self) {
        let now = Instant::now();
        for (number, client) in self.clients.iter_mut().enumerate() {
            client.next_frame = now + BEAT.mul_f64(moment(number));
        }
        self.walking = true;
    }

    fn run_for(&mut self, time: Duration) -> Result<(), Box<dyn Error>> {
        let started = Instant::now();
        while started.elapsed() < time {
            self.sweep()?;
        }
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), Box<dyn Error>> {
        let started = Instant::now();
        for (number, client) in self.clients.iter_mut().enumerate() {
            client.update()?;
            while let Some(message) = client.renet.receive_message(DefaultChannel::Unreliable) {
                self.sight.frames(number, &message, since_1970()?);
            }
            if self.walking && client.next_frame <= started {
                self.sight.sent(number, client.seq + 1, since_1970()?);
                client.frame()?;
            }
        }
        thread::sleep(SWEEP.saturating_sub(started.elapsed()));
        Ok(())
    }
}

impl Client {
    fn new(address: SocketAddr, number: usize) -> Result<Self, Box<dyn Error>> {
        let authentication = ClientAuthentication::Unsecure {
            protocol_id: PROTOCOL,
            client_id: number as u64,
            server_addr: address,
            user_data: None,
        };
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let now = Instant::now();
        Ok(Self {
            renet: RenetClient::new(ConnectionConfig::default()),
            transport: NetcodeClientTransport::new(since_1970()?, authentication, socket)?,
            last: now,
            seq: 0,
            next_frame: now,
        })
    }

    fn update(&mut self) -> Result<(), Box<dyn Error>> {
        let passed = self.last.elapsed();
        self.last += passed;
        self.renet.update(passed);
        self.transport.update(passed, &mut self.renet)?;
        Ok(())
    }

    fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        self.next_frame += BEAT;
        self.seq += 1;
        let mut message = vec![0; RECORD];
        message[SEQUENCE..SEQUENCE + 4].copy_from_slice(&self.seq.to_le_bytes());
        self.renet.send_message(DefaultChannel::Unreliable, message);
        self.transport.send_packets(&mut self.renet)?;
        Ok(())
    }
}
