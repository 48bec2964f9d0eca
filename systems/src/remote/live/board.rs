//! What viewers are told of, taken in once for all of them and no more often than twice a second.

use std::collections::BTreeMap;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    body::Space,
    clock::Clock,
    live::{MapOf, RecentLog},
    settings::Settings,
};
use serde::Serialize;

use super::{
    PERIOD, Viewer,
    health::{self, Now},
    map::{self, SpaceMap},
    players::{self, PlayerFacts},
    scripts::{self, ScriptFacts},
    table::Table,
};

/// What viewers are told of; of what nobody looks at there is nothing here.
#[derive(Default)]
pub(in super::super) struct Board {
    /// What does not change while the server runs, as JSON.
    pub(super) server: String,
    pub(super) health: Option<Sampled<Now>>,
    pub(super) players: Option<Sampled<Table<Entity, PlayerFacts>>>,
    pub(super) scripts: Option<Sampled<Table<String, ScriptFacts>>>,
    /// Which spaces there are, as JSON.
    pub(super) spaces: Option<Sampled<String>>,
    pub(super) maps: BTreeMap<Space, Sampled<SpaceMap>>,
}

/// A subject, and the tick in which it was taken in.
pub(super) struct Sampled<T> {
    pub(super) value: T,
    tick: u64,
}

impl<T> Sampled<T> {
    /// Whether it is to be taken anew.
    const fn is_old(&self, tick: u64) -> bool {
        tick >= self.tick + PERIOD
    }
}

/// The sample of a subject that somebody looks at: made when there is none, and taken anew when it is old.
fn refresh<T: Default>(subject: &mut Option<Sampled<T>>, wanted: bool, tick: u64, take: impl FnOnce(&mut T)) {
    if !wanted {
        return;
    }
    if subject.as_ref().is_some_and(|sampled| !sampled.is_old(tick)) {
        return;
    }
    let sampled = subject.get_or_insert_with(|| Sampled {
        value: T::default(),
        tick,
    });
    sampled.tick = tick;
    take(&mut sampled.value);
}

impl Board {
    /// Takes in what the viewers want who are told in this tick, and forgets what nobody wants.
    pub(in super::super) fn sample<'v>(
        &mut self,
        world: &mut World,
        viewers: impl Iterator<Item = &'v Viewer> + Clone,
    ) {
        let log = viewers.clone().any(|viewer| viewer.request.log);
        if world.resource::<RecentLog>().wanted != log {
            world.resource_mut::<RecentLog>().wanted = log;
        }
        let tick = world.resource::<Clock>().tick;
        self.forget(viewers.clone(), tick);
        let due = viewers.filter(|viewer| viewer.is_due(tick));
        let world = &*world;
        let mut anybody = false;
        for Viewer { request, .. } in due {
            anybody = true;
            refresh(&mut self.health, request.health, tick, |now| {
                *now = health::now(world);
            });
            refresh(&mut self.players, request.players, tick, |table| {
                table.take(players::rows(world));
            });
            refresh(&mut self.scripts, request.scripts, tick, |table| {
                table.take(scripts::rows(world));
            });
            refresh(&mut self.spaces, request.map.is_some(), tick, |spaces| {
                *spaces = map::spaces(world);
            });
            if let Some(of) = request.map {
                let mut sampled = self.maps.remove(&space(of));
                refresh(&mut sampled, true, tick, |map| map.take(world, space(of)));
                self.maps.extend(sampled.map(|map| (space(of), map)));
            }
        }
        if anybody && self.server.is_empty() {
            self.server = server(world);
        }
    }

    /// A sample that is not old yet stays for whoever comes next: opening again and again must not sample again and
    /// again.
    fn forget<'v>(&mut self, viewers: impl Iterator<Item = &'v Viewer> + Clone, tick: u64) {
        let wanted = |what: fn(&Viewer) -> bool| viewers.clone().any(what);
        let [health, players] = [
            wanted(|viewer| viewer.request.health),
            wanted(|viewer| viewer.request.players),
        ];
        let [scripts, map] = [
            wanted(|viewer| viewer.request.scripts),
            wanted(|viewer| viewer.request.map.is_some()),
        ];
        self.health.take_if(|sampled| !health && sampled.is_old(tick));
        self.players.take_if(|sampled| !players && sampled.is_old(tick));
        self.scripts.take_if(|sampled| !scripts && sampled.is_old(tick));
        self.spaces.take_if(|sampled| !map && sampled.is_old(tick));
        let wants = |of: Space| {
            viewers
                .clone()
                .any(|viewer| viewer.request.map.map(space) == Some(of))
        };
        self.maps
            .retain(|&of, sampled| !sampled.is_old(tick) || wants(of));
    }

    /// Whether something is kept, which is forgotten once it is old.
    pub(in super::super) fn is_kept(&self) -> bool {
        self.health.is_some()
            || self.players.is_some()
            || self.scripts.is_some()
            || self.spaces.is_some()
            || !self.maps.is_empty()
    }
}

pub(super) const fn space(of: MapOf) -> Space {
    Space {
        dimension: of.dimension,
        area: of.area,
    }
}

#[derive(Serialize)]
struct Server<'s> {
    name: &'s str,
    version: &'s str,
    max_players: u16,
    actions: bool,
    radius: f32,
    bounds: f32,
}

fn server(world: &World) -> String {
    let settings = world.resource::<Settings>();
    let face = world.resource::<decitick_components::server::PublicFace>();
    let server = Server {
        name: &settings.name,
        version: &face.version,
        max_players: settings.max_players,
        actions: settings.page.as_ref().is_some_and(|page| page.allow_actions),
        radius: settings.streaming.radius,
        bounds: settings.world.bounds,
    };
    // Plain values always become JSON.
    serde_json::to_string(&server).unwrap_or_else(|_| "{}".to_owned())
}
