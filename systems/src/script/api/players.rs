//! `players`: who is on.

use decitick_components::{body::distance, phase::Phase};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, param};
use crate::script::{mirror::PlayerCopy, types::Player};

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("players"),
        name: "all",
        params: &[],
        optional: 0,
        returns: "array of Player",
        doc: "Everybody who is on, by rising id, whether spawned or not.",
        example: "for player in players::all() { player.message(\"Hello\"); }",
        run: all,
    },
    Native {
        owner: Owner::Module("players"),
        name: "get",
        params: &[param("id", "int")],
        optional: 0,
        returns: "Player or ()",
        doc: "The player with this id, or `()` when nobody has it.",
        example: "let player = players::get(0);\nif player != () { player.message(\"You are the first\"); }",
        run: by_id,
    },
    Native {
        owner: Owner::Module("players"),
        name: "find",
        params: &[param("name", "string")],
        optional: 0,
        returns: "Player or ()",
        doc: "The player of this name, whatever its case, or whose name alone begins so; `()` when there is none or more than one.",
        example: "let player = players::find(\"ali\");\nif player != () { player.message(\"Somebody looks for you\"); }",
        run: find,
    },
    Native {
        owner: Owner::Module("players"),
        name: "count",
        params: &[],
        optional: 0,
        returns: "int",
        doc: "How many are on.",
        example: "if players::count() >= 2 { chat::broadcast(\"Enough for a round\"); }",
        run: count,
    },
    Native {
        owner: Owner::Module("players"),
        name: "near",
        params: &[param("position", "position"), param("radius", "number")],
        optional: 0,
        returns: "array of Player",
        doc: "Everybody in the world within `radius` metres of a place, nearest first. Where the position is a player or an entity, or has an `area` or a `dimension`, only those in the same one count. The player itself counts too.",
        example: "for player in players::near(#{x: 0, y: 0, z: 10}, 50) { player.health = 100; }",
        run: near,
    },
];

fn handle(copy: &PlayerCopy) -> Player {
    Player {
        id: copy.id.0,
        token: copy.token.0,
    }
}

fn all(call: &mut Call<'_, '_>) -> Outcome {
    let all: rhai::Array = call
        .desk
        .mirror
        .players
        .values()
        .map(|copy| Dynamic::from(handle(copy)))
        .collect();
    Ok(all.into())
}

fn by_id(call: &mut Call<'_, '_>) -> Outcome {
    let id = call.integer(0, i64::MIN..=i64::MAX)?;
    let found = u16::try_from(id)
        .ok()
        .and_then(|id| call.desk.mirror.players.get(&id));
    Ok(found.map_or(Dynamic::UNIT, |copy| Dynamic::from(handle(copy))))
}

fn find(call: &mut Call<'_, '_>) -> Outcome {
    let wanted = call.text_of(0, 1..=256)?.to_lowercase();
    let mut beginning = Vec::new();
    for copy in call.desk.mirror.players.values() {
        let name = copy.name.to_lowercase();
        if name == wanted {
            return Ok(Dynamic::from(handle(copy)));
        }
        if name.starts_with(&wanted) {
            beginning.push(handle(copy));
        }
    }
    Ok(match beginning.as_slice() {
        [only] => Dynamic::from(*only),
        _ => Dynamic::UNIT,
    })
}

fn count(call: &mut Call<'_, '_>) -> Outcome {
    Ok(i64::try_from(call.desk.mirror.players.len())
        .unwrap_or(i64::MAX)
        .into())
}

fn near(call: &mut Call<'_, '_>) -> Outcome {
    let place = call.place(0)?;
    let radius = call.positive(1, 100_000.0)?;
    let mut found: Vec<(f32, Player)> = call
        .desk
        .mirror
        .players
        .values()
        .filter(|copy| copy.phase == Phase::Spawned)
        .filter(|copy| place.area.is_none_or(|area| area == copy.motion.area))
        .filter(|copy| {
            place
                .dimension
                .is_none_or(|dimension| dimension == copy.dimension)
        })
        .map(|copy| (distance(copy.motion.position, place.position), handle(copy)))
        .filter(|(away, _)| *away <= radius)
        .collect();
    found.sort_by(|(a, one), (b, other)| a.total_cmp(b).then(one.id.cmp(&other.id)));
    let found: rhai::Array = found
        .into_iter()
        .map(|(_, player)| Dynamic::from(player))
        .collect();
    Ok(found.into())
}
