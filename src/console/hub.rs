//! Where console edges meet the tick: lines come in through one bounded channel, answers go back by number.
//!
//! The tick side never waits: it takes what is there and puts answers where there is room. An edge waits for its
//! own answer only.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded, select};
use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleLeft, ConsoleOutbox, ConsoleRequest};

/// Lines that wait between the edges and the tick, beside those in the [`ConsoleInbox`].
const CHANNEL: usize = ConsoleInbox::CAPACITY;
/// Parts of one answer that wait for their asker.
pub const MAX_PARTS: usize = 64;
/// Bytes of such parts.
pub const MAX_PART_BYTES: usize = 1 << 20;
/// What an asker is told whose answer was ended because it did not keep up.
pub const CUT_OFF: &str = "cut off: this console takes what it is told too slowly, and parts of the answer piled up; \
                           ask again, or ask for less";

/// The tick's end: numbers requests and knows who asked.
#[derive(Debug)]
pub struct ConsoleHub {
    questions: Receiver<Question>,
    asked: BTreeMap<u64, Asker>,
    /// Requests that nobody waits for any more, until the next tick is told.
    left: Vec<u64>,
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

/// Where the answer to one request goes.
#[derive(Debug)]
struct Asker {
    answers: Sender<ConsoleAnswer>,
    /// Dead once nobody waits any more.
    waiting: Weak<Waiting>,
}

/// What the two ends of one request share.
#[derive(Debug, Default)]
struct Waiting {
    /// Parts that were not taken yet.
    parts: AtomicUsize,
    /// Their bytes.
    bytes: AtomicUsize,
    /// Whether the hub ended the answer because too many waited.
    cut_off: AtomicBool,
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
                left: Vec::new(),
                next_id: 1,
                _running,
            },
            ConsoleHandle {
                questions: sender,
                running,
            },
        )
    }

    /// Moves waiting lines into the inbox under fresh ids, as many as it has room for, and writes down whose askers
    /// are gone since the last time. Never waits. Requests whose asker gave up before are left out.
    pub fn drain_into(&mut self, inbox: &mut ConsoleInbox, left: &mut ConsoleLeft) {
        let gone = self.asked.extract_if(.., |_, asker| !asker.waits());
        self.left.extend(gone.map(|(id, _)| id));
        left.0.clear();
        left.0.append(&mut self.left);
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

    /// Hands every answer to who asked and empties the outbox. Never waits; an answer nobody waits for is dropped. An
    /// asker that lets too many parts wait is forgotten, and reads why after those that wait.
    pub fn deliver(&mut self, outbox: &mut ConsoleOutbox) {
        for answer in outbox.0.drain(..) {
            if !answer.more {
                if let Some(asker) = self.asked.remove(&answer.id) {
                    // The channel keeps room for the last word; a failure means that the asker left.
                    let _ = asker.answers.try_send(answer);
                }
                continue;
            }
            let id = answer.id;
            let takes = self.asked.get(&id).is_some_and(|asker| asker.give_part(answer));
            if !takes && self.asked.remove(&id).is_some() {
                self.left.push(id);
            }
        }
    }
}

impl Asker {
    fn waits(&self) -> bool {
        self.waiting.strong_count() > 0
    }

    /// False when the asker left or is cut off.
    fn give_part(&self, part: ConsoleAnswer) -> bool {
        let Some(waiting) = self.waiting.upgrade() else {
            return false;
        };
        let bytes = part.text.len();
        let fits = waiting.parts.load(Ordering::Acquire) < MAX_PARTS
            && waiting.bytes.load(Ordering::Acquire).saturating_add(bytes) <= MAX_PART_BYTES;
        if !fits {
            waiting.cut_off.store(true, Ordering::Release);
            return false;
        }
        waiting.parts.fetch_add(1, Ordering::AcqRel);
        waiting.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.answers.try_send(part).is_ok()
    }
}

/// A request on its way. Dropped, its answer is wanted no more: one that goes on ends.
#[derive(Debug)]
pub struct Asking {
    answers: Receiver<ConsoleAnswer>,
    running: Receiver<Never>,
    waiting: Arc<Waiting>,
}

impl Asking {
    /// The next part or the last word, when one comes within `patience`; after the last word nothing more does.
    ///
    /// # Errors
    /// [`AskError::TooLate`] when none came: it may be asked again; [`AskError::CutOff`] after the parts that still
    /// waited; [`AskError::Stopped`] when the server ends.
    pub fn next(&self, patience: Duration) -> Result<ConsoleAnswer, AskError> {
        // What has come counts, whatever happened since.
        let answer = match self.answers.try_recv() {
            Ok(answer) => Ok(answer),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => select! {
                recv(self.answers) -> answer => answer.map_err(|_| RecvTimeoutError::Disconnected),
                // The answer may have come just before.
                recv(self.running) -> _ => self.answers.try_recv().map_err(|_| RecvTimeoutError::Disconnected),
                default(patience) => Err(RecvTimeoutError::Timeout),
            },
        };
        match answer {
            Ok(answer) => {
                if answer.more {
                    self.waiting.parts.fetch_sub(1, Ordering::AcqRel);
                    self.waiting.bytes.fetch_sub(answer.text.len(), Ordering::AcqRel);
                }
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => Err(AskError::TooLate { patience }),
            Err(RecvTimeoutError::Disconnected) if self.waiting.cut_off.load(Ordering::Acquire) => {
                Err(AskError::CutOff)
            }
            Err(RecvTimeoutError::Disconnected) => Err(AskError::Stopped),
        }
    }
}

impl ConsoleHandle {
    /// Asks one line; its answer comes in parts, or whole.
    ///
    /// # Errors
    /// [`AskError::Busy`] at once when too many lines wait; [`AskError::Stopped`] when the server ends.
    pub fn begin(&self, line: String) -> Result<Asking, AskError> {
        // One more for the last word, which always finds room.
        let (sender, receiver) = bounded(MAX_PARTS + 1);
        let waiting = Arc::new(Waiting::default());
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
        Ok(Asking {
            answers: receiver,
            running: self.running.clone(),
            waiting,
        })
    }

    /// Asks one line and waits for its whole answer, at most `patience`. For commands whose answer does not go on:
    /// the first that comes is taken.
    ///
    /// # Errors
    /// [`AskError::Busy`] at once when too many lines wait; [`AskError::TooLate`] after `patience`: the command may
    /// still be done; [`AskError::Stopped`] when the server ends.
    pub fn ask(&self, line: String, patience: Duration) -> Result<ConsoleAnswer, AskError> {
        self.begin(line)?.next(patience)
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
    /// Too many parts of the answer waited to be taken, so it was ended.
    CutOff,
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
            Self::CutOff => f.write_str(CUT_OFF),
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
            hub.drain_into(inbox, &mut ConsoleLeft::default());
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
        hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
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
        hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
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

    fn asked_by(hub: &mut ConsoleHub, handle: &ConsoleHandle) -> (Asking, u64) {
        let asking = handle.begin("watch 5 Motion".to_owned()).unwrap();
        let mut inbox = ConsoleInbox::default();
        hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
        (asking, inbox.0.pop_front().unwrap().id)
    }

    #[test]
    fn parts_come_in_order_before_the_last_word() {
        let (mut hub, handle) = ConsoleHub::new();
        let (asking, id) = asked_by(&mut hub, &handle);
        assert!(matches!(
            asking.next(Duration::ZERO),
            Err(AskError::TooLate { .. })
        ));
        let said = [
            ConsoleAnswer::part(id, "one".to_owned()),
            ConsoleAnswer::part(id, "two".to_owned()),
            ConsoleAnswer::last(id, true, "end".to_owned()),
        ];
        hub.deliver(&mut ConsoleOutbox(said.to_vec()));
        for answer in said {
            assert_eq!(asking.next(LONG), Ok(answer));
        }
        assert!(hub.asked.is_empty());
    }

    #[test]
    fn an_asker_that_takes_no_parts_is_forgotten_reads_those_that_waited_and_then_why() {
        let (mut hub, handle) = ConsoleHub::new();
        let (many, few) = (MAX_PARTS + 5, 2);
        for (count, text, waited) in [
            (many, "x".to_owned(), MAX_PARTS),
            (few, "x".repeat(MAX_PART_BYTES / 2 + 1), 1),
        ] {
            let (asking, id) = asked_by(&mut hub, &handle);
            hub.deliver(&mut ConsoleOutbox(vec![ConsoleAnswer::part(id, text); count]));
            let mut left = ConsoleLeft::default();
            hub.drain_into(&mut ConsoleInbox::default(), &mut left);
            assert_eq!(left.0, [id], "its producer is told once");
            for _ in 0..waited {
                assert!(asking.next(LONG).unwrap().more);
            }
            assert_eq!(asking.next(LONG), Err(AskError::CutOff));
            hub.drain_into(&mut ConsoleInbox::default(), &mut left);
            assert!(left.0.is_empty());
        }
    }

    #[test]
    fn an_asker_that_keeps_up_is_never_cut_off() {
        let (mut hub, handle) = ConsoleHub::new();
        let (asking, id) = asked_by(&mut hub, &handle);
        for n in 0..MAX_PARTS * 5 {
            hub.deliver(&mut ConsoleOutbox(vec![
                ConsoleAnswer::part(id, n.to_string());
                MAX_PARTS / 2
            ]));
            for _ in 0..MAX_PARTS / 2 {
                assert_eq!(asking.next(LONG).unwrap().text, n.to_string());
            }
        }
    }

    #[test]
    fn an_asker_that_leaves_in_the_middle_is_told_to_the_producer() {
        let (mut hub, handle) = ConsoleHub::new();
        let (asking, id) = asked_by(&mut hub, &handle);
        drop(asking);
        let mut left = ConsoleLeft(vec![99]);
        hub.drain_into(&mut ConsoleInbox::default(), &mut left);
        assert_eq!(left.0, [id]);
        assert!(hub.asked.is_empty());
    }
}
