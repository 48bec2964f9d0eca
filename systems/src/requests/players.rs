//! Wishes about one player. Whom a change shows is told: the player itself, those who have it in view, or everybody.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bevy_ecs::{
    component::{Component, Mutable},
    entity::Entity,
    message::{MessageCursor, Messages},
    system::Local,
    world::World,
};
use decitick_components::{
    body::{Appearance, Dimension, Money, Motion, Skills, Vitals, is_place},
    clock::Clock,
    combat::{FIST, WeaponTable, Weapons},
    lane::{LaneEvent, OutboundLane},
    messages::{PlayerDied, SpawnOrdered},
    phase::Phase,
    profile::{DisplayName, NameBook},
    requests::{PlayerRequest, PlayerWish},
    session::{PlayerId, PlayerToken},
    settings::Settings,
};
use decitick_protocol::{
    PlayerAppearance, PlayerName, PlayerRename, PlayerSkills, ServerLaneEvent, SetMoney, SetVitals,
    SetWalkingStyle, SetWeapons, Vec3, normalise_heading,
};

use crate::{
    lane::broadcast::{encoded, push_critical, tell, tell_everybody, tell_viewers},
    lookup::identity,
    teleport::Moved,
};

pub(crate) fn apply_player_requests(
    world: &mut World,
    mut requested: Local<'_, MessageCursor<PlayerRequest>>,
) {
    let requests: Vec<PlayerRequest> = requested
        .read(world.resource::<Messages<PlayerRequest>>())
        .cloned()
        .collect();
    let mut changed_looks = BTreeSet::new();
    for PlayerRequest { entity, wish } in requests {
        // Whoever waits in PreAuth is no player yet, and whose session ended is none any more.
        if world.get::<Phase>(entity).is_some_and(|phase| phase.joined()) {
            if matches!(wish, PlayerWish::Skin(..) | PlayerWish::WalkingStyle(_)) {
                changed_looks.insert(entity);
            }
            apply(world, entity, wish);
        }
    }
    show_looks(world, &changed_looks);
}

fn apply(world: &mut World, entity: Entity, wish: PlayerWish) {
    match wish {
        PlayerWish::Spawn(point) => {
            world.write_message(SpawnOrdered { entity, point });
        }
        PlayerWish::Teleport {
            position,
            heading,
            area,
        } => move_body(world, entity, position, heading, area),
        PlayerWish::Dimension(dimension) => change(world, entity, |held: &mut Dimension| held.0 = dimension),
        PlayerWish::Health(health) => {
            set_vitals(world, entity, |vitals| vitals.health = health.min(Vitals::MOST));
        }
        PlayerWish::Armour(armour) => {
            set_vitals(world, entity, |vitals| vitals.armour = armour.min(Vitals::MOST));
        }
        PlayerWish::Money(money) => {
            change(world, entity, |held: &mut Money| held.0 = money);
            tell_player(world, entity, &ServerLaneEvent::SetMoney(SetMoney { money }));
        }
        PlayerWish::Skin(skin, variant) => {
            change(world, entity, |look: &mut Appearance| {
                look.skin = skin;
                look.variant = variant;
            });
        }
        PlayerWish::WalkingStyle(style) => {
            change(world, entity, |look: &mut Appearance| {
                look.walking_style = style;
            });
            tell_player(
                world,
                entity,
                &ServerLaneEvent::SetWalkingStyle(SetWalkingStyle { style }),
            );
        }
        PlayerWish::Skills(skills) => {
            let skills = skills.map(|skill| skill.min(Skills::MOST));
            change(world, entity, |held: &mut Skills| held.0 = skills);
            tell_player(
                world,
                entity,
                &ServerLaneEvent::PlayerSkills(PlayerSkills { skills }),
            );
        }
        PlayerWish::GiveWeapon { weapon, ammo } => {
            if world.resource::<WeaponTable>().find(weapon).is_none() {
                tracing::warn!(
                    weapon,
                    reason = "unknown_weapon",
                    "no weapon was given: the weapon table has none of this id"
                );
                return;
            }
            change_weapons(world, entity, |weapons| {
                // Bare hands are held without being listed.
                weapon != FIST && weapons.give(weapon, ammo).is_ok()
            });
        }
        PlayerWish::TakeWeapons => change_weapons(world, entity, Weapons::clear),
        PlayerWish::Rename(name) => rename(world, entity, name),
    }
}

/// Changes a component that every connection has.
fn change<C>(world: &mut World, entity: Entity, make: impl FnOnce(&mut C))
where
    C: Component<Mutability = Mutable>,
{
    if let Some(mut component) = world.get_mut::<C>(entity) {
        make(&mut component);
    }
}

fn tell_player(world: &mut World, entity: Entity, event: &ServerLaneEvent) {
    if let Some(mut lane) = world.get_mut::<OutboundLane>(entity) {
        tell(&mut lane, event);
    }
}

fn move_body(world: &mut World, entity: Entity, position: Vec3, heading: Option<f32>, area: Option<u8>) {
    if world.get::<Phase>(entity) != Some(&Phase::Spawned) {
        return;
    }
    if !is_place(position, heading.unwrap_or_default()) {
        tracing::warn!(
            ?position,
            ?heading,
            reason = "no_place",
            "a teleport was ignored: there is no such place"
        );
        return;
    }
    let now = world.resource::<Clock>().since_start;
    let settle = Duration::from_millis(u64::from(world.resource::<Settings>().world.settle_ms));
    let mut bodies = world.query::<(&mut Motion, Moved)>();
    if let Ok((mut motion, mut moved)) = bodies.get_mut(world, entity) {
        let left_area = motion.area;
        motion.position = position;
        motion.velocity = Vec3::ZERO;
        motion.heading = heading.map_or(motion.heading, normalise_heading);
        motion.area = area.unwrap_or(motion.area);
        moved.teleport(&motion, left_area, now, settle);
    }
}

/// Health and armour of a body; without one there is nothing to change. Health of 0 is a death that nobody did.
fn set_vitals(world: &mut World, entity: Entity, make: impl FnOnce(&mut Vitals)) {
    if world.get::<Phase>(entity) != Some(&Phase::Spawned) {
        return;
    }
    // Who died in this tick is dead, whatever comes after.
    let Some(mut vitals) = world.get_mut::<Vitals>(entity).filter(|vitals| vitals.health > 0) else {
        return;
    };
    make(&mut vitals);
    let Vitals { health, armour } = *vitals;
    tell_player(
        world,
        entity,
        &ServerLaneEvent::SetVitals(SetVitals { health, armour }),
    );
    if health == 0 {
        world.write_message(PlayerDied {
            entity,
            killer: None,
            weapon: 0,
        });
    }
}

fn change_weapons(world: &mut World, entity: Entity, make: impl FnOnce(&mut Weapons) -> bool) {
    let Some(mut held) = world.get_mut::<Weapons>(entity) else {
        return;
    };
    if make(&mut held) {
        let weapons = held.held().to_vec();
        tell_player(
            world,
            entity,
            &ServerLaneEvent::SetWeapons(SetWeapons { weapons }),
        );
    }
}

/// The players themselves and those who see them are shown how they look now.
fn show_looks(world: &mut World, changed: &BTreeSet<Entity>) {
    let mut shown = BTreeMap::new();
    for &entity in changed {
        let (Some((player, generation)), Some(&look)) = (identity(world, entity), world.get(entity)) else {
            continue;
        };
        let event = appearance(player, generation, look);
        if let Some(mut lane) = world.get_mut::<OutboundLane>(entity) {
            push_critical(&mut lane, &event);
        }
        shown.insert(player, event);
    }
    tell_viewers(world, &shown);
}

fn appearance(player: PlayerId, generation: PlayerToken, look: Appearance) -> LaneEvent {
    let packet = PlayerAppearance {
        player_id: u32::from(player.0),
        player_token: generation.0,
        skin: look.skin,
        variant: look.variant,
        walking_style: look.walking_style,
    };
    encoded(&ServerLaneEvent::PlayerAppearance(packet), false)
}

fn rename(world: &mut World, entity: Entity, name: PlayerName) {
    let Some((player, generation)) = identity(world, entity) else {
        return;
    };
    let book = world.resource::<NameBook>();
    let taken = book.holder(&name).is_some_and(|holder| holder != entity);
    if taken || book.judge(&name).is_err() {
        tracing::debug!(
            player = player.0,
            "a rename was refused: the name is held or not allowed"
        );
        return;
    }
    let event = ServerLaneEvent::PlayerRename(PlayerRename {
        player_id: u32::from(player.0),
        player_token: generation.0,
        name: name.to_text(),
    });
    world.entity_mut(entity).insert(DisplayName(name));
    tell_everybody(world, &event);
}
