//! Wishes about what everybody shares: each change goes to everybody who joined, and a newcomer is told the present
//! state in its greeting.

use std::time::Duration;

use bevy_ecs::{
    message::{MessageCursor, Messages},
    system::Local,
    world::World,
};
use decitick_components::{
    combat::WeaponTable,
    requests::WorldRequest,
    world::{FROZEN_MINUTE, WorldState},
};
use decitick_protocol::{
    DriveByIntervals, GarageDoors, RunClock, ServerLaneEvent, SetTime, SetWeather, WeaponProperties,
};

use crate::lane::broadcast::tell_everybody;

pub(crate) fn apply_world_requests(world: &mut World, mut requested: Local<'_, MessageCursor<WorldRequest>>) {
    let wishes: Vec<WorldRequest> = requested
        .read(world.resource::<Messages<WorldRequest>>())
        .cloned()
        .collect();
    for wish in wishes {
        if let Some(news) = apply(world, wish) {
            tell_everybody(world, &news);
        }
    }
}

/// Makes the change; what is told of it, or `None` when it is not one that can be.
fn apply(world: &mut World, wish: WorldRequest) -> Option<ServerLaneEvent> {
    if let WorldRequest::Weapon(weapon) = wish {
        let weapons = vec![weapon.property()];
        world
            .resource_mut::<WeaponTable>()
            .replace(weapon.as_ref().clone());
        return Some(ServerLaneEvent::WeaponProperties(WeaponProperties { weapons }));
    }
    let mut state = world.resource_mut::<WorldState>();
    match wish {
        WorldRequest::Time { hours, minutes } if hours < 24 && minutes < 60 => {
            state.hours = hours;
            state.minutes = minutes;
            state.since_minute = Duration::ZERO;
            Some(ServerLaneEvent::SetTime(SetTime { hours, minutes }))
        }
        WorldRequest::Time { .. } | WorldRequest::RunClock(0) | WorldRequest::Weapon(_) => None,
        WorldRequest::RunClock(ms_per_minute) => {
            state.clock_ms_per_minute = Some(ms_per_minute);
            Some(ServerLaneEvent::RunClock(RunClock {
                running: true,
                ms_per_minute,
            }))
        }
        WorldRequest::FreezeClock => {
            state.clock_ms_per_minute = None;
            state.since_minute = Duration::ZERO;
            Some(ServerLaneEvent::RunClock(RunClock {
                running: false,
                ms_per_minute: FROZEN_MINUTE,
            }))
        }
        WorldRequest::Weather(weather) => {
            state.weather = weather;
            Some(ServerLaneEvent::SetWeather(SetWeather { weather }))
        }
        WorldRequest::GarageDoors(doors) => {
            state.garage_doors = doors;
            Some(ServerLaneEvent::GarageDoors(GarageDoors { doors }))
        }
        WorldRequest::DriveByIntervals(intervals) => {
            state.driveby_intervals = intervals;
            Some(ServerLaneEvent::DriveByIntervals(DriveByIntervals { intervals }))
        }
    }
}
