use decitick_protocol::{
    AuthAccepted, ChatMessage, KickNotify, KickReason, PlayerDeath, ServerKeepalive, SetPosition, Text,
};
use proptest::prelude::*;

use super::*;

fn keepalive(nonce: u32, rtt_ms: u16) -> Vec<u8> {
    bytes(&ServerPacket::Keepalive(ServerKeepalive { nonce, rtt_ms }))
}

fn kick(reason: &str) -> Vec<u8> {
    bytes(&ServerPacket::Kick(KickNotify {
        reason: KickReason::parse(reason).unwrap(),
    }))
}

fn spawned() -> Client {
    let mut client = joined();
    client.handle(ms(20), &lane(1, spawn_at(Vec3::new(1.0, 2.0, 3.0))));
    session_packets(&mut client, ms(20));
    notices(&mut client);
    client
}

fn syncs(client: &mut Client, now: Duration) -> Vec<PlayerSync> {
    session_packets(client, now)
        .into_iter()
        .filter_map(|packet| match packet {
            SessionPacket::PlayerSync(frame) => Some(frame),
            _ => None,
        })
        .collect()
}

#[test]
fn a_keepalive_is_answered_at_once_and_its_rtt_shown() {
    let mut client = joined();
    client.handle(ms(50), &keepalive(11, 65_535));
    assert!(client.poll_timeout().unwrap() <= ms(50));
    assert!(
        matches!(session_packets(&mut client, ms(50))[..], [SessionPacket::Pong(pong)] if pong.nonce == 11)
    );
    client.handle(ms(60), &keepalive(12, 40));
    client.handle(ms(60), &keepalive(13, 42));
    assert!(
        matches!(session_packets(&mut client, ms(60))[..], [SessionPacket::Pong(pong)] if pong.nonce == 13)
    );
    assert_eq!(client.rtt_ms(), Some(42));
    let pings = [None, Some(40), Some(42)].map(ClientNotice::Ping);
    assert_eq!(notices(&mut client), pings);
}

#[test]
fn the_session_ends_after_exactly_15_s_of_silence_and_says_goodbye() {
    let mut client = joined();
    assert_eq!(client.poll_timeout(), Some(ms(15_010)));
    assert_eq!(session_packets(&mut client, ms(15_009)), []);
    let mut heard = joined();
    heard.handle(ms(15_009), &weather(99));
    session_packets(&mut heard, ms(15_010));
    assert!(
        heard.end_reason().is_none(),
        "any well-formed packet is a sign of life"
    );

    assert!(matches!(
        session_packets(&mut client, ms(15_010))[..],
        [SessionPacket::Bye(_)]
    ));
    assert_eq!(notices(&mut client), [ClientNotice::Ended(EndReason::Silence)]);
    assert_eq!(client.poll_timeout(), None);
    client.handle(ms(15_011), &sealed(&welcome(), &identity(), &NONCE));
    assert_eq!(client.counters().dropped(DropReason::AfterEnd), 1);
    assert_eq!(sent(&mut client, ms(60_000)), [], "it never reconnects by itself");
}

#[test]
fn a_malformed_packet_is_no_sign_of_life() {
    let mut client = joined();
    client.handle(ms(15_009), &[0x8C, 1, 2, 3]);
    session_packets(&mut client, ms(15_010));
    assert_eq!(client.end_reason(), Some(&EndReason::Silence));
    assert_eq!(client.counters().dropped(DropReason::Malformed), 1);
}

#[test]
fn a_kick_ends_the_session_without_a_goodbye() {
    let mut client = joined();
    client.handle(ms(100), &kick("flooding"));
    assert_eq!(sent(&mut client, ms(100)), []);
    let ended = EndReason::Kicked {
        reason: "flooding".to_owned(),
    };
    assert_eq!(notices(&mut client), [ClientNotice::Ended(ended)]);
}

#[test]
fn a_kick_reason_is_read_whatever_its_bytes_and_holds_no_control() {
    let mut client = joined();
    let mut datagram = vec![0x14];
    datagram.extend_from_slice(b"a\xFF\x1b[2J");
    datagram.resize(65, 0);
    client.handle(ms(100), &datagram);
    let ended = EndReason::Kicked {
        reason: "a\u{FFFD}\u{FFFD}[2J".to_owned(),
    };
    assert_eq!(client.end_reason(), Some(&ended));
}

#[test]
fn before_the_login_is_decided_a_kick_and_silence_are_a_refused_login() {
    let mut pending = welcome();
    pending.auth_pending = true;
    let mut kicked = joined_with(&pending);
    kicked.request_spawn();
    assert_eq!(
        session_packets(&mut kicked, ms(20)),
        [],
        "no body is granted before the decision"
    );
    kicked.handle(ms(100), &kick("no"));
    let refused = EndReason::LoginRefused {
        reason: Some("no".to_owned()),
    };
    assert_eq!(kicked.end_reason(), Some(&refused));

    let mut silent = joined_with(&pending);
    assert!(matches!(
        session_packets(&mut silent, ms(15_010))[..],
        [SessionPacket::Bye(_)]
    ));
    assert_eq!(
        silent.end_reason(),
        Some(&EndReason::LoginRefused { reason: None })
    );

    let mut accepted = joined_with(&pending);
    accepted.request_spawn();
    accepted.handle(ms(50), &lane(1, AuthAccepted));
    assert!(!accepted.is_auth_pending());
    assert!(
        session_packets(&mut accepted, ms(50))
            .iter()
            .any(|packet| matches!(packet, SessionPacket::RequestSpawn(_)))
    );
    accepted.handle(ms(100), &kick("later"));
    assert!(matches!(accepted.end_reason(), Some(EndReason::Kicked { .. })));
}

#[test]
fn a_body_is_asked_for_every_500_ms_until_it_is_given() {
    let mut client = joined();
    client.request_spawn();
    client.request_spawn();
    assert!(matches!(
        session_packets(&mut client, ms(20))[..],
        [SessionPacket::RequestSpawn(_)]
    ));
    assert_eq!(session_packets(&mut client, ms(519)), []);
    assert!(matches!(
        session_packets(&mut client, ms(520))[..],
        [SessionPacket::RequestSpawn(_)]
    ));
    client.handle(ms(600), &lane(1, spawn_at(Vec3::ZERO)));
    assert!(client.is_spawned());
    assert!(matches!(
        session_packets(&mut client, ms(2_000))[..],
        [SessionPacket::Ack(_)]
    ));
}

#[test]
fn a_spawned_player_sends_frames_at_once_and_repeats_them_every_100_ms() {
    let mut client = spawned();
    assert_eq!(syncs(&mut client, ms(500)), [], "there is no snapshot yet");
    client.sync(frame_at(Vec3::ZERO)).unwrap();
    let first = syncs(&mut client, ms(600));
    assert_eq!(
        (first.len(), first[0].seq),
        (1, 1),
        "the client numbers its frames itself"
    );
    assert_eq!(client.poll_timeout(), Some(ms(700)));
    assert_eq!(syncs(&mut client, ms(699)), []);
    assert_eq!(syncs(&mut client, ms(700))[0].seq, 2);
    client.sync(frame_at(Vec3::new(1.0, 0.0, 0.0))).unwrap();
    assert_eq!(syncs(&mut client, ms(710))[0].seq, 3);
    assert_eq!(client.last_sync(), Some((3, ms(710))));
}

#[test]
fn frames_stop_with_death_and_their_numbers_go_on_after_a_respawn() {
    let mut client = spawned();
    client.sync(frame_at(Vec3::ZERO)).unwrap();
    assert_eq!(syncs(&mut client, ms(100))[0].seq, 1);
    let death = PlayerDeath {
        player_id: 7,
        player_token: 9,
        killer_id: 3,
        killer_token: 1,
        weapon: 24,
    };
    client.handle(ms(150), &lane(2, death));
    assert!(!client.is_spawned());
    assert_eq!(syncs(&mut client, ms(300)), []);
    assert_eq!(client.sync(frame_at(Vec3::ZERO)), Err(SendError::NotSpawned));
    client.request_spawn();
    client.handle(ms(400), &lane(3, spawn_at(Vec3::ZERO)));
    client.sync(frame_at(Vec3::ZERO)).unwrap();
    assert_eq!(syncs(&mut client, ms(400))[0].seq, 2);
}

#[test]
fn a_moved_player_does_not_go_on_telling_the_old_place() {
    let mut client = spawned();
    client.sync(frame_at(Vec3::ZERO)).unwrap();
    syncs(&mut client, ms(100));
    let there = Vec3::new(500.0, 0.0, 5.0);
    client.handle(
        ms(110),
        &lane(
            2,
            SetPosition {
                position: there,
                heading: 1.0,
                area: 4,
            },
        ),
    );
    let frame = syncs(&mut client, ms(110))[0];
    assert_eq!(
        (frame.position, frame.heading, frame.area, frame.seq),
        (there, 1.0, 4, 2)
    );
}

#[test]
fn a_frame_no_server_would_take_is_refused() {
    let mut client = spawned();
    let far = frame_at(Vec3::new(0.0, 20_000.1, 0.0));
    let mut broken = frame_at(Vec3::ZERO);
    broken.heading = f32::NAN;
    for frame in [far, broken] {
        assert_eq!(client.sync(frame), Err(SendError::BadFrame));
    }
    assert_eq!(joined().sync(frame_at(Vec3::ZERO)), Err(SendError::NotSpawned));
}

#[test]
fn packets_of_the_handshake_change_nothing_after_it() {
    let mut client = joined();
    let mut later = welcome();
    later.player_id = 8;
    client.handle(ms(20), &sealed(&later, &identity(), &NONCE));
    client.handle(ms(20), &challenge(COOKIE + 1));
    assert_eq!(client.counters().dropped(DropReason::AfterHello), 2);
    assert_eq!(client.welcome().unwrap().player_id, 7);
    assert_eq!(sent(&mut client, ms(20)), []);
}

#[test]
fn a_goodbye_is_sent_once() {
    let mut client = joined();
    client.bye();
    assert_eq!(client.poll_timeout(), Some(ms(0)));
    assert!(matches!(
        session_packets(&mut client, ms(20))[..],
        [SessionPacket::Bye(_)]
    ));
    assert_eq!(sent(&mut client, ms(21)), []);
    assert_eq!(notices(&mut client), [ClientNotice::Ended(EndReason::Bye)]);
}

proptest! {
    #[test]
    fn any_bytes_are_either_handled_or_dropped_and_never_panic(
        datagrams in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..80)), 0..60),
    ) {
        let text = Text::parse("hi").unwrap();
        let mut client = joined();
        for (index, (id, mut datagram)) in datagrams.into_iter().enumerate() {
            datagram.insert(0, id);
            client.handle(ms(20 + index as u64), &datagram);
            let event = ChatMessage { colour: 0, text: text.clone() };
            client.handle(ms(20 + index as u64), &lane(index as u32 + 1, event));
            sent(&mut client, ms(20 + index as u64));
        }
        let counters = client.counters();
        let dropped: u64 = counters.drops().map(|(_, count)| count).sum();
        prop_assert_eq!(counters.datagrams_in, counters.handled + dropped);
    }
}
