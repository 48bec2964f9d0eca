//! Why one player sees another or does not. It asks the very functions that decide it, about the stage as it stood in the
//! last tick, so that it cannot say anything else than what happens.

use bevy_ecs::world::World;
use decitick_components::{
    body::{distance, distance_squared},
    console::{SightAnswer, SightReason},
    grid::BodyIndex,
    phase::Phase,
    session::{PlayerId, SlotTable},
    settings::Settings,
    view::View,
};

use super::{
    choose::{Choice, Member, Viewpoint},
    stage::{Stage, Viewer},
};

/// Whether `viewer` has `seen` in view, and why or why not.
pub(crate) fn explain(world: &World, viewer: PlayerId, seen: PlayerId) -> SightAnswer {
    let streaming = &world.resource::<Settings>().streaming;
    let slots = world.resource::<SlotTable>();
    let bare = |reason, player: Option<PlayerId>| {
        let player = player.map(|player| player.0);
        SightAnswer::bare(
            reason,
            player,
            f64::from(streaming.radius),
            u64::from(streaming.limit),
        )
    };
    let (Some(viewer_entity), Some(seen_entity)) = (slots.holder(viewer), slots.holder(seen)) else {
        let nobody = if slots.holder(viewer).is_none() {
            viewer
        } else {
            seen
        };
        return bare(SightReason::NotConnected, Some(nobody));
    };
    if viewer == seen {
        return bare(SightReason::Itself, Some(viewer));
    }
    let Some(view) = world.get::<View>(viewer_entity) else {
        return bare(SightReason::NotSpawned, Some(viewer));
    };
    let sees = view.players.contains(seen);
    let stage = world.resource::<Stage>();
    let on_stage = stage
        .viewers
        .iter()
        .find(|on_stage| on_stage.entity == viewer_entity);
    let member = stage
        .record(seen)
        .filter(|record| record.entity == seen_entity)
        .and_then(|record| stage.players.get(usize::from(record.index?)));
    let (Some(on_stage), Some(member)) = (on_stage, member) else {
        // Whoever is in view and left the stage leaves the view as well.
        let (reason, player) = if sees {
            (SightReason::Leaving, Some(seen))
        } else {
            missing(world, viewer, seen)
        };
        return SightAnswer {
            sees,
            ..bare(reason, player)
        };
    };
    let mut answer = between(on_stage, member, view, world, bare(SightReason::InView, None));
    answer.sees = sees;
    answer
}

/// Who of the two is not in the world, and why.
fn missing(world: &World, viewer: PlayerId, seen: PlayerId) -> (SightReason, Option<PlayerId>) {
    let slots = world.resource::<SlotTable>();
    let phase_of = |player: PlayerId| world.get::<Phase>(slots.holder(player)?).copied();
    let has_view = |player: PlayerId| {
        let view = slots.holder(player).and_then(|entity| world.get::<View>(entity));
        view.is_some_and(|view| view.open)
    };
    for player in [viewer, seen] {
        if phase_of(player).is_none_or(|phase| !phase.joined()) {
            return (SightReason::PreAuth, Some(player));
        }
        if !has_view(player) {
            return (SightReason::NotSpawned, Some(player));
        }
    }
    if phase_of(seen) == Some(Phase::Spawned) {
        // It came into the world after the stage was set.
        (SightReason::Entering, Some(seen))
    } else {
        (SightReason::Dead, Some(seen))
    }
}

/// Both are in the world: what the view's next turn would make of it.
fn between(
    viewer: &Viewer,
    seen: &Member<PlayerId>,
    view: &View,
    world: &World,
    mut answer: SightAnswer,
) -> SightAnswer {
    let settings = world.resource::<Settings>();
    let stage = world.resource::<Stage>();
    let grid = world.resource::<BodyIndex>().grid();
    let point = Viewpoint {
        own: Some(viewer.id),
        space: viewer.space,
        position: viewer.position,
        radius: settings.streaming.radius,
        limit: usize::from(settings.streaming.limit),
    };
    let mut choice = Choice::default();
    choice.decide(&point, view.players.ids(), &stage.players, grid, |id| {
        stage.index(id)
    });

    answer.in_view = Some(view.players.ids().len() as u64);
    answer.set_spaces(viewer.space, seen.space);
    if viewer.space == seen.space {
        let apart = distance_squared(seen.position, viewer.position);
        answer.distance_m = Some(tenths(distance(seen.position, viewer.position)));
        if apart <= point.radius * point.radius {
            let mut nearer = 0;
            grid.near(point.space, point.position, point.radius, |item, away| {
                let other = stage.players.get(item as usize).map(|member| member.id);
                nearer += u64::from(away < apart && other != Some(viewer.id));
            });
            answer.rank = Some(nearer + 1);
        }
    }
    let swaps_in = choice.swaps.iter().position(|&(_, into)| into == seen.id);
    let enters = choice.enter.iter().position(|&id| id == seen.id);
    let before = enters.or_else(|| swaps_in.map(|place| choice.enter.len() + place));
    answer.before = before.map(|before| before as u64);
    answer.reason = if view.players.contains(seen.id) {
        let leaves = choice.leave.contains(&seen.id) || choice.swaps.iter().any(|&(out, _)| out == seen.id);
        if leaves {
            SightReason::Leaving
        } else {
            SightReason::InView
        }
    } else if before.is_some() {
        SightReason::Entering
    } else if viewer.space.dimension != seen.space.dimension {
        SightReason::Dimension
    } else if viewer.space.area != seen.space.area {
        SightReason::Area
    } else if answer.rank.is_none() {
        SightReason::Radius
    } else {
        SightReason::Limit
    };
    answer
}

fn tenths(metres: f32) -> f64 {
    (f64::from(metres) * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use std::{net::SocketAddr, time::Duration};

    use bevy_app::App;
    use bevy_ecs::entity::Entity;
    use decitick_components::{
        ComponentsPlugin,
        body::{Dimension, Motion},
        clock::{Clock, TICK},
        connection::{Connection, Peer},
        lane::OutboundLane,
        mailbox::{Outbox, Route},
        profile::DisplayName,
        session::PlayerToken,
    };
    use decitick_protocol::{PlayerName, Vec3};
    use proptest::prelude::*;

    use super::*;
    use crate::{streaming::StreamingPlugin, tick::TickPlugin};

    /// Where somebody is: area, dimension, whether it has a body and a view, and its place.
    type Place = (u8, u32, (bool, bool), (f32, f32));

    struct Scene {
        app: App,
        players: Vec<Entity>,
        now: Duration,
    }

    impl Scene {
        fn new(radius: f32, limit: u16, places: &[Place]) -> Self {
            let mut settings = Settings::default();
            settings.streaming.radius = radius;
            settings.streaming.limit = limit;
            let mut app = App::new();
            app.add_plugins((
                ComponentsPlugin { settings },
                TickPlugin::default(),
                StreamingPlugin,
            ));
            let players = (0u16..)
                .zip(places)
                .map(|(number, place)| enter(&mut app, number, *place))
                .collect();
            Self {
                app,
                players,
                now: Duration::ZERO,
            }
        }

        fn tick(&mut self) {
            self.now += TICK;
            let now = self.now;
            let world = self.app.world_mut();
            world.resource_mut::<Clock>().advance(now, now);
            self.app.update();
            let world = self.app.world_mut();
            world.resource_mut::<Outbox>().clear();
            for &player in &self.players {
                *world.get_mut::<OutboundLane>(player).unwrap() = OutboundLane::default();
            }
        }

        fn all(&self) -> Vec<(PlayerId, PlayerId, SightAnswer)> {
            let count = self.players.len() as u16;
            let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (PlayerId(a), PlayerId(b))));
            pairs
                .map(|(a, b)| (a, b, explain(self.app.world(), a, b)))
                .collect()
        }

        fn really_sees(&self, viewer: PlayerId, seen: PlayerId) -> bool {
            let viewer = self.players[usize::from(viewer.0)];
            self.app
                .world()
                .get::<View>(viewer)
                .unwrap()
                .players
                .contains(seen)
        }
    }

    fn enter(app: &mut App, number: u16, (area, dimension, (body, open), (x, y)): Place) -> Entity {
        let peer = SocketAddr::from(([127, 0, 0, 1], 20_000 + number));
        let route = Route {
            peer,
            listener: 0,
            local: None,
        };
        let phase = if body && open {
            Phase::Spawned
        } else {
            Phase::PreSpawn
        };
        let world = app.world_mut();
        let entity = world
            .spawn((
                Connection,
                Peer(route),
                PlayerId(number),
                PlayerToken(u32::from(number) + 1),
                DisplayName(PlayerName::parse(&format!("Player{number}")).unwrap()),
                phase,
                Dimension(dimension),
                Motion {
                    position: Vec3::new(x, y, 0.0),
                    area,
                    ..Motion::default()
                },
            ))
            .id();
        world.get_mut::<View>(entity).unwrap().open = open;
        world.resource_mut::<SlotTable>().occupy(PlayerId(number), entity);
        entity
    }

    fn place() -> impl Strategy<Value = Place> {
        let here_and_there = prop_oneof![6 => Just(0u8), 1 => Just(1u8)];
        let worlds = prop_oneof![6 => Just(0u32), 1 => Just(9u32)];
        let whole = (prop::bool::weighted(0.9), prop::bool::weighted(0.9));
        (
            here_and_there,
            worlds,
            whole,
            (-150.0f32..150.0, -150.0f32..150.0),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// What it says of now is so, and every change that comes was foretold.
        #[test]
        fn why_says_what_the_view_holds_and_what_it_will_hold(
            places in prop::collection::vec(place(), 2..24),
            later in prop::collection::vec((0usize..24, -150.0f32..150.0), 0..20),
            limit in prop_oneof![Just(2u16), Just(6), Just(64)],
            radius in 40.0f32..200.0,
        ) {
            let mut scene = Scene::new(radius, limit, &places);
            scene.tick();
            for round in 0..45 {
                if round == 12 {
                    for &(who, x) in &later {
                        if let Some(&player) = scene.players.get(who) {
                            scene.app.world_mut().get_mut::<Motion>(player).unwrap().position.x = x;
                        }
                    }
                    scene.tick();
                }
                let before = scene.all();
                scene.tick();
                for (viewer, seen, said) in before {
                    let now = scene.really_sees(viewer, seen);
                    let foretold = match said.reason {
                        SightReason::Entering | SightReason::Leaving => true,
                        _ => now == said.sees,
                    };
                    prop_assert!(foretold, "round {round}, {viewer:?} {seen:?}: {said:?}, now {now}");
                }
                for (viewer, seen, said) in scene.all() {
                    prop_assert_eq!(said.sees, scene.really_sees(viewer, seen), "{:?}", said);
                }
            }
            // By now everything has settled.
            for (viewer, seen, said) in scene.all() {
                let moving = matches!(said.reason, SightReason::Entering | SightReason::Leaving);
                prop_assert!(!moving, "{viewer:?} {seen:?}: {said:?}");
            }
        }
    }

    /// Ten players on a line, a metre apart, each seeing three within five metres.
    fn line() -> Scene {
        let mut places: Vec<Place> = (0..10).map(|n| (0, 0, (true, true), (n as f32, 0.0))).collect();
        places.push((3, 0, (true, true), (0.0, 0.0)));
        places.push((0, 8, (true, true), (0.0, 0.0)));
        places.push((0, 0, (false, true), (0.0, 0.0)));
        places.push((0, 0, (false, false), (0.0, 0.0)));
        let mut scene = Scene::new(5.0, 3, &places);
        for _ in 0..30 {
            scene.tick();
        }
        scene
    }

    fn reason(scene: &Scene, viewer: u16, seen: u16) -> (SightReason, Option<u16>) {
        let said = explain(scene.app.world(), PlayerId(viewer), PlayerId(seen));
        (said.reason, said.player)
    }

    #[test]
    fn each_reason_is_told_with_its_figures() {
        let scene = line();
        assert_eq!(reason(&scene, 0, 1), (SightReason::InView, None));
        assert_eq!(reason(&scene, 0, 9), (SightReason::Radius, None));
        assert_eq!(reason(&scene, 0, 10), (SightReason::Area, None));
        assert_eq!(reason(&scene, 0, 11), (SightReason::Dimension, None));
        assert_eq!(reason(&scene, 0, 12), (SightReason::Dead, Some(12)));
        assert_eq!(reason(&scene, 0, 13), (SightReason::NotSpawned, Some(13)));
        assert_eq!(reason(&scene, 13, 0), (SightReason::NotSpawned, Some(13)));
        assert_eq!(
            reason(&scene, 12, 0),
            (SightReason::InView, None),
            "the fallen still watch"
        );
        assert_eq!(reason(&scene, 0, 99), (SightReason::NotConnected, Some(99)));
        assert_eq!(reason(&scene, 99, 0), (SightReason::NotConnected, Some(99)));
        assert_eq!(reason(&scene, 4, 4), (SightReason::Itself, Some(4)));
        let far = explain(scene.app.world(), PlayerId(0), PlayerId(4));
        assert_eq!(
            (far.reason, far.rank, far.in_view),
            (SightReason::Limit, Some(4), Some(3))
        );
        assert_eq!(far.distance_m, Some(4.0));
    }
}
