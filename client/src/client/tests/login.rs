use decitick_protocol::{
    AuthAccepted, EventData, FilesManifest, JoinedPlayer, PlayerJoin, PlayerLeave, ServerAck,
    ServerKeepalive, Text, ViewClose, ViewData, ViewOpen, ViewState,
};

use super::*;

const JWT: &str = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4ifQ.c2ln";

/// A client whose login is undecided.
fn pending() -> Client {
    let mut hello = welcome();
    hello.auth_pending = true;
    joined_with(&hello)
}

fn open(view_id: u16, page: &str) -> ViewOpen {
    ViewOpen {
        view_id,
        resource: Text::parse("login").unwrap(),
        page: Text::parse(page).unwrap(),
    }
}

fn view_data(view_id: u16) -> ViewData {
    ViewData {
        view_id,
        data: EventData::nil(),
    }
}

fn keepalive(rtt_ms: u16) -> Vec<u8> {
    bytes(&ServerPacket::Keepalive(ServerKeepalive { nonce: 1, rtt_ms }))
}

fn lane_events(client: &mut Client, now: Duration) -> Vec<ClientLaneEvent> {
    sent(client, now)
        .into_iter()
        .filter_map(|packet| match packet {
            ClientPacket::Lane { event, .. } => Some(event),
            _ => None,
        })
        .collect()
}

fn leaks(client: &mut Client) -> Vec<String> {
    notices(client)
        .into_iter()
        .filter_map(|notice| match notice {
            ClientNotice::Breach(breach) => Some(breach.to_string()),
            _ => None,
        })
        .collect()
}

fn shown(client: &Client) -> Vec<u16> {
    client.open_views().map(|(view_id, _)| view_id).collect()
}

#[test]
fn while_the_login_is_undecided_only_what_the_server_takes_is_sent() {
    let mut client = pending();
    client.handle(ms(20), &lane(1, open(4, "login.html")));
    let hit = HitReport {
        target_id: 1,
        target_token: 2,
        weapon: 0,
        body_part: 0,
        origin: Vec3::ZERO,
        hit: Vec3::ZERO,
    };
    assert_eq!(client.send_chat("hello"), Err(SendError::LoginPending));
    assert_eq!(client.send_event("buy", &[0xC0]), Err(SendError::LoginPending));
    assert_eq!(client.report_hit(hit), Err(SendError::LoginPending));
    assert_eq!(client.sync(frame_at(Vec3::ZERO)), Err(SendError::LoginPending));
    assert_eq!(client.view_status(4, ViewState::Loaded), Ok(1));
    assert_eq!(client.view_action(4, &[0xC0]), Ok(2));
    assert_eq!(client.send_assertion(JWT), Ok(3));
    let events = lane_events(&mut client, ms(20));
    assert!(
        matches!(&events[..], [
            ClientLaneEvent::ViewStatus(status),
            ClientLaneEvent::ViewAction(action),
            ClientLaneEvent::AuthAssertion(assertion),
        ] if (status.view_id, action.view_id, assertion.jwt.as_str()) == (4, 4, JWT)),
        "{events:?}"
    );
    client.handle(ms(50), &lane(2, AuthAccepted));
    assert_eq!(client.send_chat("hello"), Ok(4));
}

#[test]
fn an_assertion_is_a_token_and_comes_before_the_decision() {
    let mut client = pending();
    for bad in ["", "a.b", "a.b.c.d", "a.b.c=", &"a".repeat(1025)] {
        assert!(
            matches!(client.send_assertion(bad), Err(SendError::BadEvent { .. })),
            "{bad}"
        );
    }
    client.handle(ms(50), &lane(1, AuthAccepted));
    assert_eq!(client.send_assertion(JWT), Err(SendError::LoginDecided));
    assert_eq!(joined().send_assertion(JWT), Err(SendError::LoginDecided));
    client.bye();
    assert_eq!(client.send_assertion(JWT), Err(SendError::NoSession));
}

#[test]
fn a_view_is_known_from_its_opening_to_its_end_on_either_side() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, open(4, "login.html")));
    client.handle(ms(20), &lane(2, open(5, "a/b.html")));
    let views: Vec<(u16, String)> = client
        .open_views()
        .map(|(view_id, view)| (view_id, format!("{}/{}", view.resource, view.page)))
        .collect();
    let expected = [(4, "login/login.html"), (5, "login/a/b.html")];
    assert_eq!(views, expected.map(|(view_id, path)| (view_id, path.to_owned())));

    client.handle(ms(30), &lane(3, ViewClose { view_id: 5 }));
    assert_eq!(shown(&client), [4]);
    let closed = Err(SendError::ViewNotOpen { view_id: 5 });
    assert_eq!(client.view_action(5, &[0xC0]), closed);
    assert_eq!(client.view_status(5, ViewState::Closed), closed);
    assert!(matches!(
        client.view_action(4, &[]),
        Err(SendError::BadEvent { .. })
    ));

    notices(&mut client);
    assert_eq!(client.view_status(4, ViewState::Closed), Ok(1));
    assert!(shown(&client).is_empty());
    client.handle(ms(40), &lane(4, view_data(4)));
    assert_eq!(
        notices(&mut client),
        [ClientNotice::StaleEvent { event_id: 4 }],
        "it was on its way"
    );
}

#[test]
fn a_page_outside_its_resource_is_not_shown_and_can_only_be_answered_as_failed() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, open(4, "../../secret")));
    assert!(shown(&client).is_empty());
    assert!(matches!(notices(&mut client)[..], [ClientNotice::Event { .. }]));
    let not_open = Err(SendError::ViewNotOpen { view_id: 4 });
    assert_eq!(client.view_status(4, ViewState::Loaded), not_open);
    assert_eq!(client.view_action(4, &[0xC0]), not_open);
    assert_eq!(client.view_status(4, ViewState::Failed), Ok(1));
}

#[test]
fn data_for_a_view_that_was_never_open_is_a_breach() {
    let mut client = joined();
    client.handle(ms(20), &lane(1, view_data(4)));
    let told = notices(&mut client);
    assert!(
        matches!(&told[..], [ClientNotice::Breach(breach), ClientNotice::StaleEvent { event_id: 1 }]
            if breach.to_string() == "view_data_unseen: view 4"),
        "{told:?}"
    );
    assert_eq!(
        client.counters().faults().collect::<Vec<_>>(),
        [(Fault::ViewDataUnseen, 1)]
    );
}

#[test]
fn what_a_login_takes_is_no_leak() {
    let mut client = pending();
    let manifest = FilesManifest {
        resource: Text::parse("login").unwrap(),
        sha256: [7; 32],
    };
    client.handle(ms(20), &lane(1, manifest));
    client.handle(ms(20), &lane(2, open(4, "login.html")));
    client.handle(ms(20), &lane(3, view_data(4)));
    client.handle(ms(20), &lane(4, ViewClose { view_id: 4 }));
    client.view_status(4, ViewState::Loaded).unwrap_err();
    client.handle(ms(30), &bytes(&ServerPacket::Ack(ServerAck { ack: 0 })));
    for second in 1..20 {
        client.handle(ms(second * 1_000), &keepalive(65_535));
    }
    client.handle(ms(20_000), &lane(5, AuthAccepted));
    client.handle(ms(20_000), &weather(6));
    client.handle(ms(20_100), &keepalive(12));
    client.handle(ms(24_000), &keepalive(12));
    assert_eq!(leaks(&mut client), [""; 0]);
}

#[test]
fn a_lane_event_of_the_world_before_the_decision_is_a_leak() {
    let mut client = pending();
    let join = PlayerJoin {
        players: vec![JoinedPlayer {
            player_id: 1,
            player_token: 2,
            name: Text::parse("Somebody").unwrap(),
        }],
    };
    client.handle(ms(20), &lane(1, join));
    assert_eq!(leaks(&mut client), ["pre_auth_leak: PlayerJoin"]);
}

#[test]
fn an_unordered_packet_is_a_leak_unless_the_decision_it_overtook_follows_within_3_s() {
    let leave = bytes(&ServerPacket::PlayerLeave(PlayerLeave {
        player_id: 1,
        player_token: 2,
    }));
    for (packet, named) in [(leave, "PlayerLeave"), (keepalive(12), "ServerKeepalive")] {
        let mut client = pending();
        client.handle(ms(1_000), &packet);
        client.handle(ms(3_999), &keepalive(65_535));
        assert_eq!(leaks(&mut client), [""; 0]);
        let mut accepted = pending();
        accepted.handle(ms(1_000), &packet);
        accepted.handle(ms(3_999), &lane(1, AuthAccepted));
        accepted.handle(ms(5_000), &keepalive(12));
        assert_eq!(leaks(&mut accepted), [""; 0]);

        client.handle(ms(4_000), &keepalive(65_535));
        assert_eq!(leaks(&mut client), [format!("pre_auth_leak: {named}")]);
        client.handle(ms(9_000), &keepalive(65_535));
        assert_eq!(leaks(&mut client), [""; 0], "once");
    }
}
