//! What a peer was told in its session, in the order the server sent it: what a client that loses nothing holds. It
//! refuses whatever no client could make sense of, and is compared with the world while nothing waits in its lane.

use std::{collections::BTreeMap, f32::consts::PI};

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::{
    body::{Appearance, Dimension, Money, Motion, Skills, Space, Vitals, distance},
    combat::{Weapon, WeaponTable, Weapons},
    phase::Phase,
    profile::DisplayName,
    session::{PlayerId, PlayerToken, SlotTable},
    settings::Settings,
    thing::{Placement, ThingBook, ThingData, ThingId},
    view::View,
    world::WorldState,
};
use decitick_protocol::{
    EntityFrame, EntityPayload, NO_KILLER, POSITION_LIMIT, PlayerStreamIn, RemoteFrame, ServerHello,
    ServerLaneEvent, Vec3, WeaponAmmo, WeaponProperty,
};

/// What one session was told.
#[derive(Debug, Default)]
pub struct Told {
    own: (u32, u32),
    players: BTreeMap<u32, Known>,
    seen: BTreeMap<u32, Seen>,
    things: BTreeMap<u32, EntityPayload>,
    look: Appearance,
    vitals: Vitals,
    money: i64,
    weapons: Vec<WeaponAmmo>,
    skills: Option<[u16; 11]>,
    table: BTreeMap<u8, WeaponProperty>,
    weather: Option<u8>,
    running: Option<Option<u16>>,
    intervals: Option<[u16; 12]>,
    doors: Option<u64>,
}

#[derive(Debug)]
struct Known {
    generation: u32,
    name: String,
}

#[derive(Debug)]
struct Seen {
    generation: u32,
    look: Appearance,
    /// Sequence number of the newest frame since it came into view. What it was before does not bind: a client that
    /// leaps on while it is out of view may seem to go back.
    newest: Option<u32>,
}

impl Told {
    /// A session begins.
    pub fn begin(hello: &ServerHello) -> Self {
        Self {
            own: (hello.player_id, hello.player_token),
            ..Self::default()
        }
    }

    /// The generation of the session; 0 before the first.
    pub fn generation(&self) -> u32 {
        self.own.1
    }

    /// Takes the next event of the lane. `issued_now`: it was queued in the tick that ended now, so that the world is
    /// still as it was then.
    pub fn take(&mut self, event: &ServerLaneEvent, issued_now: bool, world: &World) {
        match event {
            ServerLaneEvent::SpawnPlayer(spawn) => {
                placed(spawn.position, spawn.heading);
                self.look.skin = spawn.skin;
                self.look.variant = spawn.variant;
                self.vitals = Vitals::default();
                self.weapons.clear();
            }
            ServerLaneEvent::SetPosition(set) => placed(set.position, set.heading),
            ServerLaneEvent::PlayerJoin(joined) => {
                for row in &joined.players {
                    assert_ne!(row.player_id, self.own.0, "nobody joins its own view");
                    let known = Known {
                        generation: row.player_token,
                        name: row.name.as_str().to_owned(),
                    };
                    if let Some(before) = self.players.insert(row.player_id, known) {
                        assert!(before.generation < row.player_token, "joined twice: {row:?}");
                    }
                }
            }
            ServerLaneEvent::PlayerRename(renamed) => {
                if self.own != (renamed.player_id, renamed.player_token) {
                    let known = self.known(renamed.player_id, renamed.player_token);
                    known.name = renamed.name.as_str().to_owned();
                }
            }
            ServerLaneEvent::PlayerStreamIn(streamed) => self.see(streamed, issued_now, world),
            ServerLaneEvent::PlayerStreamOut(out) => {
                let before = self.seen.remove(&out.player_id);
                let generation = before.map(|seen| seen.generation);
                assert_eq!(generation, Some(out.player_token), "out of no view: {out:?}");
            }
            ServerLaneEvent::PlayerAppearance(shown) => {
                let look = Appearance {
                    skin: shown.skin,
                    variant: shown.variant,
                    walking_style: shown.walking_style,
                };
                if self.own == (shown.player_id, shown.player_token) {
                    self.look = look;
                } else {
                    self.seen_as(shown.player_id, shown.player_token).look = look;
                }
            }
            ServerLaneEvent::PlayerDeath(death) => {
                if self.own == (death.player_id, death.player_token) {
                    self.vitals = Vitals { health: 0, armour: 0 };
                } else {
                    self.seen_as(death.player_id, death.player_token);
                }
                assert!(
                    death.killer_id == NO_KILLER || death.killer_token > 0,
                    "a killer has a generation: {death:?}"
                );
            }
            ServerLaneEvent::EntitySpawn(spawn) => {
                placed(spawn.position, spawn.heading);
                let before = self.things.insert(spawn.entity_id, spawn.data.clone());
                assert!(before.is_none(), "in view already: {spawn:?}");
                if issued_now {
                    near(world, self.own.0, thing_place(world, spawn.entity_id));
                }
            }
            ServerLaneEvent::EntityDespawn(gone) => {
                let before = self.things.remove(&gone.entity_id);
                assert!(before.is_some(), "out of no view: {gone:?}");
            }
            ServerLaneEvent::EntityData(said) => {
                let held = self.things.get_mut(&said.entity_id);
                *held.expect("data of something in view") = said.data.clone();
            }
            ServerLaneEvent::SetVitals(set) => {
                self.vitals.health = set.health;
                self.vitals.armour = set.armour;
            }
            ServerLaneEvent::SetMoney(set) => self.money = set.money,
            ServerLaneEvent::SetWeapons(set) => self.weapons.clone_from(&set.weapons),
            ServerLaneEvent::SetWeather(set) => self.weather = Some(set.weather),
            ServerLaneEvent::RunClock(run) => self.running = Some(run.running.then_some(run.ms_per_minute)),
            ServerLaneEvent::DriveByIntervals(set) => self.intervals = Some(set.intervals),
            ServerLaneEvent::GarageDoors(set) => self.doors = Some(set.doors),
            ServerLaneEvent::SetWalkingStyle(set) => self.look.walking_style = set.style,
            ServerLaneEvent::PlayerSkills(set) => self.skills = Some(set.skills),
            ServerLaneEvent::WeaponProperties(set) => {
                self.table
                    .extend(set.weapons.iter().map(|row| (row.weapon, *row)));
            }
            _ => {}
        }
    }

    fn known(&mut self, id: u32, generation: u32) -> &mut Known {
        let known = self.players.get_mut(&id);
        known
            .filter(|known| known.generation == generation)
            .unwrap_or_else(|| panic!("player {id} of generation {generation} never joined"))
    }

    fn seen_as(&mut self, id: u32, generation: u32) -> &mut Seen {
        let seen = self.seen.get_mut(&id);
        seen.filter(|seen| seen.generation == generation)
            .unwrap_or_else(|| panic!("player {id} of generation {generation} is not in view"))
    }

    fn see(&mut self, streamed: &PlayerStreamIn, issued_now: bool, world: &World) {
        let (id, generation) = (streamed.player_id, streamed.player_token);
        self.known(id, generation);
        placed(streamed.position, streamed.heading);
        assert!(streamed.position.is_within(POSITION_LIMIT), "{streamed:?}");
        assert!(
            (1..=Vitals::MOST).contains(&streamed.health) && streamed.armour <= Vitals::MOST,
            "{streamed:?}"
        );
        let seen = Seen {
            generation,
            look: Appearance {
                skin: streamed.skin,
                variant: streamed.variant,
                walking_style: streamed.walking_style,
            },
            newest: None,
        };
        assert!(
            self.seen.insert(id, seen).is_none(),
            "in view already: {streamed:?}"
        );
        if issued_now {
            near(world, self.own.0, body(world, id));
        }
    }

    /// Takes a frame of a player. `strict`: nothing waits in the lane, so that it is of somebody in view.
    pub fn take_player_frame(&mut self, frame: &RemoteFrame, strict: bool, world: &World) {
        turned(frame.heading);
        assert!(frame.health > 0 && frame.health <= Vitals::MOST, "{frame:?}");
        let own = body(world, self.own.0).expect("who sees is there").0;
        let (space, position) = body(world, frame.player_id).expect("who is seen is there");
        assert_eq!(
            (own, frame.position),
            (space, position),
            "frames are of here and now"
        );
        if strict {
            let seen = self.seen_as(frame.player_id, frame.player_token);
            let behind = seen
                .newest
                .is_some_and(|newest| frame.seq.wrapping_sub(newest) > u32::MAX / 2);
            assert!(!behind, "an older frame than {:?}: {frame:?}", seen.newest);
            seen.newest = Some(frame.seq);
        }
    }

    /// The same for a thing.
    pub fn take_thing_frame(&self, frame: &EntityFrame, strict: bool, world: &World) {
        placed(frame.position, frame.heading);
        let own = body(world, self.own.0).expect("who sees is there").0;
        let (space, position) = thing_place(world, frame.entity_id).expect("what is seen is there");
        assert_eq!(
            (own, frame.position),
            (space, position),
            "frames are of here and now"
        );
        if strict {
            assert!(
                self.things.contains_key(&frame.entity_id),
                "not in view: {frame:?}"
            );
        }
    }

    /// Nothing waits in the lane of `connection`: all that it was told is so.
    pub fn agree(&self, connection: Entity, world: &World) {
        let Ok(own) = world.get_entity(connection) else {
            return;
        };
        let generation = own.get::<PlayerToken>().map(|generation| generation.0);
        assert_eq!(generation, Some(self.own.1), "the session that was told of");
        self.agree_about_others(own.get::<View>().expect("a view"), world);
        if own.get::<Phase>() == Some(&Phase::Spawned) {
            assert_eq!(own.get::<Vitals>(), Some(&self.vitals));
        }
        assert_eq!(own.get::<Appearance>(), Some(&self.look));
        assert_eq!(own.get::<Money>(), Some(&Money(self.money)));
        assert_eq!(own.get::<Skills>().map(|skills| skills.0), self.skills);
        // A client counts the rounds it fires itself; the server takes those that hit.
        let held = own.get::<Weapons>().map_or(&[][..], Weapons::held);
        assert_eq!(held.len(), self.weapons.len());
        for (held, told) in held.iter().zip(&self.weapons) {
            assert!(
                held.weapon == told.weapon && held.ammo <= told.ammo,
                "{held:?} {told:?}"
            );
        }
        let table = world.resource::<WeaponTable>();
        assert!(
            table
                .iter()
                .map(Weapon::property)
                .eq(self.table.values().copied())
        );
        let state = world.resource::<WorldState>();
        assert_eq!(
            (self.weather, self.running, self.intervals, self.doors,),
            (
                Some(state.weather),
                Some(state.clock_ms_per_minute),
                Some(state.driveby_intervals),
                Some(state.garage_doors),
            )
        );
    }

    fn agree_about_others(&self, view: &View, world: &World) {
        let seen: Vec<u32> = view.players.ids().iter().map(|id| u32::from(id.0)).collect();
        assert!(
            self.seen.keys().eq(&seen),
            "{:?} is not the view {seen:?}",
            self.seen
        );
        let things: Vec<u32> = view.things.ids().iter().map(|id| id.0).collect();
        assert!(
            self.things.keys().eq(&things),
            "{:?} is not the view {things:?}",
            self.things
        );
        for (&id, held) in &self.things {
            let data = thing(world, id).and_then(|thing| world.get::<ThingData>(thing));
            assert_eq!(data.map(|data| &data.0), Some(held));
        }
        for (id, entity) in world.resource::<SlotTable>().iter() {
            let id = u32::from(id.0);
            let generation = world
                .get::<PlayerToken>(entity)
                .map_or(0, |generation| generation.0);
            if id != self.own.0 && world.get::<Phase>(entity).is_some_and(|phase| phase.joined()) {
                let known = self.players.get(&id).expect("everybody who joined is known");
                let name = world.get::<DisplayName>(entity).map(ToString::to_string);
                assert_eq!((known.generation, Some(&known.name)), (generation, name.as_ref()));
            }
            if let Some(seen) = self.seen.get(&id) {
                assert_eq!(world.get::<Appearance>(entity), Some(&seen.look));
            }
        }
    }
}

fn placed(position: Vec3, heading: f32) {
    assert!(
        position.is_within(POSITION_LIMIT),
        "{position:?} is out of the world"
    );
    turned(heading);
}

fn turned(heading: f32) {
    assert!((-PI..PI).contains(&heading), "{heading} is no normalised heading");
}

fn body(world: &World, id: u32) -> Option<(Space, Vec3)> {
    let entity = world
        .resource::<SlotTable>()
        .holder(PlayerId(u16::try_from(id).ok()?))?;
    let motion = world.get::<Motion>(entity)?;
    Some((
        Space::of(motion, *world.get::<Dimension>(entity)?),
        motion.position,
    ))
}

fn thing(world: &World, id: u32) -> Option<Entity> {
    world.resource::<ThingBook>().find(ThingId(id))
}

fn thing_place(world: &World, id: u32) -> Option<(Space, Vec3)> {
    let entity = thing(world, id)?;
    let placement = world.get::<Placement>(entity)?;
    Some((
        placement.space(*world.get::<Dimension>(entity)?),
        placement.position,
    ))
}

/// Who or what comes into view is in the viewer's space and within the radius. Somebody whose session ended in the same
/// tick is not there any more.
fn near(world: &World, viewer: u32, subject: Option<(Space, Vec3)>) {
    let (Some(own), Some(subject)) = (body(world, viewer), subject) else {
        return;
    };
    let radius = world.resource::<Settings>().streaming.radius;
    assert!(
        own.0 == subject.0 && distance(own.1, subject.1) <= radius * 1.001,
        "{viewer} at {own:?} was shown {subject:?}"
    );
}
