//! What the shell reports comes in: when datagrams were handed to the kernel, what workers answer, who floods.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageWriter,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    admission::ServerPassword,
    ban_changes::BanChanges,
    connection::PeerIndex,
    lane::OutboundLane,
    liveness::Keepalive,
    mailbox::{Inbox, SentReport, Stamped},
    messages::{EndSessionRequest, KickReason},
    reasons::CloseReason,
    script::ScriptAnswers,
    session::{PlayerToken, SlotTable},
    worker::{WorkerAnswer, WorkerInbox},
};

use crate::tick::{Tick, TickSystems};

/// Adds the systems of [`TickSystems::Receive`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceivePlugin;

impl Plugin for ReceivePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            (note_sent, end_flooding, take_worker_answers)
                .chain()
                .in_set(TickSystems::Receive),
        );
    }
}

/// Notes when stamped datagrams were sent: round trips run from there.
pub fn note_sent(
    mut inbox: ResMut<'_, Inbox>,
    slots: Res<'_, SlotTable>,
    mut connections: Query<'_, '_, (&PlayerToken, &mut Keepalive, &mut OutboundLane)>,
) {
    for SentReport { stamp, at } in inbox.sent.drain(..) {
        let Some(entity) = slots.holder(stamp.player) else {
            continue;
        };
        let Ok((generation, mut keepalive, mut lane)) = connections.get_mut(entity) else {
            continue;
        };
        if *generation != stamp.generation {
            continue;
        }
        match stamp.what {
            Stamped::Keepalive(nonce) => keepalive.sent_at(nonce, at),
            Stamped::Event(event_id) => lane.first_sent_at(event_id, at),
        }
    }
    // A burst such as a thousand joins leaves no storage behind.
    inbox.sent.shrink_to(Inbox::SENT_REPORTS);
}

/// Ends the sessions that sent too much for ten seconds in a row (docs/protocol.md 2.2).
fn end_flooding(
    mut inbox: ResMut<'_, Inbox>,
    index: Res<'_, PeerIndex>,
    mut ends: MessageWriter<'_, EndSessionRequest>,
) {
    for peer in inbox.flooding.drain(..) {
        if let Some(entity) = index.find(&peer) {
            let notice = KickReason::parse("flooding").ok();
            ends.write(EndSessionRequest {
                entity,
                reason: CloseReason::Kick,
                notice,
            });
        }
    }
}

pub(crate) fn take_worker_answers(
    mut answers: ResMut<'_, WorkerInbox>,
    mut password: ResMut<'_, ServerPassword>,
    mut bans: ResMut<'_, BanChanges>,
    mut scripts: ResMut<'_, ScriptAnswers>,
) {
    for answer in answers.0.drain(..) {
        match answer {
            WorkerAnswer::PasswordDerived { request, key } => {
                // An answer to a request that a newer one overtook is not wanted any more.
                if matches!(*password, ServerPassword::Deriving { request: newest } if newest == request) {
                    *password = ServerPassword::Set(key);
                }
            }
            WorkerAnswer::BansSaved { request, result } => bans.saved(request, result),
            WorkerAnswer::Script(answer) => scripts.0.push_back(answer),
        }
    }
}
