//! Where console edges meet the tick: lines come in through one bounded channel, answers go back by number.
//!
//! The tick side never waits: it takes what is there and puts answers where there is room. An edge waits for its
//! own answer only.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};
use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleOutbox, ConsoleRequest};

/// Lines that wait between the edges and the tick, beside those in the [`ConsoleInbox`].
const CHANNEL: usize = ConsoleInbox::CAPACITY;

/// The tick's end: numbers requests and knows who asked.
#[derive(Debug)]
pub struct ConsoleHub {
    questions: Receiver<Question>,
    asked: BTreeMap<u64, Asker>,
    next_id: u64,
    /// Never sent on: that it is gone tells every asker, those whose line is still in the channel too.
    _running: Sender<Never>,
}

#[derive(Clone, Copy, Debug)]
enum Never {}

/// An edge's end; clones share the hub.
#[derive(Clone, Debug)]
pub struct ConsoleHandle {
    questions: Sender<Question>,
    running: Receiver<Never>,
}

struct Question {
    line: String,
    asker: Asker,
}

#[derive(Debug)]
struct Asker {
    answers: Sender<ConsoleAnswer>,
    /// Dead once nobody waits any more.
    waiting: Weak<()>,
}

impl ConsoleHub {
    /// A hub, and the handle its edges clone.
    #[must_use]
    pub fn new() -> (Self, ConsoleHandle) {
        let (sender, receiver) = bounded(CHANNEL);
        let (_running, running) = bounded(0);
        (
            Self {
                questions: receiver,
                asked: BTreeMap::new(),
                next_id: 1,
                _running,
            },
            ConsoleHandle {
                questions: sender,
                running,
            },
        )
    }

    /// Moves waiting lines into the inbox under fresh ids, as many as it has room for. Never waits. Requests whose
    /// asker gave up before are left out.
    pub fn drain_into(&mut self, inbox: &mut ConsoleInbox) {
        self.asked.retain(|_, asker| asker.waits());
        while inbox.room() > 0 {
            let Ok(question) = self.questions.try_recv() else {
                return;
            };
            if question.asker.waits() {
                let id = self.next_id;
                self.next_id = self.next_id.wrapping_add(1);
                self.asked.insert(id, question.asker);
                inbox.0.push_back(ConsoleRequest {
                    id,
                    line: question.line,
                });
            }
        }
    }

    /// Hands every answer to who asked and empties the outbox. Never waits; an answer nobody waits for is dropped.
    pub fn deliver(&mut self, outbox: &mut ConsoleOutbox) {
        for answer in outbox.0.drain(..) {
            if let Some(asker) = self.asked.remove(&answer.id) {
                // The channel has room for the one answer of this request; a failure means that the asker left.
                let _ = asker.answers.try_send(answer);
            }
        }
    }
}

impl Asker {
    fn waits(&self) -> bool {
        self.waiting.strong_count() > 0
    }
}

impl ConsoleHandle {
    /// Asks one line and waits for its answer, at most `patience`.
    ///
    /// # Errors
    /// [`AskError::Busy`] at once when too many lines wait; [`AskError::TooLate`] after `patience`: the command may
    /// still be done; [`AskError::Stopped`] when the server ends.
    pub fn ask(&self, line: String, patience: Duration) -> Result<ConsoleAnswer, AskError> {
        let (sender, receiver) = bounded(1);
        let waiting = Arc::new(());
        let asker = Asker {
            answers: sender,
            waiting: Arc::downgrade(&waiting),
        };
        self.questions
            .try_send(Question { line, asker })
            .map_err(|error| match error {
                TrySendError::Full(_) => AskError::Busy,
                TrySendError::Disconnected(_) => AskError::Stopped,
            })?;
        let answer = select! {
            recv(receiver) -> answer => answer.map_err(|_| AskError::Stopped),
            // The answer may have come just before.
            recv(self.running) -> _ => receiver.try_recv().map_err(|_| AskError::Stopped),
            default(patience) => Err(AskError::TooLate { patience }),
        };
        drop(waiting);
        answer
    }
}

impl fmt::Debug for Question {
    /// Leaves the line out: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} bytes)", self.line.len())
    }
}

/// Why a line has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskError {
    /// Too many lines wait; this one was not taken.
    Busy,
    /// No answer came in time; the command may still be done.
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
            Self::Busy => f.write_str("busy: too many commands wait, this one was not taken; try again"),
            Self::TooLate { patience } => write!(
                f,
                "no answer within {} s; the command may still be done, so look before you repeat it",
                patience.as_secs()
            ),
            Self::Stopped => f.write_str("the server stops; the command was not answered"),
        }
    }
}

impl std::error::Error for AskError {}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn wait_for_lines(hub: &mut ConsoleHub, inbox: &mut ConsoleInbox, count: usize) {
        while inbox.0.len() < count {
            hub.drain_into(inbox);
            thread::yield_now();
        }
    }

    #[test]
    fn every_asker_gets_its_own_answer_whatever_the_order() {
        let (mut hub, handle) = ConsoleHub::new();
        let askers: Vec<_> = (0..8)
            .map(|n| {
                let handle = handle.clone();
                thread::spawn(move || {
                    handle.ask(format!("line {n}"), LONG).unwrap().text == format!("re: line {n}")
                })
            })
            .collect();
        let mut inbox = ConsoleInbox::default();
        wait_for_lines(&mut hub, &mut inbox, 8);
        let mut outbox = ConsoleOutbox::default();
        for request in inbox.0.drain(..).rev() {
            outbox.0.push(ConsoleAnswer {
                id: request.id,
                ok: true,
                text: format!("re: {}", request.line),
                more: false,
            });
        }
        hub.deliver(&mut outbox);
        assert!(outbox.0.is_empty() && hub.asked.is_empty());
        assert!(askers.into_iter().all(|asker| asker.join().unwrap()));
    }

    #[test]
    fn an_inbox_takes_256_lines_the_channel_as_many_and_the_next_asker_is_told_busy() {
        let (mut hub, handle) = ConsoleHub::new();
        let ask_256_times = || {
            let asker = |_| {
                let handle = handle.clone();
                thread::spawn(move || handle.ask("status".to_owned(), LONG))
            };
            (0..ConsoleInbox::CAPACITY).map(asker).collect::<Vec<_>>()
        };
        let mut inbox = ConsoleInbox::default();
        let mut askers = ask_256_times();
        wait_for_lines(&mut hub, &mut inbox, ConsoleInbox::CAPACITY);
        askers.extend(ask_256_times());
        while !hub.questions.is_full() {
            thread::yield_now();
        }
        hub.drain_into(&mut inbox);
        assert_eq!(inbox.0.len(), ConsoleInbox::CAPACITY);
        assert_eq!(handle.ask("status".to_owned(), LONG), Err(AskError::Busy));
        drop(hub);
        for asker in askers {
            assert_eq!(asker.join().unwrap(), Err(AskError::Stopped));
        }
        assert_eq!(handle.ask("status".to_owned(), LONG), Err(AskError::Stopped));
    }

    #[test]
    fn an_asker_that_gives_up_leaves_nothing_behind() {
        let (mut hub, handle) = ConsoleHub::new();
        let patience = Duration::ZERO;
        let mut inbox = ConsoleInbox::default();
        assert_eq!(
            handle.ask("status".to_owned(), patience),
            Err(AskError::TooLate { patience })
        );
        hub.drain_into(&mut inbox);
        assert!(inbox.0.is_empty() && hub.asked.is_empty());
        let mut unknown = ConsoleOutbox(vec![ConsoleAnswer {
            id: 99,
            ok: true,
            text: String::new(),
            more: false,
        }]);
        hub.deliver(&mut unknown);
        assert!(unknown.0.is_empty());
    }
}
