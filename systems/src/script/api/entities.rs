//! `entities`: the scripted entities of a resource.

use std::time::Duration;

use decitick_components::{
    body::distance,
    requests::ThingRequest,
    thing::{ThingId, ThingMotion, ThingSpec},
};
use decitick_protocol::{EntityKind, EntityPayload, Vec3};
use rhai::{Dynamic, Map};

use super::{
    Call, Native, Outcome, Owner,
    call::{number, place_of, single, whole},
    param,
};
use crate::script::{
    data,
    desk::{Desk, MOST_THINGS},
    types::Entity,
};

/// Bytes of data of an entity.
pub(super) const MOST_DATA_BYTES: usize = 512;
/// How near a player must come to a pickup whose script names no radius, in metres.
const PICKUP_RADIUS: f32 = 1.5;
/// The farthest that a pickup can be taken from.
const MOST_RADIUS: f64 = 100.0;

const KINDS: [(&str, EntityKind); 5] = [
    ("object", EntityKind::Object),
    ("pickup", EntityKind::Pickup),
    ("npc", EntityKind::Npc),
    ("vehicle", EntityKind::Vehicle),
    ("checkpoint", EntityKind::Checkpoint),
];

const KEYS: [&str; 12] = [
    "kind",
    "model",
    "x",
    "y",
    "z",
    "heading",
    "area",
    "dimension",
    "radius",
    "seconds",
    "data",
    "orbit",
];

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("entities"),
        name: "create",
        params: &[param("entity", "map")],
        optional: 0,
        returns: "Entity",
        doc: "Makes an entity that players near it see: `#{kind, model, x, y, z}`, and if wanted `heading`, `area`, `dimension`, `data` (at most 512 bytes once packed), `seconds` (how long it stays), `radius` (a pickup's: how near a player must come to take it, 1.5 m when left out, at most 100), `orbit` (`#{radius, speed}`: it circles the place, speed in radians a second). The kind is \"object\", \"pickup\", \"npc\", \"vehicle\" or \"checkpoint\". A resource may have 2,000; they go when it stops.",
        example: "let car = entities::create(#{kind: \"vehicle\", model: 411, x: 10, y: 0, z: 5, heading: 1.57, data: #{colour: \"red\"}});\nlog::info(`entity ${car.id}`);",
        run: create,
    },
    Native {
        owner: Owner::Module("entities"),
        name: "all",
        params: &[],
        optional: 0,
        returns: "array of Entity",
        doc: "The entities that this resource made and that are still there, oldest first.",
        example: "for thing in entities::all() { thing.destroy(); }",
        run: all,
    },
    Native {
        owner: Owner::Module("entities"),
        name: "near",
        params: &[param("position", "position"), param("radius", "number")],
        optional: 0,
        returns: "array of Entity",
        doc: "Those of this resource within `radius` metres of a place, nearest first. Where the position is a player or an entity, or has an `area` or a `dimension`, only those in the same one count.",
        example: "fn player_spawned(player) { for thing in entities::near(player, 10) { log::info(thing.kind); } }",
        run: near,
    },
];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let spec = spec(&call.map(0)?)?;
    let id = reserve(call.desk)?;
    call.desk.wish_thing(ThingRequest::Create(id, Box::new(spec)))?;
    call.desk.office()?.things.insert(id);
    Ok(Dynamic::from(Entity { id: id.0 }))
}

fn reserve(desk: &mut Desk) -> Result<ThingId, String> {
    if desk.office()?.things.len() >= MOST_THINGS {
        return Err(format!(
            "a resource may have {MOST_THINGS} entities; destroy some first"
        ));
    }
    let full = desk.mirror.things.len() >= <ThingId as decitick_components::book::Numbered>::MOST;
    desk.free_things
        .pop()
        .filter(|_| !full)
        .ok_or_else(|| "there are too many entities in the world".to_owned())
}

fn spec(map: &Map) -> Result<ThingSpec, String> {
    for key in map.keys() {
        if !KEYS.contains(&key.as_str()) {
            return Err(format!("an entity has no `{key}`; it has {}", KEYS.join(", ")));
        }
    }
    let place = place_of(map)?;
    let kind = kind(map.get("kind").unwrap_or(&Dynamic::UNIT))?;
    let model = whole(
        "model",
        map.get("model").unwrap_or(&Dynamic::UNIT),
        0..=i64::from(u32::MAX),
    )?;
    let mut spec = ThingSpec::new(kind, u32::try_from(model).unwrap_or_default(), place.position);
    spec.heading = place.heading.unwrap_or_default();
    spec.area = place.area.unwrap_or_default();
    spec.dimension = place.dimension.unwrap_or_default();
    spec.trigger_radius = radius(map, kind)?;
    if let Some(seconds) = map.get("seconds") {
        let seconds = number("seconds", seconds)?;
        if !(0.1..=86_400.0).contains(&seconds) {
            return Err(format!("seconds must be from 0.1 to 86400, got {seconds}"));
        }
        spec.lifetime = Some(Duration::from_secs_f64(seconds));
    }
    if let Some(value) = map.get("data") {
        let bytes = data::to_message_pack(value, MOST_DATA_BYTES).map_err(|fault| fault.in_words("data"))?;
        spec.data = EntityPayload::parse(bytes).map_err(|error| format!("data: {error}"))?;
    }
    if let Some(value) = map.get("orbit") {
        orbit(&mut spec, value)?;
    }
    Ok(spec)
}

fn kind(value: &Dynamic) -> Result<EntityKind, String> {
    let word = value.clone().into_immutable_string().unwrap_or_default();
    KINDS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, kind)| *kind)
        .ok_or_else(|| {
            "kind must be \"object\", \"pickup\", \"npc\", \"vehicle\" or \"checkpoint\"".to_owned()
        })
}

fn radius(map: &Map, kind: EntityKind) -> Result<Option<f32>, String> {
    match (map.get("radius"), kind) {
        (None, EntityKind::Pickup) => Ok(Some(PICKUP_RADIUS)),
        (None, _) => Ok(None),
        (Some(value), EntityKind::Pickup) => {
            let radius = number("radius", value)?;
            if radius > 0.0 && radius <= MOST_RADIUS {
                Ok(Some(single(radius)))
            } else {
                Err(format!(
                    "radius must be above 0, at most {MOST_RADIUS}, got {radius}"
                ))
            }
        }
        (Some(_), _) => {
            Err("only a pickup has a radius; for other kinds make a zone: zones::sphere".to_owned())
        }
    }
}

fn orbit(spec: &mut ThingSpec, value: &Dynamic) -> Result<(), String> {
    let map = value
        .read_lock::<Map>()
        .ok_or("orbit must be a map, as in #{radius: 20, speed: 0.5}")?;
    let part = |key: &str| number(key, map.get(key).unwrap_or(&Dynamic::UNIT)).map(single);
    let (radius, speed) = (part("radius")?, part("speed")?);
    if !(0.0..=10_000.0).contains(&radius) || speed.abs() > 10.0 {
        return Err("orbit.radius must be from 0 to 10000 and orbit.speed from -10 to 10".to_owned());
    }
    let centre = spec.position;
    spec.position = Vec3::new(centre.x + radius, centre.y, centre.z);
    spec.motion = ThingMotion::Orbit {
        centre,
        radius,
        speed,
        angle: 0.0,
    };
    Ok(())
}

fn all(call: &mut Call<'_, '_>) -> Outcome {
    let things: rhai::Array = call
        .desk
        .office()?
        .things
        .iter()
        .map(|id| Dynamic::from(Entity { id: id.0 }))
        .collect();
    Ok(things.into())
}

fn near(call: &mut Call<'_, '_>) -> Outcome {
    let place = call.place(0)?;
    let radius = call.positive(1, 100_000.0)?;
    let own: Vec<u32> = call.desk.office()?.things.iter().map(|id| id.0).collect();
    let mut found: Vec<(f32, u32)> = own
        .into_iter()
        .filter_map(|id| {
            let thing = call.desk.mirror.things.get(&id)?;
            let here = place.area.is_none_or(|area| area == thing.area)
                && place
                    .dimension
                    .is_none_or(|dimension| dimension == thing.dimension);
            here.then(|| (distance(thing.position, place.position), id))
        })
        .filter(|(away, _)| *away <= radius)
        .collect();
    found.sort_by(|(a, one), (b, other)| a.total_cmp(b).then(one.cmp(other)));
    let found: rhai::Array = found
        .into_iter()
        .map(|(_, id)| Dynamic::from(Entity { id }))
        .collect();
    Ok(found.into())
}
