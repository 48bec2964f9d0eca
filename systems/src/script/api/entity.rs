//! What a script does with an entity it has in hand.

use decitick_components::{
    requests::ThingRequest,
    thing::{ThingId, ThingMotion, kind_name},
};
use decitick_protocol::EntityPayload;
use rhai::Dynamic;

use super::{
    Call, Native, Outcome, Owner, Property,
    call::{heading, single},
    entities::MOST_DATA_BYTES,
    param, position_map, property,
};
use crate::script::{data, types::Entity};

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Entity,
        name: "move_to",
        params: &[param("position", "position"), param("speed", "number")],
        optional: 0,
        returns: "",
        doc: "Lets the entity go straight to a place at this speed in metres a second, and stop there.",
        example: "let lift = entities::create(#{kind: \"object\", model: 1, x: 0, y: 0, z: 0});\nlift.move_to(#{x: 0, y: 0, z: 30}, 2.5);",
        run: move_to,
    },
    Native {
        owner: Owner::Entity,
        name: "move_along",
        params: &[
            param("points", "array of position"),
            param("speed", "number"),
            param("again", "bool"),
        ],
        optional: 1,
        returns: "",
        doc: "Lets the entity go from point to point, 1 to 256 of them, and back to the first when `again` is true.",
        example: "let bus = entities::create(#{kind: \"vehicle\", model: 431, x: 0, y: 0, z: 5});\nbus.move_along([#{x: 100, y: 0, z: 5}, #{x: 100, y: 100, z: 5}], 12, true);",
        run: move_along,
    },
    Native {
        owner: Owner::Entity,
        name: "follow",
        params: &[
            param("player", "Player"),
            param("distance", "number"),
            param("speed", "number"),
        ],
        optional: 0,
        returns: "",
        doc: "Lets the entity go after a player in the same area and dimension, until it is `distance` metres near.",
        example: "fn player_spawned(player) {\n    let dog = entities::create(#{kind: \"npc\", model: 5, x: 0, y: 0, z: 10});\n    dog.follow(player, 2, 4);\n}",
        run: follow,
    },
    Native {
        owner: Owner::Entity,
        name: "stop",
        params: &[],
        optional: 0,
        returns: "",
        doc: "Lets the entity stand where it is.",
        example: "for thing in entities::all() { thing.stop(); }",
        run: stop,
    },
    Native {
        owner: Owner::Entity,
        name: "destroy",
        params: &[],
        optional: 0,
        returns: "",
        doc: "Takes the entity away.",
        example: "for thing in entities::all() { thing.destroy(); }",
        run: destroy,
    },
];

pub(super) const PROPERTIES: &[Property] = &[
    property(
        Owner::Entity,
        "id",
        "int",
        "Its number; none is used twice while the server runs.",
        "for thing in entities::all() { log::info(`entity ${thing.id}`); }",
        |call| Ok(i64::from(call.this_entity()?.id).into()),
        None,
    ),
    property(
        Owner::Entity,
        "exists",
        "bool",
        "Whether it is still there. Everything else but `id` is an error once it is gone.",
        "let thing = entities::create(#{kind: \"object\", model: 1, x: 0, y: 0, z: 0, seconds: 5});\ntimers::after(6000, || log::info(`${thing.exists}`));",
        |call| {
            let Entity { id } = call.this_entity()?;
            Ok(call.desk.mirror.things.contains_key(&id).into())
        },
        None,
    ),
    property(
        Owner::Entity,
        "kind",
        "string",
        "\"object\", \"pickup\", \"npc\", \"vehicle\" or \"checkpoint\".",
        "for thing in entities::all() { if thing.kind == \"vehicle\" { thing.destroy(); } }",
        |call| Ok(kind_name(call.this_thing()?.kind).into()),
        None,
    ),
    property(
        Owner::Entity,
        "model",
        "int",
        "Model number.",
        "for thing in entities::all() { log::info(`model ${thing.model}`); }",
        |call| Ok(i64::from(call.this_thing()?.model).into()),
        None,
    ),
    property(
        Owner::Entity,
        "position",
        "position",
        "Where it is, `#{x, y, z}` in metres. Writing it puts it there, and it stands.",
        "for thing in entities::all() { let place = thing.position; place.z += 1; thing.position = place; }",
        |call| Ok(position_map(call.this_thing()?.position).into()),
        Some(set_position),
    ),
    property(
        Owner::Entity,
        "velocity",
        "position",
        "How it moves, `#{x, y, z}` in metres a second.",
        "for thing in entities::all() { if thing.velocity.x != 0.0 { thing.stop(); } }",
        |call| Ok(position_map(call.this_thing()?.velocity).into()),
        None,
    ),
    property(
        Owner::Entity,
        "heading",
        "float",
        "Facing in radians.",
        "for thing in entities::all() { thing.heading = 0; }",
        |call| Ok(f64::from(call.this_thing()?.heading).into()),
        Some(|call| {
            let heading = heading("heading", &call.any(0))?;
            place(call, |_, request_heading, _, _| *request_heading = heading)
        }),
    ),
    property(
        Owner::Entity,
        "area",
        "int",
        "Interior number, 0 to 255.",
        "for thing in entities::all() { thing.area = 1; }",
        |call| Ok(i64::from(call.this_thing()?.area).into()),
        Some(|call| {
            let area = call.fitting(0, 0..=255)?;
            place(call, |_, _, request_area, _| *request_area = area)
        }),
    ),
    property(
        Owner::Entity,
        "dimension",
        "int",
        "Which of the worlds beside each other it is in.",
        "for thing in entities::all() { thing.dimension = 7; }",
        |call| Ok(i64::from(call.this_thing()?.dimension).into()),
        Some(|call| {
            let dimension = call.fitting(0, 0..=i64::from(u32::MAX))?;
            place(call, |_, _, _, request_dimension| *request_dimension = dimension)
        }),
    ),
    property(
        Owner::Entity,
        "data",
        "data",
        "What clients are told along with it, at most 512 bytes once packed.",
        "let shop = entities::create(#{kind: \"npc\", model: 9, x: 0, y: 0, z: 0, data: #{name: \"Shop\"}});\nlet data = shop.data;\ndata.open = true;\nshop.data = data;",
        |call| data::from_message_pack(&call.this_thing()?.data).map_err(|fault| fault.in_words("data")),
        Some(set_data),
    ),
];

fn id(call: &Call<'_, '_>) -> Result<ThingId, String> {
    call.this_thing()?;
    Ok(ThingId(call.this_entity()?.id))
}

fn set_motion(call: &mut Call<'_, '_>, motion: ThingMotion) -> Result<(), String> {
    let id = id(call)?;
    call.desk.wish_thing(ThingRequest::Move(id, motion))
}

fn move_to(call: &mut Call<'_, '_>) -> Outcome {
    let place = call.place(0)?;
    let speed = call.positive(1, 1_000.0)?;
    set_motion(call, ThingMotion::to(place.position, speed))?;
    Ok(Dynamic::UNIT)
}

fn move_along(call: &mut Call<'_, '_>) -> Outcome {
    let points = call.array(0)?;
    if !(1..=256).contains(&points.len()) {
        return Err(format!("points must be 1 to 256 positions, got {}", points.len()));
    }
    let points = points
        .iter()
        .map(|point| {
            let map = point
                .read_lock::<rhai::Map>()
                .ok_or("points must be positions, as in #{x: 0, y: 0, z: 5}")?;
            super::call::place_of(&map).map(|place| place.position)
        })
        .collect::<Result<Vec<_>, String>>()?;
    let speed = call.positive(1, 1_000.0)?;
    let looped = call.count() > 2 && call.bool(2)?;
    let motion = ThingMotion::Waypoints {
        points,
        speed,
        looped,
        next: 0,
    };
    set_motion(call, motion)?;
    Ok(Dynamic::UNIT)
}

fn follow(call: &mut Call<'_, '_>) -> Outcome {
    let player = call.player(0)?;
    let player = call.desk.connection_of(player)?;
    let distance = single(call.number(1)?);
    if !(0.0..=1_000.0).contains(&distance) {
        return Err(format!("distance must be from 0 to 1000, got {distance}"));
    }
    let speed = call.positive(2, 1_000.0)?;
    let motion = ThingMotion::Follow {
        player,
        distance,
        speed,
    };
    set_motion(call, motion)?;
    Ok(Dynamic::UNIT)
}

fn stop(call: &mut Call<'_, '_>) -> Outcome {
    set_motion(call, ThingMotion::Still)?;
    Ok(Dynamic::UNIT)
}

fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let id = id(call)?;
    call.desk.wish_thing(ThingRequest::Destroy(id))?;
    for office in call.desk.offices.values_mut() {
        office.things.remove(&id);
    }
    Ok(Dynamic::UNIT)
}

fn set_position(call: &mut Call<'_, '_>) -> Outcome {
    let wanted = call.place(0)?;
    set_motion(call, ThingMotion::Still)?;
    place(call, |position, heading, area, dimension| {
        *position = wanted.position;
        *heading = wanted.heading.unwrap_or(*heading);
        *area = wanted.area.unwrap_or(*area);
        *dimension = wanted.dimension.unwrap_or(*dimension);
    })
}

/// Puts it where it is, but for what `change` changes.
fn place(
    call: &mut Call<'_, '_>,
    change: impl FnOnce(&mut decitick_protocol::Vec3, &mut f32, &mut u8, &mut u32),
) -> Outcome {
    let thing = id(call)?;
    let copy = call.this_thing()?;
    let (mut position, mut heading) = (copy.position, copy.heading);
    let (mut area, mut dimension) = (copy.area, copy.dimension);
    change(&mut position, &mut heading, &mut area, &mut dimension);
    call.desk.wish_thing(ThingRequest::Place {
        thing,
        position,
        heading,
        area,
        dimension,
    })?;
    Ok(Dynamic::UNIT)
}

fn set_data(call: &mut Call<'_, '_>) -> Outcome {
    let id = id(call)?;
    let bytes =
        data::to_message_pack(&call.any(0), MOST_DATA_BYTES).map_err(|fault| fault.in_words("data"))?;
    let payload = EntityPayload::parse(bytes).map_err(|error| format!("data: {error}"))?;
    call.desk.wish_thing(ThingRequest::Data(id, payload))?;
    Ok(Dynamic::UNIT)
}
