//! Where scrapes meet the tick: whoever wants a snapshot waits, and all who wait get the same one.

use std::sync::Arc;

use decitick_components::metrics::{MetricsDesk, MetricsSnapshot};
use tokio::sync::{mpsc, oneshot};

/// Scrapes that wait for the tick.
const CHANNEL: usize = 32;

type Wanting = oneshot::Sender<Arc<MetricsSnapshot>>;

/// The tick's end.
#[derive(Debug)]
pub struct MetricsHub {
    wanting: mpsc::Receiver<Wanting>,
    waiting: Vec<Wanting>,
}

/// The edge's end; clones share the hub.
#[derive(Clone, Debug)]
pub struct MetricsHandle(mpsc::Sender<Wanting>);

impl MetricsHub {
    /// A hub, and the handle its edge clones.
    #[must_use]
    pub fn new() -> (Self, MetricsHandle) {
        let (sender, wanting) = mpsc::channel(CHANNEL);
        let hub = Self {
            wanting,
            waiting: Vec::new(),
        };
        (hub, MetricsHandle(sender))
    }

    /// Whether nobody wants anything.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.wanting.is_empty()
    }

    /// Says on the desk that a snapshot is wanted, when one is. Never waits.
    pub fn take_up(&mut self, desk: &mut MetricsDesk) {
        while self.waiting.len() < CHANNEL
            && let Ok(wanting) = self.wanting.try_recv()
        {
            self.waiting.push(wanting);
        }
        self.waiting.retain(|wanting| !wanting.is_closed());
        desk.wanted = !self.waiting.is_empty();
    }

    /// Hands the snapshot on the desk to all who wait. Never waits.
    pub fn deliver(&mut self, desk: &mut MetricsDesk) {
        let Some(snapshot) = desk.snapshot.take().map(Arc::new) else {
            return;
        };
        for wanting in self.waiting.drain(..) {
            // A failure means that the asker left.
            let _ = wanting.send(Arc::clone(&snapshot));
        }
    }
}

impl MetricsHandle {
    /// A snapshot as of the end of a tick to come; none when too many wait or the server stops. It may take for ever:
    /// bound the wait.
    pub async fn snapshot(&self) -> Option<Arc<MetricsSnapshot>> {
        let (sender, receiver) = oneshot::channel();
        self.0.try_send(sender).ok()?;
        receiver.await.ok()
    }
}
