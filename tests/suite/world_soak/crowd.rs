//! People who walk about, talk, shoot, die, come and go, and a world that does things to them.

use decitick_client::client::Fault;
use decitick_components::{
    body::Space,
    requests::{PlayerWish, ThingRequest, WorldRequest},
    session::PlayerToken,
    thing::{ThingId, ThingMotion, ThingSpec},
    zone::{Zone, ZoneShape},
};
use decitick_protocol::{EntityKind, EntityPayload, HitReport, PlayerName, PlayerSync, Vec3};

use crate::sim::{Random, Sim, ground};

/// How far from the middle somebody walks.
const HALF: f32 = 400.0;
const THINGS: usize = 20;
const ZONES: u8 = 10;

pub(super) struct Crowd {
    random: Random,
    size: usize,
    named: usize,
    /// Where each player walks to: a step per tick.
    steps: Vec<(f32, f32)>,
    things: Vec<ThingId>,
}

impl Crowd {
    pub(super) fn new(size: usize) -> Self {
        Self {
            random: Random::new(5),
            size,
            named: 0,
            steps: Vec::new(),
            things: Vec::new(),
        }
    }

    /// Things that move and zones, in both areas and both dimensions.
    pub(super) fn furnish(&mut self, sim: &mut Sim) {
        for _ in 0..THINGS {
            self.make_thing(sim);
        }
        for n in 0..ZONES {
            let centre = self.place();
            let space = Space {
                dimension: u32::from(n % 2),
                area: (n / 2) % 2,
            };
            let shape = if n % 3 == 0 {
                let far = Vec3::new(centre.x + 200.0, centre.y + 100.0, centre.z + 5.0);
                ZoneShape::between(centre, far)
            } else {
                ZoneShape::Sphere {
                    centre,
                    radius: 120.0,
                }
            };
            sim.make_zone(Zone { space, shape });
        }
    }

    /// What happens before a tick.
    pub(super) fn act(&mut self, sim: &mut Sim) {
        self.come_and_go(sim);
        for index in 0..sim.players.len() {
            if !sim.players[index].unplugged && is_held(sim, index) {
                self.live(sim, index);
            }
        }
        self.rule(sim);
    }

    /// Everybody stands still; who is dead stays so.
    pub(super) fn rest(&mut self, sim: &mut Sim) {
        for player in &mut sim.players {
            player.events.clear();
        }
        // Even things come to rest, so that the last frame of each has long arrived.
        for &thing in &self.things {
            sim.wish_thing(ThingRequest::Move(thing, ThingMotion::Still));
        }
    }

    fn come_and_go(&mut self, sim: &mut Sim) {
        let there = sim
            .players
            .iter()
            .filter(|player| player.end().is_none() && !player.unplugged)
            .count();
        if there < self.size && (there < self.size / 2 || self.random.chance(20)) {
            let name = format!("Walker {}", self.named);
            self.named += 1;
            let index = sim.join(&name);
            // The oracle knows from the bytes that left that no such frame was sent.
            sim.players[index].excuses = vec![Fault::FramesAfterStreamOut, Fault::EntityFramesAfterDespawn];
        }
        if there >= self.size && self.random.chance(5) {
            let index = self.pick(sim.players.len());
            let player = &mut sim.players[index];
            if self.random.chance(30) {
                player.unplugged = true;
            } else {
                player.client.bye();
            }
        }
    }

    fn live(&mut self, sim: &mut Sim, index: usize) {
        let player = &mut sim.players[index];
        player.events.clear();
        if !player.client.is_spawned() {
            if self.random.chance(10) {
                player.client.request_spawn();
            }
            return;
        }
        self.walk(sim, index);
        if self.random.chance(5) {
            self.shoot(sim, index);
        }
        if self.random.below(400) == 0 {
            // A full lane has no room for chat; that is no fault.
            let _ = sim.players[index].client.send_chat("anybody there?");
        }
    }

    fn walk(&mut self, sim: &mut Sim, index: usize) {
        self.steps
            .resize(sim.players.len().max(self.steps.len()), (1.0, 0.5));
        if self.random.chance(3) {
            self.steps[index] = (self.between(-2.0, 2.0), self.between(-2.0, 2.0));
        }
        let last = sim.players[index].client.last_frame().copied();
        let (place, mut area) =
            last.map_or_else(|| (sim.position(index), 0), |frame| (frame.position, frame.area));
        if self.random.below(300) == 0 {
            area = 1 - area.min(1);
        }
        let (x, y) = self.steps[index];
        let frame = PlayerSync {
            seq: 0,
            position: ground((place.x + x).clamp(-HALF, HALF), (place.y + y).clamp(-HALF, HALF)),
            velocity: Vec3::new(x * 10.0, y * 10.0, 0.0),
            heading: self.between(-3.0, 3.0),
            area,
            keys: 0,
            weapon: 22,
            stance: 0,
        };
        sim.players[index].client.sync(frame).expect("it has a body");
    }

    fn shoot(&mut self, sim: &mut Sim, index: usize) {
        let client = &sim.players[index].client;
        let (Some(frame), Some(roster)) = (client.last_frame(), client.roster()) else {
            return;
        };
        let origin = frame.position;
        let in_sight: Vec<(u32, u32, Vec3)> = roster
            .in_view()
            .map(|(id, player, sighting)| (id, player.player_token(), sighting.position))
            .collect();
        if in_sight.is_empty() {
            return;
        }
        let (target_id, target_token, hit) = in_sight[self.pick(in_sight.len())];
        let report = HitReport {
            target_id,
            target_token,
            weapon: [22, 30, 34][self.pick(3)],
            body_part: u8::try_from(self.random.below(7)).unwrap(),
            origin,
            hit,
        };
        // Who shoots with what it has not got, or over a full lane, is told so by its own client.
        let _ = sim.players[index].client.report_hit(report);
    }

    /// What a gamemode does now and then.
    fn rule(&mut self, sim: &mut Sim) {
        if self.random.chance(40) {
            let index = self.pick(sim.players.len().max(1));
            if is_held(sim, index) {
                let wish = self.wish();
                sim.wish(index, wish);
            }
        }
        if self.random.chance(3) {
            let thing = self.pick(self.things.len());
            let id = self.things.swap_remove(thing);
            sim.wish_thing(ThingRequest::Destroy(id));
            self.make_thing(sim);
        }
        if self.random.chance(10) {
            let index = self.pick(self.things.len());
            let request = self.thing_wish(sim, self.things[index]);
            sim.wish_thing(request);
        }
        if self.random.chance(2) {
            let weather = u8::try_from(self.random.below(20)).unwrap();
            sim.wish_world(WorldRequest::Weather(weather));
        }
    }

    fn wish(&mut self) -> PlayerWish {
        match self.random.below(12) {
            0..=3 => PlayerWish::Dimension(u32::try_from(self.random.below(2)).unwrap()),
            4 => PlayerWish::Teleport {
                position: self.place(),
                heading: None,
                area: Some(u8::try_from(self.random.below(2)).unwrap()),
            },
            5 => PlayerWish::Spawn(None),
            6 => PlayerWish::Health(u8::try_from(self.random.below(3)).unwrap() * 50),
            7 => PlayerWish::Skin(u32::try_from(self.random.below(300)).unwrap(), 0),
            8 => PlayerWish::WalkingStyle(u8::try_from(self.random.below(9)).unwrap()),
            9 => {
                let name = format!("Renamed {}", self.random.below(400));
                PlayerWish::Rename(PlayerName::parse(&name).unwrap())
            }
            10 => PlayerWish::TakeWeapons,
            _ => PlayerWish::GiveWeapon { weapon: 30, ammo: 50 },
        }
    }

    fn thing_wish(&mut self, sim: &Sim, thing: ThingId) -> ThingRequest {
        match self.random.below(3) {
            0 => ThingRequest::Move(thing, self.motion(sim)),
            1 => ThingRequest::Place {
                thing,
                position: self.place(),
                heading: 0.0,
                area: u8::try_from(self.random.below(2)).unwrap(),
                dimension: u32::try_from(self.random.below(2)).unwrap(),
            },
            _ => {
                let byte = u8::try_from(self.random.below(128)).unwrap();
                ThingRequest::Data(thing, EntityPayload::parse(vec![byte]).unwrap())
            }
        }
    }

    fn make_thing(&mut self, sim: &mut Sim) {
        let spec = ThingSpec {
            area: u8::try_from(self.random.below(2)).unwrap(),
            dimension: u32::try_from(self.random.below(2)).unwrap(),
            motion: self.motion(sim),
            trigger_radius: Some(20.0),
            ..ThingSpec::new(EntityKind::Vehicle, 411, self.place())
        };
        let id = sim.make_thing(spec);
        self.things.push(id);
    }

    fn motion(&mut self, sim: &Sim) -> ThingMotion {
        match self.random.below(4) {
            0 => ThingMotion::Waypoints {
                points: (0..4).map(|_| self.place()).collect(),
                speed: 20.0,
                looped: true,
                next: 0,
            },
            1 => ThingMotion::Orbit {
                centre: self.place(),
                radius: 60.0,
                speed: 0.3,
                angle: 0.0,
            },
            2 => ThingMotion::to(self.place(), 15.0),
            _ => {
                let index = self.pick(sim.players.len().max(1));
                if is_held(sim, index) {
                    ThingMotion::Follow {
                        player: sim.body(index),
                        distance: 3.0,
                        speed: 12.0,
                    }
                } else {
                    ThingMotion::Still
                }
            }
        }
    }

    fn place(&mut self) -> Vec3 {
        ground(self.between(-HALF, HALF), self.between(-HALF, HALF))
    }

    fn between(&mut self, least: f32, most: f32) -> f32 {
        let share = self.random.below(10_001) as f32 / 10_000.0;
        (most - least).mul_add(share, least)
    }

    fn pick(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).unwrap()
    }
}

/// Whether there is such a player, and the server still holds the session that its client thinks it has.
fn is_held(sim: &Sim, index: usize) -> bool {
    let Some(welcome) = sim.players.get(index).and_then(|player| player.client.welcome()) else {
        return false;
    };
    let id = u16::try_from(welcome.player_id).unwrap();
    sim.entity(id).is_some_and(|entity| {
        let generation = sim.app.world().get::<PlayerToken>(entity);
        generation.is_some_and(|generation| generation.0 == welcome.player_token)
    })
}
