//! What must hold after every tick, told from the world itself and from the bytes that left.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use bevy_ecs::{component::Component, entity::Entity};
use decitick_client::client::{LivePlayer, is_newer};
use decitick_components::{
    body::{Dimension, Motion, Space, Vitals, distance},
    clock::Clock,
    connection::{Peer, PeerIndex},
    messages::{HitReported, PlayerDied, ZoneEntered, ZoneLeft},
    phase::Phase,
    profile::{DisplayName, NameBook},
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    thing::{Placement, ThingBook, ThingId},
    view::{CHANGES_PER_TICK, View},
    zone::{Zone, ZoneBook, ZoneId},
};
use decitick_protocol::{EntityFrame, PacketId, RemoteFrame, ServerPacket};

use crate::sim::Sim;

/// Ticks that somebody of another space may stay in a view: it is recomputed every fifth, by eight changes a tick.
const LAG: u8 = 8;

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) frames: u64,
    pub(super) thing_frames: u64,
    pub(super) deaths: u64,
    pub(super) zone_changes: u64,
    reported: u64,
}

/// What is remembered from tick to tick.
#[derive(Default)]
pub(super) struct Oracle {
    seen: Seen,
    /// The newest frame of each player id that left: generation and number.
    newest: BTreeMap<u32, (u32, u32)>,
    /// The views of the tick before.
    views: BTreeMap<Entity, View>,
    /// For how many ticks somebody of another space has been in a view.
    misplaced: BTreeMap<(Entity, Entity), u8>,
    inside: BTreeSet<(ZoneId, Entity)>,
}

/// A session as it is after the tick, looked up once.
struct Facts<'a> {
    id: PlayerId,
    entity: Entity,
    generation: u32,
    spawned: bool,
    space: Space,
    motion: &'a Motion,
    health: u8,
    view: &'a View,
}

/// Every session, by id.
struct Sessions<'a>(Vec<Option<Facts<'a>>>);

impl<'a> Sessions<'a> {
    fn look(sim: &'a Sim) -> Self {
        let mut by_id: Vec<Option<Facts<'a>>> = Vec::new();
        for (id, entity) in sessions(sim) {
            by_id.resize_with(usize::from(id.0) + 1, || None);
            by_id[usize::from(id.0)] = Some(Facts {
                id,
                entity,
                generation: of::<PlayerToken>(sim, entity).0,
                spawned: *of::<Phase>(sim, entity) == Phase::Spawned,
                space: space(sim, entity),
                motion: of::<Motion>(sim, entity),
                health: of::<Vitals>(sim, entity).health,
                view: of::<View>(sim, entity),
            });
        }
        Self(by_id)
    }

    fn holder(&self, id: u16) -> Option<&Facts<'a>> {
        self.0.get(usize::from(id))?.as_ref()
    }

    fn iter(&self) -> impl Iterator<Item = &Facts<'a>> {
        self.0.iter().flatten()
    }
}

fn of<C: Component>(sim: &Sim, entity: Entity) -> &C {
    let component = sim.app.world().get::<C>(entity);
    component.expect("every connection has it")
}

fn space(sim: &Sim, entity: Entity) -> Space {
    Space::of(of::<Motion>(sim, entity), *of::<Dimension>(sim, entity))
}

fn sessions(sim: &Sim) -> Vec<(PlayerId, Entity)> {
    sim.app.world().resource::<SlotTable>().iter().collect()
}

impl Oracle {
    pub(super) const fn seen(&self) -> Seen {
        self.seen
    }

    /// Everything that holds after every tick.
    pub(super) fn check(&mut self, sim: &Sim) {
        let sessions = Sessions::look(sim);
        self.check_frames(sim, &sessions);
        self.check_views(sim, &sessions);
        self.check_zones(sim, &sessions);
        self.check_hits(sim);
        check_numbers(sim);
        // A name or an address that is entered wrongly stays so; to look every other second is enough, and cheaper.
        if sim.tick_number().is_multiple_of(20) {
            check_names(sim, &sessions);
        }
    }

    /// Frames that left in this tick are of those who are in view, there, and of now.
    fn check_frames(&mut self, sim: &Sim, sessions: &Sessions<'_>) {
        let by_entity: BTreeMap<Entity, &Facts<'_>> =
            sessions.iter().map(|session| (session.entity, session)).collect();
        let peers: BTreeMap<SocketAddr, &Facts<'_>> = sim
            .app
            .world()
            .resource::<PeerIndex>()
            .iter()
            .map(|(address, entity)| (*address, by_entity[&entity]))
            .collect();
        for (to, datagram) in sim.sent() {
            let kind = datagram.first().copied().and_then(PacketId::from_byte);
            if !matches!(kind, Some(PacketId::RemotePlayerSync | PacketId::EntitySync)) {
                continue;
            }
            let viewer = peers.get(to).expect("frames go to sessions only");
            match ServerPacket::decode(datagram) {
                Ok(ServerPacket::RemotePlayerSync(sync)) => {
                    for frame in &sync.players {
                        self.check_frame(sessions, viewer, frame);
                    }
                }
                Ok(ServerPacket::EntitySync(sync)) => {
                    for frame in &sync.entities {
                        self.check_thing_frame(sim, viewer, frame);
                    }
                }
                other => panic!("not a packet of frames: {other:?}"),
            }
        }
    }

    fn check_frame(&mut self, sessions: &Sessions<'_>, viewer: &Facts<'_>, frame: &RemoteFrame) {
        self.seen.frames += 1;
        let id = u16::try_from(frame.player_id).unwrap();
        let subject = sessions.holder(id);
        let subject = subject.unwrap_or_else(|| panic!("a frame of nobody: {frame:?}"));
        assert_ne!(subject.entity, viewer.entity, "nobody sees itself: {frame:?}");
        assert_eq!(subject.generation, frame.player_token, "{frame:?}");
        assert!(subject.spawned, "{frame:?}");
        assert_eq!(subject.space, viewer.space, "{frame:?}");
        assert!(viewer.view.players.contains(subject.id), "{frame:?}");
        let motion = subject.motion;
        assert_eq!(
            (frame.position, frame.area, frame.seq, frame.health),
            (motion.position, motion.area, motion.sequence, subject.health)
        );
        let newest = self.newest.entry(frame.player_id).or_insert((0, 0));
        let (token, seq) = *newest;
        let in_order = frame.player_token > token
            || (frame.player_token == token && (frame.seq == seq || is_newer(frame.seq, seq)));
        assert!(in_order, "{frame:?} after {newest:?}");
        *newest = (frame.player_token, frame.seq);
    }

    fn check_thing_frame(&mut self, sim: &Sim, viewer: &Facts<'_>, frame: &EntityFrame) {
        self.seen.thing_frames += 1;
        let world = sim.app.world();
        let id = ThingId(frame.entity_id);
        let thing = world.resource::<ThingBook>().find(id);
        let thing = thing.unwrap_or_else(|| panic!("a frame of nothing: {frame:?}"));
        let placement = world.get::<Placement>(thing).unwrap();
        let dimension = *world.get::<Dimension>(thing).unwrap();
        assert_eq!(placement.space(dimension), viewer.space, "{frame:?}");
        assert!(viewer.view.things.contains(id), "{frame:?}");
        assert_eq!(frame.position, placement.position);
        assert_eq!(u64::from(frame.tick), world.resource::<Clock>().tick);
    }

    /// Views hold bodies and things that are there, no more than they may, and change by a little.
    fn check_views(&mut self, sim: &Sim, sessions: &Sessions<'_>) {
        let world = sim.app.world();
        let streaming = &world.resource::<Settings>().streaming;
        let mut views = BTreeMap::new();
        let mut misplaced = BTreeMap::new();
        for viewer in sessions.iter() {
            let (id, view) = (viewer.id, viewer.view);
            assert!(view.players.ids().len() <= usize::from(streaming.limit));
            assert!(view.things.ids().len() <= usize::from(streaming.entity_limit));
            for &seen in view.players.ids() {
                let subject = sessions.holder(seen.0);
                let subject = subject.unwrap_or_else(|| panic!("{id:?} sees nobody as {seen:?}"));
                assert!(subject.spawned && seen != id, "{id:?} sees {seen:?}");
                if subject.space != viewer.space {
                    let pair = (viewer.entity, subject.entity);
                    let before = self.misplaced.get(&pair).copied().unwrap_or(0);
                    assert!(before < LAG, "{id:?} keeps {seen:?} of another space");
                    misplaced.insert(pair, before + 1);
                }
            }
            for &seen in view.things.ids() {
                assert!(
                    world.resource::<ThingBook>().find(seen).is_some(),
                    "{seen:?} is gone"
                );
            }
            if let Some(before) = self.views.get(&viewer.entity) {
                let players = view.players.ids().iter();
                let things = view.things.ids().iter();
                let came = players.filter(|&&seen| !before.players.contains(seen)).count()
                    + things.filter(|&&seen| !before.things.contains(seen)).count();
                assert!(came <= CHANGES_PER_TICK, "{came} came into the view of {id:?}");
            }
            views.insert(viewer.entity, view.clone());
        }
        self.views = views;
        self.misplaced = misplaced;
    }

    /// Whoever was told to be inside a zone is, and nobody else.
    fn check_zones(&mut self, sim: &Sim, sessions: &Sessions<'_>) {
        let world = sim.app.world();
        for ZoneEntered { zone, player } in sim.told::<ZoneEntered>() {
            assert!(self.inside.insert((zone, player)), "{zone:?} was entered twice");
            self.seen.zone_changes += 1;
        }
        for ZoneLeft { zone, player } in sim.told::<ZoneLeft>() {
            assert!(self.inside.remove(&(zone, player)), "{zone:?} was left unentered");
            self.seen.zone_changes += 1;
        }
        self.inside
            .retain(|(_, player)| world.get_entity(*player).is_ok());
        for (id, entity) in world.resource::<ZoneBook>().iter() {
            let zone = *world.get::<Zone>(entity).unwrap();
            let there: Vec<Entity> = sessions
                .iter()
                .filter(|body| body.spawned && body.space == zone.space)
                .filter(|body| zone.shape.contains(body.motion.position))
                .map(|body| body.entity)
                .collect();
            let told = self.inside.iter().filter(|(zone, _)| *zone == id).count();
            let all_told = there.iter().all(|&body| self.inside.contains(&(id, body)));
            assert!(all_told && told == there.len(), "{id:?}: {there:?} of {told}");
        }
    }

    /// Every claim either counted or was refused for one reason.
    fn check_hits(&mut self, sim: &Sim) {
        self.seen.reported += sim.told::<HitReported>().len() as u64;
        self.seen.deaths += sim.told::<PlayerDied>().len() as u64;
        let refused: u64 = sim.hits().nonzero().map(|(_, count)| count).sum();
        assert_eq!(sim.hits().counted + refused, self.seen.reported);
    }

    /// After a quiet time over a clean link every client knows what is.
    pub(super) fn check_clients(&self, sim: &Sim) {
        for player in &sim.players {
            let Some(welcome) = player.client.welcome() else {
                continue;
            };
            let id = PlayerId(u16::try_from(welcome.player_id).unwrap());
            let viewer = sim.app.world().resource::<SlotTable>().holder(id);
            let Some(viewer) =
                viewer.filter(|&entity| of::<PlayerToken>(sim, entity).0 == welcome.player_token)
            else {
                continue;
            };
            check_client(sim, id, viewer, player);
        }
    }
}

fn check_client(sim: &Sim, id: PlayerId, viewer: Entity, player: &crate::sim::Player) {
    let view = of::<View>(sim, viewer);
    let roster = player.client.roster().unwrap();
    let seen: Vec<u32> = roster.in_view().map(|(id, ..)| id).collect();
    let expected: Vec<u32> = view.players.ids().iter().map(|id| u32::from(id.0)).collect();
    assert_eq!(seen, expected, "the view of {id:?}");
    let things = player.client.things().unwrap();
    let held: Vec<u32> = things.iter().map(|(id, _)| id).collect();
    let expected: Vec<u32> = view.things.ids().iter().map(|id| id.0).collect();
    assert_eq!(held, expected, "the things of {id:?}");
    for (other, entity) in sessions(sim) {
        if other == id {
            continue;
        }
        let live = roster.player(u32::from(other.0)).expect("everybody is known");
        assert_eq!(live.player_token(), of::<PlayerToken>(sim, entity).0);
        assert_eq!(live.name(), Some(of::<DisplayName>(sim, entity).0.as_str()));
        check_in_view(sim, viewer, entity, live);
    }
}

/// Whoever is in view is within 1.1 radii and was last seen where it stands; whoever is not is beyond the radius, or
/// the view is full.
fn check_in_view(sim: &Sim, viewer: Entity, subject: Entity, live: &LivePlayer) {
    let streaming = &sim.app.world().resource::<Settings>().streaming;
    let view = of::<View>(sim, viewer);
    let (from, at) = (of::<Motion>(sim, viewer), of::<Motion>(sim, subject));
    let apart = distance(from.position, at.position);
    let together = space(sim, viewer) == space(sim, subject);
    if let Some(sighting) = live.sighting() {
        assert!(together && apart <= streaming.radius * 1.101, "{apart} m away");
        assert_eq!((sighting.position, sighting.area), (at.position, at.area));
        assert_eq!(sighting.health, of::<Vitals>(sim, subject).health);
    } else if *of::<Phase>(sim, subject) == Phase::Spawned && view.open {
        let full = view.players.ids().len() == usize::from(streaming.limit);
        assert!(
            !together || apart >= streaming.radius || full,
            "unseen {apart} m away"
        );
    }
}

/// Things and zones are where their numbers say.
fn check_numbers(sim: &Sim) {
    let world = sim.app.world();
    for (id, entity) in world.resource::<ThingBook>().iter() {
        assert_eq!(world.get::<ThingId>(entity), Some(&id));
        let placement = world.get::<Placement>(entity).unwrap();
        assert!(placement.position.is_within(20_000.0) && placement.velocity.is_finite());
    }
    for (id, entity) in world.resource::<ZoneBook>().iter() {
        assert_eq!(world.get::<ZoneId>(entity), Some(&id));
    }
}

/// Addresses, slots and names agree.
fn check_names(sim: &Sim, sessions: &Sessions<'_>) {
    let world = sim.app.world();
    for (address, entity) in world.resource::<PeerIndex>().iter() {
        assert_eq!(of::<Peer>(sim, entity).address(), *address);
        let id = of::<PlayerId>(sim, entity).0;
        assert_eq!(sessions.holder(id).map(|holder| holder.entity), Some(entity));
    }
    let names = world.resource::<NameBook>();
    for session in sessions.iter() {
        let name = of::<DisplayName>(sim, session.entity);
        assert_eq!(names.holder(&name.0), Some(session.entity));
    }
}
