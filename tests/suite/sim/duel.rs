//! Two players who face each other, armed, and what a shot between them changes.

use decitick_components::{
    body::Vitals,
    combat::{HitRefusal, HitTally, ShotCredit, Weapon, WeaponTable, Weapons},
    lane::InboundLane,
    phase::Phase,
    script::Stopwatch,
    session::SessionToken,
};
use decitick_protocol::{
    ClientLaneEvent, ClientPacket, HitReport, ServerLaneEvent, ServerPacket, ViewState, ViewStatus,
};

use super::{LossyLink, Setup, Sim, spawn_point, spawns};

pub(crate) const PISTOL: u8 = 22;
pub(crate) const SHOTGUN: u8 = 25;
/// In the table, but in nobody's hands.
pub(crate) const RIFLE: u8 = 30;
pub(crate) const SNIPER: u8 = 34;

/// A pistol of 20 points, 35 m and four shots a second; a shotgun of five pellets of 10 points; a sniper rifle that
/// kills.
pub(crate) fn weapon_table() -> WeaponTable {
    let weapon = |id, damage, range, interval_ms, clip, pellets| Weapon {
        id,
        name: format!("Weapon {id}"),
        damage,
        range,
        interval_ms,
        clip,
        pellets,
    };
    WeaponTable::new(vec![
        weapon(0, 5, 1.6, 250, 0, 1),
        weapon(PISTOL, 20, 35.0, 250, 17, 1),
        weapon(SHOTGUN, 10, 40.0, 1000, 1, 5),
        weapon(RIFLE, 10, 70.0, 100, 30, 1),
        weapon(SNIPER, 150, 300.0, 1000, 1, 1),
    ])
}

/// What both hold: weapon and rounds.
pub(crate) const ARMS: [(u8, u16); 3] = [(PISTOL, 50), (SHOTGUN, 5), (SNIPER, 10)];

/// A shooter at the origin and a target 20 m east of it.
pub(crate) struct Duel {
    pub(crate) sim: Sim,
    pub(crate) shooter: usize,
    pub(crate) target: usize,
}

/// Everything a shot may change.
#[derive(Clone, Debug, PartialEq)]
struct State {
    tally: HitTally,
    fighters: Vec<(Phase, Vitals, Weapons, ShotCredit)>,
}

impl Duel {
    pub(crate) fn new() -> Self {
        Self::over(LossyLink::default())
    }

    /// Over a link that is the same both ways.
    pub(crate) fn over(link: LossyLink) -> Self {
        Self::with(link, Stopwatch::default())
    }

    /// With a stopwatch for scripts.
    pub(crate) fn timed(stopwatch: Stopwatch) -> Self {
        Self::with(LossyLink::default(), stopwatch)
    }

    fn with(link: LossyLink, stopwatch: Stopwatch) -> Self {
        let setup = Setup {
            stopwatch,
            spawns: spawns(vec![spawn_point(0.0, 0.0, &ARMS), spawn_point(20.0, 0.0, &ARMS)]),
            weapons: weapon_table(),
            ..Setup::default()
        };
        let mut sim = Sim::with(setup);
        sim.up = link.clone();
        sim.down = link;
        let (shooter, target) = (sim.join_now("Shooter"), sim.join_now("Target"));
        sim.players[shooter].stand_at(0.0, 0.0);
        sim.players[target].stand_at(20.0, 0.0);
        sim.ticks(12);
        Self { sim, shooter, target }
    }

    /// A pistol shot at the torso that counts.
    pub(crate) fn shot(&self) -> HitReport {
        let target = &self.sim.players[self.target];
        HitReport {
            target_id: u32::from(target.id()),
            target_token: target.generation(),
            weapon: PISTOL,
            body_part: 0,
            origin: self.sim.position(self.shooter),
            hit: self.sim.position(self.target),
        }
    }

    /// Puts a report on the shooter's lane, also one that a client of good manners would not send.
    pub(crate) fn report(&mut self, report: HitReport) {
        self.sim.players[self.shooter]
            .client
            .send_lane(&ClientLaneEvent::HitReport(report))
            .expect("room on the lane");
    }

    /// Reports a shot, which is judged in one tick.
    pub(crate) fn fire(&mut self, report: HitReport) {
        self.report(report);
        self.sim.tick();
    }

    /// Lets a report arrive behind a gap in the shooter's lane; the event that fills the gap is returned.
    pub(crate) fn held_back(&mut self, report: HitReport) -> Vec<Vec<u8>> {
        let shooter = &self.sim.players[self.shooter];
        let address = shooter.address;
        let entity = self.sim.body(self.shooter);
        let world = self.sim.app.world();
        let session_token = *world.get::<SessionToken>(entity).unwrap().0.expose();
        let delivered = self
            .sim
            .app
            .world()
            .get::<InboundLane>(entity)
            .unwrap()
            .delivered();
        let datagram = |event_id, event| {
            let mut out = Vec::new();
            ClientPacket::Lane {
                session_token,
                event_id,
                event,
            }
            .encode(&mut out);
            out
        };
        let gap = ClientLaneEvent::ViewStatus(ViewStatus {
            view_id: 1,
            status: ViewState::Closed,
        });
        let late = datagram(delivered + 2, ClientLaneEvent::HitReport(report));
        self.sim.knock(address, &late);
        vec![datagram(delivered + 1, gap)]
    }

    /// Fills a gap, so that what waited behind it is judged in one tick.
    pub(crate) fn release(&mut self, gap: Vec<Vec<u8>>) {
        let address = self.sim.players[self.shooter].address;
        for datagram in gap {
            self.sim.knock(address, &datagram);
        }
        self.sim.tick();
    }

    pub(crate) fn counted(&self) -> u64 {
        self.sim.hits().counted
    }

    /// The report is refused for this reason, counted once, and nothing else has changed; nobody is told anything.
    pub(crate) fn expect_refused(&mut self, report: HitReport, reason: HitRefusal) {
        let mut expected = self.state();
        self.fire(report);
        expected.tally.refuse(reason);
        assert_eq!(self.state(), expected, "refused as {reason}");
        assert_eq!(told_of_a_hit(&self.sim), 0, "nobody is told of {reason}");
    }

    /// The report counts.
    pub(crate) fn expect_counted(&mut self, report: HitReport) {
        let mut expected = self.sim.hits().clone();
        self.fire(report);
        expected.counted += 1;
        assert_eq!(self.sim.hits(), &expected);
    }

    fn state(&self) -> State {
        let fighters = self
            .sim
            .players
            .iter()
            .filter(|player| player.client.welcome().is_some())
            .map(|player| {
                let id = player.id();
                (
                    *self.sim.component::<Phase>(id),
                    *self.sim.component::<Vitals>(id),
                    self.sim.component::<Weapons>(id).clone(),
                    *self.sim.component::<ShotCredit>(id),
                )
            })
            .collect();
        State {
            tally: self.sim.hits().clone(),
            fighters,
        }
    }
}

/// How many lane events of the last tick tell of a hit.
fn told_of_a_hit(sim: &Sim) -> usize {
    sim.sent()
        .iter()
        .filter(|(_, datagram)| {
            matches!(
                ServerPacket::decode(datagram),
                Ok(ServerPacket::Lane {
                    event: ServerLaneEvent::SetVitals(_)
                        | ServerLaneEvent::PlayerDeath(_)
                        | ServerLaneEvent::SetWeapons(_),
                    ..
                })
            )
        })
        .count()
}
