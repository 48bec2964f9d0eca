//! What must hold in the world of a server after every tick, whatever was asked of it.

use std::f32::consts::PI;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    body::{Motion, Skills, Vitals},
    combat::{Weapon, WeaponTable},
    connection::{Peer, PeerIndex},
    phase::Phase,
    profile::{DisplayName, NameBook},
    session::{PlayerId, SlotTable},
    settings::Settings,
    thing::{Placement, ThingBook, ThingId},
    view::View,
    world::WorldState,
    zone::{ZoneBook, ZoneId},
};
use decitick_protocol::{POSITION_LIMIT, Vec3};

/// Checks all of it.
pub fn check(world: &mut World) {
    indexes_agree(world);
    views_hold_what_is_there(world);
    values_are_within_bounds(world);
}

/// Every table of numbers, names and addresses says what the components say, no more and no less.
fn indexes_agree(world: &mut World) {
    let mut players = world.query::<(Entity, &PlayerId, &Peer, &DisplayName)>();
    let slots = world.resource::<SlotTable>();
    let peers = world.resource::<PeerIndex>();
    let names = world.resource::<NameBook>();
    let mut count = 0;
    for (entity, &id, peer, name) in players.iter(world) {
        count += 1;
        assert_eq!(slots.holder(id), Some(entity), "the slot of {id:?}");
        assert_eq!(peers.find(&peer.address()), Some(entity), "the address of {id:?}");
        assert_eq!(names.holder(&name.0), Some(entity), "the name of {id:?}");
        assert!(peers.connections_of(peer.address().ip()) > 0);
    }
    assert_eq!(count, usize::from(slots.taken()));
    assert_eq!(count, slots.iter().count());
    assert_eq!(count, peers.iter().count());
    assert_eq!(count, names.len());
    let things: Vec<(ThingId, Entity)> = world.resource::<ThingBook>().iter().collect();
    let mut held = world.query::<(&ThingId, Entity)>();
    assert_eq!(sorted(held.iter(world).map(|(&id, entity)| (id, entity))), things);
    let zones: Vec<(ZoneId, Entity)> = world.resource::<ZoneBook>().iter().collect();
    let mut held = world.query::<(&ZoneId, Entity)>();
    assert_eq!(sorted(held.iter(world).map(|(&id, entity)| (id, entity))), zones);
}

fn sorted<Id: Ord + Copy>(all: impl Iterator<Item = (Id, Entity)>) -> Vec<(Id, Entity)> {
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by_key(|&(id, _)| id);
    all
}

fn views_hold_what_is_there(world: &mut World) {
    let mut viewers = world.query::<(&PlayerId, &Phase, &View)>();
    let slots = world.resource::<SlotTable>();
    let things = world.resource::<ThingBook>();
    let streaming = &world.resource::<Settings>().streaming;
    for (own, phase, view) in viewers.iter(world) {
        let (players, props) = (view.players.ids(), view.things.ids());
        assert!(players.len() <= usize::from(streaming.limit), "{players:?}");
        assert!(props.len() <= usize::from(streaming.entity_limit), "{props:?}");
        assert!(players.is_sorted_by(|a, b| a < b) && props.is_sorted_by(|a, b| a < b));
        assert!(view.open || (players.is_empty() && props.is_empty() && *phase != Phase::Spawned));
        for id in players {
            assert_ne!(id, own, "nobody sees itself");
            let phase = slots.holder(*id).and_then(|entity| world.get::<Phase>(entity));
            assert_eq!(phase, Some(&Phase::Spawned), "{own:?} sees {id:?}");
        }
        for id in props {
            assert!(things.find(*id).is_some(), "{own:?} sees {id:?}, which is gone");
        }
    }
}

fn values_are_within_bounds(world: &mut World) {
    let state = world.resource::<WorldState>();
    assert!(state.hours < 24 && state.minutes < 60, "{state:?}");
    assert_ne!(state.clock_ms_per_minute, Some(0));
    let table = world.resource::<WeaponTable>();
    assert!(table.iter().all(Weapon::is_sound), "{table:?}");
    let mut bodies = world.query::<(&PlayerId, &Phase, &Vitals, &Skills, &Motion)>();
    for (id, phase, vitals, skills, motion) in bodies.iter(world) {
        assert!(
            vitals.health <= Vitals::MOST && vitals.armour <= Vitals::MOST,
            "{vitals:?}"
        );
        assert!(
            *phase != Phase::Spawned || vitals.health > 0,
            "{id:?} walks though it is dead"
        );
        assert!(skills.0.iter().all(|skill| *skill <= Skills::MOST));
        placed(motion.position, motion.velocity, motion.heading);
    }
    let mut things = world.query::<&Placement>();
    for place in things.iter(world) {
        placed(place.position, place.velocity, place.heading);
    }
}

fn placed(position: Vec3, velocity: Vec3, heading: f32) {
    assert!(position.is_within(POSITION_LIMIT), "{position:?}");
    assert!(velocity.is_finite(), "{velocity:?}");
    assert!((-PI..PI).contains(&heading), "{heading}");
}
