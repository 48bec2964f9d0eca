//! The server puts a player elsewhere: to another place, area or dimension (docs/protocol.md 2.3, 2.4).

use std::time::Duration;

use decitick_components::{
    body::{Dimension, Motion},
    reasons::DropReason,
    requests::PlayerWish,
};
use decitick_protocol::{ServerLaneEvent, ServerPacket, SetPosition};

use super::Cast;
use crate::sim::{LossyLink, Sim, ground};

/// Whether the last tick sent a player a frame of somebody.
fn frame_of(sim: &Sim, viewer: usize, subject: usize) -> bool {
    let id = u32::from(sim.players[subject].id());
    sim.sent_to(sim.players[viewer].address)
        .iter()
        .any(|datagram| match ServerPacket::decode(datagram) {
            Ok(ServerPacket::RemotePlayerSync(sync)) => {
                sync.players.iter().any(|frame| frame.player_id == id)
            }
            _ => false,
        })
}

#[test]
fn a_teleport_is_told_to_the_one_who_is_moved() {
    let mut cast = Cast::new();
    let (heading, area) = (0.5, 0);
    let position = ground(100.0, 40.0);
    cast.expect_own(
        PlayerWish::Teleport {
            position,
            heading: Some(heading),
            area: Some(area),
        },
        ServerLaneEvent::SetPosition(SetPosition {
            position,
            heading,
            area,
        }),
    );
    let nearby = ground(150.0, 40.0);
    cast.expect_own(
        PlayerWish::Teleport {
            position: nearby,
            heading: None,
            area: None,
        },
        ServerLaneEvent::SetPosition(SetPosition {
            position: nearby,
            heading,
            area,
        }),
    );
    assert_eq!(cast.sim.position(cast.subject), nearby);
}

#[test]
fn after_a_teleport_frames_from_the_old_place_are_ignored_and_no_way_is_too_far() {
    let mut cast = Cast::new();
    cast.sim.down = LossyLink::slow(Duration::from_millis(350));
    let target = ground(15_000.0, -15_000.0);
    cast.sim.wish(
        cast.subject,
        PlayerWish::Teleport {
            position: target,
            heading: None,
            area: None,
        },
    );
    for _ in 0..3 {
        cast.sim.tick();
        assert_eq!(
            cast.sim.position(cast.subject),
            target,
            "its client does not know yet"
        );
    }
    assert!(cast.sim.dropped(DropReason::Settling) >= 2);
    cast.sim.ticks(10);
    assert_eq!(cast.sim.position(cast.subject), target);
    assert_eq!(cast.sim.dropped(DropReason::TooFast), 0);
    let settled = cast.sim.dropped(DropReason::Settling);
    cast.sim.players[cast.subject].stand_at(15_012.0, -15_000.0);
    cast.sim.ticks(2);
    assert_eq!(cast.sim.position(cast.subject), ground(15_012.0, -15_000.0));
    assert_eq!(
        cast.sim.dropped(DropReason::Settling),
        settled,
        "the window is closed"
    );
    assert!(!cast.sim.sees(cast.viewer, cast.subject));
}

#[test]
fn a_teleport_into_another_area_is_not_undone_by_frames_on_their_way() {
    let mut cast = Cast::new();
    cast.sim.down = LossyLink::slow(Duration::from_millis(350));
    cast.sim.wish(
        cast.subject,
        PlayerWish::Teleport {
            position: ground(0.0, 0.0),
            heading: None,
            area: Some(6),
        },
    );
    for tick in 0..10 {
        cast.sim.tick();
        assert_eq!(cast.sim.of::<Motion>(cast.subject).area, 6, "tick {tick}");
    }
}

#[test]
fn who_changes_the_dimension_is_hidden_at_once_and_so_is_everybody_there() {
    let mut cast = Cast::new();
    let (subject, viewer) = (cast.subject, cast.viewer);
    let mut sent = [0, 0];
    for step in 0..30u8 {
        if step == 10 {
            cast.sim.wish(subject, PlayerWish::Dimension(3));
        }
        let y = f32::from(step) + 1.0;
        cast.sim.players[subject].stand_at(0.0, y);
        cast.sim.players[viewer].stand_at(30.0, y);
        cast.sim.tick();
        let frames = [
            frame_of(&cast.sim, viewer, subject),
            frame_of(&cast.sim, subject, viewer),
        ];
        if step >= 10 {
            assert_eq!(frames, [false, false], "step {step}");
        } else {
            sent[0] += u32::from(frames[0]);
            sent[1] += u32::from(frames[1]);
        }
    }
    assert_eq!(sent, [10, 10], "every tick before");
    assert!(!cast.sim.sees(viewer, subject) && !cast.sim.sees(subject, viewer));
    assert_eq!(cast.sim.of::<Dimension>(subject).0, 3);
    cast.sim.wish(viewer, PlayerWish::Dimension(3));
    cast.sim.ticks(8);
    assert!(cast.sim.sees(viewer, subject) && cast.sim.sees(subject, viewer));
}

#[test]
fn a_dimension_is_nobodys_news_and_outlives_a_death() {
    let mut cast = Cast::new();
    let subject = cast.subject;
    cast.sim.wish(subject, PlayerWish::Dimension(3));
    cast.sim.ticks(8);
    cast.expect_nothing(PlayerWish::Dimension(3));
    cast.sim.wish(subject, PlayerWish::Health(0));
    cast.sim.ticks(3);
    cast.sim.players[subject].client.request_spawn();
    cast.sim.ticks(8);
    assert_eq!(cast.sim.of::<Dimension>(subject).0, 3);
    assert!(!cast.sim.sees(cast.viewer, subject));
}

#[test]
fn who_is_far_away_in_a_new_place_streams_out_of_every_view_and_into_others() {
    let mut cast = Cast::new();
    let (subject, viewer, far) = (cast.subject, cast.viewer, cast.far);
    cast.sim.put(subject, 1990.0, 0.0);
    assert!(!cast.sim.sees(viewer, subject) && cast.sim.sees(far, subject));
    assert!(cast.sim.sees(subject, far) && !cast.sim.sees(subject, viewer));
    cast.sim.expect_no_faults();
}
