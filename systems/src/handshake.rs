//! The handshake on the tick: hellos with a valid cookie are judged one by one, in order of arrival, and
//! newcomers are told of the world (docs/protocol.md 1.4, 1.5).

mod admit;
mod checks;
mod password;
mod refuse;
mod welcome;

use bevy_app::{App, Plugin, Startup};
use bevy_ecs::schedule::IntoScheduleConfigs;

use crate::tick::{Tick, TickSystems};

pub use password::request_password;
pub(crate) use welcome::{Newcomers, tell_newcomers, tell_of_newcomers};

/// Adds the systems of [`TickSystems::Admit`].
#[derive(Clone, Copy, Debug, Default)]
pub struct HandshakePlugin;

impl Plugin for HandshakePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, password::derive_configured)
            .init_resource::<password::PasswordRequests>()
            .init_resource::<Newcomers>()
            .add_systems(
                Tick,
                (admit::admit_hellos, tell_newcomers, tell_of_newcomers)
                    .chain()
                    .in_set(TickSystems::Admit),
            );
    }
}

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    app.register_type::<Newcomers>()
        .register_type::<password::PasswordRequests>();
}
