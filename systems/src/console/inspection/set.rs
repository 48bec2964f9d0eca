//! `set`: what is told to clients goes the way of a wish, a marked field is written, and everything else says why not.

mod given;
mod wishes;

use bevy_ecs::{reflect::ReflectComponent, world::World};
use bevy_reflect::{PartialReflect, ReflectMut};
use decitick_components::{
    console::{EntityWord, FieldWord},
    inspection::Settable,
    requests::{PlayerRequest, PlayerWish, ThingRequest, WorldRequest},
};

use self::given::Given;
use super::{
    super::{Answer, done, failed},
    Found, component_of, entity_of, seen_for,
};
use crate::inspect::{Form, Named, Seen, field_at, field_names, label, settable_at};

/// What `set` asks for on behalf of the operator.
enum Wish {
    Player(PlayerWish),
    Thing(ThingRequest),
    World(WorldRequest),
}

pub(in super::super) fn set(world: &mut World, entity: EntityWord, field: &FieldWord, value: &str) -> Answer {
    match changed(world, entity, field, Given(value.trim())) {
        Ok(message) => done(message),
        Err(error) => failed(error),
    }
}

fn changed(world: &mut World, word: EntityWord, field: &FieldWord, given: Given<'_>) -> Found<String> {
    let entity = entity_of(world, word)?;
    let named = component_of(world, entity, &field.component)?;
    let seen = seen_for(world, &named, "`set`")?;
    field_at(seen.form(), &field.path).map_err(|fault| format!("{}: {fault}", named.short))?;
    let (id, whose) = (entity.id(), label(world, entity));
    let blank = if whose.is_empty() { "" } else { " " };
    let what = if field.path.is_empty() {
        named.short.clone()
    } else {
        format!("{}.{}", named.short, field.path)
    };
    let set = format!("{id}{blank}{whose}: {what} is {} now", given.shown());
    if let Some(wish) = wishes::wish(world, entity, &named, &field.path, given) {
        match wish.map_err(|error| format!("{what}: {error}"))? {
            Wish::Player(wish) => {
                world.write_message(PlayerRequest { entity: id, wish });
            }
            Wish::Thing(request) => {
                world.write_message(request);
            }
            Wish::World(request) => {
                world.write_message(request);
            }
        }
        return Ok(format!("{set}, as the world takes it"));
    }
    let (reflect, settable) = writable(world, &named, &seen, &field.path)?;
    let held = reflect.reflect_mut(world.entity_mut(id));
    let mut held = held.ok_or_else(|| format!("{id} has no {}", named.short))?;
    write(held.as_partial_reflect_mut(), &field.path, settable, given)
        .map_err(|error| format!("{what}: {error}"))?;
    Ok(set)
}

/// Whether a field may be written where it stands.
fn writable(world: &World, named: &Named, seen: &Seen, path: &str) -> Found<(ReflectComponent, Settable)> {
    let short = &named.short;
    let hint = hint(short);
    let dot = if path.is_empty() { "" } else { "." };
    let mutable = world
        .components()
        .get_info(named.id)
        .is_some_and(bevy_ecs::component::ComponentInfo::mutable);
    if !mutable {
        return Err(format!(
            "{short} is immutable: it changes only by an insert, so that whatever indexes it sees the change{hint}"
        ));
    }
    let Seen::Whole(reflect, info) = seen else {
        return Err(format!(
            "{short} cannot be set: what it shows is made of what it holds, and that belongs together{hint}"
        ));
    };
    match settable_at(Form::Type(info), path) {
        Ok(Some(settable)) => Ok((reflect.clone(), settable)),
        Ok(None) if path.is_empty() && field_names(world, short).len() > 1 => {
            let names: Vec<String> = field_names(world, short)
                .iter()
                .take(8)
                .map(|field| format!("{short}.{field}"))
                .collect();
            Err(format!("{short} has fields; name one: {}", names.join(", ")))
        }
        Ok(None) => Err(format!(
            "{short}{dot}{path} is read-only: other values hang on it{hint}"
        )),
        Err(fault) => Err(format!("{short}: {fault}")),
    }
}

/// What to do instead.
fn hint(short: &str) -> &'static str {
    match short {
        "Phase" => "; `spawn ID` and `kick ID` move a player on",
        "PlayerId" | "PlayerToken" | "Peer" => "; `kick ID` ends the session that it belongs to",
        "DisplayName" => "; `eval players::get(ID).rename(\"...\")` renames a player, and everybody is told",
        "Granted" => "; `grant ID NAME` and `revoke ID NAME` change it",
        "Weapons" => "; `eval players::get(ID).give_weapon(WEAPON, AMMO)` gives one, and the player is told",
        "BanList" => "; `ban` and `unban` change it",
        "Settings" => "; settings are read when the server starts",
        "Lifecycle" => "; `shutdown` stops the server",
        "Netsim" => "; `netsim` changes it",
        "ThingMotion" | "ThingData" | "ThingKind" => {
            "; a gamemode moves and changes things, also through `eval`"
        }
        _ => "",
    }
}

/// Writes one value within what its mark takes.
fn write(value: &mut dyn PartialReflect, path: &str, settable: Settable, given: Given<'_>) -> Found<()> {
    let leaf = leaf_mut(value, path).ok_or("it is not there now")?;
    match settable {
        Settable::Any => {}
        Settable::Between { least, most } => {
            let number = given.number()?;
            if !(least..=most).contains(&number) {
                return Err(format!("{number} is out of range; {least} to {most} is taken"));
            }
        }
        Settable::Text { most_bytes } => {
            given.text(most_bytes)?;
        }
    }
    given.write(leaf)
}

/// The value at the end of a path, to be written.
fn leaf_mut<'a>(mut value: &'a mut dyn PartialReflect, path: &str) -> Option<&'a mut dyn PartialReflect> {
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let number = part.parse::<usize>().ok();
        value = match value.reflect_mut() {
            ReflectMut::Struct(value) => value.field_mut(part)?,
            ReflectMut::TupleStruct(value) => value.field_mut(number?)?,
            ReflectMut::Tuple(value) => value.field_mut(number?)?,
            ReflectMut::Array(value) => value.get_mut(number?)?,
            ReflectMut::List(value) => value.get_mut(number?)?,
            ReflectMut::Enum(value) => value.field_mut(part)?,
            _ => return None,
        };
    }
    // A wrapper is written through.
    loop {
        let wrapper = matches!(value.reflect_ref(), bevy_reflect::ReflectRef::TupleStruct(value) if value.field_len() == 1);
        if !wrapper {
            return Some(value);
        }
        value = match value.reflect_mut() {
            ReflectMut::TupleStruct(value) => value.field_mut(0)?,
            _ => return None,
        };
    }
}
