//! Bodies go and come: what the dead still see, and how one comes into the world (docs/protocol.md 1.5, 2.3, 2.5).

mod spawning;

use decitick_components::{
    body::Motion,
    messages::{PlayerDied, PlayerSpawned},
    phase::Phase,
    reasons::DropReason,
    requests::{PlayerRequest, PlayerWish},
};
use decitick_protocol::{PlayerDeath, PlayerSync, RequestSpawn, ServerHello, ServerLaneEvent, SessionPacket};

use crate::sim::{Sim, Visitor, frame_at};

/// A fallen and a living player, side by side at the origin.
fn fallen_and_living() -> (Sim, usize, usize) {
    let mut sim = Sim::new();
    let (fallen, living) = (sim.join_now("Fallen"), sim.join_now("Living"));
    for index in [fallen, living] {
        sim.players[index].stand_at(0.0, 0.0);
    }
    sim.ticks(8);
    sim.wish(fallen, PlayerWish::Health(0));
    sim.ticks(2);
    assert_eq!(sim.phase(fallen), Phase::PreSpawn);
    (sim, fallen, living)
}

#[test]
fn who_dies_by_nobodys_hand_is_told_so_and_falls() {
    let mut sim = Sim::new();
    let (victim, witness) = (sim.join_now("Victim"), sim.join_now("Witness"));
    sim.ticks(8);
    sim.wish(victim, PlayerWish::Health(0));
    sim.tick();
    let expected = PlayerDeath {
        player_id: 0,
        player_token: sim.players[victim].generation(),
        killer_id: u32::MAX,
        killer_token: 0,
        weapon: 0,
    };
    for index in [victim, witness] {
        let told = sim.sent_events(index);
        assert!(told.contains(&ServerLaneEvent::PlayerDeath(expected)), "{told:?}");
    }
    assert_eq!(sim.told::<PlayerDied>().len(), 1);
    assert_eq!((sim.phase(victim), sim.vitals(victim)), (Phase::PreSpawn, (0, 0)));
}

#[test]
fn to_kill_the_dead_does_nothing() {
    let (mut sim, fallen, _) = fallen_and_living();
    sim.wish(fallen, PlayerWish::Health(0));
    sim.wish(fallen, PlayerWish::Health(100));
    sim.tick();
    assert!(sim.told::<PlayerDied>().is_empty());
    assert!(sim.sent_events(fallen).is_empty());
    assert_eq!((sim.phase(fallen), sim.vitals(fallen)), (Phase::PreSpawn, (0, 0)));
}

#[test]
fn the_fallen_go_on_seeing_from_where_they_fell_and_are_not_seen() {
    let (mut sim, fallen, living) = fallen_and_living();
    assert!(sim.sees(fallen, living) && !sim.sees(living, fallen));
    sim.players[fallen].keeps_frames = true;
    for step in 1..=10u16 {
        sim.players[living].stand_at(f32::from(step) * 2.0, 0.0);
        sim.tick();
    }
    sim.tick();
    let frames = &sim.players[fallen].frames;
    assert!(frames.len() >= 10, "{frames:?}");
    assert!((frames.last().unwrap().position.x - 20.0).abs() < 1e-6);
    // Somebody new within the radius of the place, and somebody beyond it.
    let (near, far) = (sim.join_now("Near"), sim.join_now("Far"));
    sim.put(near, 250.0, 0.0);
    sim.put(far, 350.0, 0.0);
    assert!(sim.sees(fallen, near) && !sim.sees(fallen, far));
    sim.put(living, 350.0, 0.0);
    assert!(!sim.sees(fallen, living));
    assert!(!sim.sees(near, fallen) && !sim.sees(far, fallen));
}

#[test]
fn who_never_had_a_body_sees_nobody() {
    let mut sim = Sim::new();
    sim.join_now("Somebody");
    let ghost = sim.join("Ghost");
    sim.players[ghost].wants_body = false;
    sim.ticks(20);
    assert!(sim.players[ghost].views().is_empty());
    assert_eq!(sim.players[ghost].client.roster().unwrap().in_view_count(), 0);
}

/// A player whose packets the test writes itself.
struct ByHand {
    sim: Sim,
    visitor: Visitor,
    hello: ServerHello,
}

impl ByHand {
    fn new() -> Self {
        let mut sim = Sim::new();
        let (visitor, hello) = sim.admit("127.0.0.1:5000", "Guest 0");
        Self { sim, visitor, hello }
    }

    fn send(&mut self, packet: SessionPacket) {
        self.sim
            .send_session(self.visitor.address, self.hello.session_token, packet);
    }

    fn ask_for_a_body(&mut self) {
        self.send(SessionPacket::RequestSpawn(RequestSpawn));
        self.sim.tick();
    }

    fn frame(&mut self, seq: u32, x: f32) {
        self.send(SessionPacket::PlayerSync(PlayerSync {
            seq,
            ..frame_at(x, 0.0)
        }));
        self.sim.tick();
    }

    fn kill(&mut self) {
        let entity = self.sim.entity(0).unwrap();
        self.sim.app.world_mut().write_message(PlayerRequest {
            entity,
            wish: PlayerWish::Health(0),
        });
        self.sim.tick();
    }

    fn x(&self) -> f32 {
        self.sim.component::<Motion>(0).position.x
    }
}

#[test]
fn frames_of_the_fallen_are_not_taken() {
    let mut hand = ByHand::new();
    hand.ask_for_a_body();
    hand.frame(1, 3.0);
    hand.kill();
    hand.frame(2, 4.0);
    assert_eq!(hand.sim.dropped(DropReason::WrongPhase), 1);
    assert!((hand.x() - 3.0).abs() < 1e-6);
}

#[test]
fn numbers_of_frames_go_on_over_a_respawn() {
    let mut hand = ByHand::new();
    hand.ask_for_a_body();
    hand.frame(1, 0.0);
    hand.frame(50, 1.0);
    hand.kill();
    hand.ask_for_a_body();
    for old in [1, 49, 50] {
        hand.frame(old, 2.0);
    }
    assert_eq!(hand.sim.dropped(DropReason::StaleFrame), 3);
    assert!(hand.x().abs() < 1e-6, "at its spawn point");
    hand.frame(51, 3.0);
    assert!((hand.x() - 3.0).abs() < 1e-6);
}

#[test]
fn a_client_goes_on_numbering_over_a_respawn_and_is_seen_to_move() {
    let (mut sim, fallen, living) = fallen_and_living();
    let (before, _) = sim.players[fallen].client.last_sync().unwrap();
    sim.players[fallen].client.request_spawn();
    sim.ticks(8);
    sim.players[fallen].stand_at(4.0, 0.0);
    sim.players[living].keeps_frames = true;
    sim.ticks(3);
    let (after, _) = sim.players[fallen].client.last_sync().unwrap();
    assert!(after > before, "{before} then {after}");
    let newest = sim.players[living].frames.last().unwrap();
    assert!(newest.seq > before && (newest.position.x - 4.0).abs() < 1e-6);
}

#[test]
fn a_request_that_is_repeated_gives_one_body() {
    let mut hand = ByHand::new();
    hand.send(SessionPacket::RequestSpawn(RequestSpawn));
    hand.send(SessionPacket::RequestSpawn(RequestSpawn));
    hand.sim.tick();
    assert_eq!(hand.sim.told::<PlayerSpawned>().len(), 1);
    hand.frame(1, 5.0);
    hand.ask_for_a_body();
    assert!(hand.sim.told::<PlayerSpawned>().is_empty());
    assert!(
        (hand.x() - 5.0).abs() < 1e-6,
        "nobody is put back by an old request"
    );
}

#[test]
fn who_is_killed_and_spawned_in_one_tick_dies_once_and_stands_again() {
    let mut sim = Sim::new();
    let (living, witness) = (sim.join_now("Living"), sim.join_now("Witness"));
    sim.ticks(8);
    sim.wish(living, PlayerWish::Health(0));
    sim.wish(living, PlayerWish::Spawn(None));
    sim.ticks(8);
    assert_eq!(
        (sim.phase(living), sim.vitals(living)),
        (Phase::Spawned, (100, 0))
    );
    assert!(sim.players[living].client.is_spawned() && sim.sees(witness, living));
}
