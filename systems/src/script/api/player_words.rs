//! What a script reads of a player, and what it changes by writing it: `player.health = 50`.

use decitick_components::{body::SKILL_CLASSES, requests::PlayerWish};
use rhai::{Dynamic, Map};

use super::{
    Call, Outcome, Owner, Property,
    call::{heading, whole},
    pending::credential,
    player::{address, network},
    position_map, property,
};
use crate::script::{mirror::PlayerCopy, types::Player};

pub(super) const PROPERTIES: &[Property] = &[
    property(
        Owner::Player,
        "id",
        "int",
        "The slot, 0 to 999; it is used again after the player left.",
        "fn player_connected(player) { log::info(`slot ${player.id}`); }",
        |call| Ok(i64::from(call.this_player()?.id).into()),
        None,
    ),
    property(
        Owner::Player,
        "token",
        "int",
        "The generation: no other session of this server run has the same.",
        "fn player_connected(player) { state[`seen${player.token}`] = true; }",
        |call| Ok(i64::from(call.this_player()?.token).into()),
        None,
    ),
    property(
        Owner::Player,
        "online",
        "bool",
        "Whether the player is still on. In a timer or a callback the player may have left; all but `id`, `token` and `online` is then an error.",
        "fn player_connected(player) {\n    timers::after(5000, || { if player.online { player.message(\"Still here?\"); } });\n}",
        online,
        None,
    ),
    property(
        Owner::Player,
        "name",
        "string",
        "The name. `player.rename(name)` changes it.",
        "fn player_connected(player) { chat::broadcast(`${player.name} is here`); }",
        |call| Ok(call.this_copy()?.name.to_string().into()),
        None,
    ),
    property(
        Owner::Player,
        "ip",
        "string",
        "The address, without the port.",
        "fn player_connected(player) { log::info(`from ${player.ip}`); }",
        |call| Ok(address(call.this_copy()?.ip)),
        None,
    ),
    property(
        Owner::Player,
        "network",
        "string",
        "The address as limits count it: an IPv4 address as it is, an IPv6 address by its first 64 bits (`limits.ipv6_prefix`).",
        "fn player_connected(player) { log::info(`from ${player.network}`); }",
        |call| {
            let ip = call.this_copy()?.ip;
            Ok(network(call.desk, ip))
        },
        None,
    ),
    property(
        Owner::Player,
        "account",
        "string",
        "Whom the auth resource says the player is, or `()` on a server without logins: what to keep money and progress by. A name can be anybody's.",
        "fn player_connected(player) {\n    let key = `money.${player.account}`;\n    if player.account != () { player.money = store::get(key, 0); }\n}",
        |call| {
            Ok(call
                .this_copy()?
                .account
                .as_deref()
                .map_or(Dynamic::UNIT, |account| account.to_owned().into()))
        },
        None,
    ),
    property(
        Owner::Player,
        "credential",
        "string",
        "The credential of the player's computer on this server, or `()`, as `pending.credential`. Only the auth resource may read it; for any other it is an error.",
        "fn player_connected(player) {\n    if player.credential != () { store::put(`seen.${player.credential}`, server::unix_time()); }\n}",
        |call| {
            let copy = call.this_copy()?.credential;
            if call.desk.judges_logins()? {
                Ok(credential(copy))
            } else {
                Err(
                    "only the resource that the server's configuration names under auth may read credentials"
                        .to_owned(),
                )
            }
        },
        None,
    ),
    property(
        Owner::Player,
        "ping",
        "int",
        "Round trip in milliseconds; -1 until it is measured.",
        "fn player_command(player, command, args) {\n    if command == \"ping\" { player.message(`${player.ping} ms`); return true; }\n}",
        |call| Ok(call.this_copy()?.ping.into()),
        None,
    ),
    property(
        Owner::Player,
        "state",
        "string",
        "\"pre_spawn\" while the player has no body, \"spawned\" while it is in the world.",
        "for player in players::all() { if player.state == \"pre_spawn\" { player.respawn(); } }",
        |call| Ok(call.this_copy()?.phase.name().into()),
        None,
    ),
    property(
        Owner::Player,
        "position",
        "position",
        "Where the body is, `#{x, y, z}` in metres. Writing it is `teleport`.",
        "fn player_spawned(player) {\n    let here = player.position;\n    if here.z < 0 { player.position = #{x: here.x, y: here.y, z: 10}; }\n}",
        |call| Ok(position_map(call.this_copy()?.motion.position).into()),
        Some(set_position),
    ),
    property(
        Owner::Player,
        "heading",
        "float",
        "Facing in radians, from -pi up to pi; 0 looks along y. Writing it teleports the player to where it is.",
        "fn player_spawned(player) { player.heading = PI() / 2; }",
        |call| Ok(f64::from(call.this_copy()?.motion.heading).into()),
        Some(set_heading),
    ),
    property(
        Owner::Player,
        "area",
        "int",
        "Interior number, 0 to 255; 0 is outside. Writing it teleports the player to where it is.",
        "fn player_spawned(player) { if player.area != 0 { player.area = 0; } }",
        |call| Ok(i64::from(call.this_copy()?.motion.area).into()),
        Some(set_area),
    ),
    property(
        Owner::Player,
        "dimension",
        "int",
        "Which of the worlds beside each other the player is in, 0 to 4294967295: players and entities of another one are not there.",
        "fn player_connected(player) { player.dimension = 100 + player.id; }",
        |call| Ok(i64::from(call.this_copy()?.dimension).into()),
        Some(|call| {
            let dimension = call.fitting(0, 0..=i64::from(u32::MAX))?;
            wish(call, PlayerWish::Dimension(dimension))
        }),
    ),
    property(
        Owner::Player,
        "velocity",
        "position",
        "How the body moves, `#{x, y, z}` in metres a second.",
        "for player in players::all() { if player.velocity.z < -50 { player.message(\"Pull up!\"); } }",
        |call| Ok(position_map(call.this_copy()?.motion.velocity).into()),
        None,
    ),
    property(
        Owner::Player,
        "health",
        "int",
        "0 to 200. Writing 0 kills. Without a body, writing it changes nothing.",
        "fn player_spawned(player) { player.health = 150; }",
        |call| Ok(i64::from(call.this_copy()?.vitals.health).into()),
        Some(|call| {
            let health = call.fitting(0, 0..=200)?;
            wish(call, PlayerWish::Health(health))
        }),
    ),
    property(
        Owner::Player,
        "armour",
        "int",
        "0 to 200. Without a body, writing it changes nothing.",
        "fn player_spawned(player) { player.armour = 50; }",
        |call| Ok(i64::from(call.this_copy()?.vitals.armour).into()),
        Some(|call| {
            let armour = call.fitting(0, 0..=200)?;
            wish(call, PlayerWish::Armour(armour))
        }),
    ),
    property(
        Owner::Player,
        "money",
        "int",
        "Any whole number.",
        "fn player_death(player, killer, weapon) { if killer != () { killer.money += 100; } }",
        |call| Ok(call.this_copy()?.money.into()),
        Some(|call| {
            let money = call.integer(0, i64::MIN..=i64::MAX)?;
            wish(call, PlayerWish::Money(money))
        }),
    ),
    property(
        Owner::Player,
        "skin",
        "int",
        "Model number, 0 to 4294967295.",
        "fn player_spawned(player) { player.skin = random::int(1, 300); }",
        |call| Ok(i64::from(call.this_copy()?.look.skin).into()),
        Some(|call| {
            let skin = call.fitting(0, 0..=i64::from(u32::MAX))?;
            let variant = call.this_copy()?.look.variant;
            wish(call, PlayerWish::Skin(skin, variant))
        }),
    ),
    property(
        Owner::Player,
        "variant",
        "int",
        "Variant of the model, 0 to 255.",
        "fn player_spawned(player) { player.variant = 1; }",
        |call| Ok(i64::from(call.this_copy()?.look.variant).into()),
        Some(|call| {
            let variant = call.fitting(0, 0..=255)?;
            let skin = call.this_copy()?.look.skin;
            wish(call, PlayerWish::Skin(skin, variant))
        }),
    ),
    property(
        Owner::Player,
        "walking_style",
        "int",
        "0 to 255.",
        "fn player_spawned(player) { player.walking_style = 3; }",
        |call| Ok(i64::from(call.this_copy()?.look.walking_style).into()),
        Some(|call| {
            let style = call.fitting(0, 0..=255)?;
            wish(call, PlayerWish::WalkingStyle(style))
        }),
    ),
    property(
        Owner::Player,
        "skills",
        "array of int",
        "Skill in each of the 11 weapon classes, each 0 to 1000. Write a whole array.",
        "fn player_spawned(player) { let skills = player.skills; skills[0] = 500; player.skills = skills; }",
        |call| {
            let skills = call.this_copy()?.skills;
            let skills: rhai::Array = skills.into_iter().map(|skill| i64::from(skill).into()).collect();
            Ok(skills.into())
        },
        Some(set_skills),
    ),
    property(
        Owner::Player,
        "weapons",
        "array of map",
        "What the player holds, each `#{weapon, ammo}`. `give_weapon` and `take_weapons` change it.",
        "fn player_death(player, killer, weapon) {\n    for held in player.weapons { log::info(`${held.weapon}: ${held.ammo}`); }\n}",
        |call| Ok(weapons(call.this_copy()?).into()),
        None,
    ),
    property(
        Owner::Player,
        "weapon",
        "int",
        "The weapon in hand; 0 is the fist.",
        "for player in players::all() { if player.weapon != 0 { player.message(\"Put it away\"); } }",
        |call| Ok(i64::from(call.this_copy()?.motion.weapon).into()),
        None,
    ),
    property(
        Owner::Player,
        "keys",
        "int",
        "The keys held, a bit each.",
        "for player in players::all() { if (player.keys & 4) != 0 { player.message(\"You fire\"); } }",
        |call| Ok(i64::from(call.this_copy()?.motion.keys).into()),
        None,
    ),
];

fn wish(call: &mut Call<'_, '_>, wish: PlayerWish) -> Outcome {
    let player = call.this_player()?;
    call.desk.wish_player(player, wish)?;
    Ok(Dynamic::UNIT)
}

fn online(call: &mut Call<'_, '_>) -> Outcome {
    let Player { id, token } = call.this_player()?;
    let copy = call.desk.mirror.player(id, token);
    Ok(copy.is_some_and(|copy| !copy.leaving).into())
}

fn set_position(call: &mut Call<'_, '_>) -> Outcome {
    let place = call.place(0)?;
    let teleport = PlayerWish::Teleport {
        position: place.position,
        heading: place.heading,
        area: place.area,
    };
    wish(call, teleport)
}

fn set_heading(call: &mut Call<'_, '_>) -> Outcome {
    let heading = heading("heading", &call.any(0))?;
    let position = call.this_copy()?.motion.position;
    let teleport = PlayerWish::Teleport {
        position,
        heading: Some(heading),
        area: None,
    };
    wish(call, teleport)
}

fn set_area(call: &mut Call<'_, '_>) -> Outcome {
    let area = call.fitting(0, 0..=255)?;
    let position = call.this_copy()?.motion.position;
    let teleport = PlayerWish::Teleport {
        position,
        heading: None,
        area: Some(area),
    };
    wish(call, teleport)
}

fn set_skills(call: &mut Call<'_, '_>) -> Outcome {
    let given = call.array(0)?;
    let mut skills = [0; SKILL_CLASSES];
    if given.len() != SKILL_CLASSES {
        return Err(format!(
            "skills must be {SKILL_CLASSES} integers, got {}",
            given.len()
        ));
    }
    for (skill, value) in skills.iter_mut().zip(&given) {
        *skill = u16::try_from(whole("skill", value, 0..=1000)?).unwrap_or_default();
    }
    wish(call, PlayerWish::Skills(skills))
}

fn weapons(copy: &PlayerCopy) -> rhai::Array {
    copy.weapons
        .iter()
        .map(|held| {
            let mut map = Map::new();
            map.insert("weapon".into(), i64::from(held.weapon).into());
            map.insert("ammo".into(), i64::from(held.ammo).into());
            Dynamic::from(map)
        })
        .collect()
}
