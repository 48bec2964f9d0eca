//! `world`: what everybody shares.

use std::sync::Arc;

use decitick_components::{combat::Weapon, requests::WorldRequest};
use rhai::{Dynamic, Map};

use super::{
    Call, Native, Outcome,
    call::{number, single, whole},
    of_module, param,
};

pub(super) const NATIVES: &[Native] = &[
    of_module(
        "world",
        "time",
        (&[], 0),
        "map",
        "The time of day, `#{hours, minutes}`.",
        "let now = world::time();\nif now.hours >= 22 { chat::broadcast(\"It is late\"); }",
        |call| {
            let world = &call.desk.mirror.world;
            let mut map = Map::new();
            map.insert("hours".into(), i64::from(world.hours).into());
            map.insert("minutes".into(), i64::from(world.minutes).into());
            Ok(map.into())
        },
    ),
    of_module(
        "world",
        "set_time",
        (&[param("hours", "int"), param("minutes", "int")], 0),
        "",
        "Sets the time of day for everybody.",
        "world::set_time(8, 30);",
        |call| {
            let hours = call.fitting(0, 0..=23)?;
            let minutes = call.fitting(1, 0..=59)?;
            wish(call, WorldRequest::Time { hours, minutes })
        },
    ),
    of_module(
        "world",
        "run_clock",
        (&[param("ms", "int")], 0),
        "",
        "Lets the time of day run: a minute of it lasts this many milliseconds, 1 to 65535.",
        "world::run_clock(1000);",
        |call| {
            let milliseconds = call.fitting(0, 1..=i64::from(u16::MAX))?;
            wish(call, WorldRequest::RunClock(milliseconds))
        },
    ),
    of_module(
        "world",
        "freeze_clock",
        (&[], 0),
        "",
        "Stops the time of day.",
        "world::freeze_clock();",
        |call| wish(call, WorldRequest::FreezeClock),
    ),
    of_module(
        "world",
        "weather",
        (&[], 0),
        "int",
        "The weather's number.",
        "log::info(`weather ${world::weather()}`);",
        |call| Ok(i64::from(call.desk.mirror.world.weather).into()),
    ),
    of_module(
        "world",
        "set_weather",
        (&[param("weather", "int")], 0),
        "",
        "Sets the weather for everybody, 0 to 255.",
        "world::set_weather(8);",
        |call| {
            let weather = call.fitting(0, 0..=255)?;
            wish(call, WorldRequest::Weather(weather))
        },
    ),
    of_module(
        "world",
        "garage_doors",
        (&[], 0),
        "int",
        "Which garage doors are open, a bit each.",
        "if (world::garage_doors() & 1) == 0 { log::info(\"door 0 is shut\"); }",
        |call| {
            let doors = call.desk.mirror.world.garage_doors;
            Ok(i64::from_ne_bytes(doors.to_ne_bytes()).into())
        },
    ),
    of_module(
        "world",
        "set_garage_doors",
        (&[param("doors", "int")], 0),
        "",
        "Opens the garage doors whose bits are set and shuts the others.",
        "world::set_garage_doors(world::garage_doors() | 4);",
        |call| {
            let doors = call.integer(0, i64::MIN..=i64::MAX)?;
            wish(
                call,
                WorldRequest::GarageDoors(u64::from_ne_bytes(doors.to_ne_bytes())),
            )
        },
    ),
    of_module(
        "world",
        "set_driveby_intervals",
        (&[param("intervals", "array of int")], 0),
        "",
        "Milliseconds between two shots out of a vehicle, for the weapons 22 to 33: 12 numbers from 0 to 65535.",
        "world::set_driveby_intervals([0, 0, 0, 0, 0, 0, 200, 120, 100, 100, 0, 0]);",
        set_driveby_intervals,
    ),
    of_module(
        "world",
        "set_weapon",
        (&[param("weapon", "map")], 0),
        "",
        "Changes a weapon's row for everybody: `#{id, name, damage, range, interval_ms, clip, pellets}` as in assets/weapons.ron; `pellets` may be left out.",
        "world::set_weapon(#{id: 24, name: \"Desert Eagle\", damage: 140, range: 60, interval_ms: 800, clip: 7});",
        set_weapon,
    ),
];

fn wish(call: &mut Call<'_, '_>, request: WorldRequest) -> Outcome {
    call.desk.wish_world(request)?;
    Ok(Dynamic::UNIT)
}

fn set_driveby_intervals(call: &mut Call<'_, '_>) -> Outcome {
    let given = call.array(0)?;
    let mut intervals = [0; 12];
    if given.len() != intervals.len() {
        return Err(format!("intervals must be 12 integers, got {}", given.len()));
    }
    for (interval, value) in intervals.iter_mut().zip(&given) {
        *interval = u16::try_from(whole("interval", value, 0..=i64::from(u16::MAX))?).unwrap_or_default();
    }
    wish(call, WorldRequest::DriveByIntervals(intervals))
}

fn set_weapon(call: &mut Call<'_, '_>) -> Outcome {
    let map = call.map(0)?;
    let part = |key: &str| map.get(key).unwrap_or(&Dynamic::UNIT);
    let small =
        |key: &str, most: i64| whole(key, part(key), 0..=most).map(|n| u16::try_from(n).unwrap_or_default());
    let name = part("name")
        .clone()
        .into_immutable_string()
        .map_err(|_| "name must be a string".to_owned())?;
    let weapon = Weapon {
        id: u8::try_from(small("id", i64::from(Weapon::MOST_ID))?).unwrap_or_default(),
        name: name.to_string(),
        damage: small("damage", i64::from(u16::MAX))?,
        range: single(number("range", part("range"))?),
        interval_ms: small("interval_ms", i64::from(u16::MAX))?,
        clip: small("clip", i64::from(u16::MAX))?,
        pellets: if map.contains_key("pellets") {
            u8::try_from(small("pellets", 255)?).unwrap_or(1)
        } else {
            1
        },
    };
    if weapon.is_sound() {
        wish(call, WorldRequest::Weapon(Arc::new(weapon)))
    } else {
        Err(
            "weapon: a number is out of its range (range above 0, pellets at least 1); see assets/weapons.ron"
                .to_owned(),
        )
    }
}
