//! Nothing secret can be seen by any path: passwords, session tokens, credentials, proofs, tickets, assertions, what
//! gamemodes keep, and the content of View and ClientEvent packets.

use std::time::Duration;

use bevy_ecs::entity::Entity;
use decitick_client::client::Fault;
use decitick_components::{
    admission::{ServerPassword, UsedProofs},
    auth::{AssertionQueue, AssertionReceived, Login, LoginRequest, LoginWish, Ticket},
    connection::Connection,
    console::{ConsoleInbox, ConsoleRequest},
    entropy::Entropy,
    lane::{InboundLane, LaneEvent, OutboundLane},
    mailbox::{DoorNotice, DoorNotices},
    messages::ClientEventReceived,
    secret::Secret,
    session::{CredentialId, SessionToken},
    settings::Settings,
    worker::{WorkerOutbox, WorkerRequest},
};
use decitick_protocol::{
    ClientEvent, ClientLaneEvent, CompactJwt, EventData, Password, ServerLaneEvent, Text, ViewData,
};
use decitick_systems::inspect::{Budget, components_of, shown, sight};

use super::{peopled, refused};
use crate::sim::Sim;

/// In every secret that is a text.
const MARK: &str = "Mark7Secret";
/// In every secret that is a number.
const NUMBER: u64 = 0xA7A7_5EC2_A7A7_5EC2;
/// In every secret that is made of bytes.
const BYTES: [u8; 32] = [0xA7; 32];

/// A MessagePack text.
fn text(word: &str) -> EventData {
    let mut bytes = vec![0xA0 | u8::try_from(word.len()).unwrap()];
    bytes.extend(word.bytes());
    EventData::parse(bytes).unwrap()
}

/// Puts a mark into everything that must not be seen.
fn mark_everything(sim: &mut Sim, connection: Entity) {
    let data = || text(MARK);
    let now = Duration::from_secs(9_999);
    let key = sim.password_key(MARK);
    let world = sim.app.world_mut();
    world.insert_resource(ServerPassword::Set(key));
    world.resource_mut::<Settings>().password = Some(Secret::new(MARK.to_owned()));
    world.resource_mut::<UsedProofs>().remember(BYTES, now);
    let filled: Result<(), ()> = world.resource_mut::<Entropy>().refill(|bytes| {
        bytes.fill(0xA7);
        Ok(())
    });
    filled.unwrap();
    let ticket = Ticket {
        provider: "example".to_owned(),
        text: Secret::new(MARK.to_owned()),
    };
    world
        .resource_mut::<AssertionQueue>()
        .0
        .push_back(AssertionReceived {
            entity: connection,
            jwt: CompactJwt::parse(&format!("{MARK}.{MARK}.{MARK}")).unwrap(),
            ticket: Some(ticket.clone()),
        });
    world.write_message(LoginRequest {
        entity: connection,
        wish: LoginWish::Issue(ticket.clone()),
    });
    world.write_message(ClientEventReceived {
        entity: connection,
        name: "event".to_owned(),
        data: data(),
    });
    world
        .resource_mut::<WorkerOutbox>()
        .0
        .push(WorkerRequest::DerivePassword {
            request: 1,
            password: Password::parse(MARK).unwrap(),
        });
    world.resource_mut::<DoorNotices>().0.push(DoorNotice::Opened {
        peer: "203.0.113.7:1".parse().unwrap(),
        session_token: NUMBER,
    });
    world.resource_mut::<ConsoleInbox>().0.push_back(ConsoleRequest {
        id: 999_999,
        line: format!("password set {MARK}"),
    });
    let mut login = Login::default();
    login.ticket = Some(ticket);
    world
        .entity_mut(connection)
        .insert((SessionToken(Secret::new(NUMBER)), CredentialId(BYTES), login));
    let mut datagram = Vec::new();
    ServerLaneEvent::ViewData(ViewData {
        view_id: 1,
        data: data(),
    })
    .encode(0, &mut datagram);
    let mut lane = world.get_mut::<OutboundLane>(connection).unwrap();
    lane.push(LaneEvent {
        datagram: datagram.into(),
        droppable: false,
    })
    .unwrap();
    let mut inbound = world.get_mut::<InboundLane>(connection).unwrap();
    let next = inbound.delivered() + 2;
    let event = ClientLaneEvent::ClientEvent(ClientEvent {
        name: Text::parse(MARK).unwrap(),
        data: data(),
    });
    inbound.accept(next, event, Duration::ZERO);
}

fn expect_nothing_of_it(answer: &str, asked: &str) {
    let token = NUMBER.to_string();
    let forms = [
        MARK, &token, "a7a75ec2", "A7A75EC2", "167, 167", "167,167", "a7a7a7", "Secret(",
    ];
    for form in forms {
        assert!(!answer.contains(form), "{asked} shows {form}: {answer}");
    }
}

#[test]
fn no_value_in_the_whole_world_shows_a_secret() {
    let (mut sim, [ann, ..]) = peopled();
    let connection = sim.body(ann);
    mark_everything(&mut sim, connection);
    let world = sim.app.world();
    let mut looked_at = 0;
    for entity in world.iter_entities() {
        for named in components_of(world, entity) {
            let Ok(seen) = sight(world, named.id) else {
                continue;
            };
            let view = seen.view(entity).unwrap();
            let value = shown(view.value(), &mut Budget::default());
            expect_nothing_of_it(&value.line(), &named.path);
            expect_nothing_of_it(&serde_json::to_string(&value).unwrap(), &named.path);
            looked_at += 1;
        }
    }
    assert!(looked_at > 150, "{looked_at}");
}

#[test]
fn no_answer_of_the_console_shows_a_secret() {
    let (mut sim, [ann, ..]) = peopled();
    sim.start_script(
        "keeper",
        &format!("fn resource_start() {{ store::put(\"{MARK}\", \"{MARK}\"); }}"),
    );
    let connection = sim.body(ann);
    // Its client knows of no such view either.
    sim.players[ann].excuses.push(Fault::ViewDataUnseen);
    // The marked connection comes first: its client does not know the marked token and is gone later.
    let mut lines = vec![
        format!("inspect {connection}"),
        "entities limit 1000".to_owned(),
        "resources".to_owned(),
    ];
    lines.extend(
        sim_entities(&sim)
            .into_iter()
            .map(|entity| format!("inspect {entity}")),
    );
    let names = decitick_systems::inspect::resource_names(sim.app.world());
    lines.extend(names.into_iter().map(|name| format!("resources {name}")));
    mark_everything(&mut sim, connection);
    // The line with the password is taken first; what it set is marked as well.
    for line in lines {
        for line in [line.clone(), format!("{line} --json")] {
            let answer = sim.console(&line);
            expect_nothing_of_it(&answer.text, &line);
        }
    }
}

fn sim_entities(sim: &Sim) -> Vec<Entity> {
    sim.app
        .world()
        .iter_entities()
        .map(|entity| entity.id())
        .collect()
}

#[test]
fn secrets_say_why_they_refuse() {
    let (mut sim, [ann, ..]) = peopled();
    let id = sim.players[ann].id();
    let entity = sim.body(ann);
    assert!(sim.app.world().get::<Connection>(entity).is_some());
    for line in [
        format!("set {id} SessionToken.0 1"),
        format!("watch {id} SessionToken"),
        "entities where SessionToken.0 = 1".to_owned(),
        "resources ServerPassword".to_owned(),
    ] {
        let text = refused(&mut sim, &line);
        assert!(text.contains("it is secret: "), "{line}: {text}");
    }
    let text = super::told(&mut sim, &format!("inspect {id} SessionToken"));
    assert!(
        text.contains("SessionToken  (secret) whoever knows it can speak for the session"),
        "{text}"
    );
}
