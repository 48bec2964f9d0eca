//! Log lines leave on a thread of their own: a slow or full standard error costs lines, never a tick.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Sender, bounded};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait.
const WAITING_LINES: usize = 8192;
/// How long the end of the program waits for the lines that are left.
const LAST_WORDS: Duration = Duration::from_millis(500);

enum Parcel {
    Line(Vec<u8>),
    Flush(Sender<()>),
}

/// Takes log lines without ever waiting.
#[derive(Clone)]
pub(super) struct Background {
    parcels: Sender<Parcel>,
    lost: Arc<AtomicU64>,
}

impl Background {
    /// Starts the thread that writes to `output`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(mut output: impl Write + Send + 'static) -> io::Result<Self> {
        let (parcels, taken) = bounded(WAITING_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let lost_before = Arc::clone(&lost);
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            for parcel in taken {
                // A closed standard error has nobody to complain to.
                match parcel {
                    Parcel::Line(line) => {
                        let _ = output.write_all(&line);
                        let lost = lost_before.swap(0, Ordering::Relaxed);
                        if lost > 0 {
                            let _ =
                                writeln!(output, "{lost} log lines were lost: nobody read them fast enough");
                        }
                    }
                    Parcel::Flush(done) => {
                        let _ = output.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        })?;
        Ok(Self { parcels, lost })
    }

    /// Waits a moment until everything that was written so far is out.
    pub(super) fn flush(&self) {
        let (done, finished) = bounded(1);
        if self.parcels.send_timeout(Parcel::Flush(done), LAST_WORDS).is_ok() {
            let _ = finished.recv_timeout(LAST_WORDS);
        }
    }
}

impl Write for Background {
    /// Takes a whole line, or loses it and counts that.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.parcels.try_send(Parcel::Line(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'writer> MakeWriter<'writer> for Background {
    type Writer = Self;

    fn make_writer(&'writer self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixStream, time::Instant};

    use super::*;

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_time() {
        let (writing, reading) = UnixStream::pair().unwrap();
        let mut log = Background::start(writing).unwrap();
        let line = [b'x'; 1000];
        let begun = Instant::now();
        for _ in 0..WAITING_LINES * 2 {
            log.write_all(&line).unwrap();
        }
        // Far more than it takes, far less than a blocked write, which would never return.
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(log.lost.load(Ordering::Relaxed) > 0);
        drop(reading);
    }

    #[test]
    fn what_was_logged_before_the_end_is_out() {
        let (writing, mut reading) = UnixStream::pair().unwrap();
        let mut log = Background::start(writing).unwrap();
        log.write_all(b"last words\n").unwrap();
        log.flush();
        let mut text = [0; 11];
        io::Read::read_exact(&mut reading, &mut text).unwrap();
        assert_eq!(&text, b"last words\n");
    }
}
