//! The stand-in's weapons, hits, deaths and the one thing it shows.

use std::net::SocketAddr;
use std::time::Duration;

use decitick_protocol::*;

use super::Server;

/// Least time between two shots of the weapon it gives.
pub(in super::super) const INTERVAL_MS: u16 = 200;
const PISTOL: u8 = 24;
const THING: u32 = 70_000;

impl Server {
    /// Gives a new body what a fighter and an onlooker have; true when the player had a body before, so that it is seen
    /// already.
    pub(super) fn equip(&mut self, now: Duration, to: SocketAddr) -> bool {
        if self.behaviour.things {
            let spawn = EntitySpawn {
                entity_id: THING,
                kind: EntityKind::Vehicle,
                model: 1,
                position: Vec3::ZERO,
                heading: 0.0,
                area: 0,
                data: EntityPayload::nil(),
            };
            self.send_event(now, to, spawn);
            let data = EntityData {
                entity_id: THING,
                data: EntityPayload::nil(),
            };
            self.send_event(now, to, data);
            let run = RunClock {
                running: true,
                ms_per_minute: 10,
            };
            self.send_event(now, to, run);
        }
        if !self.behaviour.fights {
            return false;
        }
        let table = WeaponProperties {
            weapons: vec![WeaponProperty {
                weapon: PISTOL,
                damage: 50,
                range: 100.0,
                interval_ms: INTERVAL_MS,
            }],
        };
        let weapons = SetWeapons {
            weapons: vec![WeaponAmmo {
                weapon: PISTOL,
                ammo: 500,
            }],
        };
        let fresh = SetVitals {
            health: 100,
            armour: 0,
        };
        self.send_event(now, to, table);
        self.send_event(now, to, weapons);
        self.send_event(now, to, fresh);
        let session = self.sessions.get_mut(&to).unwrap();
        session.health = 100;
        std::mem::replace(&mut session.was_spawned, true)
    }

    pub(super) fn take_hit(&mut self, now: Duration, from: SocketAddr, hit: HitReport) {
        let target = self
            .sessions
            .iter()
            .find(|(_, session)| session.player == (hit.target_id, hit.target_token) && session.spawned)
            .map(|(address, _)| *address);
        let shooter = &self.sessions[&from];
        let armed = shooter.last_frame.filter(|frame| frame.weapon == PISTOL);
        let good = hit.weapon == PISTOL && armed.is_some_and(|frame| frame.position == hit.origin);
        let killer = shooter.player;
        let Some(address) = target.filter(|address| good && *address != from) else {
            self.seen.lock().unwrap().bad_hits += 1;
            return;
        };
        self.seen.lock().unwrap().good_hits += 1;
        let session = self.sessions.get_mut(&address).unwrap();
        session.health = session.health.saturating_sub(50);
        let vitals = SetVitals {
            health: session.health,
            armour: 0,
        };
        let dies = session.health == 0;
        session.spawned = !dies;
        self.send_event(now, address, vitals);
        if dies {
            self.seen.lock().unwrap().deaths += 1;
            let death = PlayerDeath {
                player_id: hit.target_id,
                player_token: hit.target_token,
                killer_id: killer.0,
                killer_token: killer.1,
                weapon: hit.weapon,
            };
            let addresses: Vec<SocketAddr> = self.sessions.keys().copied().collect();
            for address in addresses {
                self.send_event(now, address, death);
            }
        }
    }

    pub(super) fn move_thing(&mut self, to: SocketAddr) {
        if !self.behaviour.things || !self.sessions[&to].spawned {
            return;
        }
        let frame = EntityFrame {
            entity_id: THING,
            tick: self.ticks,
            position: Vec3::new(self.ticks as f32, 0.0, 0.0),
            velocity: Vec3::new(10.0, 0.0, 0.0),
            heading: 0.0,
        };
        let sync = EntitySync {
            entities: vec![frame],
        };
        self.send_packet(to, &ServerPacket::EntitySync(sync));
    }
}
