//! Who is on the server and in view, generation by generation (docs/protocol.md 2.6).
//!
//! Per player id it keeps the live generation and the tombstone of the newest one known to have left. Datagrams may
//! overtake the lane, so everything that names a player is judged here before it counts. It knows ids, generations,
//! sequence numbers and where somebody was seen; how packets arrive is `intake.rs`'s business.

mod live_player;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use decitick_protocol::{MAX_PLAYERS, PlayerStreamIn, RemoteFrame};

use super::breach::Fault;
use super::counters::RecordDrop;
use super::grace::OUT_GRACE;

pub use self::live_player::{LivePlayer, Sighting};

/// The newest generation known to have left, and since when it was known.
#[derive(Debug, Clone, Copy)]
struct Tombstone {
    token: u32,
    since: Duration,
}

#[derive(Debug, Default)]
struct Slot {
    live: Option<LivePlayer>,
    tombstone: Option<Tombstone>,
}

/// What a packet about one generation meets.
#[derive(Debug)]
pub(crate) struct Admitted<'a> {
    /// The generation it is about, live from now on.
    pub(crate) player: &'a mut LivePlayer,
    /// The older generation that it replaced, whose PlayerLeave was lost.
    pub(crate) replaced: Option<u32>,
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
    /// What the frame shows the server to have done.
    pub(super) fault: Option<Fault>,
}

impl FrameVerdict {
    const fn dropped(reason: RecordDrop) -> Self {
        Self {
            taken: Err(reason),
            replaced: None,
            fault: None,
        }
    }
}

/// Every player the client knows of. At most MAX_PLAYERS ids are ever held.
#[derive(Debug, Default)]
pub struct Roster {
    slots: BTreeMap<u32, Slot>,
    in_view: BTreeSet<u32>,
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

    /// Every player in view, by rising id, with how it was last seen.
    pub fn in_view(&self) -> impl Iterator<Item = (u32, &LivePlayer, &Sighting)> {
        self.in_view.iter().filter_map(|player_id| {
            let player = self.player(*player_id)?;
            Some((*player_id, player, player.sighting()?))
        })
    }

    /// How many players are in view.
    #[must_use]
    pub fn in_view_count(&self) -> usize {
        self.in_view.len()
    }

    /// Judges what the lane says about a generation at `now`. A newer one replaces the live one.
    pub(crate) fn admit(
        &mut self,
        now: Duration,
        player_id: u32,
        token: u32,
    ) -> Result<Admitted<'_>, RecordDrop> {
        if player_id >= u32::from(MAX_PLAYERS) {
            return Err(RecordDrop::PlayerOutOfRange);
        }
        let slot = self.slots.entry(player_id).or_default();
        if slot.gone_since(token).is_some() {
            return Err(RecordDrop::OldGeneration);
        }
        let replaced = slot
            .live
            .take_if(|live| live.player_token() != token)
            .map(|old| old.player_token());
        if let Some(token) = replaced {
            self.in_view.remove(&player_id);
            slot.tombstone = Some(Tombstone { token, since: now });
        }
        Ok(Admitted {
            player: slot.live.get_or_insert_with(|| LivePlayer::new(token, now)),
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
    pub(crate) fn stream_in(&mut self, event: &PlayerStreamIn) {
        if let Some(live) = self.live_mut(event.player_id) {
            live.enter(event);
            self.in_view.insert(event.player_id);
        }
    }

    /// Marks a live player as streamed out at `now`, after [`Roster::admit`].
    pub(super) fn stream_out(&mut self, player_id: u32, now: Duration) {
        if let Some(live) = self.live_mut(player_id) {
            live.leave_view(now);
            self.in_view.remove(&player_id);
        }
    }

    /// Notes that a live player died, after [`Roster::admit`].
    pub(crate) fn fall(&mut self, player_id: u32) {
        if let Some(live) = self.live_mut(player_id) {
            live.fall();
        }
    }

    /// Takes a PlayerLeave that arrived at `now`.
    pub(super) fn leave(&mut self, now: Duration, player_id: u32, token: u32) -> Leave {
        if player_id >= u32::from(MAX_PLAYERS) {
            return Leave::Stale;
        }
        let slot = self.slots.entry(player_id).or_default();
        if slot.gone_since(token).is_some() {
            return Leave::Stale;
        }
        slot.tombstone = Some(Tombstone { token, since: now });
        self.in_view.remove(&player_id);
        slot.live
            .take()
            .map_or(Leave::Buried, |live| Leave::Retired(live.player_token()))
    }

    /// Takes one record of a RemotePlayerSync that arrived at `now`.
    pub(super) fn frame(&mut self, now: Duration, frame: &RemoteFrame) -> FrameVerdict {
        let (player_id, token) = (frame.player_id, frame.player_token);
        if player_id >= u32::from(MAX_PLAYERS) {
            return FrameVerdict::dropped(RecordDrop::PlayerOutOfRange);
        }
        // Only the lane makes a player known: a frame of somebody who is not leaves no trace.
        let Some(slot) = self.slots.get(&player_id) else {
            return FrameVerdict::dropped(RecordDrop::NotInView);
        };
        if let Some(since) = slot.gone_since(token) {
            // Generations only grow, so nothing that is still to come can explain a late one.
            let late = since + OUT_GRACE <= now;
            return FrameVerdict {
                fault: late.then_some(Fault::FramesAfterLeave),
                ..FrameVerdict::dropped(RecordDrop::OldGeneration)
            };
        }
        if slot.live.is_none() {
            return FrameVerdict::dropped(RecordDrop::NotInView);
        }
        match self.admit(now, player_id, token) {
            Ok(Admitted { player, replaced }) => {
                let (taken, fault) = player.see(now, frame);
                FrameVerdict {
                    taken,
                    replaced,
                    fault,
                }
            }
            Err(reason) => FrameVerdict::dropped(reason),
        }
    }

    fn live_mut(&mut self, player_id: u32) -> Option<&mut LivePlayer> {
        self.slots.get_mut(&player_id)?.live.as_mut()
    }
}

impl Slot {
    /// Since when a generation was known to be gone; `None` when it is not.
    fn gone_since(&self, token: u32) -> Option<Duration> {
        if let Some(tombstone) = self.tombstone.filter(|tombstone| token <= tombstone.token) {
            return Some(tombstone.since);
        }
        let live = self.live.as_ref().filter(|live| token < live.player_token());
        live.map(LivePlayer::known_since)
    }
}

#[cfg(test)]
mod tests;
