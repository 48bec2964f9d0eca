//! What systemd is told when it runs the server: that it is ready, that it still ticks, and that it stops.
//!
//! It says nothing without `NOTIFY_SOCKET`. It has a thread of its own, since a service manager that does not listen
//! must hold up nobody, and it knows of the tick only how many there were.

use std::{
    io,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sd_notify::NotifyState;

/// How often a server that starts is looked at.
const STARTING: Duration = Duration::from_millis(50);
/// How often a server is looked at that nobody guards.
const UNGUARDED: Duration = Duration::from_secs(60);

/// The running thread. Dropped, it ends without a word.
#[derive(Debug)]
pub struct ServiceManager {
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl ServiceManager {
    /// Begins to tell the service manager of a server whose ticks `ticks` counts; `None` when there is none.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn attach(ticks: impl Fn() -> u64 + Send + 'static) -> io::Result<Option<Self>> {
        if std::env::var_os("NOTIFY_SOCKET").is_none_or(|name| name.is_empty()) {
            return Ok(None);
        }
        // Three times within what the service manager allows.
        let guarded = sd_notify::watchdog_enabled().map(|limit| limit / 3);
        let (stop, stopped) = bounded(0);
        let thread = thread::Builder::new()
            .name("service-manager".to_owned())
            .spawn(move || tell(&ticks, guarded, &stopped))?;
        Ok(Some(Self {
            stop,
            thread: Some(thread),
        }))
    }

    /// Says that the server stops. The ticks go on until everybody is told.
    pub fn stopping(&self) {
        say(&[NotifyState::Stopping]);
    }

    /// Ends the thread.
    pub fn finish(mut self) {
        let thread = self.thread.take();
        drop(self);
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the service manager had panicked");
        }
    }
}

impl Drop for ServiceManager {
    fn drop(&mut self) {
        // Closing the channel is what ends the thread.
        let (closed, _) = bounded(0);
        self.stop = closed;
    }
}

fn tell(ticks: &impl Fn() -> u64, guarded: Option<Duration>, stopped: &Receiver<()>) {
    let goes_on = |pause: Duration| {
        stopped.recv_deadline(Instant::now() + pause) == Err(crossbeam_channel::RecvTimeoutError::Timeout)
    };
    while ticks() == 0 {
        if !goes_on(STARTING) {
            return;
        }
    }
    say(&[NotifyState::Ready]);
    let mut seen = 0;
    loop {
        let now = ticks();
        // A tick that hangs is what the guard is for: it hears nothing then.
        if guarded.is_some() && now != seen {
            say(&[NotifyState::Watchdog]);
        }
        seen = now;
        if !goes_on(guarded.unwrap_or(UNGUARDED)) {
            return;
        }
    }
}

fn say(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, reason = "service_manager", "the service manager does not listen");
    }
}
