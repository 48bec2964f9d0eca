use decitick_protocol::{
    ClientLaneEvent, EntityDespawn, EntityFrame, EntityKind, EntityPayload, EntitySpawn, EntitySync,
    HitReport, PlayerDeath, RemoteFrame, RemotePlayerSync, RunClock, SetMoney, SetTime, SetVitals,
    SetWeapons, WeaponAmmo, WeaponProperties, WeaponProperty,
};

use super::*;

fn hit(weapon: u8) -> HitReport {
    HitReport {
        target_id: 3,
        target_token: 4,
        weapon,
        body_part: 6,
        origin: Vec3::ZERO,
        hit: Vec3::new(1.0, 0.0, 0.0),
    }
}

fn death(player_id: u32, player_token: u32) -> PlayerDeath {
    PlayerDeath {
        player_id,
        player_token,
        killer_id: 3,
        killer_token: 4,
        weapon: 0,
    }
}

fn entity_frames(tick: u32) -> Vec<u8> {
    let frame = EntityFrame {
        entity_id: 11,
        tick,
        position: Vec3::new(9.0, 0.0, 0.0),
        velocity: Vec3::ZERO,
        heading: 0.0,
    };
    bytes(&ServerPacket::EntitySync(EntitySync {
        entities: vec![frame],
    }))
}

fn entity() -> EntitySpawn {
    EntitySpawn {
        entity_id: 11,
        kind: EntityKind::Vehicle,
        model: 1,
        position: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        data: EntityPayload::nil(),
    }
}

fn faults(client: &Client) -> Vec<(Fault, u64)> {
    client.counters().faults().collect()
}

#[test]
fn a_hit_is_reported_by_a_body_with_a_weapon_it_holds_and_by_nobody_else() {
    assert_eq!(client().report_hit(hit(0)), Err(SendError::NoSession));
    let mut client = joined();
    assert_eq!(client.report_hit(hit(0)), Err(SendError::NotSpawned));
    client.handle(ms(20), &lane(1, spawn_at(Vec3::ZERO)));
    let unheld = SendError::WeaponNotHeld { weapon: 24 };
    assert_eq!(client.report_hit(hit(24)), Err(unheld.clone()));
    assert!(unheld.to_string().contains("24"));
    let weapons = vec![WeaponAmmo { weapon: 24, ammo: 7 }];
    client.handle(ms(20), &lane(2, SetWeapons { weapons }));
    for broken in [
        HitReport {
            body_part: 7,
            ..hit(0)
        },
        HitReport {
            hit: Vec3::new(f32::NAN, 0.0, 0.0),
            ..hit(0)
        },
        HitReport {
            origin: Vec3::new(0.0, f32::INFINITY, 0.0),
            ..hit(0)
        },
    ] {
        assert_eq!(client.report_hit(broken), Err(SendError::BadHit));
    }
    assert_eq!(
        (client.report_hit(hit(0)), client.report_hit(hit(24))),
        (Ok(1), Ok(2))
    );
    let reported: Vec<_> = sent(&mut client, ms(30))
        .into_iter()
        .filter_map(|packet| match packet {
            ClientPacket::Lane {
                event: ClientLaneEvent::HitReport(hit),
                ..
            } => Some(hit),
            _ => None,
        })
        .collect();
    assert_eq!(reported, [hit(0), hit(24)]);
    client.handle(ms(40), &lane(3, death(7, 9)));
    assert_eq!(client.report_hit(hit(0)), Err(SendError::NotSpawned));
}

#[test]
fn a_player_knows_of_itself_what_the_server_last_told() {
    let mut client = joined();
    assert_eq!(client.own(), Some(&OwnState::default()));
    let vitals = SetVitals {
        health: 80,
        armour: 5,
    };
    let weapons = vec![WeaponAmmo { weapon: 24, ammo: 7 }];
    let row = WeaponProperty {
        weapon: 24,
        damage: 46,
        range: 35.0,
        interval_ms: 700,
    };
    client.handle(ms(20), &lane(1, vitals));
    client.handle(ms(20), &lane(2, SetMoney { money: -5 }));
    client.handle(
        ms(20),
        &lane(
            3,
            SetWeapons {
                weapons: weapons.clone(),
            },
        ),
    );
    client.handle(ms(20), &lane(4, WeaponProperties { weapons: vec![row] }));
    let own = client.own().unwrap();
    assert_eq!(
        (own.vitals(), own.money(), own.weapons()),
        (Some(vitals), Some(-5), weapons.as_slice())
    );
    assert_eq!(client.weapon_table().unwrap().weapon(24), Some(&row));
    client.handle(ms(30), &lane(5, SetWeapons { weapons: Vec::new() }));
    assert!(!client.own().unwrap().holds(24));
}

#[test]
fn the_world_clock_starts_with_the_hello_and_runs_on_as_told() {
    let mut client = joined();
    assert_eq!(client.world_time(ms(60_000)), Some((12, 34)));
    let run = RunClock {
        running: true,
        ms_per_minute: 100,
    };
    client.handle(ms(1_000), &lane(1, run));
    assert_eq!(client.world_time(ms(1_600)), Some((12, 40)));
    let set = SetTime {
        hours: 23,
        minutes: 59,
    };
    client.handle(ms(2_000), &lane(2, set));
    assert_eq!(client.world_time(ms(2_100)), Some((0, 0)));
}

#[test]
fn the_last_frame_is_the_one_sent_by_the_present_body() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, spawn_at(Vec3::ZERO)));
    client.sync(frame_at(Vec3::new(5.0, 0.0, 0.0))).unwrap();
    assert_eq!(client.last_frame(), None);
    session_packets(&mut client, ms(20));
    client.sync(frame_at(Vec3::new(6.0, 0.0, 0.0))).unwrap();
    assert_eq!(
        client.last_frame().map(|frame| (frame.seq, frame.position.x)),
        Some((1, 5.0))
    );
    client.handle(ms(30), &lane(2, death(7, 9)));
    assert_eq!(client.last_frame(), None);
}

#[test]
fn the_fallen_see_on_and_others_who_fall_are_seen_to() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, spawn_at(Vec3::ZERO)));
    client.handle(ms(20), &lane(2, stream_in(3, 4)));
    client.handle(ms(30), &lane(3, death(7, 9)));
    let frame = RemoteFrame {
        player_id: 3,
        player_token: 4,
        seq: 1,
        position: Vec3::new(7.0, 0.0, 0.0),
        velocity: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
        health: 100,
    };
    let players = vec![frame];
    client.handle(
        ms(40),
        &bytes(&ServerPacket::RemotePlayerSync(RemotePlayerSync { players })),
    );
    let seen = |client: &Client| *client.roster().unwrap().player(3).unwrap().sighting().unwrap();
    assert_eq!((seen(&client).position.x, seen(&client).health), (7.0, 100));
    client.handle(ms(50), &lane(4, death(3, 4)));
    assert_eq!(seen(&client).health, 0);
}

#[test]
fn things_are_tracked_from_spawn_to_despawn() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, entity()));
    client.handle(ms(30), &entity_frames(50));
    let thing = client.things().unwrap().thing(11).unwrap();
    assert_eq!((thing.kind, thing.position.x), (EntityKind::Vehicle, 9.0));
    client.handle(ms(40), &lane(2, EntityDespawn { entity_id: 11 }));
    assert!(client.things().unwrap().is_empty());
    client.handle(ms(2_040), &entity_frames(51));
    assert_eq!(
        client.counters().record_dropped(RecordDrop::EntityAfterDespawn),
        1
    );
    assert_eq!(faults(&client), [], "a spawn may be on its way");
    client.handle(ms(5_040), &entity_frames(52));
    assert_eq!(faults(&client), [(Fault::EntityFramesAfterDespawn, 1)]);
}

#[test]
fn what_no_network_explains_is_told_and_counted() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, stream_in(3, 9)));
    client.handle(ms(20), &lane(2, stream_in(3, 9)));
    client.handle(ms(20), &lane(3, stream_in(3, 4)));
    client.handle(ms(20), &lane(4, entity()));
    client.handle(ms(20), &lane(5, entity()));
    let told: Vec<String> = notices(&mut client)
        .into_iter()
        .filter_map(|notice| match notice {
            ClientNotice::Breach(breach) => Some(breach.to_string()),
            _ => None,
        })
        .collect();
    let expected = [
        "stream_in_twice: player 3 of generation 9",
        "old_generation_on_lane: player 3 of generation 4",
        "entity_spawn_twice: entity 11",
    ];
    assert_eq!(told, expected);
    assert_eq!(client.counters().faulted(Fault::StreamInTwice), 1);
    assert_eq!(faults(&client).len(), 3);
}

#[test]
fn a_leave_that_overtakes_the_lane_makes_no_breach_of_what_comes_after_it() {
    let mut client = joined();
    let leave = decitick_protocol::PlayerLeave {
        player_id: 3,
        player_token: 4,
    };
    client.handle(ms(20), &bytes(&ServerPacket::PlayerLeave(leave)));
    client.handle(ms(30), &lane(1, stream_in(3, 4)));
    assert_eq!(client.counters().record_dropped(RecordDrop::OldGeneration), 1);
    assert_eq!(faults(&client), []);
}
