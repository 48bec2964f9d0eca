//! Gamemodes: resources of scripts that decide what the game is.
//!
//! Scripts run in the step Script of a tick, and where the simulation asks them something (`judge`). They read the world
//! through a copy of it (`mirror`) and leave wishes on a desk (`desk`); whatever they keep, ask for or break stays within
//! their resource. Files, databases and clocks are the shell's: a resource comes in as a [`LoadedResource`].
//!
//! | module | what |
//! | --- | --- |
//! | `api` | every function, property and handler, as a table |
//! | `compile`, `lint` | from text to programs, and all that is wrong with them |
//! | `standard`, `fuse`, `data` | the language's library without its dangers, the limits of a call, values as bytes |
//! | `host`, `instance` | resources come and go, are called, pay |
//! | `fault`, `catalogue` | errors in words, names to suggest |
//! | `hooks`, `sync`, `judge` | the systems of the tick |

mod api;
mod catalogue;
mod compile;
mod data;
mod desk;
mod fault;
mod fuse;
mod hooks;
mod host;
mod instance;
mod judge;
mod lint;
mod loading;
mod mirror;
mod random;
mod reference;
mod standard;
mod state;
mod sync;
mod types;
mod words;

use bevy_app::{App, Plugin};
use bevy_ecs::schedule::IntoScheduleConfigs;
use decitick_components::{
    gamemode::Gamemode,
    script::{MemoryGauge, Stopwatch},
    settings::Settings,
};

use crate::tick::{Tick, TickSystems};
use decitick_components::inspection::InspectApp;

pub(crate) use hooks::{SCRIPT_ASKER, begin_tick};

pub use compile::{Program, compile};
pub use host::{ResourceReport, ResourceState};
pub use instance::Figures;
pub use judge::ScriptHost;
pub use loading::{LoadCause, LoadedResource, PreparedResource, ScriptInbox};
pub use reference::{Example, definitions, examples, reference};

/// Runs gamemodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        let host = ScriptHost::new(host(app));
        app.init_resource::<ScriptInbox>()
            .insert_resource(Gamemode(Box::new(judge::ScriptJudge(host.clone()))))
            .insert_resource(host)
            .add_systems(
                Tick,
                (begin_tick, hooks::note_judge)
                    .chain()
                    .in_set(TickSystems::Receive),
            )
            .add_systems(Tick, hooks::run_scripts.in_set(TickSystems::Script))
            .add_systems(
                Tick,
                (hooks::tell_what_was_asked, hooks::note_judge)
                    .chain()
                    .in_set(TickSystems::Expire)
                    .before(crate::auth::end_waiting),
            )
            .add_systems(
                Tick,
                hooks::finish_scripts
                    .in_set(TickSystems::Expire)
                    .after(crate::expire::end_sessions),
            )
            .add_systems(Tick, hooks::take_console_answers.in_set(TickSystems::Deliver));
    }

    /// The shell's stopwatch and gauge are there by now.
    fn finish(&self, app: &mut App) {
        let host = host(app);
        *app.world().resource::<ScriptHost>().lock() = host;
    }
}

fn host(app: &App) -> host::Host {
    let world = app.world();
    host::Host::new(
        &world.get_resource::<Settings>().cloned().unwrap_or_default(),
        world.get_resource::<Stopwatch>().copied().unwrap_or_default(),
        world.get_resource::<MemoryGauge>().copied().unwrap_or_default(),
    )
}

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    app.keep_secret::<ScriptHost>("what gamemodes keep is theirs; `resource list` shows what runs")
        .keep_secret::<ScriptInbox>("what gamemodes consist of is theirs; `resource list` shows what runs");
}
