//! Changes of one player: the player is told, those who see it, or everybody, and nobody else (docs/protocol.md 2.3).

mod places;

use decitick_components::{
    body::{Appearance, Dimension, Money, Motion, Skills},
    combat::{Weapon, WeaponTable, Weapons},
    phase::Phase,
    profile::NameBook,
    requests::{PlayerRequest, PlayerWish},
    settings::NamePolicy,
};
use decitick_protocol::{
    PlayerAppearance, PlayerName, PlayerRename, PlayerSkills, PlayerStreamIn, ServerLaneEvent, SetMoney,
    SetVitals, SetWalkingStyle, SetWeapons, WeaponAmmo,
};

use crate::sim::{Setup, Sim, ground};

/// The one the wish is about, one who sees it, one too far away, and one without a body.
struct Cast {
    sim: Sim,
    subject: usize,
    viewer: usize,
    far: usize,
    waiting: usize,
}

impl Cast {
    fn new() -> Self {
        let weapon = |id| Weapon {
            id,
            name: format!("Weapon {id}"),
            damage: 1,
            range: 1.0,
            interval_ms: 1,
            clip: 1,
            pellets: 1,
        };
        let mut sim = Sim::with(Setup {
            weapons: WeaponTable::new((0..=46).map(weapon).collect()),
            ..Setup::default()
        });
        let (subject, viewer, far) = (
            sim.join_now("Subject"),
            sim.join_now("Viewer"),
            sim.join_now("Far"),
        );
        let waiting = sim.join("Waiting");
        sim.players[waiting].wants_body = false;
        sim.put(subject, 0.0, 0.0);
        sim.put(viewer, 30.0, 0.0);
        sim.put(far, 2000.0, 0.0);
        sim.ticks(5);
        assert!(sim.sees(viewer, subject) && !sim.sees(far, subject));
        Self {
            sim,
            subject,
            viewer,
            far,
            waiting,
        }
    }

    /// Makes the wish; the tick tells so the subject, those who see it, and everybody else who joined.
    fn expect(
        &mut self,
        wish: PlayerWish,
        own: &[ServerLaneEvent],
        seen: &[ServerLaneEvent],
        others: &[ServerLaneEvent],
    ) {
        self.sim.wish(self.subject, wish.clone());
        self.sim.tick();
        assert_eq!(self.sim.sent_events(self.subject), own, "{wish:?}");
        assert_eq!(self.sim.sent_events(self.viewer), seen, "{wish:?}");
        for index in [self.far, self.waiting] {
            assert_eq!(self.sim.sent_events(index), others, "{wish:?}");
        }
    }

    fn expect_own(&mut self, wish: PlayerWish, own: ServerLaneEvent) {
        self.expect(wish, &[own], &[], &[]);
    }

    fn expect_nothing(&mut self, wish: PlayerWish) {
        self.expect(wish, &[], &[], &[]);
    }

    fn appearance(&self, skin: u32, variant: u8, walking_style: u8) -> ServerLaneEvent {
        ServerLaneEvent::PlayerAppearance(PlayerAppearance {
            player_id: u32::from(self.sim.players[self.subject].id()),
            player_token: self.sim.players[self.subject].generation(),
            skin,
            variant,
            walking_style,
        })
    }

    fn rename(&self, name: &str) -> ServerLaneEvent {
        ServerLaneEvent::PlayerRename(PlayerRename {
            player_id: u32::from(self.sim.players[self.subject].id()),
            player_token: self.sim.players[self.subject].generation(),
            name: PlayerName::parse(name).unwrap().to_text(),
        })
    }
}

fn named(text: &str) -> PlayerWish {
    PlayerWish::Rename(PlayerName::parse(text).unwrap())
}

fn streamed_in(event: &ServerLaneEvent) -> Option<PlayerStreamIn> {
    match event {
        ServerLaneEvent::PlayerStreamIn(shown) => Some(*shown),
        _ => None,
    }
}

const fn vitals(health: u8, armour: u8) -> ServerLaneEvent {
    ServerLaneEvent::SetVitals(SetVitals { health, armour })
}

fn weapons(held: &[(u8, u16)]) -> ServerLaneEvent {
    let held = held.iter().map(|&(weapon, ammo)| WeaponAmmo { weapon, ammo });
    ServerLaneEvent::SetWeapons(SetWeapons {
        weapons: held.collect(),
    })
}

#[test]
fn money_is_told_to_its_owner() {
    let mut cast = Cast::new();
    for money in [1_000_000_000_000, -5, 0] {
        cast.expect_own(
            PlayerWish::Money(money),
            ServerLaneEvent::SetMoney(SetMoney { money }),
        );
        assert_eq!(cast.sim.of::<Money>(cast.subject).0, money);
    }
    cast.sim.tick();
    assert_eq!(
        cast.sim.players[cast.subject].client.own().unwrap().money(),
        Some(0)
    );
}

#[test]
fn health_and_armour_are_told_to_their_owner_and_have_a_most() {
    let mut cast = Cast::new();
    cast.expect_own(PlayerWish::Health(150), vitals(150, 0));
    cast.expect_own(PlayerWish::Armour(255), vitals(150, 200));
    cast.expect_own(PlayerWish::Health(255), vitals(200, 200));
    cast.sim.ticks(3);
    let seen = cast.sim.players[cast.viewer].client.roster().unwrap();
    let health = seen.player(0).unwrap().sighting().unwrap().health;
    assert_eq!(health, 200, "those who see it are shown health in its frames");
}

#[test]
fn skills_are_told_to_their_owner_and_have_a_most() {
    let mut cast = Cast::new();
    let mut skills = [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000, 5000];
    let wish = PlayerWish::Skills(skills);
    skills[10] = 1000;
    cast.expect_own(wish, ServerLaneEvent::PlayerSkills(PlayerSkills { skills }));
    assert_eq!(cast.sim.of::<Skills>(cast.subject).0, skills);
}

#[test]
fn a_skin_is_shown_to_its_owner_and_to_those_who_see_it_now_and_later() {
    let mut cast = Cast::new();
    let shown = cast.appearance(57, 3, 0);
    cast.expect(
        PlayerWish::Skin(57, 3),
        std::slice::from_ref(&shown),
        std::slice::from_ref(&shown),
        &[],
    );
    let far = cast.far;
    cast.sim.put(far, 10.0, 0.0);
    let later = cast.sim.players[far].all(streamed_in);
    let later = later.iter().rfind(|shown| shown.player_id == 0).unwrap();
    assert_eq!((later.skin, later.variant), (57, 3));
}

#[test]
fn a_walking_style_is_shown_to_those_who_see_it_and_set_at_its_owner() {
    let mut cast = Cast::new();
    let skin = cast.sim.of::<Appearance>(cast.subject).skin;
    let shown = cast.appearance(skin, 0, 7);
    let set = ServerLaneEvent::SetWalkingStyle(SetWalkingStyle { style: 7 });
    cast.expect(
        PlayerWish::WalkingStyle(7),
        &[set, shown.clone()],
        std::slice::from_ref(&shown),
        &[],
    );
    let far = cast.far;
    cast.sim.put(far, 10.0, 0.0);
    let later = cast.sim.players[far].all(streamed_in);
    let later = later.iter().rfind(|shown| shown.player_id == 0).unwrap();
    assert_eq!(later.walking_style, 7);
}

#[test]
fn weapons_are_told_to_who_holds_them_up_to_thirteen() {
    let mut cast = Cast::new();
    let give = |weapon, ammo| PlayerWish::GiveWeapon { weapon, ammo };
    cast.expect_own(give(22, 10), weapons(&[(22, 10)]));
    cast.expect_own(give(22, 7), weapons(&[(22, 17)]));
    cast.expect_own(give(22, u16::MAX), weapons(&[(22, u16::MAX)]));
    cast.expect_own(PlayerWish::TakeWeapons, weapons(&[]));
    cast.expect_nothing(PlayerWish::TakeWeapons);
    for weapon in 1..=13 {
        let subject = cast.subject;
        cast.sim.wish(subject, give(weapon, 1));
    }
    cast.sim.ticks(3);
    cast.expect_nothing(give(14, 1));
    for unknown in [0, 47, 255] {
        cast.expect_nothing(give(unknown, 1));
    }
    assert_eq!(cast.sim.of::<Weapons>(cast.subject).held().len(), 13);
    assert_eq!(
        cast.sim.players[cast.subject]
            .client
            .own()
            .unwrap()
            .weapons()
            .len(),
        13
    );
}

#[test]
fn a_rename_is_told_to_everybody_and_holds_for_who_comes_later() {
    let mut cast = Cast::new();
    let news = cast.rename("New Name");
    let told = [news];
    cast.expect(named("New Name"), &told, &told, &told);
    cast.sim.tick();
    for index in [cast.viewer, cast.far, cast.waiting] {
        let roster = cast.sim.players[index].client.roster().unwrap();
        assert_eq!(roster.player(0).unwrap().name(), Some("New Name"));
    }
    let late = cast.sim.join_now("Late");
    cast.sim.tick();
    assert!(cast.sim.players[late].names_joined().contains(&"New Name"));
    assert!(!cast.sim.players[late].names_joined().contains(&"Subject"));
    cast.sim.players[cast.subject].client.send_chat("hello").unwrap();
    cast.sim.ticks(3);
    assert_eq!(cast.sim.players[cast.far].chat(), ["New Name: hello"]);
}

#[test]
fn a_rename_frees_the_old_name_and_holds_the_new_one() {
    let mut cast = Cast::new();
    cast.sim.wish(cast.subject, named("New Name"));
    cast.sim.tick();
    let heir = cast.sim.join_now("Subject");
    assert!(cast.sim.players[heir].client.is_spawned());
    let rival = cast.sim.join("New Name");
    cast.sim.ticks(5);
    assert!(cast.sim.players[rival].end().is_some(), "the new name is taken");
    assert_eq!(cast.sim.app.world().resource::<NameBook>().len(), 5);
}

#[test]
fn a_rename_to_a_name_that_is_held_changes_nothing() {
    let mut cast = Cast::new();
    cast.expect_nothing(named("Viewer"));
    cast.expect_nothing(named("VIEWER"));
    let book = cast.sim.app.world().resource::<NameBook>();
    let holder = |name| book.holder(&PlayerName::parse(name).unwrap());
    assert_eq!(holder("Subject"), Some(cast.sim.body(cast.subject)));
    assert_eq!(holder("Viewer"), Some(cast.sim.body(cast.viewer)));
    let told = [cast.rename("SUBJECT")];
    cast.expect(named("SUBJECT"), &told, &told, &told);
    assert_eq!(cast.sim.app.world().resource::<NameBook>().len(), 4);
}

#[test]
fn the_policy_for_names_holds_for_renames() {
    let mut sim = Sim::with_settings(|settings| settings.names.policy = NamePolicy::Strict);
    let (one, other) = (sim.join_now("Paul"), sim.join_now("Other"));
    sim.ticks(3);
    sim.wish(other, named("Раul"));
    sim.tick();
    assert!(
        sim.sent_events(one).is_empty(),
        "a look-alike of a name that is held"
    );
    sim.wish(other, named("Peter"));
    sim.tick();
    assert_eq!(sim.sent_events(one).len(), 1);
}

#[test]
fn of_two_who_want_one_name_in_one_tick_the_first_gets_it() {
    let mut cast = Cast::new();
    cast.sim.wish(cast.viewer, named("Crown"));
    cast.sim.wish(cast.subject, named("Crown"));
    cast.sim.tick();
    assert_eq!(cast.sim.sent_events(cast.far).len(), 1);
    let book = cast.sim.app.world().resource::<NameBook>();
    let crown = PlayerName::parse("Crown").unwrap();
    assert_eq!(book.holder(&crown), Some(cast.sim.body(cast.viewer)));
    assert_eq!(book.len(), 4);
}

/// Every wish there is.
fn all_wishes() -> Vec<PlayerWish> {
    vec![
        PlayerWish::Spawn(None),
        PlayerWish::Teleport {
            position: ground(5.0, 5.0),
            heading: None,
            area: None,
        },
        PlayerWish::Dimension(4),
        PlayerWish::Health(50),
        PlayerWish::Armour(50),
        PlayerWish::Money(50),
        PlayerWish::Skin(50, 1),
        PlayerWish::WalkingStyle(50),
        PlayerWish::Skills([50; 11]),
        PlayerWish::GiveWeapon { weapon: 22, ammo: 50 },
        PlayerWish::TakeWeapons,
        named("Fifty"),
    ]
}

#[test]
fn nothing_happens_to_who_waits_for_its_login_or_is_gone() {
    let mut cast = Cast::new();
    let entity = cast.sim.body(cast.waiting);
    cast.sim.app.world_mut().entity_mut(entity).insert(Phase::PreAuth);
    let gone = cast.sim.body(cast.far);
    cast.sim.players[cast.far].client.bye();
    cast.sim.ticks(8);
    let look = |sim: &Sim| {
        let world = sim.app.world();
        (
            *world.get::<Dimension>(entity).unwrap(),
            *world.get::<Motion>(entity).unwrap(),
            *world.get::<Money>(entity).unwrap(),
            *world.get::<Appearance>(entity).unwrap(),
            *world.get::<Skills>(entity).unwrap(),
            world.get::<Weapons>(entity).unwrap().clone(),
        )
    };
    let before = look(&cast.sim);
    for wish in all_wishes() {
        for entity in [entity, gone] {
            cast.sim.app.world_mut().write_message(PlayerRequest {
                entity,
                wish: wish.clone(),
            });
        }
        cast.sim.tick();
        for index in [cast.subject, cast.viewer, cast.waiting] {
            assert!(cast.sim.sent_events(index).is_empty(), "{wish:?}");
        }
    }
    assert_eq!(look(&cast.sim), before);
    assert_eq!(cast.sim.app.world().get::<Phase>(entity), Some(&Phase::PreAuth));
}

#[test]
fn without_a_body_nobody_is_moved_hurt_or_healed() {
    let mut cast = Cast::new();
    for wish in [
        PlayerWish::Teleport {
            position: ground(5.0, 5.0),
            heading: None,
            area: None,
        },
        PlayerWish::Health(50),
        PlayerWish::Health(0),
        PlayerWish::Armour(50),
    ] {
        cast.sim.wish(cast.waiting, wish);
        cast.sim.tick();
        assert!(cast.sim.sent_events(cast.waiting).is_empty());
    }
    assert_eq!(cast.sim.phase(cast.waiting), Phase::PreSpawn);
    assert_eq!(*cast.sim.of::<Motion>(cast.waiting), Motion::default());
}
