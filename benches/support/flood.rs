//! Floods: a thread that sends at a steady pace from many sockets until it is dropped.

use std::{
    io::IoSlice,
    net::{SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use decitick_protocol::{ClientHello, PROTOCOL_VERSION, QueryRequest};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};

use super::cores;

const SOCKETS: usize = 64;
const BURST: usize = 64;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flooding {
    /// ClientHellos without a cookie, each from the next socket.
    Hellos,
    /// Query requests, each from the next socket.
    Queries,
    /// Bytes that are no packet of anybody's, whole bursts from a socket.
    Junk,
}

/// A running flood.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// Sends `per_second` datagrams to `server` from now on.
    pub(crate) fn start(kind: Flooding, per_second: u64, server: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(AtomicU64::new(0));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&sent));
        let thread = thread::spawn(move || {
            cores::stay_on_load_core();
            Sender::new(kind, server).run(per_second, &stopped, &counted);
        });
        Self {
            stop,
            sent,
            thread: Some(thread),
        }
    }

    /// Datagrams sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the flood ran to its end");
        }
    }
}

struct Sender {
    kind: Flooding,
    sockets: Vec<UdpSocket>,
    datagrams: Vec<Vec<u8>>,
    next: usize,
}

impl Sender {
    fn new(kind: Flooding, server: SocketAddr) -> Self {
        let open = |_| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(server).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        Self {
            kind,
            sockets: (0..SOCKETS).map(open).collect(),
            datagrams: datagrams(kind),
            next: 0,
        }
    }

    fn run(&mut self, per_second: u64, stop: &AtomicBool, sent: &AtomicU64) {
        let started = Instant::now();
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            let due = started.elapsed().as_micros() as u64 * per_second / 1_000_000;
            // Who was held up does not catch up in one burst.
            count = count.max(due.saturating_sub(per_second / 50));
            while count < due {
                count += self.send();
            }
            sent.store(count, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn send(&mut self) -> u64 {
        self.next += 1;
        let socket = &self.sockets[self.next % SOCKETS];
        if self.kind != Flooding::Junk {
            // What the kernel does not take is not counted by the receiver either.
            let _ = socket.send(&self.datagrams[self.next % self.datagrams.len()]);
            self.drain();
            return 1;
        }
        let first = self.next * BURST;
        let slices: Vec<[IoSlice<'_>; 1]> = (first..first + BURST)
            .map(|index| [IoSlice::new(&self.datagrams[index % self.datagrams.len()])])
            .collect();
        let mut headers: MultiHeaders<SockaddrStorage> = MultiHeaders::preallocate(BURST, None);
        let nowhere = vec![None; BURST];
        let _ = sendmmsg(
            socket.as_raw_fd(),
            &mut headers,
            slices.iter(),
            nowhere,
            [],
            MsgFlags::MSG_DONTWAIT,
        );
        BURST as u64
    }

    /// Answers are read, so that sending them costs the other side what it costs in earnest.
    fn drain(&self) {
        let mut buffer = [0; 512];
        while self.sockets[(self.next + SOCKETS / 2) % SOCKETS]
            .recv(&mut buffer)
            .is_ok()
        {}
    }
}

fn datagrams(kind: Flooding) -> Vec<Vec<u8>> {
    match kind {
        Flooding::Hellos => (0..=255).map(hello).collect(),
        Flooding::Queries => (0..=255).map(query).collect(),
        Flooding::Junk => junk(),
    }
}

fn hello(number: u8) -> Vec<u8> {
    let mut datagram = Vec::new();
    let mut name = [0; 64];
    name[..5].copy_from_slice(b"Nobod");
    ClientHello {
        protocol_version: PROTOCOL_VERSION,
        name,
        cookie: 0,
        nonce: [number; 32],
        password_proof: [0; 32],
        credential_key: [0; 32],
        credential_proof: [0; 64],
    }
    .encode(&mut datagram);
    datagram
}

fn query(number: u8) -> Vec<u8> {
    let mut datagram = Vec::new();
    QueryRequest {
        query_version: 1,
        nonce: [number; 32],
    }
    .encode(&mut datagram);
    datagram
}

/// Unknown ids, wrong lengths, and session packets of nobody, in equal parts.
fn junk() -> Vec<Vec<u8>> {
    let mut state = 1u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..300)
        .map(|index| {
            let (id, length) = match index % 3 {
                0 => (0xEE, 1 + usize::from(random())),
                1 => (0x01, 1 + usize::from(random()) % 200),
                _ => (0x03, 46),
            };
            let mut bytes: Vec<u8> = (0..length).map(|_| random()).collect();
            bytes[0] = id;
            bytes
        })
        .collect()
}
