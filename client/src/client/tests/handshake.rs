use decitick_protocol::{
    ClientHello, ConnectReject, PasswordKey, QueryBody, RejectReason, ServerKeepalive, ShownText, credential,
};

use super::*;

fn hellos(client: &mut Client, now: Duration) -> Vec<ClientHello> {
    sent(client, now)
        .into_iter()
        .map(|packet| match packet {
            ClientPacket::Hello(hello) => hello,
            other => panic!("{other:?} within an attempt"),
        })
        .collect()
}

fn refusal(reject: &ConnectReject, by: &ServerIdentity, nonce: &[u8; 32]) -> Vec<u8> {
    let mut datagram = bytes(&ServerPacket::Reject(reject.clone()));
    by.seal_reject(nonce, &mut datagram).unwrap();
    datagram
}

fn stranger() -> ServerIdentity {
    ServerIdentity::from_seed(&[0x43; 32])
}

#[test]
fn the_hello_is_sent_every_500_ms_and_given_up_after_exactly_3_s() {
    let mut client = client();
    for half_second in 0..6 {
        let at = ms(half_second * 500);
        assert_eq!(client.poll_timeout(), Some(at));
        let hello = hellos(&mut client, at);
        assert_eq!((hello.len(), hello[0].cookie, hello[0].nonce), (1, 0, NONCE));
        assert_eq!(hellos(&mut client, at + ms(499)).len(), 0);
    }
    assert_eq!(client.poll_timeout(), Some(ms(3000)));
    assert!(notices(&mut client).is_empty());
    assert_eq!(
        sent(&mut client, ms(3000)),
        [],
        "nothing is said to a server that never answered"
    );
    assert_eq!(notices(&mut client), [ClientNotice::Ended(EndReason::NoAnswer)]);
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn an_answer_at_3_s_is_too_late_and_one_a_millisecond_before_is_not() {
    for (at, joins) in [(2999, true), (3000, false)] {
        let mut client = client();
        client.handle(ms(at), &sealed(&welcome(), &identity(), &NONCE));
        assert_eq!(client.welcome().is_some(), joins, "{at} ms");
    }
}

#[test]
fn a_challenge_is_answered_at_once_and_its_copies_wait_for_the_timer() {
    let mut client = client();
    hellos(&mut client, ms(0));
    client.handle(ms(30), &challenge(COOKIE));
    assert!(client.poll_timeout().unwrap() <= ms(30));
    assert_eq!(hellos(&mut client, ms(30))[0].cookie, COOKIE);
    client.handle(ms(40), &challenge(COOKIE));
    assert_eq!(hellos(&mut client, ms(529)), []);
    assert_eq!(
        hellos(&mut client, ms(530))[0].cookie,
        COOKIE,
        "the resend keeps the cookie"
    );
    assert_eq!(client.counters().dropped(DropReason::RepeatedChallenge), 1);
    client.handle(ms(600), &challenge(COOKIE + 1));
    assert_eq!(
        hellos(&mut client, ms(600))[0].cookie,
        COOKIE + 1,
        "a new cookie is answered at once again"
    );
    client.handle(ms(601), &challenge(0));
    assert_eq!(hellos(&mut client, ms(601)), []);
}

#[test]
fn proofs_go_out_with_a_cookie_only_and_are_made_for_it() {
    let key = identity().public_key();
    let password = PasswordKey::from_bytes([3; 32], key);
    let seed = [0x17; 32];
    let pinned = PinnedServer {
        server_key: key,
        password: Some(password.clone()),
        credential_seed: Some(seed),
    };
    let mut client = Client::new(ClientConfig::new(&name()).pinned_to(pinned), NONCE, ms(0));

    let first = &hellos(&mut client, ms(0))[0];
    assert_eq!((first.password_proof, first.credential_key), ([0; 32], [0; 32]));
    assert_eq!(first.credential_proof, [0; 64]);
    for cookie in [COOKIE, COOKIE + 1] {
        client.handle(ms(1), &challenge(cookie));
        let hello = &hellos(&mut client, ms(1))[0];
        assert!(password.verify(cookie, &NONCE, &hello.password_proof));
        assert_eq!(hello.credential_key, credential::public_key(&seed));
        assert!(credential::verify(
            &hello.credential_key,
            &hello.credential_proof,
            &key,
            cookie,
            &NONCE
        ));
    }
}

#[test]
fn everything_but_the_handshake_is_dropped_before_server_hello_whatever_its_length() {
    let mut client = client();
    let keepalive = bytes(&ServerPacket::Keepalive(ServerKeepalive { nonce: 1, rtt_ms: 1 }));
    let early = lane(1, spawn_at(Vec3::ZERO));
    for datagram in [keepalive.as_slice(), &early, &[0x14], &[], &[0xEE; 40]] {
        client.handle(ms(1), datagram);
    }
    assert_eq!(client.counters().dropped(DropReason::BeforeHello), 5);
    client.handle(ms(1), &[0x02; 1201]);
    assert_eq!(client.counters().dropped(DropReason::TooLong), 1);
    assert!(notices(&mut client).is_empty());
}

#[test]
fn a_server_hello_counts_only_with_a_signature_over_this_nonce() {
    let mut client = client();
    client.handle(ms(1), &sealed(&welcome(), &identity(), &[0; 32]));
    let mut forged = sealed(&welcome(), &identity(), &NONCE);
    forged[3] ^= 1;
    client.handle(ms(1), &forged);
    assert_eq!(client.counters().dropped(DropReason::ForeignSignature), 2);

    let mut other_version = welcome();
    other_version.protocol_version = 2;
    client.handle(ms(1), &sealed(&other_version, &identity(), &NONCE));
    let mut no_port = welcome();
    no_port.client_files_port = 0;
    client.handle(ms(1), &sealed(&no_port, &identity(), &NONCE));
    assert!(client.welcome().is_none() && notices(&mut client).is_empty());

    client.handle(ms(1), &sealed(&welcome(), &identity(), &NONCE));
    let told = client.welcome().unwrap();
    assert_eq!(
        (told.player_id, told.player_token, told.server_key),
        (7, 9, identity().public_key())
    );
    assert!(client.counters().handled == 1 && client.counters().datagrams_in == 5);
}

#[test]
fn another_identity_ends_the_attempt_without_joining() {
    let mut client = client();
    client.handle(ms(1), &sealed(&welcome(), &stranger(), &NONCE));
    let ended = EndReason::IdentityChanged {
        found: stranger().public_key(),
    };
    assert_eq!(notices(&mut client), [ClientNotice::Ended(ended)]);
    assert_eq!(sent(&mut client, ms(500)), []);
    client.handle(ms(2), &sealed(&welcome(), &identity(), &NONCE));
    assert!(client.welcome().is_none(), "the attempt is over");
}

#[test]
fn a_client_that_expects_no_key_takes_any_signed_one() {
    let mut client = Client::new(ClientConfig::new(&name()), NONCE, ms(0));
    client.handle(ms(1), &sealed(&welcome(), &stranger(), &NONCE));
    assert_eq!(client.welcome().unwrap().server_key, stranger().public_key());
}

#[test]
fn a_refusal_counts_only_when_the_expected_key_signed_it_over_this_nonce() {
    let mut client = client();
    let mut banned = ConnectReject::unsigned(RejectReason::Banned);
    banned.text = ShownText::parse("cheater").unwrap();
    banned.ban_seconds = 3600;
    client.handle(ms(1), &refusal(&banned, &stranger(), &NONCE));
    client.handle(ms(1), &refusal(&banned, &identity(), &[0; 32]));
    let drops: Vec<_> = client.counters().drops().collect();
    assert_eq!(
        drops,
        [(DropReason::ForeignSignature, 1), (DropReason::ForeignKey, 1)]
    );
    assert!(notices(&mut client).is_empty());

    client.handle(ms(1), &refusal(&banned, &identity(), &NONCE));
    let ended = EndReason::Rejected {
        reason: RejectReason::Banned,
        text: "cheater".to_owned(),
        seconds: 3600,
    };
    assert_eq!(ended.name(), "rejected_banned");
    assert!(ended.to_string().contains("cheater"));
    assert_eq!(notices(&mut client), [ClientNotice::Ended(ended)]);
}

#[test]
fn a_refusal_that_says_what_its_reason_excludes_counts_as_no_answer() {
    let mut client = client();
    let mut wordy = ConnectReject::unsigned(RejectReason::NameTaken);
    wordy.text = ShownText::parse("no").unwrap();
    let mut timed = ConnectReject::unsigned(RejectReason::ServerFull);
    timed.ban_seconds = 1;
    for reject in [wordy, timed] {
        client.handle(ms(1), &refusal(&reject, &identity(), &NONCE));
    }
    let mut unknown = refusal(
        &ConnectReject::unsigned(RejectReason::NameTaken),
        &identity(),
        &NONCE,
    );
    unknown[1] = 11;
    identity().seal_reject(&NONCE, &mut unknown).unwrap();
    client.handle(ms(1), &unknown);
    assert_eq!(client.counters().dropped(DropReason::Malformed), 3);
    assert!(client.end_reason().is_none());
}

#[test]
fn a_goodbye_within_an_attempt_says_nothing_to_the_server() {
    let mut client = client();
    client.bye();
    assert_eq!(sent(&mut client, ms(0)), []);
    assert_eq!(notices(&mut client), [ClientNotice::Ended(EndReason::Bye)]);
    client.bye();
    assert!(notices(&mut client).is_empty());
}

#[test]
fn a_query_answer_is_no_packet_of_an_attempt() {
    let mut client = client();
    let body = QueryBody {
        protocol_version: 1,
        server_version: ShownText::default(),
        minimum_client_version: ShownText::default(),
        name: ShownText::default(),
        mode: ShownText::default(),
        players: 0,
        max_players: 1,
        flags: 0,
    };
    let mut answer = Vec::new();
    identity().sign_query_answer(&NONCE, &body, &mut answer);
    client.handle(ms(1), &answer);
    assert_eq!(client.counters().dropped(DropReason::BeforeHello), 1);
}
