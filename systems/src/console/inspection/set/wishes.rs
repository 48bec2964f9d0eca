//! Fields whose change clients must be told of: what `set` asks for instead of writing them.

use bevy_ecs::world::{EntityRef, World};
use decitick_components::{
    body::{Appearance, Dimension, Motion, Skills, Vitals, is_place},
    phase::Phase,
    requests::{PlayerWish, ThingRequest, WorldRequest},
    thing::{Placement, ThingId},
    world::WorldState,
};
use decitick_protocol::Vec3;

use super::{Found, Given, Wish};
use crate::inspect::Named;

/// The wish that changes a field, if there is one.
pub(super) fn wish(
    world: &World,
    entity: EntityRef<'_>,
    named: &Named,
    path: &str,
    given: Given<'_>,
) -> Option<Found<Wish>> {
    let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
    let is_a_thing = entity.contains::<ThingId>();
    let wish = match named.path.strip_prefix("decitick_components::")? {
        "body::Vitals" => vitals(entity, &parts, given)?.map(Wish::Player),
        "body::Money" => given
            .whole(i64::MIN, i64::MAX)
            .map(PlayerWish::Money)
            .map(Wish::Player),
        "body::Dimension" if is_a_thing => dimension_of_thing(entity, given).map(Wish::Thing),
        "body::Dimension" => given
            .whole(0, u32::MAX)
            .map(PlayerWish::Dimension)
            .map(Wish::Player),
        "body::Appearance" => appearance(entity, &parts, given)?.map(Wish::Player),
        "body::Skills" => skills(entity, &parts, given)?.map(Wish::Player),
        "body::Motion" => motion(entity, &parts, given)?.map(Wish::Player),
        "thing::Placement" => placement(entity, &parts, given)?.map(Wish::Thing),
        "world::WorldState" => shared(world, &parts, given)?.map(Wish::World),
        _ => return None,
    };
    Some(match wish {
        Ok(Wish::Player(_)) if !entity.get::<Phase>().is_some_and(|phase| phase.joined()) => {
            Err("it is no player who has joined; `players` shows the phase of each".to_owned())
        }
        wish => wish,
    })
}

const NO_BODY: &str = "the player has no body now; `spawn ID` gives it one";

fn has_body(entity: EntityRef<'_>) -> Found<()> {
    let alive = entity.get::<Vitals>().is_some_and(|vitals| vitals.health > 0);
    let spawned = entity.get::<Phase>() == Some(&Phase::Spawned);
    if alive && spawned {
        Ok(())
    } else {
        Err(NO_BODY.to_owned())
    }
}

fn vitals(entity: EntityRef<'_>, parts: &[&str], given: Given<'_>) -> Option<Found<PlayerWish>> {
    let make: fn(u8) -> PlayerWish = match parts {
        ["health"] => PlayerWish::Health,
        ["armour"] => PlayerWish::Armour,
        _ => return None,
    };
    Some(
        has_body(entity)
            .and_then(|()| given.whole(0, Vitals::MOST))
            .map(make),
    )
}

fn appearance(entity: EntityRef<'_>, parts: &[&str], given: Given<'_>) -> Option<Found<PlayerWish>> {
    let look = *entity.get::<Appearance>()?;
    Some(match parts {
        ["skin"] => given
            .whole(0, u32::MAX)
            .map(|skin| PlayerWish::Skin(skin, look.variant)),
        ["variant"] => given
            .whole(0, u8::MAX)
            .map(|variant| PlayerWish::Skin(look.skin, variant)),
        ["walking_style"] => given.whole(0, u8::MAX).map(PlayerWish::WalkingStyle),
        _ => return None,
    })
}

fn skills(entity: EntityRef<'_>, parts: &[&str], given: Given<'_>) -> Option<Found<PlayerWish>> {
    let mut skills = entity.get::<Skills>()?.0;
    let changed = match parts {
        [] => given.numbers().map(|given| skills = given),
        [class] => {
            let skill = class
                .parse()
                .ok()
                .and_then(|class: usize| skills.get_mut(class))?;
            given.whole(0, Skills::MOST).map(|given| *skill = given)
        }
        _ => return None,
    };
    Some(changed.and_then(|()| {
        if skills.iter().all(|&skill| skill <= Skills::MOST) {
            Ok(PlayerWish::Skills(skills))
        } else {
            Err(format!("a skill is at most {}", Skills::MOST))
        }
    }))
}

fn motion(entity: EntityRef<'_>, parts: &[&str], given: Given<'_>) -> Option<Found<PlayerWish>> {
    let motion = *entity.get::<Motion>()?;
    let body = Body {
        position: motion.position,
        heading: motion.heading,
        area: motion.area,
    };
    let moved = body.moved(parts, given)?;
    Some(has_body(entity).and(moved).map(|body| PlayerWish::Teleport {
        position: body.position,
        heading: Some(body.heading),
        area: Some(body.area),
    }))
}

fn placement(entity: EntityRef<'_>, parts: &[&str], given: Given<'_>) -> Option<Found<ThingRequest>> {
    let held = *entity.get::<Placement>()?;
    let thing = *entity.get::<ThingId>()?;
    let dimension = entity.get::<Dimension>()?.0;
    let body = Body {
        position: held.position,
        heading: held.heading,
        area: held.area,
    };
    Some(body.moved(parts, given)?.map(|body| ThingRequest::Place {
        thing,
        position: body.position,
        heading: body.heading,
        area: body.area,
        dimension,
    }))
}

fn dimension_of_thing(entity: EntityRef<'_>, given: Given<'_>) -> Found<ThingRequest> {
    let dimension = given.whole(0, u32::MAX)?;
    let (Some(&thing), Some(held)) = (entity.get::<ThingId>(), entity.get::<Placement>()) else {
        return Err("it is no thing that has a place".to_owned());
    };
    Ok(ThingRequest::Place {
        thing,
        position: held.position,
        heading: held.heading,
        area: held.area,
        dimension,
    })
}

/// Where something is to be.
struct Body {
    position: Vec3,
    heading: f32,
    area: u8,
}

impl Body {
    /// With one part changed; none for a part that cannot be.
    fn moved(mut self, parts: &[&str], given: Given<'_>) -> Option<Found<Self>> {
        let changed = match parts {
            ["position"] => given.place().map(|place| self.position = place),
            ["position", "x"] => given.single().map(|x| self.position.x = x),
            ["position", "y"] => given.single().map(|y| self.position.y = y),
            ["position", "z"] => given.single().map(|z| self.position.z = z),
            ["heading"] => given.single().and_then(|heading| {
                if heading.abs() <= std::f32::consts::PI {
                    self.heading = heading;
                    Ok(())
                } else {
                    Err(format!(
                        "{heading} is out of range; a heading is from -3.1415 to 3.1415 radians"
                    ))
                }
            }),
            ["area"] => given.whole(0, u8::MAX).map(|area| self.area = area),
            _ => return None,
        };
        Some(changed.and_then(|()| {
            if is_place(self.position, self.heading) {
                Ok(self)
            } else {
                Err("there is no such place: each component is within -20000 to 20000".to_owned())
            }
        }))
    }
}

fn shared(world: &World, parts: &[&str], given: Given<'_>) -> Option<Found<WorldRequest>> {
    let state = world.resource::<WorldState>();
    Some(match parts {
        ["hours"] => given.whole(0, 23).map(|hours| WorldRequest::Time {
            hours,
            minutes: state.minutes,
        }),
        ["minutes"] => given.whole(0, 59).map(|minutes| WorldRequest::Time {
            hours: state.hours,
            minutes,
        }),
        ["weather"] => given.whole(0, u8::MAX).map(WorldRequest::Weather),
        ["clock_ms_per_minute"] if given.is_none() => Ok(WorldRequest::FreezeClock),
        ["clock_ms_per_minute"] => given.whole(1, u16::MAX).map(WorldRequest::RunClock),
        ["garage_doors"] => given.whole(0, u64::MAX).map(WorldRequest::GarageDoors),
        ["driveby_intervals"] => given.numbers().map(WorldRequest::DriveByIntervals),
        ["driveby_intervals", weapon] => {
            let mut intervals = state.driveby_intervals;
            let held = weapon
                .parse()
                .ok()
                .and_then(|weapon: usize| intervals.get_mut(weapon))?;
            let changed = given.whole(0, u16::MAX).map(|interval| *held = interval);
            changed.map(|()| WorldRequest::DriveByIntervals(intervals))
        }
        _ => return None,
    })
}
