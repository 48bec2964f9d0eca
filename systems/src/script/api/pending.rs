//! `pending`: somebody who waits for a login. Only the auth resource ever holds one.

use decitick_components::{
    auth::{LoginRequest, LoginWish, Ticket},
    messages::{EndSessionRequest, KickReason},
    profile::Account,
    reasons::CloseReason,
    secret::Secret,
};
use decitick_protocol::PlainText;
use rhai::Dynamic;

use super::{
    Call, Native, Outcome, Owner, Param, Property, native, param,
    player::{address, keep_note_of, network, note_of},
    property, views,
};
use crate::script::{desk::Desk, mirror::NewcomerCopy, words::hex};

const fn of_pending(
    name: &'static str,
    params: (&'static [Param], usize),
    returns: &'static str,
    doc: &'static str,
    example: &'static str,
    run: fn(&mut Call<'_, '_>) -> Outcome,
) -> Native {
    native(Owner::Pending, name, params, returns, doc, example, run)
}

pub(super) const NATIVES: &[Native] = &[
    of_pending(
        "accept",
        (&[param("account", "string")], 1),
        "bool",
        "Lets it join. An account of 1 to 300 bytes, if you name one, is `player.account` for every resource from then on. `false` when it does not wait any more: it left, or was let in or sent away before. `player_connected` follows with its player, whose `id` and `token` are the same and who has what `pending.set` kept.",
        "fn pending_connected(pending) {\n    if pending.credential != () { pending.accept(pending.credential.sub_string(0, 8)); }\n}",
        accept,
    ),
    of_pending(
        "refuse",
        (&[param("reason", "string")], 1),
        "",
        "Sends it away. It is shown the reason, at most 64 bytes.",
        "fn pending_connected(pending) {\n    if pending.credential == () { pending.refuse(\"This server needs a credential\"); }\n}",
        refuse,
    ),
    of_pending(
        "web_auth",
        (&[param("provider", "string")], 0),
        "string",
        "Issues a ticket for a provider of the server's `auth.providers`. Its page takes the ticket to the provider's site, and the site signs it as the `nonce` of its token; what comes of it is told to `pending_assertion`. A ticket counts once, and a new one takes the place of the last.",
        "fn pending_view_action(pending, view, data) {\n    if data == \"web\" { pending.view_data(view, #{ticket: pending.web_auth(\"example\"), server: server::key()}); }\n}",
        web_auth,
    ),
    of_pending(
        "set",
        (&[param("key", "string"), param("value", "any")], 0),
        "",
        "Keeps a value, as `player.set` does; when it is let in, `player.get` finds it.",
        "fn pending_assertion(pending, outcome) {\n    if outcome.result == \"accepted\" {\n        pending.set(\"account\", outcome.subject);\n        pending.accept();\n    } else { pending.refuse(\"Login failed\"); }\n}\nfn player_connected(player) { log::info(`${player.name} is ${player.get(\"account\")}`); }",
        |call| {
            let token = call.this_newcomer()?.token;
            if call.desk.mirror.newcomers.contains_key(&token) {
                keep_note_of(call, token)
            } else {
                Ok(Dynamic::UNIT)
            }
        },
    ),
    of_pending(
        "get",
        (&[param("key", "string"), param("default", "any")], 1),
        "any",
        "What was kept under the key with `set`; the default, or `()`, when nothing was.",
        "fn pending_view_action(pending, view, data) {\n    let tries = pending.get(\"tries\", 0) + 1;\n    pending.set(\"tries\", tries);\n    if tries > 3 { pending.refuse(\"Too many tries\"); }\n}",
        |call| {
            let token = call.this_newcomer()?.token;
            note_of(call, token)
        },
    ),
];

/// `open_view` and its like.
pub(super) const VIEWS: &[Native] = &views::natives(
    Owner::Pending,
    [
        "fn pending_connected(pending) {\n    let view = pending.open_view(\"login.html\");\n    pending.view_data(view, #{text: \"Who are you?\"});\n}",
        "fn pending_view_action(pending, view, data) {\n    pending.view_data(view, #{text: \"Wrong, try again\"});\n}",
        "fn pending_view_action(pending, view, data) {\n    if data == \"secret\" {\n        pending.close_view(view);\n        pending.accept();\n    }\n}",
    ],
);

pub(super) const PROPERTIES: &[Property] = &[
    property(
        Owner::Pending,
        "id",
        "int",
        "The slot, 0 to 999, which it keeps when it is let in.",
        "fn pending_connected(pending) { log::info(`slot ${pending.id} waits`); }",
        |call| Ok(i64::from(call.this_newcomer()?.id).into()),
        None,
    ),
    property(
        Owner::Pending,
        "token",
        "int",
        "The generation, which it keeps when it is let in.",
        "fn pending_connected(pending) { state[`asked${pending.token}`] = 0; }",
        |call| Ok(i64::from(call.this_newcomer()?.token).into()),
        None,
    ),
    property(
        Owner::Pending,
        "waiting",
        "bool",
        "Whether it still waits. In a callback it may have left; `name`, `ip` and `credential` are then an error, and whatever is done to it does nothing.",
        "fn pending_connected(pending) {\n    timers::after(30000, || { if pending.waiting { pending.refuse(\"Too slow\"); } });\n}",
        |call| {
            let token = call.this_newcomer()?.token;
            Ok(call.desk.mirror.waiting(token).is_some().into())
        },
        None,
    ),
    property(
        Owner::Pending,
        "name",
        "string",
        "The name it will have as a player. It is no proof of anything.",
        "fn pending_connected(pending) { log::info(`${pending.name} wants in`); }",
        |call| Ok(copy(call)?.name.to_string().into()),
        None,
    ),
    property(
        Owner::Pending,
        "ip",
        "string",
        "The address, without the port.",
        "fn pending_connected(pending) { log::info(`from ${pending.ip}`); }",
        |call| Ok(address(copy(call)?.ip)),
        None,
    ),
    property(
        Owner::Pending,
        "network",
        "string",
        "The address as limits count it: an IPv4 address as it is, an IPv6 address by its first 64 bits (`limits.ipv6_prefix`). Count attempts by this.",
        "fn pending_connected(pending) {\n    state[pending.network] = state.get(pending.network, 0) + 1;\n    if state[pending.network] > 100 { pending.refuse(\"Too many from your network\"); }\n}",
        |call| {
            let ip = copy(call)?.ip;
            Ok(network(call.desk, ip))
        },
        None,
    ),
    property(
        Owner::Pending,
        "credential",
        "string",
        "The credential of its computer on this server, 64 hexadecimal digits, or `()` when it showed none: whoever holds the key has proved it. It is the same each time and says nothing of who sits there.",
        "fn pending_connected(pending) {\n    if store::get(`known.${pending.credential}`, false) { pending.accept(); }\n}",
        |call| Ok(credential(copy(call)?.credential)),
        None,
    ),
];

/// A credential as scripts see it.
pub(super) fn credential(id: Option<[u8; 32]>) -> Dynamic {
    id.map_or(Dynamic::UNIT, |id| hex(&id).into())
}

fn copy<'a>(call: &'a Call<'_, '_>) -> Result<&'a NewcomerCopy, String> {
    let newcomer = call.this_newcomer()?;
    call.desk
        .mirror
        .newcomers
        .get(&newcomer.token)
        .ok_or_else(|| "it does not wait any more; ask pending.waiting first".to_owned())
}

/// The connection, of which nothing more can be decided from now on; `None` when all was decided before.
fn settle(call: &mut Call<'_, '_>) -> Result<Option<bevy_ecs::entity::Entity>, String> {
    let newcomer = call.this_newcomer()?;
    call.desk.spend_wish()?;
    Ok(call.desk.mirror.settle(newcomer.token))
}

fn accept(call: &mut Call<'_, '_>) -> Outcome {
    let account = (call.count() > 0)
        .then(|| call.parsed(0, PlainText::<1, 300>::parse))
        .transpose()?
        .map(|account| Account(account.as_str().into()));
    let Some(entity) = settle(call)? else {
        return Ok(false.into());
    };
    call.desk.wishes.logins.push(LoginRequest {
        entity,
        wish: LoginWish::Accept(account),
    });
    Ok(true.into())
}

fn refuse(call: &mut Call<'_, '_>) -> Outcome {
    let reason = if call.count() > 0 {
        call.parsed(0, KickReason::parse)?
    } else {
        KickReason::parse("login refused").map_err(|error| error.to_string())?
    };
    if let Some(entity) = settle(call)? {
        call.desk.wishes.ends.push(EndSessionRequest {
            entity,
            reason: CloseReason::Kick,
            notice: Some(reason),
        });
    }
    Ok(Dynamic::UNIT)
}

fn web_auth(call: &mut Call<'_, '_>) -> Outcome {
    let provider = call.text(0)?;
    let newcomer = call.this_newcomer()?;
    let providers = &call.desk.facts.providers;
    if !providers.iter().any(|known| *known == *provider) {
        return Err(if providers.is_empty() {
            "provider: the server's configuration names none; add one to auth.providers".to_owned()
        } else {
            format!(
                "provider: the server's configuration has no {provider:?}; auth.providers has: {}",
                providers.join(", ")
            )
        });
    }
    call.desk.spend_wish()?;
    let text = draw_ticket(call.desk)?;
    if let Some(entity) = call.desk.mirror.waiting(newcomer.token).map(|copy| copy.entity) {
        let ticket = Ticket {
            provider: provider.to_string(),
            text: Secret::new(text.clone()),
        };
        call.desk.wishes.logins.push(LoginRequest {
            entity,
            wish: LoginWish::Issue(ticket),
        });
    }
    Ok(text.into())
}

/// 128 bits that nobody can tell before.
fn draw_ticket(desk: &mut Desk) -> Result<String, String> {
    let random = desk
        .tickets
        .as_mut()
        .ok_or("the server has no random numbers yet; try again in the next tick")?;
    Ok([random.bits(), random.bits()]
        .iter()
        .map(|bits| hex(&bits.to_be_bytes()))
        .collect())
}
