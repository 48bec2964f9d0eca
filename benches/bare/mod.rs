//! Bare loops: recvmmsg, what must be done with each datagram, sendmmsg. No server around them.

pub(crate) mod batch;
pub(crate) mod echo;
pub(crate) mod hello;
pub(crate) mod relay;
pub(crate) mod room;

use std::{
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use nix::unistd::gettid;
use socket2::{Domain, Protocol, Socket, Type};

use self::batch::{Receiver, Sender};
use crate::support::{cores, cpu};

/// The server asks for as much.
const BUFFER: usize = 4 * 1024 * 1024;

/// What a bare loop does with what came in.
pub(crate) trait Behaviour: Send + 'static {
    /// Answers one batch.
    fn take(&mut self, socket: &UdpSocket, sender: &mut Sender, batch: &[(SocketAddr, &[u8])]);

    /// Does what the clock asks for; called after each batch, and when none came for a while.
    fn between(&mut self, _: &UdpSocket, _: &mut Sender) {}
}

/// A running bare loop on the server's core.
pub(crate) struct Bare {
    pub(crate) address: SocketAddr,
    thread_id: i32,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bare {
    /// Starts one on a loopback port.
    pub(crate) fn start(mut behaviour: impl Behaviour) -> Self {
        let socket = bind();
        let address = socket.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            cores::stay_on_server_core();
            tell.send(gettid().as_raw()).unwrap();
            let (mut receiver, mut sender) = (Receiver::new(), Sender::new());
            while !stopped.load(Ordering::Relaxed) {
                receiver.receive(&socket, |batch| behaviour.take(&socket, &mut sender, batch));
                behaviour.between(&socket, &mut sender);
            }
        });
        Self {
            address,
            thread_id: told.recv().unwrap(),
            stop,
            thread: Some(thread),
        }
    }

    /// CPU time of its thread so far.
    pub(crate) fn time(&self) -> Duration {
        cpu::of_own_thread(self.thread_id)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the bare loop ran to its end");
        }
    }
}

fn bind() -> UdpSocket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    socket.into()
}
