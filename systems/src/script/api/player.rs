//! What a script does with a player: `player.kick(reason)` and so on.

use std::net::IpAddr;

use decitick_components::{
    ban_changes::BanChange,
    bans::{Ban, BanRange, BanReason},
    body::Appearance,
    combat::Weapon,
    limits::limit_key,
    messages::{EndSessionRequest, KickReason},
    reasons::CloseReason,
    requests::PlayerWish,
    world::SpawnPoint,
};
use decitick_protocol::{
    EventData, MAX_WEAPON_SLOTS, PlayerName, ServerEvent, ServerLaneEvent, Text, WeaponAmmo,
};
use rhai::{Dynamic, Map};

use super::{
    Call, Native, Outcome, Owner,
    call::{fitting_key, place_of, whole},
    chat, param, views,
};
use crate::{
    lane::broadcast::encoded,
    script::{
        data,
        desk::{Desk, MOST_NOTES, ServerWish, Told},
        types::Player,
    },
};

/// Bytes of data of a ServerEvent.
const MOST_EVENT_BYTES: usize = 1024;
/// Longest ban in seconds: a hundred years.
pub(super) const LONGEST_BAN: i64 = 3_155_760_000;

/// `open_view` and its like.
pub(super) const VIEWS: &[Native] = &views::natives(
    Owner::Player,
    [
        "fn player_command(player, command, args) {\n    if command == \"shop\" { player.open_view(\"shop.html\"); return true; }\n}",
        "fn player_view_action(player, view, data) {\n    player.view_data(view, #{money: player.money});\n}",
        "fn player_view_action(player, view, data) {\n    if data == \"done\" { player.close_view(view); }\n}",
    ],
);

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Player,
        name: "message",
        params: &[param("text", "string"), param("colour", "int")],
        optional: 1,
        returns: "",
        doc: "Shows a line of chat to this player alone: 1 to 512 bytes. The colour is 0xRRGGBBAA, white when left out.",
        example: "fn player_connected(player) {\n    player.message(\"Welcome\");\n    player.message(\"Type /help\", 0xFFD040FF);\n}",
        run: message,
    },
    Native {
        owner: Owner::Player,
        name: "send",
        params: &[
            param("name", "string"),
            param("data", "data"),
            param("droppable", "bool"),
        ],
        optional: 1,
        returns: "",
        doc: "Sends an event to the scripts of the player's client: a name of 1 to 64 bytes and data of at most 1,024 bytes once packed. Data is made of `()`, bools, numbers, strings, blobs, arrays and maps. A droppable event may be left out when the player's line is slow; any other arrives, in order, or the session ends.",
        example: "fn player_connected(player) {\n    player.send(\"scoreboard\", #{rows: [[\"Ada\", 3], [\"Bob\", 1]]});\n    player.send(\"tick\", 1, true);\n}",
        run: send,
    },
    Native {
        owner: Owner::Player,
        name: "kick",
        params: &[param("reason", "string")],
        optional: 1,
        returns: "",
        doc: "Ends the session. The player is shown the reason, at most 64 bytes.",
        example: "fn player_chat(player, text) {\n    if text.contains(\"badword\") { player.kick(\"Mind your language\"); return false; }\n}",
        run: kick,
    },
    Native {
        owner: Owner::Player,
        name: "ban",
        params: &[param("seconds", "int"), param("reason", "string")],
        optional: 0,
        returns: "",
        doc: "Bans the player's address and ends every session from it. 0 seconds is for good. The reason has at most 20 bytes.",
        example: "fn client_event(player, name, data) {\n    if name == \"i_cheat\" { player.ban(3600, \"cheating\"); }\n}",
        run: ban,
    },
    Native {
        owner: Owner::Player,
        name: "respawn",
        params: &[],
        optional: 0,
        returns: "",
        doc: "Puts the player into the world at the next spawn point of assets/spawns.ron, whether it has a body or not.",
        example: "fn player_command(player, command, args) {\n    if command == \"respawn\" { player.respawn(); return true; }\n}",
        run: respawn,
    },
    Native {
        owner: Owner::Player,
        name: "spawn_at",
        params: &[param("point", "map")],
        optional: 0,
        returns: "",
        doc: "Puts the player into the world at a place, whether it has a body or not: `#{x, y, z, heading, area, skin, variant, weapons}`, of which all but x, y and z may be left out. `weapons` is an array of `#{weapon, ammo}`.",
        example: "fn player_connected(player) {\n    player.spawn_at(#{x: 10, y: 20, z: 5, heading: 1.5, skin: 7, weapons: [#{weapon: 22, ammo: 50}]});\n}",
        run: spawn_at,
    },
    Native {
        owner: Owner::Player,
        name: "teleport",
        params: &[param("position", "position")],
        optional: 0,
        returns: "",
        doc: "Puts the player's body elsewhere: `#{x, y, z}`, with `heading`, `area` and `dimension` if they are to change; or another player, or an entity. Without a body nothing happens.",
        example: "fn player_command(player, command, args) {\n    if command == \"up\" { let place = player.position; place.z += 10; player.teleport(place); return true; }\n}",
        run: teleport,
    },
    Native {
        owner: Owner::Player,
        name: "give_weapon",
        params: &[param("weapon", "int"), param("ammo", "int")],
        optional: 0,
        returns: "",
        doc: "Gives a weapon (0 to 46) with rounds (0 to 65535), or more rounds of one it has.",
        example: "fn player_spawned(player) {\n    player.give_weapon(24, 70);\n}",
        run: give_weapon,
    },
    Native {
        owner: Owner::Player,
        name: "take_weapons",
        params: &[],
        optional: 0,
        returns: "",
        doc: "Takes all weapons.",
        example: "fn player_spawned(player) {\n    player.take_weapons();\n}",
        run: take_weapons,
    },
    Native {
        owner: Owner::Player,
        name: "rename",
        params: &[param("name", "string")],
        optional: 0,
        returns: "",
        doc: "Gives the player another name. It is an error when the name breaks the rules for names or somebody else has it.",
        example: "fn player_command(player, command, args) {\n    if command == \"name\" && args.len() == 1 {\n        try { player.rename(args[0]); } catch (problem) { player.message(problem); }\n        return true;\n    }\n}",
        run: rename,
    },
    Native {
        owner: Owner::Player,
        name: "granted",
        params: &[param("name", "string")],
        optional: 0,
        returns: "bool",
        doc: "Whether the operator granted this to the player for this session, with the console command `grant ID NAME`.",
        example: "fn player_command(player, command, args) {\n    if command == \"night\" {\n        if player.granted(\"admin\") { world::set_time(0, 0); } else { player.message(\"Only admins do that\"); }\n        return true;\n    }\n}",
        run: granted,
    },
    Native {
        owner: Owner::Player,
        name: "set",
        params: &[param("key", "string"), param("value", "any")],
        optional: 0,
        returns: "",
        doc: "Keeps a value with the player until it leaves or the resource stops; other resources do not see it. At most 64 keys a player. `()` takes the key away.",
        example: "fn player_connected(player) {\n    player.set(\"kills\", 0);\n}\nfn player_death(player, killer, weapon) {\n    if killer != () { killer.set(\"kills\", killer.get(\"kills\", 0) + 1); }\n}",
        run: set,
    },
    Native {
        owner: Owner::Player,
        name: "get",
        params: &[param("key", "string"), param("default", "any")],
        optional: 1,
        returns: "any",
        doc: "What was kept under the key with `set`; the default, or `()`, when nothing was.",
        example: "fn player_command(player, command, args) {\n    if command == \"kills\" { player.message(`You have ${player.get(\"kills\", 0)} kills`); return true; }\n}",
        run: get,
    },
];

fn message(call: &mut Call<'_, '_>) -> Outcome {
    let event = chat::line(call, 0)?;
    let player = call.this_player()?;
    let to = call.desk.connection_of(player)?;
    call.desk.spend_messages(1)?;
    call.desk.wishes.told.push(Told::One(to, event));
    Ok(Dynamic::UNIT)
}

fn send(call: &mut Call<'_, '_>) -> Outcome {
    let name = call.parsed(0, Text::parse)?;
    let bytes =
        data::to_message_pack(&call.any(1), MOST_EVENT_BYTES).map_err(|fault| fault.in_words("data"))?;
    let droppable = call.count() > 2 && call.bool(2)?;
    let data = EventData::parse(bytes).map_err(|error| format!("data: {error}"))?;
    let player = call.this_player()?;
    let to = call.desk.connection_of(player)?;
    call.desk.spend_messages(1)?;
    let packet = ServerLaneEvent::ServerEvent(ServerEvent { name, data });
    call.desk
        .wishes
        .told
        .push(Told::One(to, encoded(&packet, droppable)));
    Ok(Dynamic::UNIT)
}

fn kick(call: &mut Call<'_, '_>) -> Outcome {
    let reason = if call.count() > 0 {
        call.parsed(0, KickReason::parse)?
    } else {
        KickReason::parse("").map_err(|error| error.to_string())?
    };
    let player = call.this_player()?;
    let entity = call.desk.connection_of(player)?;
    call.desk.spend_wish()?;
    if let Some(copy) = call.desk.mirror.players.get_mut(&player.id) {
        copy.leaving = true;
    }
    call.desk.wishes.ends.push(EndSessionRequest {
        entity,
        reason: CloseReason::Kick,
        notice: Some(reason),
    });
    Ok(Dynamic::UNIT)
}

fn ban(call: &mut Call<'_, '_>) -> Outcome {
    let seconds = call.integer(0, 0..=LONGEST_BAN)?;
    let reason = call.parsed(1, BanReason::parse)?;
    let ip = call.this_copy()?.ip;
    ban_address(call.desk, BanRange::of_address(ip), seconds, reason)
}

/// Wishes for a ban; 0 seconds is for good.
pub(super) fn ban_address(desk: &mut Desk, range: BanRange, seconds: i64, reason: BanReason) -> Outcome {
    desk.spend_wish()?;
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let expiry = (seconds > 0).then(|| desk.clock.unix_seconds().saturating_add(seconds));
    let ban = Ban {
        range,
        reason,
        expiry,
    };
    desk.bans.retain(|held| held.range != range);
    desk.bans.push(ban.clone());
    for copy in desk.mirror.players.values_mut() {
        copy.leaving |= range.contains(copy.ip);
    }
    desk.wishes.server.push(ServerWish::Bans(BanChange::Ban(ban)));
    Ok(Dynamic::UNIT)
}

fn respawn(call: &mut Call<'_, '_>) -> Outcome {
    let player = call.this_player()?;
    call.desk.wish_player(player, PlayerWish::Spawn(None))?;
    Ok(Dynamic::UNIT)
}

fn spawn_at(call: &mut Call<'_, '_>) -> Outcome {
    let look = call.this_copy()?.look;
    let point = spawn_point(&call.map(0)?, look)?;
    let player = call.this_player()?;
    call.desk.wish_player(player, PlayerWish::Spawn(Some(point)))?;
    Ok(Dynamic::UNIT)
}

/// The spawn point that a map says; who looks how is kept where it says nothing.
pub(crate) fn spawn_point(map: &Map, look: Appearance) -> Result<SpawnPoint, String> {
    const KEYS: [&str; 9] = [
        "x",
        "y",
        "z",
        "heading",
        "area",
        "skin",
        "variant",
        "weapons",
        "dimension",
    ];
    for key in map.keys() {
        if !KEYS.contains(&key.as_str()) {
            return Err(format!(
                "a spawn point has no `{key}`; it has x, y, z, heading, area, skin, variant and weapons"
            ));
        }
    }
    let place = place_of(map)?;
    if place.dimension.is_some() {
        return Err("a spawn point has no dimension: set player.dimension".to_owned());
    }
    let weapons = map
        .get("weapons")
        .map(|weapons| {
            let weapons = weapons
                .read_lock::<rhai::Array>()
                .ok_or("weapons must be an array of maps")?;
            if weapons.len() > MAX_WEAPON_SLOTS {
                return Err(format!(
                    "weapons must be at most {MAX_WEAPON_SLOTS}, there are {}",
                    weapons.len()
                ));
            }
            weapons.iter().map(held_weapon).collect()
        })
        .transpose()?
        .unwrap_or_default();
    Ok(SpawnPoint {
        position: place.position,
        heading: place.heading.unwrap_or_default(),
        area: place.area.unwrap_or_default(),
        skin: fitting_key(map, "skin", 0..=i64::from(u32::MAX))?.unwrap_or(look.skin),
        variant: fitting_key(map, "variant", 0..=255)?.unwrap_or(look.variant),
        weapons,
    })
}

fn held_weapon(value: &Dynamic) -> Result<WeaponAmmo, String> {
    let map = value
        .read_lock::<Map>()
        .ok_or("weapons must be maps, as in #{weapon: 24, ammo: 70}")?;
    let part = |key: &str, most: i64| whole(key, map.get(key).unwrap_or(&Dynamic::UNIT), 0..=most);
    Ok(WeaponAmmo {
        weapon: u8::try_from(part("weapon", i64::from(Weapon::MOST_ID))?).unwrap_or_default(),
        ammo: u16::try_from(part("ammo", i64::from(u16::MAX))?).unwrap_or_default(),
    })
}

fn teleport(call: &mut Call<'_, '_>) -> Outcome {
    let place = call.place(0)?;
    let player = call.this_player()?;
    if let Some(dimension) = place.dimension {
        call.desk.wish_player(player, PlayerWish::Dimension(dimension))?;
    }
    let wish = PlayerWish::Teleport {
        position: place.position,
        heading: place.heading,
        area: place.area,
    };
    call.desk.wish_player(player, wish)?;
    Ok(Dynamic::UNIT)
}

fn give_weapon(call: &mut Call<'_, '_>) -> Outcome {
    let weapon = call.fitting::<u8>(0, 0..=i64::from(Weapon::MOST_ID))?;
    let ammo = call.fitting::<u16>(1, 0..=i64::from(u16::MAX))?;
    if call.desk.mirror.weapons & (1 << weapon) == 0 {
        return Err(format!("weapon: assets/weapons.ron has no weapon {weapon}"));
    }
    let copy = call.this_copy()?;
    let has = copy.weapons.iter().any(|held| held.weapon == weapon);
    if !has && copy.weapons.len() >= MAX_WEAPON_SLOTS {
        return Err(format!(
            "the player has {MAX_WEAPON_SLOTS} weapons already; take_weapons first"
        ));
    }
    let player = call.this_player()?;
    call.desk
        .wish_player(player, PlayerWish::GiveWeapon { weapon, ammo })?;
    Ok(Dynamic::UNIT)
}

fn take_weapons(call: &mut Call<'_, '_>) -> Outcome {
    let player = call.this_player()?;
    call.desk.wish_player(player, PlayerWish::TakeWeapons)?;
    Ok(Dynamic::UNIT)
}

fn rename(call: &mut Call<'_, '_>) -> Outcome {
    let name = call.parsed(0, PlayerName::parse)?;
    let player = call.this_player()?;
    let key = name.fold_key();
    let taken = call.desk.mirror.players.values().any(|copy| {
        copy.id.0 != player.id && PlayerName::parse(&copy.name).is_ok_and(|held| held.fold_key() == key)
    });
    if taken {
        return Err(format!("name: somebody else is called {}", name.as_str()));
    }
    call.desk.wish_player(player, PlayerWish::Rename(name))?;
    Ok(Dynamic::UNIT)
}

fn granted(call: &mut Call<'_, '_>) -> Outcome {
    let wanted = call.text(0)?;
    let copy = call.this_copy()?;
    Ok(copy.granted.iter().any(|name| **name == *wanted).into())
}

fn set(call: &mut Call<'_, '_>) -> Outcome {
    let Player { token, .. } = call.this_player()?;
    call.this_copy()?;
    keep_note_of(call, token)
}

/// Keeps what the call says with the session of this generation.
pub(super) fn keep_note_of(call: &mut Call<'_, '_>, token: u32) -> Outcome {
    call.keep(|call| keep_note(call, token))
}

fn keep_note(call: &mut Call<'_, '_>, token: u32) -> Outcome {
    let key = call.text_of(0, 1..=64)?;
    let value = call.any(1);
    let notes = call.desk.office()?.notes.entry(token).or_default();
    if value.is_unit() {
        notes.remove(&key);
    } else if notes.len() < MOST_NOTES || notes.contains_key(&key) {
        notes.insert(key, value);
    } else {
        return Err(format!("a player has {MOST_NOTES} keys already"));
    }
    Ok(Dynamic::UNIT)
}

fn get(call: &mut Call<'_, '_>) -> Outcome {
    let token = call.this_player()?.token;
    note_of(call, token)
}

/// What was kept with the session of this generation.
pub(super) fn note_of(call: &mut Call<'_, '_>, token: u32) -> Outcome {
    let key = call.text_of(0, 1..=64)?;
    let default = call.any(1);
    let notes = call.desk.office()?.notes.get(&token);
    Ok(notes
        .and_then(|notes| notes.get(&key))
        .cloned()
        .unwrap_or(default))
}

/// What limits by address count an address as.
pub(super) fn network(desk: &Desk, ip: IpAddr) -> Dynamic {
    address(limit_key(ip, desk.facts.ipv6_prefix))
}

/// The address of a player as text.
pub(super) fn address(ip: IpAddr) -> Dynamic {
    ip.to_string().into()
}
