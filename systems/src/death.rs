//! Who died loses its body, and everybody who saw it learns why (docs/protocol.md 2.5).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::{MessageCursor, Messages},
    schedule::IntoScheduleConfigs,
    system::Local,
    world::World,
};
use decitick_components::{
    body::Vitals, combat::Weapons, lane::OutboundLane, messages::PlayerDied, phase::Phase,
};
use decitick_protocol::{PlayerDeath, ServerLaneEvent, SetWeapons};

use crate::{
    lane::broadcast::{encoded, push_critical, tell},
    lookup::identity,
    sight::Vanishing,
    tick::{Tick, TickSystems},
};

/// Takes the bodies of the dead.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeathPlugin;

impl Plugin for DeathPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            take_bodies
                .in_set(TickSystems::Simulate)
                .before(crate::spawn::grant_spawns),
        );
    }
}

/// Killer's id and generation when nobody did it.
const NOBODY: (u32, u32) = (u32::MAX, 0);

/// The dead fall back to PreSpawn. They go on watching from where they fell until they come into the world again.
pub(crate) fn take_bodies(world: &mut World, mut died: Local<'_, MessageCursor<PlayerDied>>) {
    let deaths: Vec<PlayerDied> = died
        .read(world.resource::<Messages<PlayerDied>>())
        .copied()
        .collect();
    let mut fallen = Vanishing::default();
    for death in deaths {
        take_body(world, &death, &mut fallen);
    }
    fallen.vanish(world);
}

fn take_body(world: &mut World, death: &PlayerDied, fallen: &mut Vanishing) {
    if world.get::<Phase>(death.entity) != Some(&Phase::Spawned) {
        return;
    }
    let Some((player, generation)) = identity(world, death.entity) else {
        return;
    };
    let (killer_id, killer_token) = death
        .killer
        .and_then(|killer| identity(world, killer))
        .map_or(NOBODY, |(id, token)| (u32::from(id.0), token.0));
    let news = PlayerDeath {
        player_id: u32::from(player.0),
        player_token: generation.0,
        killer_id,
        killer_token,
        weapon: death.weapon,
    };
    let news = encoded(&ServerLaneEvent::PlayerDeath(news), false);
    fallen.add(player, generation, Some(news.clone()));
    let mut body = world.entity_mut(death.entity);
    body.insert(Phase::PreSpawn);
    if let Some(mut vitals) = body.get_mut::<Vitals>() {
        vitals.health = 0;
        vitals.armour = 0;
    }
    let disarmed = body
        .get_mut::<Weapons>()
        .is_some_and(|mut weapons| weapons.clear());
    if let Some(mut lane) = body.get_mut::<OutboundLane>() {
        push_critical(&mut lane, &news);
        if disarmed {
            let none = SetWeapons { weapons: Vec::new() };
            tell(&mut lane, &ServerLaneEvent::SetWeapons(none));
        }
    }
}
