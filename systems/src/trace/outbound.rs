//! What is shown of a packet that the server sends: the fields that are named here, and no others. The token of a session,
//! signatures, and what is between a gamemode and a page or script of the client are shown as their length.

use decitick_components::console::{TraceFields, TraceValue};
use decitick_protocol::{
    EntitySpawn, EntitySync, PacketId, PlayerDeath, PlayerJoin, PlayerStreamIn, RemotePlayerSync,
    ServerHello, ServerLaneEvent, ServerPacket, SetWeapons, SpawnPlayer, Vec3, ViewOpen,
};

type Field = (&'static str, TraceValue);

/// Players, things or weapons of a packet that are listed.
const LISTED: usize = 16;

/// The packet's name and what is shown of it.
pub(super) fn fields(datagram: &[u8]) -> (&'static str, TraceFields) {
    let id = datagram.first().copied().and_then(PacketId::from_byte);
    let name = id.map_or("unknown", PacketId::name);
    let hidden = || vec![("content", TraceValue::hidden(datagram.len().saturating_sub(1)))];
    let fields = ServerPacket::decode(datagram).map_or_else(|_| hidden(), |packet| decoded(&packet));
    (name, TraceFields(fields))
}

pub(super) fn number(value: impl Into<i64>) -> TraceValue {
    TraceValue::Whole(value.into())
}

pub(super) const fn place(at: Vec3) -> TraceValue {
    TraceValue::Place([at.x, at.y, at.z])
}

fn list(values: impl Iterator<Item = i64>) -> TraceValue {
    TraceValue::List(values.take(LISTED).collect())
}

fn count(amount: usize) -> TraceValue {
    TraceValue::Whole(i64::try_from(amount).unwrap_or(i64::MAX))
}

fn decoded(packet: &ServerPacket) -> Vec<Field> {
    match packet {
        ServerPacket::Hello(hello) => of_hello(hello),
        ServerPacket::RemotePlayerSync(frames) => of_player_frames(frames),
        ServerPacket::PlayerLeave(left) => player(left.player_id, left.player_token),
        ServerPacket::Ack(ack) => vec![("ack", number(ack.ack))],
        ServerPacket::Kick(kick) => vec![("reason", TraceValue::text(kick.reason.to_text()))],
        ServerPacket::EntitySync(frames) => of_thing_frames(frames),
        ServerPacket::Reject(reject) => vec![
            ("reason", number(reject.reason as u8)),
            ("text", TraceValue::text(reject.text.as_str())),
            ("ban_seconds", number(reject.ban_seconds)),
            ("signature", TraceValue::hidden(reject.signature.len())),
        ],
        ServerPacket::Challenge(_) => vec![("cookie", TraceValue::hidden(8))],
        ServerPacket::Keepalive(keepalive) => vec![
            ("nonce", number(keepalive.nonce)),
            ("rtt_ms", number(keepalive.rtt_ms)),
        ],
        ServerPacket::QueryAnswer(answer) => vec![
            ("query_version", number(answer.query_version)),
            ("players", number(answer.body.players)),
            ("max_players", number(answer.body.max_players)),
            ("signature", TraceValue::hidden(answer.signature.len())),
        ],
        ServerPacket::Lane { event_id, event } => {
            let mut fields = vec![("event_id", number(*event_id))];
            fields.extend(of_event(event));
            fields
        }
    }
}

fn of_hello(hello: &ServerHello) -> Vec<Field> {
    vec![
        ("protocol_version", number(hello.protocol_version)),
        ("player_id", number(hello.player_id)),
        ("session_token", TraceValue::hidden(8)),
        ("player_token", number(hello.player_token)),
        ("hours", number(hello.hours)),
        ("minutes", number(hello.minutes)),
        ("weather", number(hello.weather)),
        ("client_files_port", number(hello.client_files_port)),
        ("auth_pending", TraceValue::Truth(hello.auth_pending)),
        ("signature", TraceValue::hidden(hello.signature.len())),
    ]
}

fn of_player_frames(frames: &RemotePlayerSync) -> Vec<Field> {
    let ids = frames.players.iter().map(|frame| i64::from(frame.player_id));
    vec![("count", count(frames.players.len())), ("player_ids", list(ids))]
}

fn of_thing_frames(frames: &EntitySync) -> Vec<Field> {
    let ids = frames.entities.iter().map(|frame| i64::from(frame.entity_id));
    vec![("count", count(frames.entities.len())), ("entity_ids", list(ids))]
}

fn player(id: u32, generation: u32) -> Vec<Field> {
    vec![("player_id", number(id)), ("player_token", number(generation))]
}

fn of_event(event: &ServerLaneEvent) -> Vec<Field> {
    match event {
        ServerLaneEvent::SpawnPlayer(spawn) => of_spawn(spawn),
        ServerLaneEvent::PlayerJoin(join) => of_join(join),
        ServerLaneEvent::PlayerRename(rename) => {
            let mut fields = player(rename.player_id, rename.player_token);
            fields.push(("name", TraceValue::text(rename.name.as_str())));
            fields
        }
        ServerLaneEvent::PlayerStreamIn(seen) => of_stream_in(seen),
        ServerLaneEvent::PlayerStreamOut(gone) => player(gone.player_id, gone.player_token),
        ServerLaneEvent::PlayerAppearance(look) => {
            let mut fields = player(look.player_id, look.player_token);
            fields.push(("skin", number(look.skin)));
            fields.push(("variant", number(look.variant)));
            fields.push(("walking_style", number(look.walking_style)));
            fields
        }
        ServerLaneEvent::PlayerDeath(death) => of_death(death),
        ServerLaneEvent::SetVitals(vitals) => vec![
            ("health", number(vitals.health)),
            ("armour", number(vitals.armour)),
        ],
        ServerLaneEvent::SetMoney(money) => vec![("money", number(money.money))],
        ServerLaneEvent::SetPosition(moved) => vec![
            ("position", place(moved.position)),
            ("heading", TraceValue::Real(moved.heading)),
            ("area", number(moved.area)),
        ],
        ServerLaneEvent::SetWeapons(weapons) => of_weapons(weapons),
        ServerLaneEvent::EntitySpawn(spawn) => of_thing(spawn),
        ServerLaneEvent::EntityDespawn(gone) => vec![("entity_id", number(gone.entity_id))],
        ServerLaneEvent::EntityData(data) => vec![
            ("entity_id", number(data.entity_id)),
            ("data", TraceValue::hidden(data.data.as_bytes().len())),
        ],
        ServerLaneEvent::ChatMessage(chat) => vec![
            ("colour", number(chat.colour)),
            ("text", TraceValue::text(chat.text.as_str())),
        ],
        ServerLaneEvent::ServerEvent(event) => vec![
            ("name", TraceValue::text(event.name.as_str())),
            ("data", TraceValue::hidden(event.data.as_bytes().len())),
        ],
        ServerLaneEvent::AuthAccepted(_) => Vec::new(),
        ServerLaneEvent::ViewOpen(open) => of_view(open),
        ServerLaneEvent::ViewData(data) => vec![
            ("view_id", number(data.view_id)),
            ("data", TraceValue::hidden(data.data.as_bytes().len())),
        ],
        ServerLaneEvent::ViewClose(close) => vec![("view_id", number(close.view_id))],
        ServerLaneEvent::FilesManifest(files) => vec![
            ("resource", TraceValue::text(files.resource.as_str())),
            ("sha256", TraceValue::hidden(files.sha256.len())),
        ],
        of_the_world => of_world(of_the_world),
    }
}

/// Events about the world as a whole and about rules.
fn of_world(event: &ServerLaneEvent) -> Vec<Field> {
    match event {
        ServerLaneEvent::SetTime(time) => {
            vec![("hours", number(time.hours)), ("minutes", number(time.minutes))]
        }
        ServerLaneEvent::SetWeather(weather) => vec![("weather", number(weather.weather))],
        ServerLaneEvent::RunClock(clock) => vec![
            ("running", TraceValue::Truth(clock.running)),
            ("ms_per_minute", number(clock.ms_per_minute)),
        ],
        ServerLaneEvent::DriveByIntervals(intervals) => {
            vec![(
                "intervals",
                list(intervals.intervals.iter().map(|&ms| i64::from(ms))),
            )]
        }
        // A bit each; as a signed number the bits stay.
        ServerLaneEvent::GarageDoors(doors) => vec![("doors", number(doors.doors.cast_signed()))],
        ServerLaneEvent::SetWalkingStyle(style) => vec![("style", number(style.style))],
        ServerLaneEvent::PlayerSkills(skills) => {
            vec![(
                "skills",
                list(skills.skills.iter().map(|&skill| i64::from(skill))),
            )]
        }
        ServerLaneEvent::WeaponProperties(table) => {
            let ids = table.weapons.iter().map(|row| i64::from(row.weapon));
            vec![("count", count(table.weapons.len())), ("weapons", list(ids))]
        }
        // The others have their fields named above.
        _ => Vec::new(),
    }
}

fn of_spawn(spawn: &SpawnPlayer) -> Vec<Field> {
    vec![
        ("position", place(spawn.position)),
        ("heading", TraceValue::Real(spawn.heading)),
        ("area", number(spawn.area)),
        ("skin", number(spawn.skin)),
        ("variant", number(spawn.variant)),
    ]
}

fn of_join(join: &PlayerJoin) -> Vec<Field> {
    let ids = join.players.iter().map(|joined| i64::from(joined.player_id));
    let mut fields = vec![("count", count(join.players.len())), ("player_ids", list(ids))];
    if let [joined] = join.players.as_slice() {
        fields.push(("name", TraceValue::text(joined.name.as_str())));
    }
    fields
}

fn of_stream_in(seen: &PlayerStreamIn) -> Vec<Field> {
    let mut fields = player(seen.player_id, seen.player_token);
    fields.extend([
        ("position", place(seen.position)),
        ("heading", TraceValue::Real(seen.heading)),
        ("area", number(seen.area)),
        ("health", number(seen.health)),
        ("armour", number(seen.armour)),
        ("weapon", number(seen.weapon)),
        ("skin", number(seen.skin)),
        ("variant", number(seen.variant)),
        ("walking_style", number(seen.walking_style)),
    ]);
    fields
}

fn of_death(death: &PlayerDeath) -> Vec<Field> {
    let mut fields = player(death.player_id, death.player_token);
    fields.extend([
        ("killer_id", number(death.killer_id)),
        ("killer_token", number(death.killer_token)),
        ("weapon", number(death.weapon)),
    ]);
    fields
}

fn of_weapons(weapons: &SetWeapons) -> Vec<Field> {
    let each = |of: fn(&decitick_protocol::WeaponAmmo) -> i64| list(weapons.weapons.iter().map(of));
    vec![
        ("weapons", each(|held| i64::from(held.weapon))),
        ("ammo", each(|held| i64::from(held.ammo))),
    ]
}

fn of_thing(spawn: &EntitySpawn) -> Vec<Field> {
    vec![
        ("entity_id", number(spawn.entity_id)),
        ("kind", number(spawn.kind as u8)),
        ("model", number(spawn.model)),
        ("position", place(spawn.position)),
        ("heading", TraceValue::Real(spawn.heading)),
        ("area", number(spawn.area)),
        ("data", TraceValue::hidden(spawn.data.as_bytes().len())),
    ]
}

/// What follows the path of a page may be anything that a gamemode hands over.
fn of_view(open: &ViewOpen) -> Vec<Field> {
    let page = open.page.as_str();
    let path = page.split(['?', '#']).next().unwrap_or_default();
    let mut fields = vec![
        ("view_id", number(open.view_id)),
        ("resource", TraceValue::text(open.resource.as_str())),
        ("page", TraceValue::text(path)),
    ];
    if path.len() < page.len() {
        fields.push(("page_rest", TraceValue::hidden(page.len() - path.len())));
    }
    fields
}
