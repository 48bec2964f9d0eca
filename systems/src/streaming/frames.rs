//! Frames of what is in view leave: records are copied, in full packets.

use bevy_ecs::system::{Local, Query, Res, ResMut};
use decitick_components::{connection::Peer, mailbox::Outbox, view::View};
use decitick_protocol::{EntitySync, MAX_ENTITY_FRAMES, MAX_REMOTE_FRAMES, RemotePlayerSync};

use super::stage::{Props, Stage};

/// Players in view that have news.
pub(crate) fn send_player_frames(
    stage: Res<'_, Stage>,
    mut outbox: ResMut<'_, Outbox>,
    viewers: Query<'_, '_, (&Peer, &View)>,
    mut news: Local<'_, Vec<u16>>,
) {
    for viewer in &stage.viewers {
        let Ok((peer, view)) = viewers.get(viewer.entity) else {
            continue;
        };
        news.clear();
        news.extend(view.players.ids().iter().map(|id| id.0).filter(|&id| {
            // Who went to another space is not seen there, even before the view notices.
            stage
                .records
                .get(usize::from(id))
                .is_some_and(|record| record.changed && record.space == viewer.space)
        }));
        for batch in news.chunks(MAX_REMOTE_FRAMES) {
            outbox.push_with(peer.0, None, None, |out| {
                RemotePlayerSync::encode_header(batch.len() as u8, out);
                for record in batch.iter().filter_map(|&id| stage.records.get(usize::from(id))) {
                    out.extend_from_slice(&record.bytes);
                }
            });
        }
    }
}

/// Things in view that moved.
pub(crate) fn send_thing_frames(
    stage: Res<'_, Stage>,
    props: Res<'_, Props>,
    mut outbox: ResMut<'_, Outbox>,
    viewers: Query<'_, '_, (&Peer, &View)>,
    mut news: Local<'_, Vec<u32>>,
) {
    if props.records.iter().all(|record| !record.changed) {
        return;
    }
    for viewer in &stage.viewers {
        let Ok((peer, view)) = viewers.get(viewer.entity) else {
            continue;
        };
        news.clear();
        for &id in view.things.ids() {
            let Some(index) = props.index(id) else { continue };
            let changed = props.records.get(index).is_some_and(|record| record.changed);
            let here = props
                .things
                .get(index)
                .is_some_and(|thing| thing.space == viewer.space);
            if changed && here {
                news.push(index as u32);
            }
        }
        for batch in news.chunks(MAX_ENTITY_FRAMES) {
            outbox.push_with(peer.0, None, None, |out| {
                EntitySync::encode_header(batch.len() as u8, out);
                for record in batch
                    .iter()
                    .filter_map(|&index| props.records.get(index as usize))
                {
                    out.extend_from_slice(&record.bytes);
                }
            });
        }
    }
}
