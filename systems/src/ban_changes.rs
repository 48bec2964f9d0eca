//! Changes of the ban list: on disk before they count, and before the command that made them reports success
//! (docs/protocol.md 1.6).
//!
//! Changes that come while a write is under way wait and are written together. A write that fails changes
//! nothing, and whoever asked is told why.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageWriter,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use decitick_components::{
    ban_changes::BanChanges,
    bans::BanList,
    clock::Clock,
    connection::PeerIndex,
    messages::{EndSessionRequest, KickReason},
    reasons::CloseReason,
    worker::{WorkerOutbox, WorkerRequest},
};

use crate::tick::{Tick, TickSystems};

/// Takes changes through their two steps: off to the worker, and into force.
#[derive(Clone, Copy, Debug, Default)]
pub struct BanChangesPlugin;

impl Plugin for BanChangesPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            bring_into_force
                .in_set(TickSystems::Apply)
                .before(crate::console::execute_commands),
        )
        .add_systems(
            Tick,
            start_writing
                .in_set(TickSystems::Apply)
                .after(crate::console::execute_commands),
        );
    }
}

/// A ban ends every connection from its range, whatever phase it is in.
pub(crate) fn bring_into_force(
    mut changes: ResMut<'_, BanChanges>,
    mut current: ResMut<'_, BanList>,
    index: Res<'_, PeerIndex>,
    mut ends: MessageWriter<'_, EndSessionRequest>,
) {
    let Some((list, bans)) = changes.finish_writing() else {
        return;
    };
    *current = list;
    for ban in bans {
        let notice = KickReason::parse(ban.reason.as_str()).ok();
        for (_, entity) in index.iter().filter(|(peer, _)| ban.range.contains(peer.ip())) {
            let notice = notice.clone();
            ends.write(EndSessionRequest {
                entity,
                reason: CloseReason::Kick,
                notice,
            });
        }
    }
}

pub(crate) fn start_writing(
    clock: Res<'_, Clock>,
    current: Res<'_, BanList>,
    mut changes: ResMut<'_, BanChanges>,
    mut worker: ResMut<'_, WorkerOutbox>,
) {
    if let Some((request, bans)) = changes.start_writing(&current, clock.unix_seconds()) {
        worker.0.push(WorkerRequest::SaveBans { request, bans });
    }
}
