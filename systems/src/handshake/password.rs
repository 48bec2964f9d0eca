//! The server's password: its key is derived by a worker, the newest request wins, and players who are on are
//! not affected (docs/protocol.md 1.4).

use bevy_ecs::reflect::ReflectResource;
use bevy_ecs::{
    resource::Resource,
    system::{Res, ResMut},
    world::World,
};
use bevy_reflect::Reflect;
use decitick_components::{
    admission::ServerPassword,
    settings::Settings,
    worker::{WorkerOutbox, WorkerRequest},
};
use decitick_protocol::Password;

/// Numbers the requests for a derivation.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource)]
pub(super) struct PasswordRequests(u64);

/// Asks for the key of the configured password when the server starts.
pub(super) fn derive_configured(
    settings: Res<'_, Settings>,
    mut requests: ResMut<'_, PasswordRequests>,
    mut password: ResMut<'_, ServerPassword>,
    mut worker: ResMut<'_, WorkerOutbox>,
) {
    // Settings were validated; a text that is no password would mean that nobody gets in, never that everybody does.
    let Some(text) = &settings.password else { return };
    requests.0 += 1;
    *password = ServerPassword::Deriving { request: requests.0 };
    if let Ok(configured) = Password::parse(text.expose()) {
        worker.0.push(WorkerRequest::DerivePassword {
            request: requests.0,
            password: configured,
        });
    }
}

/// Sets or clears the password from now on. While the key of a new one is derived, new hellos get no answer.
pub fn request_password(world: &mut World, wanted: Option<Password>) {
    world.init_resource::<PasswordRequests>();
    let mut requests = world.resource_mut::<PasswordRequests>();
    requests.0 += 1;
    let request = requests.0;
    match wanted {
        None => *world.resource_mut::<ServerPassword>() = ServerPassword::None,
        Some(password) => {
            *world.resource_mut::<ServerPassword>() = ServerPassword::Deriving { request };
            world
                .resource_mut::<WorkerOutbox>()
                .0
                .push(WorkerRequest::DerivePassword { request, password });
        }
    }
}
