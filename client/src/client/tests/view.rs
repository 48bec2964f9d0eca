use decitick_protocol::{
    EntityFrame, EntityPayload, EntitySpawn, EntitySync, JoinedPlayer, PlayerJoin, PlayerLeave,
    PlayerStreamOut, RemoteFrame, RemotePlayerSync, ServerAck, Text,
};

use super::*;

fn join(players: &[(u32, u32)]) -> PlayerJoin {
    let players = players.iter().map(|&(player_id, player_token)| JoinedPlayer {
        player_id,
        player_token,
        name: Text::parse("Somebody").unwrap(),
    });
    PlayerJoin {
        players: players.collect(),
    }
}

fn remote(player_id: u32, player_token: u32, seq: u32) -> RemoteFrame {
    RemoteFrame {
        player_id,
        player_token,
        seq,
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        keys: 0,
        weapon: 0,
        stance: 0,
        health: 100,
    }
}

fn frames(players: Vec<RemoteFrame>) -> Vec<u8> {
    bytes(&ServerPacket::RemotePlayerSync(RemotePlayerSync { players }))
}

fn leave(player_id: u32, player_token: u32) -> Vec<u8> {
    bytes(&ServerPacket::PlayerLeave(PlayerLeave {
        player_id,
        player_token,
    }))
}

fn event_ids(client: &mut Client) -> Vec<u32> {
    notices(client)
        .into_iter()
        .filter_map(|notice| match notice {
            ClientNotice::Event { event_id, .. } | ClientNotice::StaleEvent { event_id } => Some(event_id),
            _ => None,
        })
        .collect()
}

#[test]
fn lane_events_are_told_once_and_in_order_and_acknowledged_at_most_every_50_ms() {
    let mut client = joined();
    for event_id in [2, 3, 2] {
        client.handle(ms(100), &weather(event_id));
    }
    assert_eq!(
        session_packets(&mut client, ms(100)),
        [],
        "nothing is delivered yet"
    );
    client.handle(ms(101), &weather(1));
    assert_eq!(event_ids(&mut client), [1, 2, 3]);
    assert!(matches!(session_packets(&mut client, ms(101))[..], [SessionPacket::Ack(ack)] if ack.ack == 3));
    client.handle(ms(102), &weather(4));
    assert_eq!(client.poll_timeout(), Some(ms(151)));
    assert_eq!(session_packets(&mut client, ms(150)), []);
    assert!(matches!(session_packets(&mut client, ms(151))[..], [SessionPacket::Ack(ack)] if ack.ack == 4));
    client.handle(ms(300), &weather(4 + 257));
    assert_eq!(session_packets(&mut client, ms(300)), []);
    assert_eq!(client.counters().dropped(DropReason::LaneDuplicate), 1);
    assert_eq!(client.counters().dropped(DropReason::LaneTooFar), 1);
    assert_eq!(client.counters().lane_ahead, 2);
}

#[test]
fn own_events_are_sent_until_the_server_has_them() {
    let mut client = joined();
    assert_eq!(client.send_chat("Hello"), Ok(1));
    assert_eq!(client.send_event("shop.buy", &[0x05]), Ok(2));
    assert!(matches!(client.send_chat(""), Err(SendError::BadEvent { .. })));
    assert!(matches!(
        client.send_event("x", &[0x05, 0x05]),
        Err(SendError::BadEvent { .. })
    ));
    assert_eq!(sent(&mut client, ms(100)).len(), 2);
    client.handle(ms(200), &bytes(&ServerPacket::Ack(ServerAck { ack: 1 })));
    client.handle(ms(200), &bytes(&ServerPacket::Ack(ServerAck { ack: 1 })));
    client.handle(ms(200), &bytes(&ServerPacket::Ack(ServerAck { ack: 3 })));
    let again = sent(&mut client, ms(350));
    assert!(matches!(
        again[..],
        [ClientPacket::Lane {
            session_token: TOKEN,
            event_id: 2,
            ..
        }]
    ));
    assert_eq!(client.lane_progress(), Some((1, 1)));
    let drops: Vec<_> = client.counters().drops().collect();
    assert_eq!(drops, [(DropReason::StaleAck, 1), (DropReason::ForeignAck, 1)]);
    assert_eq!(self::client().send_chat("Hello"), Err(SendError::NoSession));
}

#[test]
fn what_the_lane_says_of_an_older_generation_is_kept_from_the_program() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, join(&[(3, 4), (5, 6)])));
    client.handle(ms(30), &leave(3, 5));
    client.handle(ms(30), &leave(3, 5));
    client.handle(ms(40), &lane(2, stream_in(3, 4)));
    client.handle(ms(40), &lane(3, join(&[(3, 5), (5, 8)])));
    client.handle(ms(40), &lane(4, join(&[(3, 4)])));
    let told = notices(&mut client);
    let expected = [
        ClientNotice::Event {
            event_id: 1,
            event: join(&[(3, 4), (5, 6)]).into(),
        },
        ClientNotice::PlayerLeft {
            player_id: 3,
            player_token: 4,
        },
        ClientNotice::StaleEvent { event_id: 2 },
        ClientNotice::PlayerLeft {
            player_id: 5,
            player_token: 6,
        },
        ClientNotice::Event {
            event_id: 3,
            event: join(&[(5, 8)]).into(),
        },
        ClientNotice::Breach(Breach {
            fault: Fault::OldGenerationOnLane,
            subject: Subject::Player {
                player_id: 3,
                player_token: 4,
            },
        }),
        ClientNotice::StaleEvent { event_id: 4 },
    ];
    assert_eq!(told, expected);
    assert_eq!(client.counters().dropped(DropReason::StaleLeave), 1);
    assert_eq!(client.counters().record_dropped(RecordDrop::OldGeneration), 3);
    let players: Vec<_> = client
        .roster()
        .unwrap()
        .players()
        .map(|(id, live)| (id, live.name()))
        .collect();
    assert_eq!(players, [(5, Some("Somebody"))]);
}

#[test]
fn only_newer_frames_of_players_in_view_count() {
    let mut client = joined();
    client.handle(ms(20), &frames(vec![remote(3, 4, 1)]));
    client.handle(ms(20), &lane(1, join(&[(3, 4)])));
    client.handle(ms(20), &lane(2, stream_in(3, 4)));
    notices(&mut client);
    client.handle(ms(30), &frames(vec![remote(3, 4, 2), remote(5, 6, 1)]));
    client.handle(ms(31), &frames(vec![remote(3, 4, 2)]));
    assert_eq!(notices(&mut client), [ClientNotice::Frame(remote(3, 4, 2))]);
    client.handle(
        ms(40),
        &lane(
            3,
            PlayerStreamOut {
                player_id: 3,
                player_token: 4,
            },
        ),
    );
    client.handle(ms(2_039), &frames(vec![remote(3, 4, 3)]));
    client.handle(ms(2_040), &frames(vec![remote(3, 4, 4)]));
    let records: Vec<_> = client.counters().record_drops().collect();
    let expected = [
        (RecordDrop::NotInView, 3),
        (RecordDrop::AfterStreamOut, 1),
        (RecordDrop::StaleFrame, 1),
    ];
    assert_eq!(records, expected);
}

#[test]
fn entity_frames_count_while_the_entity_is_there() {
    let mut client = joined();
    let frame = |tick| EntityFrame {
        entity_id: 11,
        tick,
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        heading: 0.0,
    };
    let sync = |tick| {
        bytes(&ServerPacket::EntitySync(EntitySync {
            entities: vec![frame(tick)],
        }))
    };
    client.handle(ms(20), &sync(1));
    let spawn = EntitySpawn {
        entity_id: 11,
        kind: decitick_protocol::EntityKind::Object,
        model: 1,
        position: Vec3::ZERO,
        heading: 0.0,
        area: 0,
        data: EntityPayload::nil(),
    };
    client.handle(ms(20), &lane(1, spawn));
    notices(&mut client);
    client.handle(ms(30), &sync(2));
    assert_eq!(notices(&mut client), [ClientNotice::EntityFrame(frame(2))]);
    assert_eq!(client.counters().record_dropped(RecordDrop::EntityUnknown), 1);
}

#[test]
fn a_program_that_fetches_nothing_loses_frames_but_no_lane_event() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, join(&[(3, 4)])));
    client.handle(ms(20), &lane(2, stream_in(3, 4)));
    for seq in 1..=5_000 {
        client.handle(ms(30), &frames(vec![remote(3, 4, seq)]));
    }
    client.handle(ms(40), &weather(3));
    assert!(matches!(session_packets(&mut client, ms(100))[..], [SessionPacket::Ack(ack)] if ack.ack == 2));
    assert_eq!(
        client.counters().record_dropped(RecordDrop::NoticesFull),
        5_000 - 4_094
    );
    assert_eq!(notices(&mut client).len(), 4_096);
    assert!(matches!(session_packets(&mut client, ms(200))[..], [SessionPacket::Ack(ack)] if ack.ack == 3));
    assert_eq!(event_ids(&mut client), [3]);
}
