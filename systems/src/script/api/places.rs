//! Places as scripts write them: maps with x, y and z.

use decitick_components::body::distance;
use decitick_protocol::Vec3;
use rhai::{Dynamic, Map};

use super::{Call, Native, Outcome, Owner, param};

/// `#{x, y, z}`.
pub(crate) fn position_map(position: Vec3) -> Map {
    let mut map = Map::new();
    for (key, value) in [("x", position.x), ("y", position.y), ("z", position.z)] {
        map.insert(key.into(), Dynamic::from(f64::from(value)));
    }
    map
}

pub(super) const NATIVES: &[Native] = &[Native {
    owner: Owner::Global,
    name: "distance",
    params: &[param("a", "position"), param("b", "position")],
    optional: 0,
    returns: "float",
    doc: "Metres between two places. Either may be a position, a player or an entity. Area and dimension do not count.",
    example: "let far = distance(#{x: 0, y: 0, z: 0}, #{x: 3, y: 4, z: 0});\nif far > 4.9 { log::info(`${far} metres`); }",
    run: between,
}];

fn between(call: &mut Call<'_, '_>) -> Outcome {
    let (a, b) = (call.place(0)?, call.place(1)?);
    Ok(f64::from(distance(a.position, b.position)).into())
}
