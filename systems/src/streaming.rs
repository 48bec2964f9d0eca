//! Who sees whom and what, and the frames of those in view (docs/protocol.md 2.4).
//!
//! The frame of a player or a thing is written once per tick and copied for everybody who sees it. Views are
//! recomputed for a fifth of the viewers per tick, each from a grid of what is near. All storage is kept from tick to
//! tick.

mod choose;
mod frames;
mod stage;
mod views;
mod why;

use bevy_app::{App, Plugin};
use bevy_ecs::schedule::IntoScheduleConfigs;

use crate::tick::{Tick, TickSystems};
use decitick_components::inspection::InspectApp;

pub(crate) use stage::set_stage;
pub(crate) use why::explain;

/// Streams players and things to those who are near.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamingPlugin;

impl Plugin for StreamingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<stage::Stage>()
            .init_resource::<stage::Props>()
            .add_systems(
                Tick,
                (set_stage, stage::set_props, views::update_views)
                    .chain()
                    .in_set(TickSystems::Simulate)
                    .after(crate::chat::relay_chat)
                    .after(crate::things::move_things),
            )
            .add_systems(
                Tick,
                (frames::send_player_frames, frames::send_thing_frames)
                    .chain()
                    .in_set(TickSystems::Encode)
                    .after(crate::encode::tell_departures)
                    .before(crate::encode::tell_door),
            );
    }
}

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    let why = "it is made anew in each tick from what entities hold";
    app.keep_inside::<stage::Stage>(why)
        .keep_inside::<stage::Props>(why);
}
