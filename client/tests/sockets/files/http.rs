//! An HTTP server of a few lines that answers as it is told.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

#[expect(
    clippy::disallowed_types,
    reason = "the stand-in of the server needs a connection"
)]
pub(super) type Stream = std::net::TcpStream;

/// One connection after the other, one request each.
pub(super) struct FakeHttp {
    pub(super) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FakeHttp {
    /// Answers each request by writing to its connection, which ends then.
    pub(super) fn start(answer: impl Fn(&str, &mut Stream) + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        #[expect(
            clippy::disallowed_methods,
            reason = "the stand-in of the server runs beside the client"
        )]
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let mut stream = stream.unwrap();
                if let Some(head) = head(&mut stream) {
                    answer(&head, &mut stream);
                }
            }
        });
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for FakeHttp {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = Stream::connect(self.address);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn head(stream: &mut Stream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.extend(byte);
    }
    Some(String::from_utf8(head).unwrap())
}

/// A whole response, after which the connection ends.
pub(super) fn respond(stream: &mut Stream, status: &str, headers: &str, content: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n",
        content.len()
    );
    // Whoever has enough goes.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(content));
}

/// Until the other side goes.
pub(super) fn wait_for_end(stream: &mut Stream) {
    let mut rest = [0; 64];
    while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
}

/// Writes the same thing again and again, slowly, until the other side goes.
pub(super) fn drip(stream: &mut Stream, first: &str, again: &str) {
    let _ = stream.write_all(first.as_bytes());
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    loop {
        // The wait between two drops also shows whether the other side is still there.
        let gone = stream.read(&mut [0; 8]).is_ok_and(|read| read == 0);
        if gone || stream.write_all(again.as_bytes()).is_err() {
            return;
        }
    }
}
