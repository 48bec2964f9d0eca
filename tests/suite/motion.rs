//! Which frames of a player are taken (docs/protocol.md 2.3).

use std::time::Duration;

use decitick_client::client::LivePlayer;
use decitick_components::{body::Motion, reasons::DropReason};
use decitick_protocol::{
    PlayerSync, RequestSpawn, ServerHello, ServerLaneEvent, ServerPacket, SessionPacket, Vec3,
};

use crate::sim::{Sim, Visitor, frame_at};

struct Walker {
    visitor: Visitor,
    hello: ServerHello,
}

impl Walker {
    /// Somebody with a body at the first spawn point, 0, 0, 10.
    fn spawned(sim: &mut Sim) -> Self {
        let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
        let walker = Self { visitor, hello };
        walker.send(sim, SessionPacket::RequestSpawn(RequestSpawn));
        sim.tick();
        walker
    }

    fn send(&self, sim: &mut Sim, packet: SessionPacket) {
        sim.send_session(self.visitor.address, self.hello.session_token, packet);
    }

    fn frame(&self, sim: &mut Sim, seq: u32, x: f32) {
        self.send(
            sim,
            SessionPacket::PlayerSync(PlayerSync {
                seq,
                ..frame_at(x, 0.0)
            }),
        );
    }

    /// The SetPosition of the last tick, with its event id.
    fn put_back_to(&self, sim: &Sim) -> Option<(u32, Vec3)> {
        sim.sent_to(self.visitor.address)
            .iter()
            .find_map(|datagram| match ServerPacket::decode(datagram) {
                Ok(ServerPacket::Lane {
                    event_id,
                    event: ServerLaneEvent::SetPosition(put),
                }) => Some((event_id, put.position)),
                _ => None,
            })
    }
}

fn x_of(sim: &Sim) -> f32 {
    sim.component::<Motion>(0).position.x
}

#[test]
fn frames_count_only_with_a_body() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
    let walker = Walker { visitor, hello };
    walker.frame(&mut sim, 1, 3.0);
    sim.tick();
    assert_eq!(sim.dropped(DropReason::WrongPhase), 1);
    walker.send(&mut sim, SessionPacket::RequestSpawn(RequestSpawn));
    sim.tick();
    walker.frame(&mut sim, 2, 3.0);
    sim.tick();
    assert!((x_of(&sim) - 3.0).abs() < 1e-6);
}

#[test]
fn the_newest_frame_of_a_tick_wins_in_whatever_order_they_come_and_a_wrapped_number_is_newer() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    for (seq, x) in [
        (u32::MAX - 1, 1.0),
        (u32::MAX, 2.0),
        (5, 3.0),
        (u32::MAX, 4.0),
        (5, 5.0),
    ] {
        walker.frame(&mut sim, seq, x);
    }
    sim.tick();
    assert!((x_of(&sim) - 3.0).abs() < 1e-6);
    assert_eq!(sim.dropped(DropReason::StaleFrame), 2);
}

#[test]
fn after_a_spawn_frames_far_from_it_are_ignored_for_two_seconds() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 100.0);
    sim.tick();
    assert_eq!((sim.dropped(DropReason::Settling), x_of(&sim) == 0.0), (1, true));
    walker.frame(&mut sim, 2, 9.0);
    sim.tick();
    assert!(
        (x_of(&sim) - 9.0).abs() < 1e-6,
        "a frame near the target closes the window"
    );
    walker.frame(&mut sim, 3, 100.0);
    sim.tick();
    assert!((x_of(&sim) - 100.0).abs() < 1e-6);
}

#[test]
fn a_settle_window_ends_by_itself_and_zero_turns_it_off() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    sim.ticks(20);
    walker.frame(&mut sim, 1, 100.0);
    sim.tick();
    assert!((x_of(&sim) - 100.0).abs() < 1e-6);

    let mut sim = Sim::with_settings(|settings| settings.world.settle_ms = 0);
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 100.0);
    sim.tick();
    assert!((x_of(&sim) - 100.0).abs() < 1e-6);
}

#[test]
fn who_moves_too_fast_is_refused_and_put_back_at_most_once_a_second() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 5.0);
    sim.tick();
    let mut put_back = std::collections::BTreeSet::new();
    for seq in 2..12 {
        walker.frame(&mut sim, seq, 900.0);
        sim.tick();
        if let Some((event_id, position)) = walker.put_back_to(&sim) {
            assert!((position.x - 5.0).abs() < 1e-6);
            put_back.insert(event_id);
        }
    }
    assert_eq!(put_back.len(), 1);
    assert_eq!(
        sim.dropped(DropReason::TooFast) + sim.dropped(DropReason::Settling),
        10
    );
    assert!((x_of(&sim) - 5.0).abs() < 1e-6);
}

#[test]
fn two_hundred_metres_a_second_are_allowed_over_any_second() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 0.0);
    sim.tick();
    for step in 1..=50u16 {
        walker.frame(&mut sim, u32::from(step) + 1, f32::from(step) * 19.0);
        sim.tick();
    }
    assert_eq!(sim.dropped(DropReason::TooFast), 0);
    assert!((x_of(&sim) - 950.0).abs() < 1e-3);
}

#[test]
fn the_world_ends_at_its_bounds() {
    let mut sim = Sim::with_settings(|settings| {
        settings.world.bounds = 500.0;
        settings.world.max_speed = 0.0;
        settings.world.settle_ms = 0;
    });
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 500.0);
    sim.tick();
    walker.frame(&mut sim, 2, 501.0);
    sim.tick();
    assert_eq!(sim.dropped(DropReason::OutOfBounds), 1);
    assert!((x_of(&sim) - 500.0).abs() < 1e-6);
}

#[test]
fn headings_come_into_range_and_broken_floats_are_malformed() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    let frame = PlayerSync {
        seq: 1,
        heading: 7.0,
        ..frame_at(0.0, 0.0)
    };
    walker.send(&mut sim, SessionPacket::PlayerSync(frame));
    sim.tick();
    let heading = sim.component::<Motion>(0).heading;
    assert!(
        (heading - (7.0 - std::f32::consts::TAU)).abs() < 1e-5,
        "{heading}"
    );
    for bad in [f32::NAN, f32::INFINITY, 20_001.0] {
        walker.frame(&mut sim, 9, bad);
    }
    sim.tick();
    assert_eq!(sim.dropped(DropReason::Malformed), 3);
    assert!(sim.now < Duration::from_secs(2));
}

#[test]
fn being_put_back_grants_no_way_of_its_own() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 0.0);
    sim.tick();
    let (mut seq, mut reached) = (1, 0.0f32);
    // As far as is allowed at once, a leap that is refused, a frame that follows the put-back, and as far again.
    for _ in 0..10 {
        for ahead in [198.0, 5_000.0, 0.0, 198.0] {
            seq += 1;
            walker.frame(&mut sim, seq, reached + ahead);
            sim.tick();
            reached = x_of(&sim);
        }
        sim.ticks(10);
    }
    assert!(
        (1_000.0..=14.0 * 200.0 + 200.0).contains(&reached),
        "{reached} m in 14 s"
    );
}

#[test]
fn silence_is_no_way_to_travel() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 1, 0.0);
    sim.ticks(100);
    walker.frame(&mut sim, 2, 1_600.0);
    sim.tick();
    assert_eq!((sim.dropped(DropReason::TooFast), x_of(&sim) == 0.0), (1, true));
}

#[test]
fn a_sequence_number_that_leaps_is_refused_so_that_nobody_freezes_for_others() {
    let mut sim = Sim::new();
    let walker = Walker::spawned(&mut sim);
    walker.frame(&mut sim, 0x9000_0000, 1.0);
    sim.tick();
    assert!((x_of(&sim) - 1.0).abs() < 1e-6, "any number may be the first");
    walker.frame(&mut sim, 0x9000_0000u32.wrapping_add(0x7FFF_FFFF), 2.0);
    sim.tick();
    assert_eq!(sim.dropped(DropReason::SequenceLeap), 1);
    walker.frame(&mut sim, 0x9000_0000 + 900, 3.0);
    sim.tick();
    assert!((x_of(&sim) - 3.0).abs() < 1e-6, "so many may have been lost");
}

#[test]
fn nobody_is_relayed_before_its_first_frame() {
    let mut sim = Sim::new();
    let watcher = sim.join_now("Watcher");
    let walker = Walker::spawned(&mut sim);
    sim.players[watcher].keeps_frames = true;
    sim.ticks(15);
    let roster = sim.players[watcher].client.roster().unwrap();
    assert!(roster.player(1).is_some_and(LivePlayer::is_in_view));
    assert!(sim.players[watcher].frames.is_empty());
    walker.frame(&mut sim, 0x9000_0000, 1.0);
    sim.ticks(3);
    assert_eq!(sim.players[watcher].frames.len(), 1);
}
