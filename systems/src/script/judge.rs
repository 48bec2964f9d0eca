//! The scripts as the ones who answer what the simulation asks within a tick.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bevy_ecs::{entity::Entity, resource::Resource, world::World};
use decitick_components::{
    gamemode::{Hit, Judge, RejectText, SpawnVerdict},
    script::ResourceName,
};

use super::{
    host::{Host, ResourceReport, Settled},
    sync::sync_now,
};

/// The host, shared between its systems and the one who answers. The tick is the only thread that takes the lock, and
/// takes it once at a time.
#[derive(Resource, Clone)]
pub struct ScriptHost(Arc<Mutex<Host>>);

impl ScriptHost {
    /// Every resource and what it cost.
    #[must_use]
    pub fn reports(&self) -> Vec<ResourceReport> {
        self.lock().reports()
    }

    pub(crate) fn new(host: Host) -> Self {
        Self(Arc::new(Mutex::new(host)))
    }

    /// Whether a resource is there, running or paused.
    pub(crate) fn is_started(&self, name: &ResourceName) -> bool {
        self.lock().is_started(name)
    }

    /// Asks for a resource to be read, for a console request; false when it is being read already.
    pub(crate) fn load(&self, name: &ResourceName, asker: u64) -> bool {
        let mut host = self.lock();
        let fresh = !host.is_loading(name);
        if fresh {
            host.load(name, Some(asker));
        }
        fresh
    }

    /// Stops a resource and first those that need it; everybody who stopped.
    pub(crate) fn stop(&self, name: &ResourceName) -> Vec<ResourceName> {
        self.lock().stop(name)
    }

    /// Runs one expression for the operator; its value as text.
    pub(crate) fn eval(&self, world: &mut World, text: &str) -> Result<String, String> {
        let mut host = self.lock();
        sync_now(world, &mut host.desk());
        host.eval(text)
    }

    /// Console commands that are answered now.
    pub(crate) fn take_settled(&self) -> Vec<Settled> {
        self.lock().take_settled()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Host> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the resources.
pub(crate) struct ScriptJudge(pub ScriptHost);

impl Judge for ScriptJudge {
    fn player_connecting(&mut self, name: &str, ip: IpAddr) -> Result<(), RejectText> {
        self.0.lock().player_connecting(name, ip)
    }

    fn player_requests_spawn(&mut self, player: Entity) -> SpawnVerdict {
        self.0.lock().player_requests_spawn(player)
    }

    fn player_damage(&mut self, hit: &Hit) -> Option<u16> {
        self.0.lock().player_damage(hit)
    }
}
