//! Who is on the server and in view, generation by generation (docs/protocol.md 2.6).
//!
//! Per player id it keeps the live generation and the tombstone of the newest one known to have left. Datagrams may
//! overtake the lane, so everything that names a player is judged here before it counts. It knows ids, generations and
//! sequence numbers; packets and their contents are `intake.rs`'s business.

use std::collections::BTreeMap;
use std::time::Duration;

use decitick_protocol::MAX_PLAYERS;

use super::counters::RecordDrop;
use super::serial::is_newer;

/// How long after a delivered stream-out a frame is still excused as one that was on its way.
pub(super) const STREAM_OUT_GRACE: Duration = Duration::from_secs(2);

/// The live generation of one player id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePlayer {
    token: u32,
    name: Option<Box<str>>,
    in_view: bool,
    streamed_out: Option<Duration>,
    last_seq: Option<u32>,
}

impl LivePlayer {
    const fn new(token: u32) -> Self {
        Self {
            token,
            name: None,
            in_view: false,
            streamed_out: None,
            last_seq: None,
        }
    }

    /// The player's generation.
    #[must_use]
    pub const fn player_token(&self) -> u32 {
        self.token
    }

    /// The player's name; `None` while the PlayerJoin of this generation is still on its way.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether the player is streamed in.
    #[must_use]
    pub const fn is_in_view(&self) -> bool {
        self.in_view
    }
}

#[derive(Debug, Default)]
struct Slot {
    live: Option<LivePlayer>,
    tombstone: Option<u32>,
}

/// What a packet about one generation meets.
#[derive(Debug)]
pub(super) struct Admitted<'a> {
    /// The generation it is about, live from now on.
    pub(super) player: &'a mut LivePlayer,
    /// The older generation that it replaced, whose PlayerLeave was lost.
    pub(super) replaced: Option<u32>,
}

/// The outcome of a PlayerLeave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// This live generation is gone.
    Retired(u32),
    /// Nobody was live, but a join of that generation which comes later is dropped.
    Buried,
    /// It says nothing new.
    Stale,
}

/// The outcome of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameVerdict {
    /// Whether the frame counts.
    pub(super) taken: Result<(), RecordDrop>,
    /// The older generation that the frame's generation replaced.
    pub(super) replaced: Option<u32>,
}

/// Every player the client knows of. At most MAX_PLAYERS ids are ever held.
#[derive(Debug, Default)]
pub struct Roster {
    slots: BTreeMap<u32, Slot>,
    in_view: usize,
}

impl Roster {
    /// The live player with this id.
    #[must_use]
    pub fn player(&self, player_id: u32) -> Option<&LivePlayer> {
        self.slots.get(&player_id)?.live.as_ref()
    }

    /// Every live player, by rising id.
    pub fn players(&self) -> impl Iterator<Item = (u32, &LivePlayer)> {
        self.slots
            .iter()
            .filter_map(|(player_id, slot)| Some((*player_id, slot.live.as_ref()?)))
    }

    /// How many players are in view.
    #[must_use]
    pub const fn in_view_count(&self) -> usize {
        self.in_view
    }

    /// Judges what the lane says about a generation. A newer one replaces the live one.
    pub(super) fn admit(&mut self, player_id: u32, token: u32) -> Result<Admitted<'_>, RecordDrop> {
        if player_id >= u32::from(MAX_PLAYERS) {
            return Err(RecordDrop::PlayerOutOfRange);
        }
        let slot = self.slots.entry(player_id).or_default();
        if slot.tombstone.is_some_and(|left| token <= left) {
            return Err(RecordDrop::OldGeneration);
        }
        let replaced = match &slot.live {
            Some(live) if token < live.token => return Err(RecordDrop::OldGeneration),
            Some(live) if token == live.token => None,
            Some(live) => {
                self.in_view -= usize::from(live.in_view);
                let old = live.token;
                slot.tombstone = Some(old);
                slot.live = None;
                Some(old)
            }
            None => None,
        };
        Ok(Admitted {
            player: slot.live.get_or_insert_with(|| LivePlayer::new(token)),
            replaced,
        })
    }

    /// Names a live player, after [`Roster::admit`].
    pub(super) fn name(&mut self, player_id: u32, name: &str) {
        if let Some(live) = self.live_mut(player_id) {
            live.name = Some(name.into());
        }
    }

    /// Marks a live player as streamed in, after [`Roster::admit`].
    pub(super) fn stream_in(&mut self, player_id: u32) {
        let Some(live) = self.live_mut(player_id) else {
            return;
        };
        live.streamed_out = None;
        if !std::mem::replace(&mut live.in_view, true) {
            self.in_view += 1;
        }
    }

    /// Marks a live player as streamed out at `now`, after [`Roster::admit`].
    pub(super) fn stream_out(&mut self, player_id: u32, now: Duration) {
        let Some(live) = self.live_mut(player_id) else {
            return;
        };
        live.streamed_out = Some(now);
        if std::mem::replace(&mut live.in_view, false) {
            self.in_view -= 1;
        }
    }

    /// Takes a PlayerLeave.
    pub(super) fn leave(&mut self, player_id: u32, token: u32) -> Leave {
        if player_id >= u32::from(MAX_PLAYERS) {
            return Leave::Stale;
        }
        let slot = self.slots.entry(player_id).or_default();
        let known = slot.tombstone.is_some_and(|left| token <= left);
        if known || slot.live.as_ref().is_some_and(|live| token < live.token) {
            return Leave::Stale;
        }
        slot.tombstone = Some(token);
        match slot.live.take() {
            Some(live) => {
                self.in_view -= usize::from(live.in_view);
                Leave::Retired(live.token)
            }
            None => Leave::Buried,
        }
    }

    /// Judges one record of a RemotePlayerSync.
    pub(super) fn frame(&mut self, now: Duration, player_id: u32, token: u32, seq: u32) -> FrameVerdict {
        let known = self.slots.get(&player_id).is_some_and(|slot| slot.live.is_some());
        if !known {
            return FrameVerdict {
                taken: Err(self.judge_unknown(player_id, token)),
                replaced: None,
            };
        }
        match self.admit(player_id, token) {
            Ok(Admitted { player, replaced }) => FrameVerdict {
                taken: judge_frame(player, now, seq),
                replaced,
            },
            Err(reason) => FrameVerdict {
                taken: Err(reason),
                replaced: None,
            },
        }
    }

    /// Why a frame of somebody who is not live does not count. It leaves no trace: only the lane makes a player known.
    fn judge_unknown(&self, player_id: u32, token: u32) -> RecordDrop {
        if player_id >= u32::from(MAX_PLAYERS) {
            return RecordDrop::PlayerOutOfRange;
        }
        let tombstone = self.slots.get(&player_id).and_then(|slot| slot.tombstone);
        if tombstone.is_some_and(|left| token <= left) {
            return RecordDrop::OldGeneration;
        }
        RecordDrop::NotInView
    }

    fn live_mut(&mut self, player_id: u32) -> Option<&mut LivePlayer> {
        self.slots.get_mut(&player_id)?.live.as_mut()
    }
}

fn judge_frame(player: &mut LivePlayer, now: Duration, seq: u32) -> Result<(), RecordDrop> {
    if !player.in_view {
        let late = player
            .streamed_out
            .is_some_and(|out| out + STREAM_OUT_GRACE <= now);
        return Err(if late {
            RecordDrop::AfterStreamOut
        } else {
            RecordDrop::NotInView
        });
    }
    if player.last_seq.is_some_and(|last| !is_newer(seq, last)) {
        return Err(RecordDrop::StaleFrame);
    }
    player.last_seq = Some(seq);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn with_player(player_id: u32, token: u32) -> Roster {
        let mut roster = Roster::default();
        roster.admit(player_id, token).unwrap();
        roster
    }

    fn streamed_in(player_id: u32, token: u32) -> Roster {
        let mut roster = with_player(player_id, token);
        roster.stream_in(player_id);
        roster
    }

    fn token_of(roster: &Roster, player_id: u32) -> Option<u32> {
        roster.player(player_id).map(LivePlayer::player_token)
    }

    #[test]
    fn a_newer_generation_replaces_the_live_one_whose_leave_was_lost() {
        let mut roster = streamed_in(7, 9);
        assert_eq!(roster.admit(7, 9).unwrap().replaced, None);
        assert_eq!(roster.admit(7, 10).unwrap().replaced, Some(9));
        assert_eq!(roster.in_view_count(), 0, "the newcomer is not in view yet");
        assert_eq!(roster.admit(7, 9).unwrap_err(), RecordDrop::OldGeneration);
        assert_eq!(token_of(&roster, 7), Some(10));
    }

    #[test]
    fn a_leave_retires_the_live_generation_and_its_tombstone_keeps_the_old_out() {
        let mut roster = with_player(7, 9);
        assert_eq!(roster.leave(7, 8), Leave::Stale);
        assert_eq!(roster.leave(7, 9), Leave::Retired(9));
        assert_eq!(roster.leave(7, 9), Leave::Stale, "it is sent three times");
        assert_eq!(roster.admit(7, 9).unwrap_err(), RecordDrop::OldGeneration);
        assert_eq!(roster.admit(7, 10).unwrap().replaced, None);
    }

    #[test]
    fn a_leave_that_overtakes_the_join_buries_it() {
        let mut roster = with_player(7, 9);
        assert_eq!(
            roster.leave(7, 11),
            Leave::Retired(9),
            "a newer one retires the live one"
        );
        assert_eq!(roster.admit(7, 11).unwrap_err(), RecordDrop::OldGeneration);
        assert_eq!(roster.admit(7, 10).unwrap_err(), RecordDrop::OldGeneration);
        assert!(roster.admit(7, 12).is_ok());

        let mut empty = Roster::default();
        assert_eq!(empty.leave(3, 4), Leave::Buried);
        assert_eq!(empty.admit(3, 4).unwrap_err(), RecordDrop::OldGeneration);
        assert!(empty.admit(3, 5).is_ok());
    }

    #[test]
    fn ids_end_at_999_and_nothing_is_kept_of_others() {
        let mut roster = Roster::default();
        assert!(roster.admit(999, 1).is_ok());
        assert_eq!(roster.admit(1000, 1).unwrap_err(), RecordDrop::PlayerOutOfRange);
        assert_eq!(roster.leave(1000, 1), Leave::Stale);
        assert_eq!(
            roster.frame(NOW, u32::MAX, 1, 1).taken,
            Err(RecordDrop::PlayerOutOfRange)
        );
        assert_eq!(roster.slots.len(), 1);
    }

    #[test]
    fn a_frame_counts_only_in_view_and_newer_within_the_generation() {
        let mut roster = with_player(7, 9);
        assert_eq!(roster.frame(NOW, 7, 9, 5).taken, Err(RecordDrop::NotInView));
        roster.stream_in(7);
        assert_eq!(roster.frame(NOW, 7, 9, 5).taken, Ok(()));
        assert_eq!(roster.frame(NOW, 7, 9, 5).taken, Err(RecordDrop::StaleFrame));
        assert_eq!(roster.frame(NOW, 7, 9, 4).taken, Err(RecordDrop::StaleFrame));
        assert_eq!(
            roster.frame(NOW, 7, 9, 5u32.wrapping_add(0x8000_0000)).taken,
            Err(RecordDrop::StaleFrame)
        );
        assert_eq!(roster.frame(NOW, 7, 9, 6).taken, Ok(()));
        assert_eq!(roster.frame(NOW, 7, 8, 7).taken, Err(RecordDrop::OldGeneration));
    }

    #[test]
    fn the_sequence_goes_on_over_a_stream_out_and_starts_anew_with_a_generation() {
        let mut roster = streamed_in(7, 9);
        assert_eq!(roster.frame(NOW, 7, 9, 50).taken, Ok(()));
        roster.stream_out(7, NOW);
        roster.stream_in(7);
        assert_eq!(roster.frame(NOW, 7, 9, 50).taken, Err(RecordDrop::StaleFrame));
        roster.admit(7, 10).unwrap();
        roster.stream_in(7);
        assert_eq!(roster.frame(NOW, 7, 10, 1).taken, Ok(()));
    }

    #[test]
    fn a_frame_after_the_stream_out_is_excused_for_exactly_2_s() {
        let mut roster = streamed_in(7, 9);
        roster.stream_out(7, Duration::from_secs(10));
        let before = Duration::from_millis(11_999);
        assert_eq!(roster.frame(before, 7, 9, 1).taken, Err(RecordDrop::NotInView));
        let after = Duration::from_secs(12);
        assert_eq!(
            roster.frame(after, 7, 9, 1).taken,
            Err(RecordDrop::AfterStreamOut)
        );
    }

    #[test]
    fn a_frame_of_a_newer_generation_retires_the_old_one_and_a_frame_alone_makes_nobody_known() {
        let mut roster = streamed_in(7, 9);
        let verdict = roster.frame(NOW, 7, 10, 1);
        assert_eq!(
            verdict,
            FrameVerdict {
                taken: Err(RecordDrop::NotInView),
                replaced: Some(9)
            }
        );
        assert_eq!(token_of(&roster, 7), Some(10));

        assert_eq!(roster.frame(NOW, 8, 1, 1).taken, Err(RecordDrop::NotInView));
        assert!(roster.player(8).is_none());
        roster.leave(8, 1);
        assert_eq!(roster.frame(NOW, 8, 1, 1).taken, Err(RecordDrop::OldGeneration));
    }

    #[test]
    fn the_view_is_counted_once_per_player() {
        let mut roster = streamed_in(1, 1);
        roster.stream_in(1);
        roster.admit(2, 2).unwrap();
        roster.stream_in(2);
        assert_eq!(roster.in_view_count(), 2);
        roster.stream_out(1, NOW);
        roster.stream_out(1, NOW);
        assert_eq!(roster.in_view_count(), 1);
        roster.leave(2, 2);
        assert_eq!(roster.in_view_count(), 0);
    }
}
