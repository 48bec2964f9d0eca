//! The world inside a Sim: wishes that a gamemode would make, and what they did.

use bevy_ecs::{
    component::Component,
    entity::Entity,
    message::{Message, Messages},
};
use decitick_components::{
    body::{Motion, Vitals},
    combat::{HitTally, Weapons},
    gamemode::{Gamemode, Judge},
    phase::Phase,
    requests::{PlayerRequest, PlayerWish, ThingRequest, WorldRequest, ZoneRequest},
    thing::{Placement, ThingBook, ThingId, ThingSpec},
    world::{SpawnPoint, SpawnPoints},
    zone::{Zone, ZoneBook, ZoneId},
};
use decitick_protocol::{ServerLaneEvent, ServerPacket, Vec3, WeaponAmmo};

use super::{Player, Sim};

/// A place on the ground of the default world.
pub(crate) const fn ground(x: f32, y: f32) -> Vec3 {
    Vec3::new(x, y, 10.0)
}

/// A spawn point in area 0 with these weapons.
pub(crate) fn spawn_point(x: f32, y: f32, weapons: &[(u8, u16)]) -> SpawnPoint {
    SpawnPoint {
        position: ground(x, y),
        heading: 0.0,
        area: 0,
        skin: 1,
        variant: 0,
        weapons: weapons
            .iter()
            .map(|&(weapon, ammo)| WeaponAmmo { weapon, ammo })
            .collect(),
    }
}

/// Spawn points in this order.
pub(crate) fn spawns(points: Vec<SpawnPoint>) -> SpawnPoints {
    let mut points = points.into_iter();
    let first = points.next().expect("at least one");
    SpawnPoints::new(first, points.collect())
}

impl Sim {
    /// The connection of a player.
    pub(crate) fn body(&self, index: usize) -> Entity {
        self.entity(self.players[index].id()).expect("in a session")
    }

    /// A component of a player's connection.
    pub(crate) fn of<T: Component>(&self, index: usize) -> &T {
        self.component::<T>(self.players[index].id())
    }

    pub(crate) fn vitals(&self, index: usize) -> (u8, u8) {
        let Vitals { health, armour } = *self.of::<Vitals>(index);
        (health, armour)
    }

    pub(crate) fn ammo(&self, index: usize, weapon: u8) -> u16 {
        self.of::<Weapons>(index).ammo(weapon)
    }

    pub(crate) fn position(&self, index: usize) -> Vec3 {
        self.of::<Motion>(index).position
    }

    pub(crate) fn phase(&self, index: usize) -> Phase {
        *self.of::<Phase>(index)
    }

    /// Asks for something to be done to a player in the coming tick.
    pub(crate) fn wish(&mut self, index: usize, wish: PlayerWish) {
        let entity = self.body(index);
        self.app.world_mut().write_message(PlayerRequest { entity, wish });
    }

    pub(crate) fn wish_world(&mut self, wish: WorldRequest) {
        self.app.world_mut().write_message(wish);
    }

    pub(crate) fn wish_thing(&mut self, wish: ThingRequest) {
        self.app.world_mut().write_message(wish);
    }

    /// A thing that comes into the world in the coming tick.
    pub(crate) fn make_thing(&mut self, spec: ThingSpec) -> ThingId {
        let id = self.app.world_mut().resource_mut::<ThingBook>().reserve();
        let id = id.expect("room for a thing");
        self.wish_thing(ThingRequest::Create(id, Box::new(spec)));
        id
    }

    /// A zone that comes into the world in the coming tick.
    pub(crate) fn make_zone(&mut self, zone: Zone) -> ZoneId {
        let id = self.app.world_mut().resource_mut::<ZoneBook>().reserve();
        let id = id.expect("room for a zone");
        self.app.world_mut().write_message(ZoneRequest::Create(id, zone));
        id
    }

    /// Where a thing is.
    pub(crate) fn placement(&self, thing: ThingId) -> Option<&Placement> {
        let entity = self.app.world().resource::<ThingBook>().find(thing)?;
        self.app.world().get::<Placement>(entity)
    }

    pub(crate) fn hits(&self) -> &HitTally {
        self.app.world().resource::<HitTally>()
    }

    /// Lets somebody else answer questions.
    pub(crate) fn judged_by(&mut self, judge: impl Judge + 'static) {
        self.app.world_mut().insert_resource(Gamemode(Box::new(judge)));
    }

    /// What systems told each other in the last tick.
    pub(crate) fn told<M: Message + Clone>(&self) -> Vec<M> {
        self.app
            .world()
            .resource::<Messages<M>>()
            .iter_current_update_messages()
            .cloned()
            .collect()
    }

    /// Lane events that the last tick sent a player for the first time or again, without their ids.
    pub(crate) fn sent_events(&self, index: usize) -> Vec<ServerLaneEvent> {
        self.sent_to(self.players[index].address)
            .iter()
            .filter_map(|datagram| match ServerPacket::decode(datagram) {
                Ok(ServerPacket::Lane { event, .. }) => Some(event),
                _ => None,
            })
            .collect()
    }

    /// Puts a player somewhere by wish, and lets it and the views settle. Its client stands there from then on.
    pub(crate) fn put(&mut self, index: usize, x: f32, y: f32) {
        self.put_in(index, x, y, 0);
    }

    pub(crate) fn put_in(&mut self, index: usize, x: f32, y: f32, area: u8) {
        self.wish(
            index,
            PlayerWish::Teleport {
                position: ground(x, y),
                heading: None,
                area: Some(area),
            },
        );
        self.ticks(2);
        self.players[index]
            .client
            .sync(decitick_protocol::PlayerSync {
                area,
                ..super::frame_at(x, y)
            })
            .expect("it has a body");
        self.ticks(6);
    }

    /// Whether one has another in view, as its client knows.
    pub(crate) fn sees(&self, viewer: usize, seen: usize) -> bool {
        let roster = self.players[viewer].client.roster().expect("in a session");
        roster
            .player(u32::from(self.players[seen].id()))
            .is_some_and(decitick_client::client::LivePlayer::is_in_view)
    }

    /// No client has seen the server break a rule.
    pub(crate) fn expect_no_faults(&self) {
        for player in &self.players {
            let mut faults = player.client.counters().faults();
            let fault = faults.find(|(fault, _)| !player.excuses.contains(fault));
            assert_eq!(fault, None, "at {}", player.address);
        }
    }
}

impl Player {
    /// The generation of its session.
    pub(crate) fn generation(&self) -> u32 {
        self.welcome().player_token
    }

    /// Events of one kind that its lane delivered, in order.
    pub(crate) fn all<T>(&self, pick: impl Fn(&ServerLaneEvent) -> Option<T>) -> Vec<T> {
        self.events.iter().filter_map(|(_, event)| pick(event)).collect()
    }
}
