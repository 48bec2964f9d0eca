//! `zones`: regions that tell when players come and go.

use decitick_components::{
    body::Space,
    phase::Phase,
    requests::ZoneRequest,
    zone::{Zone as Region, ZoneId, ZoneShape},
};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, Property, call::Place, param};
use crate::script::{
    desk::{Desk, MOST_ZONES},
    types::{Player, Zone},
};

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("zones"),
        name: "sphere",
        params: &[param("centre", "position"), param("radius", "number")],
        optional: 0,
        returns: "Zone",
        doc: "All within `radius` metres of a place, at most 20,000. The position's `area` and `dimension` count, 0 when left out. `zone_entered` and `zone_left` tell who comes and goes. A resource may have 1,000 zones; they go when it stops.",
        example: "fn resource_start() { state.shop = zones::sphere(#{x: 100, y: 0, z: 10}, 15); }\nfn zone_entered(player, zone) { if zone == state.shop { player.message(\"Welcome to the shop\"); } }",
        run: sphere,
    },
    Native {
        owner: Owner::Module("zones"),
        name: "box",
        params: &[param("corner", "position"), param("opposite", "position")],
        optional: 0,
        returns: "Zone",
        doc: "All between two opposite corners, whichever they are. `area` and `dimension` of the first corner count.",
        example: "fn resource_start() { state.arena = zones::box(#{x: -50, y: -50, z: 0}, #{x: 50, y: 50, z: 30}); }\nfn zone_left(player, zone) { if zone == state.arena { player.message(\"Come back and fight\"); } }",
        run: cuboid,
    },
    Native {
        owner: Owner::Zone,
        name: "contains",
        params: &[param("position", "position")],
        optional: 0,
        returns: "bool",
        doc: "Whether a place lies in it. Of a player or an entity, area and dimension count too.",
        example: "let zone = zones::sphere(#{x: 0, y: 0, z: 0}, 5);\nlog::info(`${zone.contains(#{x: 3, y: 0, z: 0})}`);",
        run: contains,
    },
    Native {
        owner: Owner::Zone,
        name: "players",
        params: &[],
        optional: 0,
        returns: "array of Player",
        doc: "Who is in it now, by rising id.",
        example: "let zone = zones::sphere(#{x: 0, y: 0, z: 10}, 50);\nfor player in zone.players() { player.health = 100; }",
        run: inside,
    },
    Native {
        owner: Owner::Zone,
        name: "destroy",
        params: &[],
        optional: 0,
        returns: "",
        doc: "Takes the zone away. Nobody is told to have left it.",
        example: "let zone = zones::sphere(#{x: 0, y: 0, z: 0}, 5);\nzone.destroy();",
        run: destroy,
    },
];

pub(super) const PROPERTIES: &[Property] = &[
    Property {
        owner: Owner::Zone,
        name: "id",
        kind: "int",
        doc: "Its number; none is used twice while the server runs.",
        example: "let zone = zones::sphere(#{x: 0, y: 0, z: 0}, 5);\nlog::info(`zone ${zone.id}`);",
        read: |call| Ok(i64::from(call.this_zone()?.id).into()),
        write: None,
    },
    Property {
        owner: Owner::Zone,
        name: "exists",
        kind: "bool",
        doc: "Whether it is still there.",
        example: "let zone = zones::sphere(#{x: 0, y: 0, z: 0}, 5);\nif zone.exists { zone.destroy(); }",
        read: |call| {
            let Zone { id } = call.this_zone()?;
            Ok(call.desk.mirror.zones.contains_key(&id).into())
        },
        write: None,
    },
];

fn sphere(call: &mut Call<'_, '_>) -> Outcome {
    let centre = call.place(0)?;
    let radius = call.positive(1, 20_000.0)?;
    let shape = ZoneShape::Sphere {
        centre: centre.position,
        radius,
    };
    make(call.desk, &centre, shape)
}

fn cuboid(call: &mut Call<'_, '_>) -> Outcome {
    let (corner, opposite) = (call.place(0)?, call.place(1)?);
    let shape = ZoneShape::between(corner.position, opposite.position);
    make(call.desk, &corner, shape)
}

fn make(desk: &mut Desk, place: &Place, shape: ZoneShape) -> Outcome {
    if desk.office()?.zones.len() >= MOST_ZONES {
        return Err(format!(
            "a resource may have {MOST_ZONES} zones; destroy some first"
        ));
    }
    let full = desk.mirror.zones.len() >= <ZoneId as decitick_components::book::Numbered>::MOST;
    let id = desk
        .free_zones
        .pop()
        .filter(|_| !full)
        .ok_or("there are too many zones in the world")?;
    let space = Space {
        dimension: place.dimension.unwrap_or_default(),
        area: place.area.unwrap_or_default(),
    };
    desk.wish_zone(ZoneRequest::Create(id, Region { space, shape }))?;
    desk.office()?.zones.insert(id);
    Ok(Dynamic::from(Zone { id: id.0 }))
}

fn region(call: &Call<'_, '_>) -> Result<Region, String> {
    let Zone { id } = call.this_zone()?;
    call.desk
        .mirror
        .zones
        .get(&id)
        .copied()
        .ok_or_else(|| format!("zone {id} is gone; ask zone.exists first"))
}

fn contains(call: &mut Call<'_, '_>) -> Outcome {
    let region = region(call)?;
    let place = call.place(0)?;
    let here = place.area.is_none_or(|area| area == region.space.area)
        && place
            .dimension
            .is_none_or(|dimension| dimension == region.space.dimension);
    Ok((here && region.shape.contains(place.position)).into())
}

fn inside(call: &mut Call<'_, '_>) -> Outcome {
    let region = region(call)?;
    let inside: rhai::Array = call
        .desk
        .mirror
        .players
        .values()
        .filter(|copy| copy.phase == Phase::Spawned)
        .filter(|copy| {
            copy.motion.area == region.space.area
                && copy.dimension == region.space.dimension
                && region.shape.contains(copy.motion.position)
        })
        .map(|copy| {
            Dynamic::from(Player {
                id: copy.id.0,
                token: copy.token.0,
            })
        })
        .collect();
    Ok(inside.into())
}

fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    region(call)?;
    let id = ZoneId(call.this_zone()?.id);
    call.desk.wish_zone(ZoneRequest::Destroy(id))?;
    for office in call.desk.offices.values_mut() {
        office.zones.remove(&id);
    }
    Ok(Dynamic::UNIT)
}
