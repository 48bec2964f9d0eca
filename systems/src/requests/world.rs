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
        for news in apply(world, wish) {
            tell_everybody(world, &news);
        }
    }
}

/// Makes the change; what is told of it, nothing when it is not one that can be.
fn apply(world: &mut World, wish: WorldRequest) -> Vec<ServerLaneEvent> {
    if let WorldRequest::Weapon(weapon) = wish {
        if !weapon.is_sound() {
            tracing::warn!(
                ?weapon,
                reason = "unsound_weapon",
                "a weapon was not changed: a number is out of its range"
            );
            return Vec::new();
        }
        let weapons = vec![weapon.property()];
        world
            .resource_mut::<WeaponTable>()
            .replace(weapon.as_ref().clone());
        return vec![ServerLaneEvent::WeaponProperties(WeaponProperties { weapons })];
    }
    let mut state = world.resource_mut::<WorldState>();
    match wish {
        WorldRequest::Time { hours, minutes } if hours < 24 && minutes < 60 => {
            state.hours = hours;
            state.minutes = minutes;
            state.since_minute = Duration::ZERO;
            vec![ServerLaneEvent::SetTime(SetTime { hours, minutes })]
        }
        WorldRequest::Time { .. } | WorldRequest::RunClock(0) | WorldRequest::Weapon(_) => Vec::new(),
        WorldRequest::RunClock(ms_per_minute) => {
            state.clock_ms_per_minute = Some(ms_per_minute);
            state.since_minute = Duration::ZERO;
            let run = RunClock {
                running: true,
                ms_per_minute,
            };
            // The part of a minute that has passed is another time at another speed: all begin the minute anew.
            vec![now(&state), ServerLaneEvent::RunClock(run)]
        }
        WorldRequest::FreezeClock => {
            state.clock_ms_per_minute = None;
            state.since_minute = Duration::ZERO;
            let stopped = RunClock {
                running: false,
                ms_per_minute: FROZEN_MINUTE,
            };
            // Each client counted by itself; now all stand at the same time.
            let time = SetTime {
                hours: state.hours,
                minutes: state.minutes,
            };
            vec![ServerLaneEvent::RunClock(stopped), ServerLaneEvent::SetTime(time)]
        }
        WorldRequest::Weather(weather) => {
            state.weather = weather;
            vec![ServerLaneEvent::SetWeather(SetWeather { weather })]
        }
        WorldRequest::GarageDoors(doors) => {
            state.garage_doors = doors;
            vec![ServerLaneEvent::GarageDoors(GarageDoors { doors })]
        }
        WorldRequest::DriveByIntervals(intervals) => {
            state.driveby_intervals = intervals;
            vec![ServerLaneEvent::DriveByIntervals(DriveByIntervals { intervals })]
        }
    }
}

fn now(state: &WorldState) -> ServerLaneEvent {
    ServerLaneEvent::SetTime(SetTime {
        hours: state.hours,
        minutes: state.minutes,
    })
}
