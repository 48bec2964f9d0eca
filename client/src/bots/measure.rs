//! What the bots see, as numbers: latencies by stamp, rates against what was to be expected, losses.
//!
//! Latencies need no clock on the wire: sender and receiver are in one process, so the time of sending is looked up by
//! player, generation and sequence number, or by the stamp in a line of chat.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use decitick_protocol::MAX_PLAYERS;

use super::report::{Combat, Logins};
use super::times::Times;
use crate::client::Breach;

/// How many of a bot's latest frames and chat lines can still be looked up.
const REMEMBERED: usize = 64;
/// Most different entities that are told apart.
const ENTITIES: usize = 65_536;
/// Breaches that are described one by one; the rest are only counted.
const EXAMPLES: usize = 8;

/// When each of one player's latest frames was sent.
#[derive(Debug, Clone)]
struct SentFrames {
    player_token: u32,
    sent: [Option<(u32, Duration)>; REMEMBERED],
}

/// One bot's own chat lines: how many it sent, and when the latest ones.
#[derive(Debug, Clone, Default)]
struct SentChat {
    newest: u32,
    sent: VecDeque<(u32, Duration)>,
}

/// What all bots of a run measured together.
#[derive(Debug)]
pub(super) struct Measurements {
    /// Marks the chat lines of this run.
    run: u16,
    /// Whether the window that rates and latencies are taken from is open.
    pub(super) open: bool,
    pub(super) join: Times,
    pub(super) logins: Logins,
    pub(super) login: Times,
    pub(super) spawn: Times,
    pub(super) rtt: Times,
    pub(super) frame_relay: Times,
    pub(super) chat_relay: Times,
    /// How late the loop came to what was due.
    pub(super) lateness: Times,
    pub(super) frames_received: u64,
    pub(super) frames_expected: f64,
    pub(super) chat_sent: u64,
    pub(super) chat_returned: u64,
    pub(super) chat_received: u64,
    pub(super) chat_repeated: u64,
    pub(super) chat_out_of_order: u64,
    pub(super) chat_missed: u64,
    pub(super) combat: Combat,
    /// EntitySpawn delivered to any bot.
    pub(super) entities_streamed_in: u64,
    /// EntityData delivered to any bot.
    pub(super) entity_data: u64,
    pub(super) breaches: BTreeMap<&'static str, u64>,
    pub(super) breach_examples: Vec<String>,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) failure_notes: BTreeMap<String, String>,
    entities: BTreeSet<u32>,
    frames: BTreeMap<u32, SentFrames>,
    chat: Vec<SentChat>,
}

/// The newest chat line of each bot that one bot has received.
#[derive(Debug, Clone)]
pub(super) struct ChatSeen(Vec<u32>);

impl ChatSeen {
    /// Nothing received of `bots` bots.
    pub(super) fn new(bots: usize) -> Self {
        Self(vec![0; bots])
    }
}

impl Measurements {
    pub(super) fn new(run: u16, bots: usize) -> Self {
        Self {
            run,
            open: false,
            join: Times::new(),
            logins: Logins::default(),
            login: Times::new(),
            spawn: Times::new(),
            rtt: Times::new(),
            frame_relay: Times::new(),
            chat_relay: Times::new(),
            lateness: Times::new(),
            frames_received: 0,
            frames_expected: 0.0,
            chat_sent: 0,
            chat_returned: 0,
            chat_received: 0,
            chat_repeated: 0,
            chat_out_of_order: 0,
            chat_missed: 0,
            combat: Combat::default(),
            entities_streamed_in: 0,
            entity_data: 0,
            breaches: BTreeMap::new(),
            breach_examples: Vec::new(),
            failures: BTreeMap::new(),
            failure_notes: BTreeMap::new(),
            entities: BTreeSet::new(),
            frames: BTreeMap::new(),
            chat: vec![SentChat::default(); bots],
        }
    }

    pub(super) fn fail(&mut self, reason: String) {
        *self.failures.entry(reason).or_default() += 1;
    }

    /// A bot failed, and `note` says what it met; of each reason the first note is kept.
    pub(super) fn fail_with(&mut self, reason: String, note: String) {
        self.failure_notes.entry(reason.clone()).or_insert(note);
        self.fail(reason);
    }

    /// A bot saw the server break a rule.
    pub(super) fn breach(&mut self, bot: usize, breach: &Breach, now: Duration) {
        *self.breaches.entry(breach.fault.name()).or_default() += 1;
        if self.breach_examples.len() < EXAMPLES {
            let at = now.as_secs_f64();
            self.breach_examples
                .push(format!("{breach}, seen by bot {bot} at {at:.2} s"));
        }
    }

    /// A bot was told of an entity.
    pub(super) fn entity_seen(&mut self, entity_id: u32) {
        self.entities_streamed_in += 1;
        if self.entities.len() < ENTITIES {
            self.entities.insert(entity_id);
        }
    }

    /// How many different entities the bots were told of, all together.
    pub(super) fn entities(&self) -> u64 {
        self.entities.len() as u64
    }

    /// A bot's frame went out.
    pub(super) fn frame_sent(&mut self, player_id: u32, player_token: u32, seq: u32, at: Duration) {
        if player_id >= u32::from(MAX_PLAYERS) {
            return;
        }
        let empty = SentFrames {
            player_token,
            sent: [None; REMEMBERED],
        };
        let frames = self.frames.entry(player_id).or_insert_with(|| empty.clone());
        if frames.player_token != player_token {
            *frames = empty;
        }
        if let Some(slot) = frames.sent.get_mut(seq as usize % REMEMBERED) {
            *slot = Some((seq, at));
        }
    }

    /// A bot got another player's frame.
    pub(super) fn frame_received(&mut self, player_id: u32, player_token: u32, seq: u32, now: Duration) {
        if !self.open {
            return;
        }
        self.frames_received += 1;
        let frames = self
            .frames
            .get(&player_id)
            .filter(|frames| frames.player_token == player_token);
        let sent = frames.and_then(|frames| frames.sent.get(seq as usize % REMEMBERED).copied().flatten());
        if let Some((_, at)) = sent.filter(|(sent_seq, _)| *sent_seq == seq) {
            self.frame_relay.record(now.saturating_sub(at));
        }
    }

    /// The next chat line of a bot, with its stamp.
    pub(super) fn next_chat(&self, bot: usize) -> String {
        let number = self.chat.get(bot).map_or(0, |chat| chat.newest) + 1;
        format!("stamp {:04x}.{bot}.{number}", self.run)
    }

    /// That line was put on the lane.
    pub(super) fn chat_sent(&mut self, bot: usize, at: Duration) {
        let Some(chat) = self.chat.get_mut(bot) else {
            return;
        };
        chat.newest += 1;
        if chat.sent.len() >= REMEMBERED {
            chat.sent.pop_front();
        }
        chat.sent.push_back((chat.newest, at));
        self.chat_sent += 1;
    }

    /// Bot `receiver` was delivered a line of chat. Lines without a stamp of this run are somebody else's.
    pub(super) fn chat_received(&mut self, receiver: usize, seen: &mut ChatSeen, text: &str, now: Duration) {
        let Some((sender, number)) = self.read_stamp(text) else {
            return;
        };
        let Some(newest) = seen.0.get_mut(sender) else {
            return;
        };
        self.chat_received += 1;
        match number {
            same if same == *newest => self.chat_repeated += 1,
            older if older < *newest => self.chat_out_of_order += 1,
            newer => {
                // Lines from before the receiver joined are not missed.
                if *newest > 0 {
                    self.chat_missed += u64::from(newer - *newest - 1);
                }
                *newest = newer;
                if sender == receiver {
                    self.own_chat_returned(sender, number, now);
                }
            }
        }
    }

    fn own_chat_returned(&mut self, bot: usize, number: u32, now: Duration) {
        self.chat_returned += 1;
        let sent = self
            .chat
            .get(bot)
            .and_then(|chat| chat.sent.iter().find(|(sent, _)| *sent == number));
        if let Some((_, at)) = sent {
            self.chat_relay.record(now.saturating_sub(*at));
        }
    }

    fn read_stamp(&self, text: &str) -> Option<(usize, u32)> {
        let (_, stamp) = text.rsplit_once("stamp ")?;
        let mut parts = stamp.split('.');
        let run = u16::from_str_radix(parts.next()?, 16).ok()?;
        let bot = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        (run == self.run && number > 0).then_some((bot, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Fault, Subject};

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() <= expected * 0.002
    }

    #[test]
    fn a_frame_is_measured_by_player_generation_and_number() {
        let mut measured = Measurements::new(1, 2);
        measured.open = true;
        measured.frame_sent(7, 9, 5, ms(100));
        measured.frame_received(7, 9, 5, ms(150));
        measured.frame_received(7, 9, 6, ms(150));
        measured.frame_received(7, 8, 5, ms(150));
        measured.frame_received(7, 9, 5 + 64, ms(150));
        assert_eq!((measured.frames_received, measured.frame_relay.count()), (4, 1));
        assert!(near(measured.frame_relay.max_ms(), 50.0));
        measured.frame_sent(7, 10, 1, ms(200));
        measured.frame_received(7, 9, 5, ms(250));
        assert_eq!(
            measured.frame_relay.count(),
            1,
            "a new generation forgets the old one's frames"
        );
    }

    #[test]
    fn nothing_is_measured_before_the_window_opens() {
        let mut measured = Measurements::new(1, 1);
        measured.frame_sent(7, 9, 5, ms(100));
        measured.frame_received(7, 9, 5, ms(150));
        assert_eq!(measured.frames_received, 0);
    }

    #[test]
    fn own_chat_is_timed_and_repeats_gaps_and_disorder_are_told_apart() {
        let mut measured = Measurements::new(0xabcd, 2);
        let mut seen = ChatSeen::new(2);
        let lines: Vec<String> = (0..5)
            .map(|number| {
                let line = measured.next_chat(1);
                measured.chat_sent(1, ms(number * 1000));
                line
            })
            .collect();
        for (index, at) in [(0, 40), (1, 1040), (1, 1050), (4, 4040), (2, 4050)] {
            measured.chat_received(1, &mut seen, &format!("Bot 1: {}", lines[index]), ms(at));
        }
        assert_eq!(
            (measured.chat_sent, measured.chat_received, measured.chat_returned),
            (5, 5, 3)
        );
        assert_eq!(
            (
                measured.chat_repeated,
                measured.chat_out_of_order,
                measured.chat_missed
            ),
            (1, 1, 2)
        );
        assert!(near(measured.chat_relay.max_ms(), 40.0));
    }

    #[test]
    fn breaches_are_counted_by_rule_and_the_first_ones_described() {
        let mut measured = Measurements::new(1, 1);
        let breach = Breach {
            fault: Fault::StreamInTwice,
            subject: Subject::Player {
                player_id: 3,
                player_token: 4,
            },
        };
        for _ in 0..20 {
            measured.breach(5, &breach, ms(1_500));
        }
        assert_eq!(measured.breaches["stream_in_twice"], 20);
        assert_eq!(measured.breach_examples.len(), 8);
        assert_eq!(
            measured.breach_examples[0],
            "stream_in_twice: player 3 of generation 4, seen by bot 5 at 1.50 s"
        );
    }

    #[test]
    fn an_entity_that_many_see_is_one_entity() {
        let mut measured = Measurements::new(1, 1);
        for entity_id in [7, 8, 7] {
            measured.entity_seen(entity_id);
        }
        assert_eq!((measured.entities(), measured.entities_streamed_in), (2, 3));
    }

    #[test]
    fn chat_of_others_is_not_counted() {
        let mut measured = Measurements::new(1, 2);
        let mut seen = ChatSeen::new(2);
        for text in [
            "hello",
            "stamp 0002.0.1",
            "stamp 0001.7.1",
            "stamp 0001.0.0",
            "stamp x",
            "stamp 0001.0",
        ] {
            measured.chat_received(0, &mut seen, text, ms(1));
        }
        assert_eq!(measured.chat_received, 0);
    }
}
