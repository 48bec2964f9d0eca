//! Where the HTTP edge meets the tick: questions come in through one bounded channel, answers go back by number.
//!
//! The tick side never waits: it takes what is there and puts answers where there is room. A watcher who does not take
//! what changes is cut off with a last word.

use std::{collections::BTreeMap, fmt, time::Duration};

use decitick_components::remote::{
    Asked, RemoteAnswer, RemoteError, RemoteInbox, RemoteLeft, RemoteOutbox, RemoteQuestion, RemoteRequest,
    RemoteResult, RemoteSlow, RemoteWatch, codes,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

/// Questions that wait between the edge and the tick, beside those in the [`RemoteInbox`].
const CHANNEL: usize = RemoteInbox::CAPACITY;
/// Events that wait for a watcher, and room for the last word.
const EVENTS: usize = 8 + 1;

/// The tick's end: numbers requests and knows who asked.
#[derive(Debug)]
pub struct RemoteHub {
    letters: mpsc::Receiver<Letter>,
    asked: BTreeMap<u64, Asker>,
    next_id: u64,
}

/// The edge's end; clones share the hub.
#[derive(Clone, Debug)]
pub struct RemoteHandle {
    letters: mpsc::Sender<Letter>,
}

#[derive(Debug)]
struct Letter {
    asked: Asked,
    asker: Asker,
}

#[derive(Debug)]
enum Asker {
    Once(oneshot::Sender<RemoteResult>),
    Watch(mpsc::Sender<RemoteResult>),
}

impl RemoteHub {
    /// A hub, and the handle its edge clones.
    #[must_use]
    pub fn new() -> (Self, RemoteHandle) {
        let (sender, letters) = mpsc::channel(CHANNEL);
        let hub = Self {
            letters,
            asked: BTreeMap::new(),
            next_id: 1,
        };
        (hub, RemoteHandle { letters: sender })
    }

    /// Moves waiting questions into the inbox under fresh ids, as many as it has room for, and notes who left. Never
    /// waits.
    pub fn drain_into(&mut self, inbox: &mut RemoteInbox, left: &mut RemoteLeft) {
        self.asked.retain(|&id, asker| {
            let waits = asker.waits();
            if !waits {
                left.0.push(id);
            }
            waits
        });
        while inbox.room() > 0 {
            let Ok(Letter { asked, asker }) = self.letters.try_recv() else {
                return;
            };
            if asker.waits() {
                let id = self.next_id;
                self.next_id = self.next_id.wrapping_add(1);
                self.asked.insert(id, asker);
                inbox.0.push_back(RemoteRequest { id, asked });
            }
        }
    }

    /// Writes down which watchers have not taken yet what they were told.
    pub fn tell_slow(&self, slow: &mut RemoteSlow) {
        slow.0.clear();
        let behind = self.asked.iter().filter(|(_, asker)| asker.is_behind());
        slow.0.extend(behind.map(|(&id, _)| id));
    }

    /// Hands every answer to who asked and empties the outbox. Never waits; an answer nobody waits for is dropped.
    pub fn deliver(&mut self, outbox: &mut RemoteOutbox, left: &mut RemoteLeft) {
        for RemoteAnswer { id, result, more } in outbox.0.drain(..) {
            if more {
                self.deliver_event(id, result, left);
                continue;
            }
            match self.asked.remove(&id) {
                // Failures mean that the asker left; there is always room for a last word.
                Some(Asker::Once(sender)) => drop(sender.send(result)),
                Some(Asker::Watch(sender)) => drop(sender.try_send(result)),
                None => {}
            }
        }
    }

    fn deliver_event(&mut self, id: u64, event: RemoteResult, left: &mut RemoteLeft) {
        let Some(Asker::Watch(sender)) = self.asked.get(&id) else {
            return;
        };
        if sender.capacity() > 1 && sender.try_send(event).is_ok() {
            return;
        }
        let _ = sender.try_send(Err(RemoteError::new(
            codes::CUT_OFF,
            "cut off: this reader is too slow for what it watches",
        )));
        self.asked.remove(&id);
        left.0.push(id);
    }

    /// Whether nobody asks and nobody waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.letters.is_empty()
    }
}

impl Asker {
    fn is_behind(&self) -> bool {
        match self {
            Self::Once(_) => false,
            Self::Watch(sender) => sender.capacity() < sender.max_capacity(),
        }
    }

    fn waits(&self) -> bool {
        match self {
            Self::Once(sender) => !sender.is_closed(),
            Self::Watch(sender) => !sender.is_closed(),
        }
    }
}

/// A question that is under way.
#[derive(Debug)]
pub(super) struct Awaited(oneshot::Receiver<RemoteResult>);

impl Awaited {
    /// Waits for the answer, at most `patience`.
    pub(super) async fn answer(self, patience: Duration) -> Result<RemoteResult, AskError> {
        match timeout(patience, self.0).await {
            Ok(answer) => answer.map_err(|_| AskError::Stopped),
            Err(_) => Err(AskError::TooLate { patience }),
        }
    }
}

impl RemoteHandle {
    /// Asks one question and waits for its answer, at most `patience`.
    ///
    /// # Errors
    /// [`AskError`]: it was not answered.
    pub async fn ask(&self, question: RemoteQuestion, patience: Duration) -> Result<RemoteResult, AskError> {
        self.begin(question)?.answer(patience).await
    }

    /// Asks one question.
    pub(super) fn begin(&self, question: RemoteQuestion) -> Result<Awaited, AskError> {
        let (sender, receiver) = oneshot::channel();
        self.post(Asked::Once(question), Asker::Once(sender))?;
        Ok(Awaited(receiver))
    }

    /// Watches something. The end of a watch is an error; nothing after it means that the server stops. Dropping the
    /// receiver ends the watch.
    ///
    /// # Errors
    /// [`AskError::Busy`] and [`AskError::Stopped`].
    pub fn watch(&self, watch: RemoteWatch) -> Result<mpsc::Receiver<RemoteResult>, AskError> {
        let (sender, receiver) = mpsc::channel(EVENTS);
        self.post(Asked::Watch(watch), Asker::Watch(sender))?;
        Ok(receiver)
    }

    fn post(&self, asked: Asked, asker: Asker) -> Result<(), AskError> {
        self.letters
            .try_send(Letter { asked, asker })
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => AskError::Busy,
                mpsc::error::TrySendError::Closed(_) => AskError::Stopped,
            })
    }
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskError {
    /// Too many questions wait; this one was not taken.
    Busy,
    /// No answer came in time.
    TooLate {
        /// How long was waited.
        patience: Duration,
    },
    /// The server stops.
    Stopped,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("busy: too many questions wait; try again"),
            Self::TooLate { patience } => write!(
                f,
                "no answer within {} s: the tick is held up, or too much is asked",
                patience.as_secs()
            ),
            Self::Stopped => f.write_str("the server stops"),
        }
    }
}

impl std::error::Error for AskError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(hub: &mut RemoteHub) -> (Vec<RemoteRequest>, Vec<u64>) {
        let (mut inbox, mut left) = (RemoteInbox::default(), RemoteLeft::default());
        hub.drain_into(&mut inbox, &mut left);
        (inbox.0.into(), left.0)
    }

    fn watch() -> RemoteWatch {
        let entity: decitick_components::remote::ListOf =
            serde_json::from_str(r#"{"entity": "1v0"}"#).unwrap();
        RemoteWatch::ListComponents(entity)
    }

    #[test]
    fn an_answer_goes_to_who_asked_and_an_asker_who_left_is_told_of_once() {
        let (mut hub, handle) = RemoteHub::new();
        let mut first = handle.begin(RemoteQuestion::ListResources).unwrap();
        let second = handle.begin(RemoteQuestion::ListSchedules).unwrap();
        let (requests, left) = taken(&mut hub);
        assert_eq!((requests.len(), left.len()), (2, 0));
        let gone = requests[1].id;
        drop(second);
        assert_eq!(taken(&mut hub).1, [gone]);
        assert_eq!(taken(&mut hub).1, Vec::<u64>::new());
        let mut outbox = RemoteOutbox(vec![RemoteAnswer {
            id: requests[0].id,
            result: Ok("[]".to_owned()),
            more: false,
        }]);
        hub.deliver(&mut outbox, &mut RemoteLeft::default());
        assert_eq!(first.0.try_recv(), Ok(Ok("[]".to_owned())));
        assert!(outbox.0.is_empty() && hub.is_idle());
    }

    #[test]
    fn a_full_channel_is_busy_and_one_without_a_hub_is_stopped() {
        let (hub, handle) = RemoteHub::new();
        let waiting: Vec<_> = (0..CHANNEL)
            .map(|_| handle.begin(RemoteQuestion::ListResources).unwrap())
            .collect();
        let refused = |error| matches!(handle.begin(RemoteQuestion::ListResources), Err(e) if e == error);
        assert!(refused(AskError::Busy));
        drop(hub);
        assert!(refused(AskError::Stopped));
        drop(waiting);
    }

    #[test]
    fn a_watcher_is_behind_until_it_has_taken_what_it_was_told() {
        let (mut hub, handle) = RemoteHub::new();
        let mut events = handle.watch(watch()).unwrap();
        let id = taken(&mut hub).0[0].id;
        let behind = |hub: &RemoteHub| {
            let mut slow = RemoteSlow(vec![99]);
            hub.tell_slow(&mut slow);
            slow.0
        };
        assert_eq!(behind(&hub), Vec::<u64>::new());
        let mut outbox = RemoteOutbox(vec![RemoteAnswer {
            id,
            result: Ok("1".to_owned()),
            more: true,
        }]);
        hub.deliver(&mut outbox, &mut RemoteLeft::default());
        assert_eq!(behind(&hub), [id]);
        events.try_recv().unwrap().unwrap();
        assert_eq!(behind(&hub), Vec::<u64>::new());
    }

    #[test]
    fn a_watcher_who_takes_nothing_is_cut_off_with_a_last_word() {
        let (mut hub, handle) = RemoteHub::new();
        let mut events = handle.watch(watch()).unwrap();
        let id = taken(&mut hub).0[0].id;
        let mut left = RemoteLeft::default();
        let mut sent = 0;
        while left.0.is_empty() {
            let mut outbox = RemoteOutbox(vec![RemoteAnswer {
                id,
                result: Ok(sent.to_string()),
                more: true,
            }]);
            hub.deliver(&mut outbox, &mut left);
            sent += 1;
        }
        assert_eq!(left.0, [id]);
        for event in 0..EVENTS - 1 {
            assert_eq!(events.try_recv(), Ok(Ok(event.to_string())));
        }
        let last = events.try_recv().unwrap().unwrap_err();
        assert!(last.code == codes::CUT_OFF && last.message.contains("too slow"));
        assert_eq!(events.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
        assert!(hub.is_idle());
    }
}
