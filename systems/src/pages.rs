//! Pages on clients: what resources wish for goes onto the lanes, and a resource's files are announced
//! (docs/protocol.md 2.3, 2.7).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageReader,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    client_files::{AnnouncedFiles, FilesRequest},
    lane::OutboundLane,
    pages::{OpenViews, ViewRequest, ViewWish},
    phase::Phase,
    session::SlotTable,
    settings::Settings,
};
use decitick_protocol::{FilesManifest, ServerLaneEvent, Text, ViewClose, ViewData, ViewOpen};

use crate::{
    lane::broadcast::{encoded, push_critical, tell},
    tick::{Tick, TickSystems},
};

/// Applies wishes about pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesPlugin;

impl Plugin for PagesPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            (announce_files, apply_view_requests)
                .chain()
                .in_set(TickSystems::Apply)
                .before(crate::ban_changes::bring_into_force),
        );
    }
}

/// The event that announces files.
pub(crate) fn files_manifest(resource: &str, sha256: [u8; 32]) -> Option<ServerLaneEvent> {
    // A resource's name always fits.
    let resource = Text::parse(resource).ok()?;
    Some(ServerLaneEvent::FilesManifest(FilesManifest { resource, sha256 }))
}

/// Whoever is on is told of files that are new. Those of the auth resource concern whoever waits for it, too.
fn announce_files(
    mut requests: MessageReader<'_, '_, FilesRequest>,
    mut announced: ResMut<'_, AnnouncedFiles>,
    settings: Res<'_, Settings>,
    slots: Res<'_, SlotTable>,
    mut connections: Query<'_, '_, (&Phase, &mut OutboundLane)>,
) {
    for FilesRequest { resource, sha256 } in requests.read() {
        if !announced.set(resource, *sha256) {
            continue;
        }
        let Some(event) = sha256.and_then(|sha256| files_manifest(resource.as_str(), sha256)) else {
            continue;
        };
        let event = encoded(&event, false);
        let of_login = settings
            .auth
            .as_ref()
            .is_some_and(|auth| auth.resource == resource.as_str());
        for (_, entity) in slots.iter() {
            if let Ok((phase, mut lane)) = connections.get_mut(entity)
                && (phase.joined() || of_login)
            {
                push_critical(&mut lane, &event);
            }
        }
    }
}

/// Does what was wished for, in order.
pub(crate) fn apply_view_requests(
    mut requests: MessageReader<'_, '_, ViewRequest>,
    mut connections: Query<'_, '_, (&mut OpenViews, &mut OutboundLane)>,
) {
    for ViewRequest {
        entity,
        resource,
        wish,
    } in requests.read()
    {
        let Ok((mut views, mut lane)) = connections.get_mut(*entity) else {
            continue;
        };
        let Some(view_id) = wish.play(&mut views, resource) else {
            continue;
        };
        let event = match wish {
            ViewWish::Open(page) => {
                let Ok(resource) = Text::parse(resource.as_str()) else {
                    continue;
                };
                ServerLaneEvent::ViewOpen(ViewOpen {
                    view_id,
                    resource,
                    page: page.clone(),
                })
            }
            ViewWish::Tell(_, data) => ServerLaneEvent::ViewData(ViewData {
                view_id,
                data: data.as_ref().clone(),
            }),
            ViewWish::Close(_) => ServerLaneEvent::ViewClose(ViewClose { view_id }),
        };
        tell(&mut lane, &event);
    }
}
