//! The copy of the world that scripts read. It is brought up to date before scripts run; what they wish for is played
//! on it at once, so that a script reads what it has written.
//!
//! It knows the words of the world and nothing of scripts.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use bevy_ecs::entity::Entity;
use decitick_components::{
    body::{Appearance, Motion, SKILL_CLASSES, Vitals},
    pages::{OpenViews, ViewRequest},
    phase::Phase,
    requests::{PlayerRequest, PlayerWish, ThingRequest, WorldRequest, ZoneRequest},
    session::{PlayerId, PlayerToken},
    thing::{ThingId, ThingMotion},
    world::{SpawnPoint, WorldState},
    zone::{Zone, ZoneId},
};
use decitick_protocol::{EntityKind, MAX_WEAPON_SLOTS, Vec3, WeaponAmmo};

/// A player as scripts see it.
#[derive(Clone, Debug)]
pub(crate) struct PlayerCopy {
    pub entity: Entity,
    pub id: PlayerId,
    pub token: PlayerToken,
    pub name: Arc<str>,
    pub ip: IpAddr,
    /// Round trip in milliseconds; -1 while it is not measured.
    pub ping: i64,
    pub phase: Phase,
    pub motion: Motion,
    pub dimension: u32,
    pub vitals: Vitals,
    pub money: i64,
    pub look: Appearance,
    pub weapons: Vec<WeaponAmmo>,
    pub skills: [u16; SKILL_CLASSES],
    /// Whom the auth resource says it is.
    pub account: Option<Arc<str>>,
    /// What its computer proved to hold; the auth resource alone may read it.
    pub credential: Option<[u8; 32]>,
    pub views: OpenViews,
    /// What the console granted.
    pub granted: Arc<[Box<str>]>,
    /// Whether a kick is on its way: it is as good as gone.
    pub leaving: bool,
}

/// Somebody who waits for a login, as the auth resource sees it.
#[derive(Clone, Debug)]
pub(crate) struct NewcomerCopy {
    pub entity: Entity,
    pub id: PlayerId,
    pub token: PlayerToken,
    pub name: Arc<str>,
    pub ip: IpAddr,
    /// What its computer proved to hold.
    pub credential: Option<[u8; 32]>,
    pub views: OpenViews,
    /// Whether it is decided what becomes of it.
    pub settled: bool,
}

/// A thing as scripts see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThingCopy {
    pub kind: EntityKind,
    pub model: u32,
    pub position: Vec3,
    pub velocity: Vec3,
    pub heading: f32,
    pub area: u8,
    pub dimension: u32,
    /// One MessagePack value.
    pub data: Arc<[u8]>,
}

/// What scripts read.
#[derive(Debug)]
pub(crate) struct Mirror {
    /// Who is on, by id.
    pub players: BTreeMap<u16, PlayerCopy>,
    /// The id by connection. An entry may be older than its player; what it leads to is compared.
    ids: BTreeMap<Entity, u16>,
    /// Who left and of whom resources are still to be told, by generation.
    pub departed: BTreeMap<u32, PlayerCopy>,
    /// Who waits for a login, by generation.
    pub newcomers: BTreeMap<u32, NewcomerCopy>,
    pub things: BTreeMap<u32, ThingCopy>,
    pub zones: BTreeMap<u32, Zone>,
    pub world: WorldState,
    /// The weapons of the table, a bit for each id.
    pub weapons: u64,
}

impl Mirror {
    pub(crate) const fn new(world: WorldState) -> Self {
        Self {
            players: BTreeMap::new(),
            ids: BTreeMap::new(),
            departed: BTreeMap::new(),
            newcomers: BTreeMap::new(),
            things: BTreeMap::new(),
            zones: BTreeMap::new(),
            world,
            weapons: 0,
        }
    }

    /// Who is on with this id and generation.
    pub(crate) fn player(&self, id: u16, token: u32) -> Option<&PlayerCopy> {
        self.players.get(&id).filter(|player| player.token.0 == token)
    }

    /// The same, or who just left.
    pub(crate) fn player_or_departed(&self, id: u16, token: u32) -> Option<&PlayerCopy> {
        self.player(id, token).or_else(|| self.departed.get(&token))
    }

    /// Who still waits, undecided.
    pub(crate) fn waiting(&self, token: u32) -> Option<&NewcomerCopy> {
        self.newcomers.get(&token).filter(|newcomer| !newcomer.settled)
    }

    /// It is decided what becomes of somebody; its connection, or `None` when that was decided before.
    pub(crate) fn settle(&mut self, token: u32) -> Option<Entity> {
        let newcomer = self.newcomers.get_mut(&token)?;
        (!std::mem::replace(&mut newcomer.settled, true)).then_some(newcomer.entity)
    }

    /// Whose connection this is.
    pub(crate) fn by_entity(&self, entity: Entity) -> Option<&PlayerCopy> {
        let id = self.ids.get(&entity)?;
        self.players.get(id).filter(|player| player.entity == entity)
    }

    fn by_entity_mut(&mut self, entity: Entity) -> Option<&mut PlayerCopy> {
        let id = self.ids.get(&entity)?;
        self.players.get_mut(id).filter(|player| player.entity == entity)
    }

    /// A connection has this player from now on.
    pub(crate) fn connect(&mut self, entity: Entity, id: PlayerId) {
        self.ids.insert(entity, id.0);
    }

    /// Keeps those players of whom `keep` is true, and forgets connections without one.
    pub(crate) fn retain_players(&mut self, mut keep: impl FnMut(&PlayerCopy) -> bool) {
        self.players.retain(|_, player| keep(player));
        if self.ids.len() != self.players.len() {
            let players = &self.players;
            self.ids
                .retain(|entity, id| players.get(id).is_some_and(|player| player.entity == *entity));
        }
    }

    /// Who left is remembered until everybody was told.
    pub(crate) fn depart(&mut self, id: u16, token: u32) {
        if self.player(id, token).is_some()
            && let Some(gone) = self.players.remove(&id)
        {
            self.departed.insert(token, gone);
        }
    }

    /// Plays a wish about a player on the copy, as it will be done.
    pub(crate) fn play_player(&mut self, request: &PlayerRequest) {
        let Some(player) = self.by_entity_mut(request.entity) else {
            return;
        };
        let alive = player.phase == Phase::Spawned && player.vitals.health > 0;
        match &request.wish {
            PlayerWish::Spawn(point) => player.embody(point.as_ref()),
            PlayerWish::Teleport {
                position,
                heading,
                area,
            } => {
                if player.phase == Phase::Spawned {
                    player.motion.position = *position;
                    player.motion.velocity = Vec3::ZERO;
                    player.motion.heading = heading.unwrap_or(player.motion.heading);
                    player.motion.area = area.unwrap_or(player.motion.area);
                }
            }
            PlayerWish::Dimension(dimension) => player.dimension = *dimension,
            PlayerWish::Health(health) if alive => player.vitals.health = *health,
            PlayerWish::Armour(armour) if alive => player.vitals.armour = *armour,
            PlayerWish::Health(_) | PlayerWish::Armour(_) => {}
            PlayerWish::Money(money) => player.money = *money,
            PlayerWish::Skin(skin, variant) => {
                player.look.skin = *skin;
                player.look.variant = *variant;
            }
            PlayerWish::WalkingStyle(style) => player.look.walking_style = *style,
            PlayerWish::Skills(skills) => player.skills = *skills,
            PlayerWish::GiveWeapon { weapon, ammo } => player.give(*weapon, *ammo),
            PlayerWish::TakeWeapons => player.weapons.clear(),
            PlayerWish::Rename(name) => player.name = name.as_str().into(),
        }
    }

    /// Plays a wish about a page on the copy; the number of the view, `None` when it can mean nothing.
    pub(crate) fn play_view(&mut self, request: &ViewRequest) -> Option<u16> {
        let views = if self.by_entity(request.entity).is_some() {
            self.by_entity_mut(request.entity).map(|player| &mut player.views)
        } else {
            self.newcomers
                .values_mut()
                .find(|newcomer| newcomer.entity == request.entity)
                .map(|newcomer| &mut newcomer.views)
        };
        request.wish.play(views?, &request.resource)
    }

    /// Plays a wish about the world on the copy.
    pub(crate) const fn play_world(&mut self, request: &WorldRequest) {
        let world = &mut self.world;
        match *request {
            WorldRequest::Time { hours, minutes } => {
                world.hours = hours;
                world.minutes = minutes;
            }
            WorldRequest::RunClock(milliseconds) => world.clock_ms_per_minute = Some(milliseconds),
            WorldRequest::FreezeClock => world.clock_ms_per_minute = None,
            WorldRequest::Weather(weather) => world.weather = weather,
            WorldRequest::GarageDoors(doors) => world.garage_doors = doors,
            WorldRequest::DriveByIntervals(intervals) => world.driveby_intervals = intervals,
            WorldRequest::Weapon(_) => {}
        }
    }

    /// Plays a wish about a thing on the copy.
    pub(crate) fn play_thing(&mut self, request: &ThingRequest) {
        match request {
            ThingRequest::Create(ThingId(id), spec) => {
                let copy = ThingCopy {
                    kind: spec.kind,
                    model: spec.model,
                    position: spec.position,
                    velocity: Vec3::ZERO,
                    heading: spec.heading,
                    area: spec.area,
                    dimension: spec.dimension,
                    data: spec.data.as_bytes().into(),
                };
                self.things.insert(*id, copy);
            }
            ThingRequest::Destroy(ThingId(id)) => {
                self.things.remove(id);
            }
            ThingRequest::Move(ThingId(id), motion) => {
                if let (Some(thing), ThingMotion::Still) = (self.things.get_mut(id), motion) {
                    thing.velocity = Vec3::ZERO;
                }
            }
            ThingRequest::Place {
                thing: ThingId(id),
                position,
                heading,
                area,
                dimension,
            } => {
                if let Some(thing) = self.things.get_mut(id) {
                    thing.position = *position;
                    thing.velocity = Vec3::ZERO;
                    thing.heading = *heading;
                    thing.area = *area;
                    thing.dimension = *dimension;
                }
            }
            ThingRequest::Data(ThingId(id), data) => {
                if let Some(thing) = self.things.get_mut(id) {
                    thing.data = data.as_bytes().into();
                }
            }
        }
    }

    /// Plays a wish about a zone on the copy.
    pub(crate) fn play_zone(&mut self, request: &ZoneRequest) {
        match *request {
            ZoneRequest::Create(ZoneId(id), zone) => {
                self.zones.insert(id, zone);
            }
            ZoneRequest::Destroy(ZoneId(id)) => {
                self.zones.remove(&id);
            }
        }
    }
}

impl PlayerCopy {
    /// A spawn at a point; which one is next of assets/spawns.ron shows only once it is done.
    fn embody(&mut self, point: Option<&SpawnPoint>) {
        self.phase = Phase::Spawned;
        self.vitals = Vitals::default();
        self.weapons.clear();
        let Some(point) = point else { return };
        self.motion.position = point.position;
        self.motion.velocity = Vec3::ZERO;
        self.motion.heading = point.heading;
        self.motion.area = point.area;
        self.look.skin = point.skin;
        self.look.variant = point.variant;
        self.weapons.clone_from(&point.weapons);
    }

    fn give(&mut self, weapon: u8, ammo: u16) {
        if let Some(held) = self.weapons.iter_mut().find(|held| held.weapon == weapon) {
            held.ammo = held.ammo.saturating_add(ammo);
        } else if self.weapons.len() < MAX_WEAPON_SLOTS {
            self.weapons.push(WeaponAmmo { weapon, ammo });
        }
    }
}
