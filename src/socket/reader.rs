//! The reader threads: from the kernel through the door into the mailbox.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::Receiver;
use decitick_components::{
    mailbox::{DoorNotice, HelloTicket, Route},
    reasons::DropReason,
};
use decitick_protocol::canonical;
use decitick_systems::door::{Door, DoorVerdict, count};

use super::{Epoch, Listener, Received, Sending, SharedMailbox, platform};

/// How long a reader sleeps at most before it looks whether it is to stop.
pub(crate) const READ_PATIENCE: Duration = Duration::from_millis(100);

/// How long a reader lets datagrams gather while they come thick: waking for each would cost more than judging it, and
/// the tick takes them together anyway. Arrival times are the kernel's and do not suffer.
const GATHERING: Duration = Duration::from_millis(1);

/// The running readers.
#[derive(Debug)]
pub struct Readers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Stops them and waits for their end, a tenth of a second at most.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a reader thread had panicked");
            }
        }
    }
}

/// Starts one reader for each listener. All share one door.
///
/// # Errors
/// When a thread cannot be started.
pub fn start_readers(
    listeners: &[Arc<Listener>],
    door: Door,
    notices: &Receiver<DoorNotice>,
    mailbox: &SharedMailbox,
    epoch: Epoch,
) -> io::Result<Readers> {
    let stop = Arc::new(AtomicBool::new(false));
    let door = Arc::new(Mutex::new(door));
    let mut threads = Vec::new();
    for (index, listener) in (0..=u8::MAX).zip(listeners) {
        let reader = Reader {
            index,
            listener: Arc::clone(listener),
            door: Arc::clone(&door),
            notices: notices.clone(),
            mailbox: mailbox.clone(),
            epoch,
            stop: Arc::clone(&stop),
        };
        threads.push(
            thread::Builder::new()
                .name(format!("reader-{index}"))
                .spawn(move || reader.run())?,
        );
    }
    Ok(Readers { stop, threads })
}

struct Reader {
    index: u8,
    listener: Arc<Listener>,
    door: Arc<Mutex<Door>>,
    notices: Receiver<DoorNotice>,
    mailbox: SharedMailbox,
    epoch: Epoch,
    stop: Arc<AtomicBool>,
}

/// What a reader keeps between batches, so that it allocates once.
#[derive(Default)]
struct Scratch {
    verdicts: Vec<DoorVerdict>,
    replies: Vec<u8>,
    reply_ends: Vec<(usize, usize)>,
    tidied_at: Duration,
    woken_at: Duration,
}

impl Reader {
    fn run(&self) {
        let mut receiver = platform::BatchReceiver::new(self.listener.wildcard);
        let mut sender = platform::BatchSender::new();
        let mut scratch = Scratch::default();
        while !self.stop.load(Ordering::Relaxed) {
            match receiver.receive(&self.listener.socket) {
                Ok(batch) => {
                    self.take(&batch, &mut scratch, &mut sender);
                    let full = batch.is_full();
                    let now = self.epoch.elapsed();
                    let thick = now.saturating_sub(scratch.woken_at) < GATHERING * 2;
                    scratch.woken_at = now;
                    if thick && !full {
                        // A socket that is quiet answers at once; a flood, which fills batches, is drained at once.
                        thread::sleep(GATHERING);
                    }
                    if now.saturating_sub(scratch.tidied_at) >= READ_PATIENCE {
                        scratch.tidied_at = now;
                        self.rest();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.rest(),
                Err(error) => {
                    // A socket error that stays would spin; one that passes costs a hundredth of a second.
                    tracing::warn!(address = %self.listener.address, %error, reason = "receive", "receiving failed");
                    thread::sleep(READ_PATIENCE / 10);
                }
            }
        }
    }

    /// About ten times a second, whether something came or not: the door learns what the tick has to say, gives up
    /// what it need not remember, and shows how full its tables are.
    fn rest(&self) {
        let now = self.epoch.elapsed();
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        self.learn(&mut door, now);
        door.tidy(now);
        let tables = door.tables();
        drop(door);
        let mut mailbox = self.mailbox.lock();
        mailbox.tally.tables.clear();
        mailbox.tally.tables.extend(tables);
    }

    /// Notices first: a session is known before a datagram that its ServerHello caused can arrive.
    fn learn(&self, door: &mut Door, now: Duration) {
        for notice in self.notices.try_iter() {
            door.learn(notice, now);
        }
    }

    fn take(
        &self,
        batch: &platform::ReceivedBatch<'_>,
        scratch: &mut Scratch,
        sender: &mut platform::BatchSender,
    ) {
        let now = self.epoch.elapsed();
        scratch.verdicts.clear();
        scratch.replies.clear();
        scratch.reply_ends.clear();
        let mut flooding = Vec::new();
        {
            let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            self.learn(&mut door, now);
            for (index, (received, bytes)) in batch.iter().enumerate() {
                let from = canonical(received.from);
                let verdict = door.answer(now, from, bytes, &mut scratch.replies);
                if verdict == DoorVerdict::Reply {
                    scratch.reply_ends.push((index, scratch.replies.len()));
                }
                scratch.verdicts.push(verdict);
            }
            door.take_flooding(&mut flooding);
        }
        self.reply(batch, scratch, sender);
        self.deposit(batch, &scratch.verdicts, now, flooding);
    }

    fn reply(
        &self,
        batch: &platform::ReceivedBatch<'_>,
        scratch: &Scratch,
        sender: &mut platform::BatchSender,
    ) {
        if scratch.reply_ends.is_empty() {
            return;
        }
        let mut start = 0;
        let mut answers = Vec::with_capacity(scratch.reply_ends.len());
        for &(index, end) in &scratch.reply_ends {
            let bytes = scratch.replies.get(start..end).unwrap_or_default();
            start = end;
            if let Some(received) = batch.received(index) {
                answers.push(Sending {
                    to: received.from,
                    local: received.local,
                    bytes,
                });
            }
        }
        let counts = sender.send(&self.listener.socket, &answers, |_| {});
        let mut mailbox = self.mailbox.lock();
        mailbox.tally.answered_bytes += counts.bytes;
        mailbox.tally.send_errors += counts.unreachable + counts.buffer_full + counts.other_errors;
    }

    fn deposit(
        &self,
        batch: &platform::ReceivedBatch<'_>,
        verdicts: &[DoorVerdict],
        now: Duration,
        mut flooding: Vec<std::net::SocketAddr>,
    ) {
        let mut mailbox = self.mailbox.lock();
        let mailbox = &mut *mailbox;
        mailbox.flooding.append(&mut flooding);
        mailbox.tally.kernel_lost += batch.newly_lost();
        for ((received, bytes), &verdict) in batch.iter().zip(verdicts) {
            let arrived = now.saturating_sub(received.held);
            let put = |slab: &mut decitick_components::mailbox::Batch, ticket: Option<HelloTicket>| {
                if slab.push(self.route(received), arrived, bytes, ticket) {
                    verdict
                } else {
                    DoorVerdict::Drop(DropReason::QueueFull)
                }
            };
            let became = match verdict {
                DoorVerdict::PassSession => put(&mut mailbox.sessions, None),
                DoorVerdict::PassHello(ticket) => put(&mut mailbox.hellos, Some(ticket)),
                DoorVerdict::Drop(_) | DoorVerdict::Reply => verdict,
            };
            count(&mut mailbox.tally, became, bytes.len());
        }
    }

    fn route(&self, received: &Received) -> Route {
        Route {
            peer: canonical(received.from),
            listener: self.index,
            local: received.local,
        }
    }
}
