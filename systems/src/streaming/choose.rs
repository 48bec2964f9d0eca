//! Which players a viewer ought to see: the nearest of its area within the radius, with enough hysteresis that
//! nobody flickers at the edge (docs/protocol.md 2.4).

use decitick_components::{
    body::distance_squared, session::PlayerId, settings::StreamingSettings, view::View,
};

use super::Actor;

/// Somebody in view leaves past this many radii.
const LEAVE_RADII: f32 = 1.1;
/// Somebody in view leaves a full view when this many nearer ones wait.
const NEARER_WAITING: usize = 4;

/// The changes of a view, each part nearest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) leave: Vec<PlayerId>,
    pub(super) enter: Vec<PlayerId>,
}

/// Decides the changes. `candidates` is storage that is reused.
pub(super) fn choose(
    viewer: &Actor,
    actors: &[Actor],
    view: &View,
    settings: &StreamingSettings,
    candidates: &mut Vec<(u32, PlayerId)>,
) -> Choice {
    let limit = usize::from(settings.limit);
    let enter_within = settings.radius * settings.radius;
    let stay_within = enter_within * LEAVE_RADII * LEAVE_RADII;
    candidates.clear();
    let mut staying: Vec<(u32, PlayerId)> = Vec::with_capacity(view.players().len());
    for actor in actors {
        if actor.id == viewer.id || actor.area != viewer.area {
            continue;
        }
        let distance = distance_squared(actor.position, viewer.position);
        // The bits of a float that is not negative order as the float does, and are a key that compares exactly.
        let key = (distance.to_bits(), actor.id);
        if view.contains(actor.id) {
            if distance <= stay_within {
                staying.push(key);
            }
        } else if distance <= enter_within {
            candidates.push(key);
        }
    }
    let leave_far = |id: &&PlayerId| !staying.iter().any(|(_, stays)| stays == *id);
    let mut leave: Vec<PlayerId> = view.players().iter().filter(leave_far).copied().collect();
    candidates.sort_unstable();
    staying.sort_unstable();
    let room = limit.saturating_sub(staying.len());
    let mut enter: Vec<PlayerId> = candidates.iter().take(room).map(|&(_, id)| id).collect();
    swap_farthest(
        &mut leave,
        &mut enter,
        &mut staying,
        candidates.get(room..).unwrap_or_default(),
    );
    Choice { leave, enter }
}

/// In a full view the farthest make room for those who wait, as long as enough nearer ones do.
fn swap_farthest(
    leave: &mut Vec<PlayerId>,
    enter: &mut Vec<PlayerId>,
    staying: &mut Vec<(u32, PlayerId)>,
    waiting: &[(u32, PlayerId)],
) {
    let mut waiting = waiting;
    while let Some(&(farthest, id)) = staying.last() {
        let nearer = waiting
            .iter()
            .take_while(|&&(distance, _)| distance < farthest)
            .take(NEARER_WAITING)
            .count();
        if nearer < NEARER_WAITING {
            return;
        }
        staying.pop();
        leave.push(id);
        if let Some((&(_, nearest), rest)) = waiting.split_first() {
            enter.push(nearest);
            waiting = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_ecs::entity::Entity;
    use decitick_protocol::Vec3;

    use super::*;

    fn actor(id: u16, x: f32) -> Actor {
        let entity = Entity::from_raw_u32(u32::from(id)).unwrap();
        Actor {
            id: PlayerId(id),
            entity,
            position: Vec3 { x, y: 0.0, z: 0.0 },
            area: 0,
        }
    }

    fn settings(limit: u16) -> StreamingSettings {
        StreamingSettings {
            radius: 100.0,
            limit,
            ..Default::default()
        }
    }

    fn view(ids: &[u16]) -> View {
        let mut view = View::default();
        for &id in ids {
            view.insert(PlayerId(id));
        }
        view
    }

    fn ids(players: &[PlayerId]) -> Vec<u16> {
        players.iter().map(|id| id.0).collect()
    }

    #[test]
    fn players_enter_at_the_radius_and_leave_past_a_tenth_more() {
        let me = actor(0, 0.0);
        let all = [
            me,
            actor(1, 100.0),
            actor(2, 100.5),
            actor(3, 109.9),
            actor(4, 110.5),
        ];
        let choice = choose(&me, &all, &view(&[3, 4]), &settings(10), &mut Vec::new());
        assert_eq!((ids(&choice.enter), ids(&choice.leave)), (vec![1], vec![4]));
    }

    #[test]
    fn the_nearest_enter_first_up_to_the_limit_and_nobody_sees_itself() {
        let me = actor(0, 0.0);
        let all = [me, actor(1, 30.0), actor(2, 10.0), actor(3, 20.0)];
        let choice = choose(&me, &all, &view(&[]), &settings(2), &mut Vec::new());
        assert_eq!(ids(&choice.enter), [2, 3]);
    }

    #[test]
    fn a_full_view_gives_way_only_when_four_nearer_ones_wait() {
        let me = actor(0, 0.0);
        let mut all = vec![
            me,
            actor(1, 50.0),
            actor(2, 60.0),
            actor(3, 10.0),
            actor(4, 11.0),
            actor(5, 12.0),
        ];
        let full = view(&[1, 2]);
        assert_eq!(
            choose(&me, &all, &full, &settings(2), &mut Vec::new()),
            Choice::default()
        );
        all.push(actor(6, 13.0));
        let choice = choose(&me, &all, &full, &settings(2), &mut Vec::new());
        assert_eq!((ids(&choice.leave), ids(&choice.enter)), (vec![2], vec![3]));
    }

    #[test]
    fn another_area_is_another_world() {
        let me = actor(0, 0.0);
        let elsewhere = Actor {
            area: 1,
            ..actor(1, 1.0)
        };
        let choice = choose(&me, &[me, elsewhere], &view(&[1]), &settings(2), &mut Vec::new());
        assert_eq!((ids(&choice.enter), ids(&choice.leave)), (vec![], vec![1]));
    }
}
