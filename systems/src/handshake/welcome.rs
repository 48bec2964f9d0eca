//! What a newcomer is told, and who is told of a newcomer, in the join order of docs/protocol.md 1.5.

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::collections::BTreeSet;

use bevy_ecs::{
    entity::Entity,
    resource::Resource,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    body::Skills,
    client_files::AnnouncedFiles,
    combat::{Weapon, WeaponTable},
    lane::{LaneEvent, OutboundLane},
    phase::Phase,
    profile::DisplayName,
    session::{PlayerId, PlayerToken, SlotTable},
    world::{FROZEN_MINUTE, WorldState},
};
use decitick_protocol::{
    DriveByIntervals, GarageDoors, JoinedPlayer, MAX_PACKET, MAX_WEAPON_PROPERTIES, PlayerJoin, PlayerSkills,
    RunClock, ServerLaneEvent, SetTime, SetWeather, WeaponProperties,
};

use crate::{
    lane::broadcast::{encoded, push_critical},
    pages::files_manifest,
};

/// Bytes of a PlayerJoin before its players: id, event id, count.
const JOIN_HEADER: usize = 6;
/// Bytes of a player in a PlayerJoin besides the name: id, generation, length.
const JOIN_ROW: usize = 9;

type Connections<'w, 's> = Query<
    'w,
    's,
    (
        &'static PlayerId,
        &'static PlayerToken,
        &'static DisplayName,
        &'static Phase,
        &'static mut OutboundLane,
    ),
>;

/// Who joined and is still to be told of the world: right after its ServerHello, or after it was let in from PreAuth.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource)]
pub(crate) struct Newcomers(pub Vec<Entity>);

/// Skills, weapons, files, the world, and who was here before.
pub(crate) fn tell_newcomers(
    newcomers: Res<'_, Newcomers>,
    world: Res<'_, WorldState>,
    weapons: Res<'_, WeaponTable>,
    files: Res<'_, AnnouncedFiles>,
    slots: Res<'_, SlotTable>,
    mut connections: Connections<'_, '_>,
) {
    let newcomers: BTreeSet<Entity> = newcomers.0.iter().copied().collect();
    if newcomers.is_empty() {
        return;
    }
    let present: Vec<JoinedPlayer> = rows(&slots, &connections, |entity| !newcomers.contains(&entity));
    let told: Vec<LaneEvent> = greeting(&world, &weapons, &files)
        .iter()
        .map(|event| encoded(event, false))
        .chain(roster(&present))
        .collect();
    for &newcomer in &newcomers {
        let Ok((.., mut lane)) = connections.get_mut(newcomer) else {
            continue;
        };
        for event in &told {
            push_critical(&mut lane, event);
        }
    }
}

/// Newcomers, to everybody who is here and to each other.
pub(crate) fn tell_of_newcomers(
    mut newcomers: ResMut<'_, Newcomers>,
    slots: Res<'_, SlotTable>,
    mut connections: Connections<'_, '_>,
) {
    if newcomers.0.is_empty() {
        return;
    }
    let newcomers: BTreeSet<Entity> = newcomers.0.drain(..).collect();
    let players = rows(&slots, &connections, |entity| newcomers.contains(&entity));
    let chunks: Vec<(&[JoinedPlayer], LaneEvent)> = chunked(&players)
        .into_iter()
        .map(|chunk| (chunk, join_event(chunk.to_vec())))
        .collect();
    for (id, entity) in slots.iter() {
        let Ok((.., phase, mut lane)) = connections.get_mut(entity) else {
            continue;
        };
        if !phase.joined() {
            continue;
        }
        for (chunk, event) in &chunks {
            let own = u32::from(id.0);
            if newcomers.contains(&entity) && chunk.iter().any(|row| row.player_id == own) {
                let others: Vec<JoinedPlayer> =
                    chunk.iter().filter(|row| row.player_id != own).cloned().collect();
                if !others.is_empty() {
                    push_critical(&mut lane, &join_event(others));
                }
            } else {
                push_critical(&mut lane, event);
            }
        }
    }
}

fn rows(
    slots: &SlotTable,
    connections: &Connections<'_, '_>,
    wanted: impl Fn(Entity) -> bool,
) -> Vec<JoinedPlayer> {
    slots
        .iter()
        .filter(|&(_, entity)| wanted(entity))
        .filter_map(|(_, entity)| connections.get(entity).ok())
        .filter(|(.., phase, _)| phase.joined())
        .map(|(id, generation, name, ..)| JoinedPlayer {
            player_id: u32::from(id.0),
            player_token: generation.0,
            name: name.0.to_text(),
        })
        .collect()
}

fn greeting(world: &WorldState, weapons: &WeaponTable, files: &AnnouncedFiles) -> Vec<ServerLaneEvent> {
    let mut events = vec![ServerLaneEvent::PlayerSkills(PlayerSkills {
        skills: Skills::default().0,
    })];
    // One packet holds at most 47 weapons, and none at all is no packet.
    let properties: Vec<_> = weapons.iter().map(Weapon::property).collect();
    events.extend(properties.chunks(MAX_WEAPON_PROPERTIES).map(|weapons| {
        ServerLaneEvent::WeaponProperties(WeaponProperties {
            weapons: weapons.to_vec(),
        })
    }));
    events.extend(
        files
            .0
            .iter()
            .filter_map(|(resource, sha256)| files_manifest(resource.as_str(), *sha256)),
    );
    events.extend([
        ServerLaneEvent::SetTime(SetTime {
            hours: world.hours,
            minutes: world.minutes,
        }),
        ServerLaneEvent::SetWeather(SetWeather {
            weather: world.weather,
        }),
        ServerLaneEvent::RunClock(RunClock {
            running: world.clock_ms_per_minute.is_some(),
            ms_per_minute: world.clock_ms_per_minute.unwrap_or(FROZEN_MINUTE).max(1),
        }),
        ServerLaneEvent::DriveByIntervals(DriveByIntervals {
            intervals: world.driveby_intervals,
        }),
        ServerLaneEvent::GarageDoors(GarageDoors {
            doors: world.garage_doors,
        }),
    ]);
    events
}

fn roster(players: &[JoinedPlayer]) -> Vec<LaneEvent> {
    chunked(players)
        .into_iter()
        .map(|chunk| join_event(chunk.to_vec()))
        .collect()
}

fn join_event(players: Vec<JoinedPlayer>) -> LaneEvent {
    encoded(&ServerLaneEvent::PlayerJoin(PlayerJoin { players }), false)
}

/// Cuts a list into pieces that fit a packet each.
fn chunked(players: &[JoinedPlayer]) -> Vec<&[JoinedPlayer]> {
    let mut chunks = Vec::new();
    let mut rest = players;
    while !rest.is_empty() {
        let mut size = JOIN_HEADER;
        let fits = rest.iter().take(usize::from(u8::MAX)).take_while(|row| {
            size += JOIN_ROW + row.name.as_str().len();
            size <= MAX_PACKET
        });
        let (chunk, later) = rest.split_at(fits.count().max(1));
        chunks.push(chunk);
        rest = later;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use decitick_protocol::PlayerName;

    use super::*;

    fn player(n: u32, name: &str) -> JoinedPlayer {
        JoinedPlayer {
            player_id: n,
            player_token: n,
            name: PlayerName::parse(name).unwrap().to_text(),
        }
    }

    #[test]
    fn a_roster_of_the_longest_names_fits_its_packets_and_loses_nobody() {
        let longest = "ж".repeat(32);
        let players: Vec<JoinedPlayer> = (0..999).map(|n| player(n, &longest)).collect();
        let chunks = chunked(&players);
        assert_eq!(chunks.iter().map(|chunk| chunk.len()).sum::<usize>(), 999);
        for chunk in chunks {
            assert!(join_event(chunk.to_vec()).datagram.len() <= MAX_PACKET);
        }
    }

    #[test]
    fn short_names_share_a_packet_up_to_its_count() {
        let players: Vec<JoinedPlayer> = (0..300).map(|n| player(n, "abc")).collect();
        let sizes: Vec<usize> = chunked(&players).iter().map(|chunk| chunk.len()).collect();
        assert_eq!(sizes, [99, 99, 99, 3]);
    }
}
