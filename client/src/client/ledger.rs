//! What the lane alone has said of each player id: the newest generation, and which one is streamed in.
//!
//! The lane keeps its order, so what it says can be held against what it said before. PlayerLeave and frames, which may
//! come at any time, have no part in this: what counts for the program is the roster's business.

use std::collections::BTreeMap;

use decitick_protocol::ServerLaneEvent;

use super::breach::{Breach, Fault};

#[derive(Debug, Default)]
struct Told {
    newest: u32,
    in_view: Option<u32>,
}

/// The lane's own account. It holds at most MAX_PLAYERS ids, since no well-formed packet names another.
#[derive(Debug, Default)]
pub(super) struct LaneLedger(BTreeMap<u32, Told>);

impl LaneLedger {
    /// Enters an event in its turn and gives the breaches it shows.
    pub(super) fn enter(&mut self, event: &ServerLaneEvent) -> Vec<Breach> {
        let mut breaches = Vec::new();
        match event {
            ServerLaneEvent::PlayerJoin(join) => {
                let players = join.players.iter();
                breaches
                    .extend(players.filter_map(|player| self.tell(player.player_id, player.player_token)));
            }
            ServerLaneEvent::PlayerRename(event) => {
                breaches.extend(self.tell(event.player_id, event.player_token));
            }
            ServerLaneEvent::PlayerAppearance(event) => {
                breaches.extend(self.tell(event.player_id, event.player_token));
            }
            ServerLaneEvent::PlayerDeath(event) => {
                breaches.extend(self.tell(event.player_id, event.player_token));
            }
            ServerLaneEvent::PlayerStreamIn(event) => {
                breaches.extend(self.stream_in(event.player_id, event.player_token));
            }
            ServerLaneEvent::PlayerStreamOut(event) => {
                breaches.extend(self.stream_out(event.player_id, event.player_token));
            }
            _ => {}
        }
        breaches
    }

    fn tell(&mut self, player_id: u32, token: u32) -> Option<Breach> {
        let told = self.0.entry(player_id).or_default();
        if token < told.newest {
            return Some(Breach::of_player(Fault::OldGenerationOnLane, player_id, token));
        }
        told.newest = token;
        None
    }

    fn stream_in(&mut self, player_id: u32, token: u32) -> Option<Breach> {
        if let Some(breach) = self.tell(player_id, token) {
            return Some(breach);
        }
        let told = self.0.entry(player_id).or_default();
        match told.in_view.replace(token) {
            None => None,
            Some(same) if same == token => Some(Breach::of_player(Fault::StreamInTwice, player_id, token)),
            Some(older) => Some(Breach::of_player(Fault::StreamOutMissing, player_id, older)),
        }
    }

    /// Of an older generation too a stream-out is owed when it was streamed in, however late it comes.
    fn stream_out(&mut self, player_id: u32, token: u32) -> Option<Breach> {
        let told = self.0.entry(player_id).or_default();
        if told.in_view == Some(token) {
            told.in_view = None;
            return None;
        }
        self.tell(player_id, token)
            .or(Some(Breach::of_player(Fault::StreamOutUnseen, player_id, token)))
    }
}

#[cfg(test)]
mod tests {
    use decitick_protocol::{JoinedPlayer, PlayerJoin, PlayerRename, PlayerStreamOut, Text};

    use super::*;

    fn join(player_id: u32, player_token: u32) -> ServerLaneEvent {
        let name = Text::parse("Somebody").unwrap();
        PlayerJoin {
            players: vec![JoinedPlayer {
                player_id,
                player_token,
                name,
            }],
        }
        .into()
    }

    fn stream_in(player_id: u32, player_token: u32) -> ServerLaneEvent {
        super::super::tests::stream_in(player_id, player_token).into()
    }

    fn stream_out(player_id: u32, player_token: u32) -> ServerLaneEvent {
        PlayerStreamOut {
            player_id,
            player_token,
        }
        .into()
    }

    /// The faults of events in order.
    fn faults(events: &[ServerLaneEvent]) -> Vec<Fault> {
        let mut ledger = LaneLedger::default();
        let breaches = events.iter().flat_map(|event| ledger.enter(event));
        breaches.map(|breach| breach.fault).collect()
    }

    #[test]
    fn a_view_that_is_entered_and_left_in_turn_is_no_breach() {
        let story = [
            join(3, 4),
            stream_in(3, 4),
            stream_out(3, 4),
            stream_in(3, 4),
            stream_out(3, 4),
            join(3, 9),
            stream_in(3, 9),
        ];
        assert_eq!(faults(&story), []);
    }

    #[test]
    fn entering_twice_and_leaving_unseen_are_breaches() {
        assert_eq!(
            faults(&[stream_in(3, 4), stream_in(3, 4)]),
            [Fault::StreamInTwice]
        );
        assert_eq!(faults(&[join(3, 4), stream_out(3, 4)]), [Fault::StreamOutUnseen]);
        let out_twice = [stream_in(3, 4), stream_out(3, 4), stream_out(3, 4)];
        assert_eq!(faults(&out_twice), [Fault::StreamOutUnseen]);
    }

    #[test]
    fn a_generation_older_than_one_already_told_of_is_a_breach() {
        let rename = PlayerRename {
            player_id: 3,
            player_token: 4,
            name: Text::parse("Nobody").unwrap(),
        };
        for late in [join(3, 4), stream_in(3, 4), rename.into(), stream_out(3, 4)] {
            assert_eq!(faults(&[join(3, 9), late]), [Fault::OldGenerationOnLane]);
        }
        assert_eq!(faults(&[join(3, 9), join(5, 4)]), [], "of another id");
    }

    #[test]
    fn a_stream_out_of_the_generation_before_is_owed_and_missed_when_it_never_comes() {
        assert_eq!(faults(&[stream_in(3, 4), join(3, 9), stream_out(3, 4)]), []);
        assert_eq!(
            faults(&[stream_in(3, 4), stream_in(3, 9)]),
            [Fault::StreamOutMissing]
        );
    }

    #[test]
    fn a_breach_says_what_and_about_whom() {
        let mut ledger = LaneLedger::default();
        ledger.enter(&join(3, 9));
        let breaches = ledger.enter(&join(3, 4));
        assert_eq!(
            breaches[0].to_string(),
            "old_generation_on_lane: player 3 of generation 4"
        );
    }
}
