//! The handlers: functions of a resource that the server calls.

use super::{Handler, Param, param};

const PLAYER: Param = param("player", "Player");
const PENDING: Param = param("pending", "Pending");

const fn handler(
    name: &'static str,
    params: &'static [Param],
    returns: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Handler {
    Handler {
        name,
        params,
        returns,
        doc,
        example,
    }
}

/// Every handler, in the order of docs/scripting.md.
pub(crate) const HANDLERS: &[Handler] = &[
    handler(
        "resource_start",
        &[],
        "",
        "The resource started, or was reloaded.",
        "fn resource_start() { state.round = 1; }",
    ),
    handler(
        "resource_stop",
        &[],
        "",
        "The resource is about to stop. Its timers, entities and zones go by themselves.",
        "fn resource_stop() { chat::broadcast(\"The game is over\"); }",
    ),
    handler(
        "tick",
        &[param("dt", "float")],
        "",
        "Once a tick, ten times a second. `dt` is the time since the last call in seconds, at most 1. A timer is enough for most things.",
        "fn tick(dt) { state.elapsed = state.get(\"elapsed\", 0.0) + dt; }",
    ),
    handler(
        "player_connecting",
        &[param("name", "string"), param("ip", "string")],
        "a string of at most 20 bytes refuses, shown to the client; anything else admits. An error refuses",
        "Somebody wants to join.",
        "fn player_connecting(name, ip) {\n    if name.contains(\"bot\") { return \"no bots, please\"; }\n}",
    ),
    handler(
        "player_connected",
        &[PLAYER],
        "",
        "A player joined. It has no body yet.",
        "fn player_connected(player) { chat::broadcast(`${player.name} joined`); }",
    ),
    handler(
        "player_disconnected",
        &[PLAYER, param("reason", "string")],
        "",
        "A player left: \"bye\", \"timeout\", \"kick\", \"overflow\" or \"shutdown\". It can still be read, but nothing can be done to it.",
        "fn player_disconnected(player, reason) { chat::broadcast(`${player.name} left (${reason})`); }",
    ),
    handler(
        "player_request_spawn",
        &[PLAYER],
        "a map `#{x, y, z, heading, area, skin, variant, weapons}` spawns it there, `false` lets it wait; anything else: the next spawn point of assets/spawns.ron",
        "A player's client asks for a body. The first resource that returns a map or `false` decides.",
        "fn player_request_spawn(player) { #{x: 0, y: 0, z: 10, heading: 0, skin: 7} }",
    ),
    handler(
        "player_spawned",
        &[PLAYER],
        "",
        "A player came into the world.",
        "fn player_spawned(player) { player.give_weapon(22, 50); }",
    ),
    handler(
        "player_death",
        &[PLAYER, param("killer", "Player or ()"), param("weapon", "int")],
        "",
        "A player died; `killer` is `()` when nobody did it.",
        "fn player_death(player, killer, weapon) {\n    if killer != () { chat::broadcast(`${killer.name} killed ${player.name}`); }\n}",
    ),
    handler(
        "player_chat",
        &[PLAYER, param("text", "string")],
        "`false` swallows the line; otherwise everybody sees \"name: text\"",
        "A player said something.",
        "fn player_chat(player, text) {\n    if player.get(\"muted\", false) { player.message(\"You are muted\"); return false; }\n}",
    ),
    handler(
        "player_command",
        &[
            PLAYER,
            param("command", "string"),
            param("args", "array of string"),
        ],
        "`true` when it was handled; otherwise the next resource is asked, and at last the player is told that there is no such command",
        "A player typed a line that starts with `/`. `command` is its first word without the `/`, `args` are the others.",
        "fn player_command(player, command, args) {\n    switch command {\n        \"heal\" => { player.health = 100; true }\n        \"say\" => { chat::broadcast(`${player.name} says ${args.join(\" \")}`); true }\n        _ => false\n    }\n}",
    ),
    handler(
        "player_damage",
        &[
            PLAYER,
            param("attacker", "Player"),
            param("weapon", "int"),
            param("amount", "int"),
        ],
        "a number is the new amount, `false` cancels the hit; otherwise it stays. With several resources each gets what the one before made of it",
        "A hit counts and is about to take health.",
        "fn player_damage(player, attacker, weapon, amount) {\n    if player.get(\"team\") == attacker.get(\"team\") { return false; }\n    amount * 2\n}",
    ),
    handler(
        "client_event",
        &[PLAYER, param("name", "string"), param("data", "data")],
        "",
        "The scripts of a player's client sent an event. Whatever it says, a client may lie.",
        "fn client_event(player, name, data) {\n    if name == \"buy\" && data == \"hat\" && player.money >= 50 { player.money -= 50; }\n}",
    ),
    handler(
        "zone_entered",
        &[PLAYER, param("zone", "Zone")],
        "",
        "A player came into a zone that this resource made.",
        "fn zone_entered(player, zone) { player.message(`You are in zone ${zone.id}`); }",
    ),
    handler(
        "zone_left",
        &[PLAYER, param("zone", "Zone")],
        "",
        "A player left a zone that this resource made, or lost its body in it. Whose session ended is not told of.",
        "fn zone_left(player, zone) { player.message(`You left zone ${zone.id}`); }",
    ),
    handler(
        "pickup_taken",
        &[PLAYER, param("pickup", "Entity")],
        "`true` removes the pickup",
        "A player came near a pickup that this resource made, or one of assets/things.ron.",
        "fn pickup_taken(player, pickup) { player.health = 100; true }",
    ),
    handler(
        "player_view_action",
        &[PLAYER, param("view", "int"), param("data", "data")],
        "",
        "A page that this resource opened with `player.open_view` said something. Whatever it says, a client may lie.",
        "fn player_view_action(player, view, data) {\n    if data == \"buy\" && player.money >= 50 { player.money -= 50; }\n}",
    ),
    handler(
        "player_view_status",
        &[PLAYER, param("view", "int"), param("status", "string")],
        "",
        "What became of a page that this resource opened: \"loaded\", \"failed\" or \"closed\" by the player. After the last two the view is not open any more.",
        "fn player_view_status(player, view, status) {\n    if status == \"failed\" { player.message(\"The shop could not be shown\"); }\n}",
    ),
    handler(
        "pending_connected",
        &[PENDING],
        "",
        "Somebody passed the handshake and waits for a login: show it a page, let it in, or send it away. Only the auth resource is told; an error in any of the `pending_` handlers ends that session. It waits `auth.timeout_seconds` at most.",
        "fn pending_connected(pending) {\n    let view = pending.open_view(\"login.html\");\n    pending.set(\"view\", view);\n}",
    ),
    handler(
        "pending_view_action",
        &[PENDING, param("view", "int"), param("data", "data")],
        "",
        "A page that was opened with `pending.open_view` said something. Nobody has logged in yet: trust nothing of it, and bound what it may cost.",
        "fn pending_view_action(pending, view, data) {\n    if data == \"letmein\" { pending.accept(); } else { pending.refuse(\"Wrong\"); }\n}",
    ),
    handler(
        "pending_view_status",
        &[PENDING, param("view", "int"), param("status", "string")],
        "",
        "What became of such a page: \"loaded\", \"failed\" or \"closed\" by the player. After the last two the view is not open any more.",
        "fn pending_view_status(pending, view, status) {\n    if status != \"loaded\" { pending.refuse(\"The login page was closed\"); }\n}",
    ),
    handler(
        "pending_assertion",
        &[PENDING, param("outcome", "map")],
        "",
        "What the client brought from an identity site was judged: `#{result, provider, subject}`. `result` is \"accepted\", \"invalid\", \"audience\" (signed for another server), \"ticket\" (no ticket, another one, or another provider's) or \"expired\"; `provider` and `subject` are `()` unless it is \"accepted\". The ticket of `web_auth` is spent either way.",
        "fn pending_assertion(pending, outcome) {\n    if outcome.result == \"accepted\" {\n        log::info(`${outcome.subject} of ${outcome.provider}`);\n        pending.accept();\n    } else {\n        pending.refuse(`Login failed: ${outcome.result}`);\n    }\n}",
    ),
];
