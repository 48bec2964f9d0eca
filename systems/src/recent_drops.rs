//! What was dropped of late: the counts of each second are kept for a minute.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    tally::{RecentDrops, SettledTally},
};

use crate::{
    console::{StreamSystems, settle_tally},
    tick::{Tick, TickSystems},
};

/// Keeps the drops of the last minute.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecentDropsPlugin;

impl Plugin for RecentDropsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            remember_drops
                .in_set(TickSystems::Inspect)
                .after(settle_tally)
                .before(StreamSystems::Forget),
        );
    }
}

fn remember_drops(clock: Res<'_, Clock>, tally: Res<'_, SettledTally>, mut recent: ResMut<'_, RecentDrops>) {
    let SettledTally(tally) = &*tally;
    recent.observe(clock.since_start, &[&tally.door.dropped, &tally.dropped]);
}
