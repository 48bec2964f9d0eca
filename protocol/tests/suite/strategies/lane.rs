//! Arbitrary events of the server's lane.

use decitick_protocol::*;
use proptest::array::{uniform11, uniform12, uniform32};
use proptest::collection::vec;
use proptest::prelude::*;

use super::values::*;

/// Arbitrary events of every kind.
pub(crate) fn server_lane_events() -> Vec<(PacketId, BoxedStrategy<ServerLaneEvent>)> {
    let who = || (player_id(), any::<u32>());
    let pose = || (vector(), float(), any::<u8>());
    vec![
        (
            PacketId::SpawnPlayer,
            (pose(), any::<(u32, u8)>())
                .prop_map(|((position, heading, area), (skin, variant))| {
                    SpawnPlayer {
                        position,
                        heading,
                        area,
                        skin,
                        variant,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerJoin,
            vec((who(), text()), 1..=16)
                .prop_map(|rows| {
                    let row = |((player_id, player_token), name)| JoinedPlayer {
                        player_id,
                        player_token,
                        name,
                    };
                    PlayerJoin {
                        players: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerRename,
            (who(), text())
                .prop_map(|((player_id, player_token), name)| {
                    PlayerRename {
                        player_id,
                        player_token,
                        name,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerStreamIn,
            (who(), any::<(u32, u8, u8)>(), pose(), any::<(u8, u8, u8)>())
                .prop_map(|(who, looks, pose, state)| {
                    let ((player_id, player_token), (skin, variant, walking_style)) = (who, looks);
                    let ((position, heading, area), (health, armour, weapon)) = (pose, state);
                    PlayerStreamIn {
                        player_id,
                        player_token,
                        skin,
                        variant,
                        walking_style,
                        position,
                        heading,
                        area,
                        health,
                        armour,
                        weapon,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerStreamOut,
            who()
                .prop_map(|(player_id, player_token)| {
                    PlayerStreamOut {
                        player_id,
                        player_token,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerAppearance,
            (who(), any::<(u32, u8, u8)>())
                .prop_map(|((player_id, player_token), (skin, variant, walking_style))| {
                    PlayerAppearance {
                        player_id,
                        player_token,
                        skin,
                        variant,
                        walking_style,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::PlayerDeath,
            (who(), any::<(u32, u32, u8)>())
                .prop_map(|((player_id, player_token), (killer_id, killer_token, weapon))| {
                    PlayerDeath {
                        player_id,
                        player_token,
                        killer_id,
                        killer_token,
                        weapon,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetVitals,
            (0..=MAX_VITAL, 0..=MAX_VITAL)
                .prop_map(|(health, armour)| SetVitals { health, armour }.into())
                .boxed(),
        ),
        (
            PacketId::SetMoney,
            any::<i64>().prop_map(|money| SetMoney { money }.into()).boxed(),
        ),
        (
            PacketId::SetPosition,
            pose()
                .prop_map(|(position, heading, area)| {
                    SetPosition {
                        position,
                        heading,
                        area,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetWeapons,
            vec(any::<(u8, u16)>(), 0..=MAX_WEAPON_SLOTS)
                .prop_map(|rows| {
                    let row = |(weapon, ammo)| WeaponAmmo { weapon, ammo };
                    SetWeapons {
                        weapons: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::SetTime,
            (0..=23u8, 0..=59u8)
                .prop_map(|(hours, minutes)| SetTime { hours, minutes }.into())
                .boxed(),
        ),
        (
            PacketId::SetWeather,
            any::<u8>()
                .prop_map(|weather| SetWeather { weather }.into())
                .boxed(),
        ),
        (
            PacketId::RunClock,
            (any::<bool>(), 1..=u16::MAX)
                .prop_map(|(running, ms_per_minute)| {
                    RunClock {
                        running,
                        ms_per_minute,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::DriveByIntervals,
            uniform12(any::<u16>())
                .prop_map(|intervals| DriveByIntervals { intervals }.into())
                .boxed(),
        ),
        (
            PacketId::GarageDoors,
            any::<u64>()
                .prop_map(|doors| GarageDoors { doors }.into())
                .boxed(),
        ),
        (
            PacketId::SetWalkingStyle,
            any::<u8>()
                .prop_map(|style| SetWalkingStyle { style }.into())
                .boxed(),
        ),
        (
            PacketId::PlayerSkills,
            uniform11(0..=MAX_SKILL)
                .prop_map(|skills| PlayerSkills { skills }.into())
                .boxed(),
        ),
        (
            PacketId::WeaponProperties,
            vec((any::<(u8, u16, u16)>(), float()), 1..=MAX_WEAPON_PROPERTIES)
                .prop_map(|rows| {
                    let row = |((weapon, damage, interval_ms), range)| WeaponProperty {
                        weapon,
                        damage,
                        range,
                        interval_ms,
                    };
                    WeaponProperties {
                        weapons: rows.into_iter().map(row).collect(),
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::EntitySpawn,
            (any::<(u32, u32)>(), 1..=5u8, pose(), data())
                .prop_map(|((entity_id, model), kind, (position, heading, area), data)| {
                    let kind = EntityKind::from_byte(kind).unwrap();
                    EntitySpawn {
                        entity_id,
                        kind,
                        model,
                        position,
                        heading,
                        area,
                        data,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::EntityDespawn,
            any::<u32>()
                .prop_map(|entity_id| EntityDespawn { entity_id }.into())
                .boxed(),
        ),
        (
            PacketId::EntityData,
            (any::<u32>(), data())
                .prop_map(|(entity_id, data)| EntityData { entity_id, data }.into())
                .boxed(),
        ),
        (
            PacketId::ChatMessage,
            (any::<u32>(), text())
                .prop_map(|(colour, text)| ChatMessage { colour, text }.into())
                .boxed(),
        ),
        (
            PacketId::ServerEvent,
            (text(), data())
                .prop_map(|(name, data)| ServerEvent { name, data }.into())
                .boxed(),
        ),
        (PacketId::AuthAccepted, Just(AuthAccepted.into()).boxed()),
        (
            PacketId::ViewOpen,
            (any::<u16>(), text(), text())
                .prop_map(|(view_id, resource, page)| {
                    ViewOpen {
                        view_id,
                        resource,
                        page,
                    }
                    .into()
                })
                .boxed(),
        ),
        (
            PacketId::ViewData,
            (any::<u16>(), data())
                .prop_map(|(view_id, data)| ViewData { view_id, data }.into())
                .boxed(),
        ),
        (
            PacketId::ViewClose,
            any::<u16>()
                .prop_map(|view_id| ViewClose { view_id }.into())
                .boxed(),
        ),
        (
            PacketId::FilesManifest,
            (text(), uniform32(any::<u8>()))
                .prop_map(|(resource, sha256)| FilesManifest { resource, sha256 }.into())
                .boxed(),
        ),
    ]
}
