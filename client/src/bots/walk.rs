//! How a bot moves: from its spawn point, at a walking pace, in a plane. It knows no packet but the frame it fills in.

use std::f32::consts::PI;

use decitick_protocol::{POSITION_LIMIT, PlayerSync, Vec3, normalise_heading};

use super::random::Random;

/// Fastest a bot walks, in metres per second.
pub(super) const MAX_SPEED: f32 = 5.0;
/// How far a random walk leads from the spawn point, in metres.
const RANGE: f32 = 250.0;
/// How close a crowd gathers, in metres from its meeting point.
const CROWD_RADIUS: f32 = 5.0;

/// Where bots walk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WalkKind {
    /// Apart, each in directions of its own, within 250 m of its spawn point.
    #[default]
    Random,
    /// Nowhere: the same frame again and again.
    Still,
    /// All to the place where the first bot spawned, and about it.
    Crowd,
}

impl WalkKind {
    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Still => "still",
            Self::Crowd => "crowd",
        }
    }
}

/// One bot's body.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    kind: WalkKind,
    random: Random,
    home: Vec3,
    position: Vec3,
    heading: f32,
    speed: f32,
    area: u8,
}

impl Walk {
    /// A body that stands at its spawn point.
    pub(super) fn new(kind: WalkKind, position: Vec3, heading: f32, area: u8, seed: u64) -> Self {
        let mut walk = Self {
            kind,
            random: Random::new(seed),
            home: position,
            position,
            heading,
            speed: 0.0,
            area,
        };
        if kind != WalkKind::Still {
            walk.heading = walk.random.between(-PI, PI);
            walk.speed = walk.random.between(1.5, MAX_SPEED);
        }
        walk
    }

    /// Moved by the server: the walk goes on from there.
    pub(super) const fn place(&mut self, position: Vec3, heading: f32, area: u8) {
        self.home = position;
        self.position = position;
        self.heading = heading;
        self.area = area;
    }

    /// Where it stands, and in which area.
    pub(super) const fn place_now(&self) -> (Vec3, u8) {
        (self.position, self.area)
    }

    /// Walks for `seconds`, a crowd towards `meeting`, and gives the frame of where that leads, with `weapon` in hand. It
    /// looks at `look`, and without that where it goes. The frame's `seq` is the client's business.
    pub(super) fn step(
        &mut self,
        seconds: f32,
        meeting: Option<Vec3>,
        look: Option<Vec3>,
        weapon: u8,
    ) -> PlayerSync {
        match self.kind {
            WalkKind::Still => {}
            WalkKind::Random => self.roam(self.home, RANGE),
            WalkKind::Crowd => self.roam(meeting.unwrap_or(self.home), CROWD_RADIUS),
        }
        let velocity = Vec3::new(
            -self.heading.sin() * self.speed,
            self.heading.cos() * self.speed,
            0.0,
        );
        self.position = Vec3::new(
            within(self.position.x + velocity.x * seconds),
            within(self.position.y + velocity.y * seconds),
            self.position.z,
        );
        PlayerSync {
            seq: 0,
            position: self.position,
            velocity,
            heading: look.map_or(self.heading, |at| self.heading_to(at)),
            area: self.area,
            keys: u16::from(self.speed > 0.0),
            weapon,
            stance: 0,
        }
    }

    /// The heading that looks at a place; of the very place it stands on, the one it has.
    fn heading_to(&self, at: Vec3) -> f32 {
        let (to_x, to_y) = (at.x - self.position.x, at.y - self.position.y);
        if to_x.hypot(to_y) < 0.01 {
            return self.heading;
        }
        normalise_heading((-to_x).atan2(to_y))
    }

    /// Turns a little at random, and back towards `centre` when too far from it. Heading 0 looks along +y and grows
    /// counter-clockwise.
    fn roam(&mut self, centre: Vec3, radius: f32) {
        let (to_x, to_y) = (centre.x - self.position.x, centre.y - self.position.y);
        let turned = if to_x.hypot(to_y) > radius {
            (-to_x).atan2(to_y) + self.random.between(-0.3, 0.3)
        } else {
            self.heading + self.random.between(-0.2, 0.2)
        };
        self.heading = normalise_heading(turned);
    }
}

const fn within(component: f32) -> f32 {
    component.clamp(-POSITION_LIMIT, POSITION_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAWN: Vec3 = Vec3::new(100.0, -50.0, 13.0);

    fn distance(from: Vec3, to: Vec3) -> f32 {
        (from.x - to.x).hypot(from.y - to.y)
    }

    #[test]
    fn no_step_is_faster_than_5_m_per_s_and_every_frame_is_well_formed() {
        for kind in [WalkKind::Random, WalkKind::Crowd, WalkKind::Still] {
            let mut walk = Walk::new(kind, SPAWN, 1.0, 2, 3);
            let mut last = SPAWN;
            for _ in 0..5_000 {
                let frame = walk.step(0.1, Some(Vec3::ZERO), None, 0);
                assert!(distance(frame.position, last) <= MAX_SPEED * 0.1 + 1e-3);
                assert!(frame.velocity.x.hypot(frame.velocity.y) <= MAX_SPEED + 1e-4);
                assert!((-PI..PI).contains(&frame.heading) && frame.position.z == 13.0 && frame.area == 2);
                last = frame.position;
            }
        }
    }

    #[test]
    fn a_random_walk_moves_and_stays_in_reach_of_its_spawn_point() {
        let mut walk = Walk::new(WalkKind::Random, SPAWN, 0.0, 0, 11);
        let farthest = (0..20_000)
            .map(|_| distance(walk.step(0.1, None, None, 0).position, SPAWN))
            .fold(0.0, f32::max);
        assert!((20.0..RANGE + 10.0).contains(&farthest), "{farthest}");
    }

    #[test]
    fn a_crowd_gathers_at_its_meeting_point_and_keeps_moving() {
        let mut walk = Walk::new(WalkKind::Crowd, SPAWN, 0.0, 0, 5);
        let meeting = Vec3::new(0.0, 0.0, 13.0);
        for _ in 0..2_000 {
            walk.step(0.1, Some(meeting), None, 0);
        }
        let mut last = walk.position;
        for _ in 0..200 {
            let frame = walk.step(0.1, Some(meeting), None, 0);
            assert!(distance(frame.position, meeting) < 15.0);
            assert_ne!(frame.position, last);
            last = frame.position;
        }
    }

    #[test]
    fn a_still_bot_repeats_its_frame_and_goes_where_the_server_puts_it() {
        let mut walk = Walk::new(WalkKind::Still, SPAWN, 1.0, 0, 5);
        assert_eq!(walk.step(0.1, None, None, 0), walk.step(0.1, None, None, 0));
        walk.place(Vec3::ZERO, 0.5, 1);
        let frame = walk.step(0.1, None, None, 0);
        assert_eq!((frame.position, frame.heading, frame.area), (Vec3::ZERO, 0.5, 1));
    }

    #[test]
    fn a_bot_looks_at_its_target_while_it_walks_on_and_shows_its_weapon() {
        let mut walk = Walk::new(WalkKind::Random, Vec3::ZERO, 0.0, 0, 11);
        let mut blind = walk.clone();
        let frame = walk.step(0.1, None, Some(Vec3::new(-100.0, 0.0, 0.0)), 24);
        assert!(
            (frame.heading - PI / 2.0).abs() < 0.02,
            "west is a quarter turn: {}",
            frame.heading
        );
        let unseeing = blind.step(0.1, None, None, 0);
        assert_eq!(
            (frame.position, frame.velocity),
            (unseeing.position, unseeing.velocity)
        );
        assert_eq!((frame.weapon, unseeing.weapon), (24, 0));
        let (here, _) = walk.place_now();
        let mut still = Walk::new(WalkKind::Still, here, 1.0, 0, 5);
        assert_eq!(still.step(0.1, None, Some(here), 0).heading, 1.0);
    }

    #[test]
    fn a_walk_never_leaves_the_range_of_the_wire() {
        let mut walk = Walk::new(WalkKind::Random, Vec3::new(POSITION_LIMIT, 0.0, 0.0), 0.0, 0, 5);
        assert!((0..1_000).all(|_| walk.step(0.1, None, None, 0).position.is_within(POSITION_LIMIT)));
    }
}
