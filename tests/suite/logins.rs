//! Logins: whoever waits in PreAuth is invisible, and comes in or goes by the auth resource's word alone.

mod assertions;
mod ends;
mod invisible;
mod pages;

use decitick_components::{
    phase::Phase,
    session::SessionToken,
    settings::{AuthProvider, AuthSettings, ProviderKey, Settings},
};
use decitick_protocol::{
    AuthAssertion, ClientLaneEvent, ClientPacket, CompactJwt, EventData, PacketId, ServerLaneEvent,
    ServerPacket, ViewAction,
};

use crate::sim::{Sim, scripts::bundle};

/// Lets Ada in at once and shows everybody else a page; `"in"` said there lets in, `"out"` sends away, `"throw"` fails.
const DOORMAN: &str = r#"
fn pending_connected(pending) {
    if pending.name == "Ada" { pending.accept(); return; }
    let view = pending.open_view("login.html");
    pending.view_data(view, #{ask: "who"});
}
fn pending_view_action(pending, view, data) {
    switch data {
        "in" => { pending.set("account", "b"); pending.close_view(view); pending.accept(); }
        "out" => pending.refuse("not today"),
        "throw" => throw "an error",
        "loop" => loop { },
        _ => pending.view_data(view, "what?"),
    }
}
fn player_connected(player) { chat::broadcast(`${player.name} ${player.get("account", "none")}`); }
fn player_disconnected(player, reason) { chat::broadcast(`${player.name} left: ${reason}`); }
"#;

/// Settings under which the resource `login` judges.
fn judged(settings: &mut Settings) {
    settings.auth = Some(AuthSettings {
        resource: "login".to_owned(),
        timeout_seconds: 30,
        providers: vec![AuthProvider {
            id: "example".to_owned(),
            key: ProviderKey([7; 32]),
        }],
    });
}

/// A server whose logins are judged by this script.
fn server(script: &str) -> Sim {
    let mut sim = Sim::with_settings(judged);
    start_judge(&mut sim, script);
    sim
}

fn start_judge(sim: &mut Sim, script: &str) {
    let mut bundle = bundle("login", script);
    bundle.manifest.auth = true;
    sim.start_bundle(bundle);
}

/// A client that waits for its login.
fn wait_outside(sim: &mut Sim, name: &str) -> usize {
    let index = sim.join(name);
    sim.expect_within(20, "it waits", |sim| {
        sim.players[index].client.welcome().is_some() && !sim.players[index].events.is_empty()
    });
    assert_eq!(sim.phase(index), Phase::PreAuth);
    assert!(sim.players[index].welcome().auth_pending);
    index
}

/// Says something in the newest page that is open on a client.
fn act(sim: &mut Sim, index: usize, word: &str) {
    let view_id = sim.players[index]
        .events
        .iter()
        .rev()
        .find_map(|(_, event)| match event {
            ServerLaneEvent::ViewOpen(open) => Some(open.view_id),
            _ => None,
        })
        .expect("a page is open");
    act_in(sim, index, view_id, word);
}

fn act_in(sim: &mut Sim, index: usize, view_id: u16, word: &str) {
    let action = ViewAction {
        view_id,
        data: text(word),
    };
    let sent = sim.players[index]
        .client
        .send_lane(&ClientLaneEvent::ViewAction(action));
    sent.expect("the lane has room");
}

/// Puts an assertion before the door under this event id, whatever the client's own lane holds.
fn send_by_hand(sim: &mut Sim, index: usize, token: &str, event_id: u32) {
    let id = sim.players[index].id();
    let session_token = *sim.component::<SessionToken>(id).0.expose();
    let event = ClientLaneEvent::AuthAssertion(AuthAssertion {
        jwt: CompactJwt::parse(token).unwrap(),
    });
    let mut datagram = Vec::new();
    ClientPacket::Lane {
        session_token,
        event_id,
        event,
    }
    .encode(&mut datagram);
    let address = sim.players[index].address;
    sim.knock(address, &datagram);
}

/// A string as one MessagePack value.
fn text(word: &str) -> EventData {
    let mut bytes = vec![0xA0 | u8::try_from(word.len()).unwrap()];
    bytes.extend(word.bytes());
    EventData::parse(bytes).unwrap()
}

/// The ids of everything that was sent to a client since `sim.recording` was set.
fn ids_sent(sim: &Sim, index: usize) -> Vec<PacketId> {
    let address = sim.players[index].address;
    sim.log
        .iter()
        .filter(|(_, to, _)| *to == address)
        .filter_map(|(.., bytes)| PacketId::from_byte(*bytes.first()?))
        .collect()
}

/// The reasons of the KickNotify packets that were sent to a client since `sim.recording` was set.
fn kicks_sent(sim: &Sim, index: usize) -> Vec<String> {
    let address = sim.players[index].address;
    sim.log
        .iter()
        .filter(|(_, to, _)| *to == address)
        .filter_map(|(.., bytes)| match ServerPacket::decode(bytes) {
            Ok(ServerPacket::Kick(kick)) => Some(kick.reason.to_text().into_owned()),
            _ => None,
        })
        .collect()
}
