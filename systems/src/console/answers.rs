//! Answers that are read off the world.

use std::net::IpAddr;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    admission::{HandshakeLimits, UsedProofs},
    bans::BanList,
    clock::Clock,
    combat::HitTally,
    connection::{Peer, PeerIndex},
    console::{
        AddressLimits, AddressTableRow, DropsAnswer, HitsAnswer, LimitTableRow, LimitsAnswer, PlayerRow,
        PlayersAnswer, StatusAnswer, TickAnswer, WorldAnswer,
    },
    lane::OutboundLane,
    limits::{LimitTable, USED_PROOFS, limit_key},
    liveness::{Keepalive, LastSeen, SmoothedRtt},
    netsim::Netsim,
    phase::Phase,
    profile::DisplayName,
    reasons::DropReason,
    server::PublicFace,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    tally::{RecentDrops, SettledTally, TickTimes},
    thing::ThingBook,
    world::WorldState,
    zone::ZoneBook,
};

pub(super) fn status(world: &World) -> StatusAnswer {
    let clock = world.resource::<Clock>();
    let slots = world.resource::<SlotTable>();
    let SettledTally(tally) = world.resource::<SettledTally>();
    StatusAnswer {
        name: world.resource::<Settings>().name.clone(),
        version: world.resource::<PublicFace>().version.clone(),
        uptime_s: clock.since_start.as_secs(),
        players: slots.taken(),
        max_players: slots.open(),
        players_spawned: slots
            .iter()
            .filter(|&(_, entity)| world.get::<Phase>(entity) == Some(&Phase::Spawned))
            .count() as u64,
        world: WorldAnswer::from(world.resource::<WorldState>()),
        things: world.resource::<ThingBook>().len() as u64,
        zones: world.resource::<ZoneBook>().len() as u64,
        tick: TickAnswer::new(clock.tick, world.resource::<TickTimes>()),
        packets_in_per_s: tally.rates.packets_in,
        packets_out_per_s: tally.rates.packets_out,
        bytes_in_per_s: tally.rates.bytes_in,
        bytes_out_per_s: tally.rates.bytes_out,
        resources: super::scripts::rows(world),
        hits: HitsAnswer::from(world.resource::<HitTally>()),
        drops_by_reason: (&tally.all_drops()).into(),
        netsim: world
            .resource::<Netsim>()
            .0
            .is_some()
            .then(|| super::diagnosis::answer(world)),
    }
}

pub(super) fn players(world: &World) -> PlayersAnswer {
    let slots = world.resource::<SlotTable>();
    PlayersAnswer {
        players: slots
            .iter()
            .filter_map(|(id, entity)| player(world, id, entity))
            .collect(),
    }
}

/// What is told of one session.
pub(crate) fn player(world: &World, id: PlayerId, entity: Entity) -> Option<PlayerRow> {
    let connection = world.get_entity(entity).ok()?;
    let now = world.resource::<Clock>().since_start;
    let idle = now.saturating_sub(connection.get::<LastSeen>()?.0);
    let rtt = connection.get::<SmoothedRtt>()?;
    Some(PlayerRow {
        id: id.0,
        generation: connection.get::<PlayerToken>()?.0,
        name: connection.get::<DisplayName>()?.to_string(),
        address: connection.get::<Peer>()?.address(),
        phase: connection.get::<Phase>()?.name(),
        rtt_ms: rtt.measured().map(|_| rtt.wire_millis()),
        loss_percent: connection.get::<Keepalive>()?.loss_percent(),
        queue_length: connection.get::<OutboundLane>()?.depth() as u64,
        idle_ms: u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
    })
}

pub(super) fn drops(world: &World) -> DropsAnswer {
    let last_minute = world.resource::<RecentDrops>().last_minute();
    DropsAnswer::new(&world.resource::<SettledTally>().0, &last_minute)
}

pub(super) fn limits(world: &World, ip: Option<IpAddr>) -> LimitsAnswer {
    let now = world.resource::<Clock>().since_start;
    let index = world.resource::<PeerIndex>();
    let named = tables(world);
    let SettledTally(tally) = world.resource::<SettledTally>();
    let drops = tally.all_drops();
    let slots = world.resource::<SlotTable>();
    let sessions = [
        LimitTableRow {
            name: "packet_budget",
            entries: u64::from(slots.taken()),
            capacity: u64::from(slots.open()),
            refused: drops.count(DropReason::PacketBudget),
        },
        LimitTableRow {
            name: "used_proof",
            entries: world.resource::<UsedProofs>().len() as u64,
            capacity: USED_PROOFS as u64,
            refused: drops.count(DropReason::ProofUsed),
        },
    ];
    let door = tally.door.tables.iter().map(|table| LimitTableRow {
        name: table.name,
        entries: table.entries as u64,
        capacity: table.capacity as u64,
        refused: table.refused,
    });
    let (settings, bans) = (world.resource::<Settings>(), world.resource::<BanList>());
    let exempt = |ip: IpAddr| settings.limits.loopback_exempt && ip.is_loopback();
    let address = ip.map(|ip| {
        let counts_as = limit_key(ip, index.ipv6_prefix());
        AddressLimits {
            ip,
            counts_as,
            sessions: index.connections_of(ip) as u64,
            max_sessions: (!exempt(ip)).then(|| u64::from(settings.limits.connections_per_ip)),
            ban: bans
                .find(ip, world.resource::<Clock>().unix_seconds())
                .map(|ban| ban.reason.as_str().to_owned()),
            tables: named
                .iter()
                .map(|(name, table)| AddressTableRow::new(name, table, counts_as, now))
                .collect(),
        }
    });
    LimitsAnswer {
        tables: door
            .chain(sessions)
            .chain(named.iter().map(|(name, table)| LimitTableRow::new(name, table)))
            .collect(),
        address,
    }
}

/// The tables of the tick by name; those of the door are known by their counts only.
fn tables(world: &World) -> [(&'static str, &LimitTable); 4] {
    let limits = world.resource::<HandshakeLimits>();
    [
        ("admission", &limits.admissions),
        ("repeated_hello", &limits.repeated_hellos),
        ("signed_refusal", &limits.refusals),
        ("wrong_password", limits.passwords.table()),
    ]
}
