//! What systemd is told when it runs the server: that it is ready, that it still ticks, and that it stops.
//!
//! It says nothing without `NOTIFY_SOCKET`. It has a thread of its own, since a service manager that does not listen
//! must hold up nobody, and it knows of the tick only its pulse.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sd_notify::NotifyState;

use crate::pulse::{Health, Pulse};

/// How often a server that starts is looked at.
const STARTING: Duration = Duration::from_millis(50);

/// The running thread. Dropped, it ends without a word.
#[derive(Debug)]
pub struct ServiceManager {
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl ServiceManager {
    /// Begins to tell the service manager how the server is; `None` when there is no service manager.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn attach(pulse: Arc<Pulse>) -> io::Result<Option<Self>> {
        if std::env::var_os("NOTIFY_SOCKET").is_none_or(|name| name.is_empty()) {
            return Ok(None);
        }
        // Three times within what the service manager allows.
        let guarded = sd_notify::watchdog_enabled().map(|limit| limit / 3);
        let (stop, stopped) = bounded(0);
        let thread = thread::Builder::new()
            .name("service-manager".to_owned())
            .spawn(move || tell(&pulse, guarded, &stopped))?;
        Ok(Some(Self {
            stop,
            thread: Some(thread),
        }))
    }

    /// Says that the server stops, and ends the thread.
    pub fn finish(mut self) {
        say(&[NotifyState::Stopping]);
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

fn tell(pulse: &Pulse, guarded: Option<Duration>, stopped: &Receiver<()>) {
    // Nothing is ever sent: a channel that is closed is the end.
    let goes_on = |pause: Duration| stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
    while pulse.unready().is_some() {
        if !goes_on(STARTING) {
            return;
        }
    }
    say(&[NotifyState::Ready]);
    let Some(guarded) = guarded else {
        return;
    };
    loop {
        // A tick that hangs is what the guard is for: it hears nothing then.
        if pulse.health() == Health::Ticks {
            say(&[NotifyState::Watchdog]);
        }
        if !goes_on(guarded) {
            return;
        }
    }
}

fn say(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, reason = "service_manager", "the service manager does not listen");
    }
}
