//! The roster, step by step.

use decitick_protocol::Vec3;

use super::*;

const NOW: Duration = Duration::ZERO;

fn with_player(player_id: u32, token: u32) -> Roster {
    let mut roster = Roster::default();
    roster.admit(NOW, player_id, token).unwrap();
    roster
}

fn streamed_in(player_id: u32, token: u32) -> Roster {
    let mut roster = with_player(player_id, token);
    roster.stream_in(&entry(player_id));
    roster
}

fn entry(player_id: u32) -> PlayerStreamIn {
    PlayerStreamIn {
        player_id,
        player_token: 0,
        skin: 0,
        variant: 0,
        walking_style: 0,
        position: Vec3::new(1.0, 2.0, 3.0),
        heading: 0.5,
        area: 4,
        health: 100,
        armour: 0,
        weapon: 24,
    }
}

fn frame(player_id: u32, player_token: u32, seq: u32) -> RemoteFrame {
    RemoteFrame {
        player_id,
        player_token,
        seq,
        position: Vec3::new(seq as f32, 0.0, 0.0),
        velocity: Vec3::new(5.0, 0.0, 0.0),
        heading: 1.0,
        area: 4,
        keys: 0,
        weapon: 25,
        stance: 0,
        health: 60,
    }
}

fn token_of(roster: &Roster, player_id: u32) -> Option<u32> {
    roster.player(player_id).map(LivePlayer::player_token)
}

#[test]
fn a_newer_generation_replaces_the_live_one_whose_leave_was_lost() {
    let mut roster = streamed_in(7, 9);
    assert_eq!(roster.admit(NOW, 7, 9).unwrap().replaced, None);
    assert_eq!(roster.admit(NOW, 7, 10).unwrap().replaced, Some(9));
    assert_eq!(roster.in_view_count(), 0, "the newcomer is not in view yet");
    assert_eq!(roster.admit(NOW, 7, 9).unwrap_err(), RecordDrop::OldGeneration);
    assert_eq!(token_of(&roster, 7), Some(10));
}

#[test]
fn a_leave_retires_the_live_generation_and_its_tombstone_keeps_the_old_out() {
    let mut roster = with_player(7, 9);
    assert_eq!(roster.leave(NOW, 7, 8), Leave::Stale);
    assert_eq!(roster.leave(NOW, 7, 9), Leave::Retired(9));
    assert_eq!(roster.leave(NOW, 7, 9), Leave::Stale, "it is sent three times");
    assert_eq!(roster.admit(NOW, 7, 9).unwrap_err(), RecordDrop::OldGeneration);
    assert_eq!(roster.admit(NOW, 7, 10).unwrap().replaced, None);
}

#[test]
fn a_leave_that_overtakes_the_join_buries_it() {
    let mut roster = with_player(7, 9);
    assert_eq!(
        roster.leave(NOW, 7, 11),
        Leave::Retired(9),
        "a newer one retires the live one"
    );
    assert_eq!(roster.admit(NOW, 7, 11).unwrap_err(), RecordDrop::OldGeneration);
    assert_eq!(roster.admit(NOW, 7, 10).unwrap_err(), RecordDrop::OldGeneration);
    assert!(roster.admit(NOW, 7, 12).is_ok());

    let mut empty = Roster::default();
    assert_eq!(empty.leave(NOW, 3, 4), Leave::Buried);
    assert_eq!(empty.admit(NOW, 3, 4).unwrap_err(), RecordDrop::OldGeneration);
    assert!(empty.admit(NOW, 3, 5).is_ok());
}

#[test]
fn ids_end_at_999_and_nothing_is_kept_of_others() {
    let mut roster = Roster::default();
    assert!(roster.admit(NOW, 999, 1).is_ok());
    assert_eq!(
        roster.admit(NOW, 1000, 1).unwrap_err(),
        RecordDrop::PlayerOutOfRange
    );
    assert_eq!(roster.leave(NOW, 1000, 1), Leave::Stale);
    assert_eq!(
        roster.frame(NOW, &frame(u32::MAX, 1, 1)).taken,
        Err(RecordDrop::PlayerOutOfRange)
    );
    assert_eq!(roster.slots.len(), 1);
}

#[test]
fn a_frame_counts_only_in_view_and_newer_within_the_generation() {
    let mut roster = with_player(7, 9);
    assert_eq!(
        roster.frame(NOW, &frame(7, 9, 5)).taken,
        Err(RecordDrop::NotInView)
    );
    roster.stream_in(&entry(7));
    assert_eq!(roster.frame(NOW, &frame(7, 9, 5)).taken, Ok(()));
    assert_eq!(
        roster.frame(NOW, &frame(7, 9, 5)).taken,
        Err(RecordDrop::StaleFrame)
    );
    assert_eq!(
        roster.frame(NOW, &frame(7, 9, 4)).taken,
        Err(RecordDrop::StaleFrame)
    );
    assert_eq!(
        roster
            .frame(NOW, &frame(7, 9, 5u32.wrapping_add(0x8000_0000)))
            .taken,
        Err(RecordDrop::StaleFrame)
    );
    assert_eq!(roster.frame(NOW, &frame(7, 9, 6)).taken, Ok(()));
    assert_eq!(
        roster.frame(NOW, &frame(7, 8, 7)).taken,
        Err(RecordDrop::OldGeneration)
    );
}

#[test]
fn the_sequence_goes_on_over_a_stream_out_and_starts_anew_with_a_generation() {
    let mut roster = streamed_in(7, 9);
    assert_eq!(roster.frame(NOW, &frame(7, 9, 50)).taken, Ok(()));
    roster.stream_out(7, NOW);
    roster.stream_in(&entry(7));
    assert_eq!(
        roster.frame(NOW, &frame(7, 9, 50)).taken,
        Err(RecordDrop::StaleFrame)
    );
    roster.admit(NOW, 7, 10).unwrap();
    roster.stream_in(&entry(7));
    assert_eq!(roster.frame(NOW, &frame(7, 10, 1)).taken, Ok(()));
}

#[test]
fn a_frame_after_the_stream_out_is_excused_for_exactly_2_s() {
    let mut roster = streamed_in(7, 9);
    roster.stream_out(7, Duration::from_secs(10));
    let before = Duration::from_millis(11_999);
    assert_eq!(
        roster.frame(before, &frame(7, 9, 1)).taken,
        Err(RecordDrop::NotInView)
    );
    let after = Duration::from_secs(12);
    assert_eq!(
        roster.frame(after, &frame(7, 9, 1)).taken,
        Err(RecordDrop::AfterStreamOut)
    );
}

#[test]
fn a_frame_of_a_newer_generation_retires_the_old_one_and_a_frame_alone_makes_nobody_known() {
    let mut roster = streamed_in(7, 9);
    let verdict = roster.frame(NOW, &frame(7, 10, 1));
    assert_eq!(
        verdict,
        FrameVerdict {
            taken: Err(RecordDrop::NotInView),
            replaced: Some(9),
            fault: None,
        }
    );
    assert_eq!(token_of(&roster, 7), Some(10));

    assert_eq!(
        roster.frame(NOW, &frame(8, 1, 1)).taken,
        Err(RecordDrop::NotInView)
    );
    assert!(roster.player(8).is_none());
    roster.leave(NOW, 8, 1);
    assert_eq!(
        roster.frame(NOW, &frame(8, 1, 1)).taken,
        Err(RecordDrop::OldGeneration)
    );
}

#[test]
fn the_view_is_counted_once_per_player() {
    let mut roster = streamed_in(1, 1);
    roster.stream_in(&entry(1));
    roster.admit(NOW, 2, 2).unwrap();
    roster.stream_in(&entry(2));
    assert_eq!(roster.in_view_count(), 2);
    roster.stream_out(1, NOW);
    roster.stream_out(1, NOW);
    assert_eq!(roster.in_view_count(), 1);
    roster.leave(NOW, 2, 2);
    assert_eq!(roster.in_view_count(), 0);
}

#[test]
fn frames_go_on_after_a_stream_out_for_3_s_before_they_are_a_fault_since_a_stream_in_may_be_on_its_way() {
    let at = Duration::from_millis;
    let mut roster = streamed_in(7, 9);
    roster.stream_out(7, NOW);
    assert_eq!(roster.frame(at(1_999), &frame(7, 9, 1)).fault, None);
    assert_eq!(roster.frame(at(2_000), &frame(7, 9, 2)).fault, None);
    assert_eq!(roster.frame(at(4_999), &frame(7, 9, 3)).fault, None);
    let verdict = roster.frame(at(5_000), &frame(7, 9, 4));
    assert_eq!(verdict.fault, Some(Fault::FramesAfterStreamOut));
    roster.stream_in(&entry(7));
    assert_eq!(roster.frame(at(5_001), &frame(7, 9, 5)).taken, Ok(()));
}

#[test]
fn a_frame_of_a_generation_that_left_is_a_fault_after_exactly_2_s() {
    let at = Duration::from_millis;
    let mut left = streamed_in(7, 9);
    left.leave(at(1_000), 7, 9);
    left.leave(at(2_900), 7, 9);
    let mut replaced = streamed_in(7, 9);
    replaced.admit(at(1_000), 7, 10).unwrap();
    for roster in [&mut left, &mut replaced] {
        let early = roster.frame(at(2_999), &frame(7, 9, 1));
        assert_eq!((early.taken, early.fault), (Err(RecordDrop::OldGeneration), None));
        let late = roster.frame(at(3_000), &frame(7, 9, 2));
        assert_eq!(
            (late.taken, late.fault),
            (Err(RecordDrop::OldGeneration), Some(Fault::FramesAfterLeave))
        );
    }
}

#[test]
fn a_player_in_view_is_where_its_stream_in_and_then_its_newest_frame_saw_it() {
    let mut roster = with_player(7, 9);
    assert_eq!(roster.in_view().count(), 0);
    roster.stream_in(&entry(7));
    let seen = |roster: &Roster| *roster.player(7).unwrap().sighting().unwrap();
    assert_eq!(
        (seen(&roster).position, seen(&roster).weapon),
        (Vec3::new(1.0, 2.0, 3.0), 24)
    );
    roster.frame(NOW, &frame(7, 9, 6)).taken.unwrap();
    roster.frame(NOW, &frame(7, 9, 5)).taken.unwrap_err();
    assert_eq!((seen(&roster).position.x, seen(&roster).health), (6.0, 60));
    roster.fall(7);
    assert_eq!(seen(&roster).health, 0);
    assert_eq!(roster.in_view().map(|(id, _, _)| id).collect::<Vec<_>>(), [7]);
    roster.stream_out(7, NOW);
    assert!(roster.player(7).unwrap().sighting().is_none() && roster.in_view().count() == 0);
}
