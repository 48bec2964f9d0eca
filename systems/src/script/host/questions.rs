//! What the simulation must know at once: may this one connect, where does that one spawn, how much does a hit take.

use std::net::IpAddr;

use bevy_ecs::entity::Entity as Connection;
use decitick_components::{
    body::Appearance,
    gamemode::{Hit, RejectText, SpawnVerdict},
};
use rhai::{Dynamic, Map};

use super::{Failure, Host, budget::Turn, calls::Target, lock};
use crate::script::{api::spawn_point, types::Player};

impl Host {
    /// May somebody connect? A resource that fails, or is paused, refuses.
    pub(crate) fn player_connecting(&mut self, name: &str, ip: IpAddr) -> Result<(), RejectText> {
        let busy = || RejectText::parse("server is busy").unwrap_or_default();
        for resource in self.order.clone() {
            let Some(instance) = self.instances.get(&resource) else {
                continue;
            };
            if !instance.has("player_connecting") {
                continue;
            }
            if instance.paused {
                return Err(busy());
            }
            let arguments = || vec![name.to_owned().into(), ip.to_string().into()];
            let answer = self.call(
                &resource,
                Turn::Question,
                Target::Handler("player_connecting"),
                arguments,
                |value, _| match value.clone().into_immutable_string() {
                    Ok(text) => RejectText::parse(&text)
                        .map(Some)
                        .map_err(|error| format!("player_connecting: the text of a refusal: {error}")),
                    Err(_) => Ok(None),
                },
            );
            match answer {
                Ok(None) => {}
                Ok(Some(text)) => return Err(text),
                Err(Failure::NotNow) => return Err(busy()),
                Err(Failure::Failed) => return Err(RejectText::default()),
            }
        }
        Ok(())
    }

    /// Where does a player come into the world?
    pub(crate) fn player_requests_spawn(&mut self, connection: Connection) -> SpawnVerdict {
        let Some((player, look)) = self.who(connection) else {
            return SpawnVerdict::Usual;
        };
        for resource in self.order.clone() {
            let asked = self
                .instances
                .get(&resource)
                .is_some_and(|instance| instance.answers("player_request_spawn"));
            if !asked {
                continue;
            }
            let answer = self.call(
                &resource,
                Turn::Question,
                Target::Handler("player_request_spawn"),
                || vec![Dynamic::from(player)],
                |value, _| {
                    if value.as_bool() == Ok(false) {
                        return Ok(Some(SpawnVerdict::Wait));
                    }
                    value
                        .read_lock::<Map>()
                        .map(|map| {
                            spawn_point(&map, look)
                                .map(SpawnVerdict::At)
                                .map_err(|problem| format!("player_request_spawn: {problem}"))
                        })
                        .transpose()
                },
            );
            match answer {
                Ok(Some(verdict)) => return verdict,
                // Its client asks again.
                Err(Failure::NotNow) => return SpawnVerdict::Wait,
                Ok(None) | Err(Failure::Failed) => {}
            }
        }
        SpawnVerdict::Usual
    }

    /// How much does a hit take? A hit that cannot be judged in time does not happen.
    pub(crate) fn player_damage(&mut self, hit: &Hit) -> Option<u16> {
        let (Some((player, _)), Some((attacker, _))) = (self.who(hit.player), self.who(hit.attacker)) else {
            return Some(hit.amount);
        };
        let mut amount = hit.amount;
        for resource in self.order.clone() {
            let asked = self
                .instances
                .get(&resource)
                .is_some_and(|instance| instance.answers("player_damage"));
            if !asked {
                continue;
            }
            let arguments = || {
                vec![
                    Dynamic::from(player),
                    Dynamic::from(attacker),
                    i64::from(hit.weapon).into(),
                    i64::from(amount).into(),
                ]
            };
            let answer = self.call(
                &resource,
                Turn::Question,
                Target::Handler("player_damage"),
                arguments,
                |value, _| Ok(damage(value)),
            );
            match answer {
                Ok(Damage::Cancelled) | Err(Failure::NotNow) => return None,
                Ok(Damage::Now(other)) => amount = other,
                Ok(Damage::Same) | Err(Failure::Failed) => {}
            }
        }
        Some(amount)
    }

    fn who(&self, connection: Connection) -> Option<(Player, Appearance)> {
        let desk = lock(&self.toolkit.desk);
        desk.mirror.by_entity(connection).map(|copy| {
            let player = Player {
                id: copy.id.0,
                token: copy.token.0,
            };
            (player, copy.look)
        })
    }
}

enum Damage {
    Same,
    Now(u16),
    Cancelled,
}

/// A number is the new amount; what is below nothing is nothing.
fn damage(value: &Dynamic) -> Damage {
    if value.as_bool() == Ok(false) {
        return Damage::Cancelled;
    }
    if let Ok(amount) = value.as_int() {
        return Damage::Now(u16::try_from(amount.clamp(0, i64::from(u16::MAX))).unwrap_or(u16::MAX));
    }
    match value.as_float() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range of the type; what is no number becomes 0"
        )]
        Ok(amount) => Damage::Now(amount.round().clamp(0.0, 65_535.0) as u16),
        Err(_) => Damage::Same,
    }
}
