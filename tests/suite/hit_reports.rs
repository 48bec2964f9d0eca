//! Reports that are not even judged: broken ones, and those over their bound (docs/protocol.md 0, 2.1).

use decitick_components::{combat::ShotCredit, reasons::DropReason};
use decitick_protocol::{ClientLaneEvent, ClientPacket, HitReport, RequestSpawn, SessionPacket, Vec3};

use crate::sim::{
    Setup, Sim,
    duel::{Duel, weapon_table},
    ground,
};

/// A datagram with a HitReport, whatever its numbers.
fn datagram(session_token: u64, event_id: u32, report: HitReport) -> Vec<u8> {
    let mut datagram = Vec::new();
    ClientPacket::Lane {
        session_token,
        event_id,
        event: ClientLaneEvent::HitReport(report),
    }
    .encode(&mut datagram);
    datagram
}

#[test]
fn broken_numbers_in_a_report_are_malformed_and_change_nothing() {
    let mut sim = Sim::with(Setup {
        weapons: weapon_table(),
        ..Setup::default()
    });
    let target = sim.join_now("Target");
    let (visitor, hello) = sim.admit("127.0.0.1:5000", "Shooter");
    sim.send_session(
        visitor.address,
        hello.session_token,
        SessionPacket::RequestSpawn(RequestSpawn),
    );
    sim.tick();
    let good = HitReport {
        target_id: 0,
        target_token: sim.players[target].generation(),
        weapon: 0,
        body_part: 0,
        origin: ground(0.0, 0.0),
        hit: ground(0.0, 0.0),
    };
    let mut broken = Vec::new();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [
            Vec3::new(bad, 0.0, 10.0),
            Vec3::new(0.0, bad, 10.0),
            Vec3::new(0.0, 0.0, bad),
        ] {
            broken.push(HitReport {
                origin: place,
                ..good
            });
            broken.push(HitReport { hit: place, ..good });
        }
    }
    broken.push(HitReport { body_part: 7, ..good });
    let before = (sim.hits().clone(), *sim.component::<ShotCredit>(1));
    for (n, report) in broken.iter().enumerate() {
        let bytes = datagram(hello.session_token, 1, *report);
        sim.knock(visitor.address, &bytes);
        sim.tick();
        assert_eq!(sim.dropped(DropReason::Malformed), n as u64 + 1, "{report:?}");
    }
    assert_eq!((sim.hits().clone(), *sim.component::<ShotCredit>(1)), before);
    // The event id was not used up: the next report takes it.
    sim.knock(visitor.address, &datagram(hello.session_token, 1, good));
    sim.tick();
    assert_eq!((sim.hits().counted, sim.vitals(target)), (1, (95, 0)));
}

#[test]
fn past_forty_at_once_reports_are_acknowledged_and_ignored_except_on_loopback() {
    for (address, judged) in [("203.0.113.1:5000", 40), ("127.0.0.1:5000", 60)] {
        let mut duel = Duel::new();
        let gunner = duel.sim.join_from(address.parse().unwrap(), "Gunner");
        duel.sim
            .expect_within(20, "a body", |sim| sim.players[gunner].client.is_spawned());
        duel.shooter = gunner;
        for _ in 0..60 {
            duel.report(duel.shot());
        }
        duel.sim.tick();
        let refused: u64 = duel.sim.hits().nonzero().map(|(_, count)| count).sum();
        assert_eq!(duel.counted() + refused, judged, "{address}");
        duel.sim.ticks(3);
        let (acknowledged, outstanding) = duel.sim.players[gunner].client.lane_progress().unwrap();
        assert_eq!((acknowledged, outstanding), (60, 0), "{address}");
        let refused: u64 = duel.sim.hits().nonzero().map(|(_, count)| count).sum();
        assert_eq!(duel.counted() + refused, judged, "nothing is made up for later");
    }
}
