//! `server`: the server itself.

use decitick_components::{
    ban_changes::BanChange,
    bans::{BanRange, BanReason},
};
use decitick_protocol::Password;
use rhai::{Dynamic, Map};

use super::{
    Call, Native, Outcome, of_module, param,
    player::{LONGEST_BAN, ban_address},
};
use crate::script::{desk::ServerWish, words::hex};

pub(super) const NATIVES: &[Native] = &[
    of_module(
        "server",
        "name",
        (&[], 0),
        "string",
        "The server's name.",
        "chat::broadcast(`This is ${server::name()}`);",
        |call| Ok(call.desk.facts.server_name.clone().into()),
    ),
    of_module(
        "server",
        "max_players",
        (&[], 0),
        "int",
        "How many may be on at once.",
        "log::info(`${players::count()} of ${server::max_players()}`);",
        |call| Ok(i64::from(call.desk.facts.max_players).into()),
    ),
    of_module(
        "server",
        "key",
        (&[], 0),
        "string",
        "The server's public key, 64 lower-case hexadecimal digits: what an identity site signs as the `aud` of its tokens.",
        "log::info(`this server is ${server::key()}`);",
        |call| Ok(hex(&call.desk.server_key).into()),
    ),
    of_module(
        "server",
        "uptime",
        (&[], 0),
        "float",
        "Seconds since the server started.",
        "log::info(`up for ${server::uptime()} s`);",
        |call| Ok(call.desk.clock.since_start.as_secs_f64().into()),
    ),
    of_module(
        "server",
        "unix_time",
        (&[], 0),
        "int",
        "Seconds since 1970, by the wall clock, which may be set; for durations use `uptime`.",
        "store::put(\"last_started\", server::unix_time());",
        |call| {
            Ok(i64::try_from(call.desk.clock.unix_seconds())
                .unwrap_or(i64::MAX)
                .into())
        },
    ),
    of_module(
        "server",
        "set_mode_text",
        (&[param("text", "string")], 0),
        "",
        "What the server query shows as the mode: at most 32 bytes.",
        "server::set_mode_text(\"Deathmatch, round 3\");",
        set_mode_text,
    ),
    of_module(
        "server",
        "set_password",
        (&[param("text", "string")], 0),
        "",
        "Asks newcomers for this password from now on, 1 to 64 bytes; \"\" asks for none. Who is on stays.",
        "server::set_password(\"training tonight\");",
        set_password,
    ),
    of_module(
        "server",
        "ban_ip",
        (
            &[
                param("ip", "string"),
                param("seconds", "int"),
                param("reason", "string"),
            ],
            0,
        ),
        "",
        "Bans an address or a range such as \"192.0.2.0/24\", and ends every session from it. 0 seconds is for good. The reason has at most 20 bytes.",
        "server::ban_ip(\"192.0.2.7\", 86400, \"spam\");",
        |call| {
            let range = call.parsed(0, BanRange::parse)?;
            let seconds = call.integer(1, 0..=LONGEST_BAN)?;
            let reason = call.parsed(2, BanReason::parse)?;
            ban_address(call.desk, range, seconds, reason)
        },
    ),
    of_module(
        "server",
        "unban_ip",
        (&[param("ip", "string")], 0),
        "bool",
        "Lifts the ban of exactly this address or range; `false` when there is none.",
        "server::unban_ip(\"192.0.2.7\");",
        unban_ip,
    ),
    of_module(
        "server",
        "bans",
        (&[], 0),
        "array of map",
        "The bans in force, each `#{ip, reason, seconds}`, where `seconds` is what is left of it, 0 for good.",
        "for ban in server::bans() { log::info(`${ban.ip}: ${ban.reason}`); }",
        bans,
    ),
];

fn set_mode_text(call: &mut Call<'_, '_>) -> Outcome {
    let text = call.parsed(0, decitick_components::console::ModeText::parse)?;
    call.desk.spend_wish()?;
    let text = text.as_str().to_owned();
    call.desk.wishes.server.push(ServerWish::ModeText(text));
    Ok(Dynamic::UNIT)
}

fn set_password(call: &mut Call<'_, '_>) -> Outcome {
    let text = call.text(0)?;
    let password = if text.is_empty() {
        None
    } else {
        Some(call.parsed(0, Password::parse)?)
    };
    call.desk.spend_wish()?;
    call.desk.wishes.server.push(ServerWish::Password(password));
    Ok(Dynamic::UNIT)
}

fn unban_ip(call: &mut Call<'_, '_>) -> Outcome {
    let range = call.parsed(0, BanRange::parse)?;
    let before = call.desk.bans.len();
    call.desk.bans.retain(|ban| ban.range != range);
    if call.desk.bans.len() == before {
        return Ok(false.into());
    }
    call.desk.spend_wish()?;
    call.desk
        .wishes
        .server
        .push(ServerWish::Bans(BanChange::Unban(range)));
    Ok(true.into())
}

fn bans(call: &mut Call<'_, '_>) -> Outcome {
    let now = call.desk.clock.unix_seconds();
    let bans: rhai::Array = call
        .desk
        .bans
        .iter()
        .filter(|ban| ban.holds(now))
        .map(|ban| {
            let mut map = Map::new();
            map.insert("ip".into(), ban.range.to_string().into());
            map.insert("reason".into(), ban.reason.as_str().to_owned().into());
            map.insert("seconds".into(), i64::from(ban.remaining_seconds(now)).into());
            Dynamic::from(map)
        })
        .collect();
    Ok(bans.into())
}
