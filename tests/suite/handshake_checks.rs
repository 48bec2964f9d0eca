//! What a hello meets, in the order of docs/protocol.md 1.4: each check, and which one speaks first.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use decitick_components::{
    bans::{Ban, BanList, BanRange, BanReason},
    gamemode::{Gamemode, Judge, RejectText},
    reasons::DropReason,
    settings::{AuthSettings, NamePolicy, Settings},
};
use decitick_protocol::{RejectReason, ServerPacket, SessionPacket, packets::RequestSpawn};
use decitick_systems::door::DoorVerdict;

use crate::sim::{Reply, Setup, Sim, Visitor};

/// A gamemode that counts whom it is asked about and refuses with a text.
struct Bouncer {
    asked: Arc<AtomicUsize>,
    refuses: bool,
}

impl Judge for Bouncer {
    fn player_connecting(&mut self, name: &str, ip: IpAddr) -> Result<(), RejectText> {
        assert!(!name.is_empty() && !ip.is_unspecified());
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.refuses {
            Err(RejectText::parse("come back at eight").unwrap())
        } else {
            Ok(())
        }
    }
}

fn with_bouncer(sim: &mut Sim, refuses: bool) -> Arc<AtomicUsize> {
    let asked = Arc::new(AtomicUsize::new(0));
    sim.app.insert_resource(Gamemode(Box::new(Bouncer {
        asked: Arc::clone(&asked),
        refuses,
    })));
    asked
}

fn banned(range: &str, reason: &str) -> BanList {
    let mut list = BanList::default();
    list.insert(Ban {
        range: BanRange::parse(range).unwrap(),
        reason: BanReason::parse(reason).unwrap(),
        expiry: None,
    });
    list
}

#[test]
fn a_hello_without_a_cookie_gets_nine_bytes_and_leaves_nothing() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One");
    let first = visitor.hello(&sim.server_key(), 0);
    let (verdict, reply) = sim.knock(visitor.address, &first);
    assert_eq!((verdict, reply.len()), (DoorVerdict::Reply, 9));
    let foreign = visitor.hello(&sim.server_key(), 0x1234_5678);
    let (verdict, reply) = sim.knock(visitor.address, &foreign);
    assert_eq!(
        (verdict, reply.len()),
        (DoorVerdict::Reply, 9),
        "a foreign cookie is no cookie"
    );
    sim.tick();
    assert_eq!((sim.slots_taken(), sim.tally().taken), (0, 0));
}

#[test]
fn another_version_or_length_gets_no_answer() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One");
    let mut other_version = visitor.hello(&sim.server_key(), 0);
    other_version[1] = 2;
    let (verdict, reply) = sim.knock(visitor.address, &other_version);
    assert_eq!(
        (verdict, reply.len()),
        (DoorVerdict::Drop(DropReason::WrongVersion), 0)
    );
    for length in [1, 234, 236] {
        let mut datagram = visitor.hello(&sim.server_key(), 0);
        datagram.resize(length, 0);
        let (verdict, reply) = sim.knock(visitor.address, &datagram);
        assert_eq!(
            (verdict, reply.len()),
            (DoorVerdict::Drop(DropReason::WrongLength), 0)
        );
    }
}

#[test]
fn a_cookie_of_another_port_is_challenged_again() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One");
    let cookie = sim.cookie_for(&visitor);
    let hello = visitor.hello(&sim.server_key(), cookie);
    let (verdict, _) = sim.knock("203.0.113.1:5001".parse().unwrap(), &hello);
    assert_eq!(verdict, DoorVerdict::Reply);
    assert!(matches!(
        sim.knock(visitor.address, &hello).0,
        DoorVerdict::PassHello(_)
    ));
}

#[test]
fn a_mapped_address_is_the_address_it_holds() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One");
    let cookie = sim.cookie_for(&visitor);
    let hello = visitor.hello(&sim.server_key(), cookie);
    let mapped = "[::ffff:203.0.113.1]:5000".parse().unwrap();
    assert!(matches!(sim.knock(mapped, &hello).0, DoorVerdict::PassHello(_)));
    sim.tick();
    assert!(matches!(sim.reply_to(&visitor), Reply::Welcome(_)));
}

#[test]
fn each_check_speaks_before_the_next() {
    // Everything is wrong with this visitor; one fault after the other is mended, and the next check speaks.
    let mut settings = Settings {
        max_players: 1,
        auth: Some(auth()),
        ..Settings::default()
    };
    settings.limits.connections_per_ip = 1;
    settings.password = Some(decitick_components::secret::Secret::new("sesame".to_owned()));
    let bans = banned("203.0.113.9", "for cheating");
    let mut sim = Sim::with(Setup {
        settings,
        bans,
        ..Setup::default()
    });
    let asked = with_bouncer(&mut sim, true);
    sim.ticks(2);
    let key = sim.password_key("sesame");

    let mut visitor = Visitor::new(&mut sim, "203.0.113.9:5000", "Late Guest").with_credential([7; 32]);
    visitor.name = [0xff; 64];
    visitor.forges_credential = true;
    let reply = sim.visit(&visitor);
    assert_eq!(
        reply,
        Reply::Refused(RejectReason::Banned, "for cheating".to_owned(), 0)
    );

    *sim.app.world_mut().resource_mut::<BanList>() = BanList::default();
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::WrongPassword));

    visitor.password = Some(key.clone());
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::InvalidName));

    // Somebody holds the name, the only connection of the IP, and the only slot.
    with_bouncer(&mut sim, false);
    sim.app.world_mut().resource_mut::<Settings>().auth = None;
    let holder = Visitor::new(&mut sim, "203.0.113.9:6000", "Early Bird").with_password(&key);
    assert!(matches!(sim.visit(&holder), Reply::Welcome(_)));
    let asked_before = asked.load(Ordering::Relaxed);
    let asked = with_bouncer(&mut sim, true);
    assert_eq!(
        asked_before, 0,
        "the gamemode hears of nobody whom an earlier check refuses"
    );

    visitor.name = holder.name;
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::NameTaken));
    visitor.name = Visitor::new(&mut sim, "203.0.113.9:1", "Late Guest").name;
    assert_eq!(
        sim.visit(&visitor),
        Reply::plain(RejectReason::TooManyConnections)
    );
    sim.app
        .world_mut()
        .resource_mut::<Settings>()
        .limits
        .connections_per_ip = 5;
    // The door verifies at most five credentials of an IP at once, whatever else is wrong with the hellos.
    sim.ticks(40);
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::ServerFull));

    let token = sim
        .component::<decitick_components::session::SessionToken>(0)
        .0
        .expose()
        .to_owned();
    sim.send_session(
        holder.address,
        token,
        SessionPacket::Bye(decitick_protocol::ClientBye),
    );
    sim.tick();
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::InvalidCredential));
    visitor.forges_credential = false;
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    sim.ticks(20);
    assert_eq!(
        sim.visit(&visitor),
        Reply::Refused(RejectReason::Gamemode, "come back at eight".to_owned(), 0)
    );
    assert_eq!(asked.load(Ordering::Relaxed), 1);

    with_bouncer(&mut sim, false);
    sim.app.world_mut().resource_mut::<Settings>().auth = Some(auth());
    sim.ticks(20);
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::AuthUnavailable));
    sim.app.world_mut().resource_mut::<Settings>().auth = None;
    sim.ticks(20);
    assert!(
        matches!(sim.visit(&visitor), Reply::Welcome(_)),
        "a nonce that was refused may come again"
    );
}

fn auth() -> AuthSettings {
    AuthSettings {
        resource: "login".to_owned(),
        timeout_seconds: 120,
        providers: Vec::new(),
    }
}

#[test]
fn of_two_hellos_in_one_tick_the_first_takes_the_name_and_the_last_slot() {
    let mut sim = Sim::with_settings(|settings| settings.max_players = 1);
    let first = Visitor::new(&mut sim, "203.0.113.1:5000", "Иван_Петров");
    let twin = Visitor::new(&mut sim, "203.0.113.2:5000", "ИВАН ПЕТРОВ");
    let other = Visitor::new(&mut sim, "203.0.113.3:5000", "Somebody Else");
    for visitor in [&first, &twin, &other] {
        sim.queue_hello(visitor);
    }
    sim.tick();
    assert!(matches!(sim.reply_to(&first), Reply::Welcome(_)));
    assert_eq!(sim.reply_to(&twin), Reply::plain(RejectReason::NameTaken));
    assert_eq!(sim.reply_to(&other), Reply::plain(RejectReason::ServerFull));
}

#[test]
fn a_repeated_hello_gets_the_same_session_over_its_new_nonce_and_nothing_else_of_it_is_read() {
    let mut sim = Sim::with_settings(|settings| settings.max_players = 1);
    let (visitor, hello) = sim.admit("203.0.113.1:5000", "First One");
    sim.ticks(20);
    let mut again = Visitor::new(&mut sim, "203.0.113.1:5000", "Another Name").with_credential([9; 32]);
    again.forges_credential = true;
    let verifications = sim.door.tables()[1];
    let repeated = *sim.visit(&again).hello();
    assert_eq!(
        (repeated.player_id, repeated.session_token, repeated.player_token),
        (hello.player_id, hello.session_token, hello.player_token)
    );
    assert_eq!(
        sim.door.tables()[1].entries,
        verifications.entries,
        "the credential was not looked at"
    );
    assert_eq!(sim.slots_taken(), 1);
    let name = sim
        .component::<decitick_components::profile::DisplayName>(0)
        .to_string();
    assert_eq!(name, "First One");
    // It is no sign of life either.
    sim.ticks(130);
    assert_eq!(
        sim.slots_taken(),
        0,
        "15 s after the first hello the session is over: {:?}",
        visitor.address
    );
}

#[test]
fn without_a_valid_cookie_even_a_known_address_is_challenged() {
    let mut sim = Sim::new();
    let (visitor, _) = sim.admit("203.0.113.1:5000", "First One");
    let hello = visitor.hello(&sim.server_key(), 0);
    let (verdict, reply) = sim.knock(visitor.address, &hello);
    assert_eq!(verdict, DoorVerdict::Reply);
    assert!(matches!(
        ServerPacket::decode(&reply),
        Ok(ServerPacket::Challenge(_))
    ));
}

#[test]
fn a_used_credential_proof_gets_no_answer_and_a_forged_one_is_told_first() {
    let mut sim = Sim::new();
    let mut visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One").with_credential([7; 32]);
    let token = sim.visit(&visitor).hello().session_token;
    let id = sim.component::<decitick_components::session::CredentialId>(0).0;
    assert_eq!(
        id,
        decitick_protocol::credential::credential_id(&decitick_protocol::credential::public_key(&[7; 32]))
    );
    sim.send_session(
        visitor.address,
        token,
        SessionPacket::Bye(decitick_protocol::ClientBye),
    );
    sim.tick();
    assert_eq!(
        sim.visit(&visitor),
        Reply::Silence,
        "its nonce has opened a connection"
    );
    assert_eq!(sim.dropped(DropReason::ProofUsed), 1);
    visitor.forges_credential = true;
    assert_eq!(sim.visit(&visitor), Reply::plain(RejectReason::InvalidCredential));
    visitor.forges_credential = false;
    visitor.nonce = [3; 32];
    assert!(matches!(sim.visit(&visitor), Reply::Welcome(_)));
}

#[test]
fn a_used_proof_is_forgotten_when_its_cookie_dies() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "First One").with_credential([7; 32]);
    sim.visit(&visitor);
    let used = |sim: &Sim| {
        sim.app
            .world()
            .resource::<decitick_components::admission::UsedProofs>()
            .len()
    };
    assert_eq!(used(&sim), 1);
    sim.ticks(200);
    let other = Visitor::new(&mut sim, "203.0.113.2:5000", "Other One").with_credential([8; 32]);
    assert!(matches!(sim.visit(&other), Reply::Welcome(_)));
    assert_eq!(used(&sim), 1, "only the newer one is kept");
}

#[test]
fn the_strict_name_policy_refuses_look_alikes_with_the_same_reasons() {
    let mut sim = Sim::with_settings(|settings| settings.names.policy = NamePolicy::Strict);
    sim.admit("203.0.113.1:5000", "Paul");
    let twin = Visitor::new(&mut sim, "203.0.113.2:5000", "Раul");
    assert_eq!(sim.visit(&twin), Reply::plain(RejectReason::NameTaken));
}

#[test]
fn a_packet_of_a_session_counts_only_from_its_own_address_with_its_own_token() {
    let mut sim = Sim::new();
    let (visitor, hello) = sim.admit("203.0.113.1:5000", "First One");
    let spawn = SessionPacket::RequestSpawn(RequestSpawn);
    let elsewhere = "203.0.113.1:5001".parse().unwrap();
    let verdict = sim.send_session(elsewhere, hello.session_token, spawn);
    assert_eq!(verdict, DoorVerdict::Drop(DropReason::UnknownAddress));
    let verdict = sim.send_session(visitor.address, hello.session_token ^ 1, spawn);
    assert_eq!(verdict, DoorVerdict::Drop(DropReason::WrongToken));
    assert_eq!(
        sim.send_session(visitor.address, hello.session_token, spawn),
        DoorVerdict::PassSession
    );
}

#[test]
fn nobody_is_admitted_once_the_stop_has_begun() {
    let mut sim = Sim::new();
    sim.console("shutdown");
    let visitor = Visitor::new(&mut sim, "203.0.113.1:5000", "Too Late");
    assert_eq!(sim.visit(&visitor), Reply::Silence);
    assert_eq!(sim.dropped(DropReason::Stopping), 1);
}
