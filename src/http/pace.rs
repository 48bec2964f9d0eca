//! A connection whose client must take what it is sent: one that takes nothing, or next to nothing, is closed.
//!
//! Only time in which the connection waits for the client counts, so that a slow disk or a busy machine is nobody's fault.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep_until},
};

use super::HttpLimits;

/// How fast a client takes what it is sent; the time is an argument.
#[derive(Debug)]
struct Pace {
    limits: HttpLimits,
    /// Since when the client is waited for.
    waits_since: Option<Instant>,
    /// How much of that wait belongs to earlier windows.
    judged: Duration,
    /// How long it was waited for in this window, without the wait that goes on.
    waited: Duration,
    /// Bytes that it took in this window.
    taken: u64,
}

impl Pace {
    const fn new(limits: HttpLimits) -> Self {
        Self {
            limits,
            waits_since: None,
            judged: Duration::ZERO,
            waited: Duration::ZERO,
            taken: 0,
        }
    }

    /// It takes nothing now. When it is to be judged next; nothing when it is too slow already.
    fn waits(&mut self, now: Instant) -> Option<Instant> {
        let since = *self.waits_since.get_or_insert(now);
        let waits = now.saturating_duration_since(since);
        if waits >= self.limits.stall_time || !self.keeps_pace(waits) {
            return None;
        }
        let window = self.limits.pace_time.saturating_sub(self.waited) + self.judged;
        Some(since + self.limits.stall_time.min(window))
    }

    /// It took so much. Whether that is enough so far.
    fn takes(&mut self, now: Instant, bytes: usize) -> bool {
        self.taken = self.taken.saturating_add(bytes as u64);
        if let Some(since) = self.waits_since.take() {
            self.waited += now.saturating_duration_since(since).saturating_sub(self.judged);
            self.judged = Duration::ZERO;
        }
        self.keeps_pace(Duration::ZERO)
    }

    /// Judges the window once it is full, and begins the next one.
    fn keeps_pace(&mut self, waits: Duration) -> bool {
        let pace_time = self.limits.pace_time;
        if self.waited + waits.saturating_sub(self.judged) < pace_time {
            return true;
        }
        let least = pace_time.as_secs_f64() * self.limits.pace_bytes_per_second as f64;
        let enough = self.taken as f64 >= least;
        self.taken = 0;
        self.waited = Duration::ZERO;
        self.judged = waits;
        enough
    }
}

/// The connection.
#[derive(Debug)]
pub(super) struct Paced {
    stream: TcpStream,
    pace: Pace,
    /// Goes off when the client is to be judged.
    alarm: Pin<Box<Sleep>>,
}

impl Paced {
    pub(super) fn new(stream: TcpStream, limits: HttpLimits) -> Self {
        Self {
            stream,
            pace: Pace::new(limits),
            alarm: Box::pin(sleep_until(tokio::time::Instant::now())),
        }
    }

    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let too_slow = || io::Error::new(io::ErrorKind::TimedOut, "the client takes too little");
        if let Poll::Ready(result) = written {
            let enough = match result {
                Ok(bytes) => self.pace.takes(now(), bytes),
                Err(_) => true,
            };
            return Poll::Ready(if enough { result } else { Err(too_slow()) });
        }
        while let Some(next) = self.pace.waits(now()) {
            self.alarm.as_mut().reset(next.into());
            ready!(self.alarm.as_mut().poll(context));
        }
        Poll::Ready(Err(too_slow()))
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace() -> (Pace, Instant) {
        (Pace::new(HttpLimits::default()), Instant::now())
    }

    #[test]
    fn a_client_that_takes_nothing_is_given_up_after_the_stall_time() {
        let (mut pace, start) = pace();
        assert_eq!(pace.waits(start), Some(start + 15 * SECOND));
        assert_eq!(pace.waits(start + 14 * SECOND), Some(start + 15 * SECOND));
        assert_eq!(pace.waits(start + 15 * SECOND), None);
    }

    #[test]
    fn a_client_that_takes_a_byte_now_and_then_is_given_up_after_the_pace_time() {
        let (mut pace, start) = pace();
        for second in 0..29 {
            assert!(pace.waits(start + second * SECOND).is_some());
            assert!(pace.takes(start + (second + 1) * SECOND, 4000), "{second}");
        }
        let at = start + 29 * SECOND;
        assert_eq!(pace.waits(at), Some(at + SECOND), "the window is nearly full");
        assert!(!pace.takes(at + SECOND, 4000));
    }

    #[test]
    fn the_same_is_seen_while_it_is_waited_for() {
        let (mut pace, start) = pace();
        for turn in 0..2 {
            let at = start + 14 * SECOND * turn;
            assert!(pace.waits(at).is_some());
            assert!(pace.takes(at + 14 * SECOND, 1));
        }
        let at = start + 28 * SECOND;
        assert_eq!(pace.waits(at), Some(at + 2 * SECOND));
        assert_eq!(pace.waits(at + 2 * SECOND), None);
    }

    #[test]
    fn a_client_that_keeps_pace_is_served_for_ever() {
        let (mut pace, start) = pace();
        for second in 0..1000 {
            assert!(pace.waits(start + second * SECOND).is_some(), "{second}");
            assert!(pace.takes(start + (second + 1) * SECOND, 4096), "{second}");
        }
    }

    #[test]
    fn a_stall_is_as_long_whatever_window_it_falls_into() {
        let (mut pace, start) = pace();
        for turn in 0..2 {
            assert!(pace.waits(start + 10 * SECOND * turn).is_some());
            assert!(pace.takes(start + 10 * SECOND * (turn + 1), 100_000));
        }
        let stalled = start + 20 * SECOND;
        assert_eq!(pace.waits(stalled), Some(stalled + 10 * SECOND));
        assert_eq!(
            pace.waits(stalled + 10 * SECOND),
            Some(stalled + 15 * SECOND),
            "another window has begun"
        );
        assert_eq!(pace.waits(stalled + 15 * SECOND), None);
    }

    #[test]
    fn time_in_which_nobody_waits_for_the_client_does_not_count() {
        let (mut pace, start) = pace();
        for hour in 0..100 {
            assert!(pace.takes(start + hour * 3600 * SECOND, 1));
        }
    }
}
