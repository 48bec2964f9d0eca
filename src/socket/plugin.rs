//! The only systems that touch a channel to the sockets: one fills the inbox, one hands the outbox out.

use bevy_app::{App, Plugin};
use bevy_ecs::{
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use decitick_components::{
    mailbox::{DoorNotice, DoorNotices, Inbox, Outbox},
    netsim::Netsim,
    tally::Tally,
};
use decitick_systems::{
    receive::note_sent,
    tick::{Tick, TickSystems},
};

use super::{
    SharedMailbox, TransmitThread,
    transmit::{Sent, ToSend},
};

/// The tick's ends of what connects it with the sockets.
#[derive(Resource, Debug)]
pub struct Traffic {
    mailbox: SharedMailbox,
    notices: Sender<DoorNotice>,
    to_send: Sender<ToSend>,
    sent: Receiver<Sent>,
    /// One that was sent and is used next. While the transmit thread is done within a tick, one outbox is all there is.
    spare: Option<Outbox>,
    /// The bad network that the transmit thread simulates.
    told: Netsim,
}

impl Traffic {
    /// Connects a tick with its mailbox, its door and its transmit thread.
    #[must_use]
    pub fn new(mailbox: SharedMailbox, notices: Sender<DoorNotice>, transmit: &TransmitThread) -> Self {
        let (to_send, sent) = transmit.ends();
        Self {
            mailbox,
            notices,
            to_send,
            sent,
            spare: None,
            told: Netsim::default(),
        }
    }
}

/// Adds the two systems; the [`Traffic`] resource must be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketPlugin;

impl Plugin for SocketPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, fill_inbox.in_set(TickSystems::Receive).before(note_sent))
            .add_systems(Tick, hand_out.in_set(TickSystems::Transmit));
    }
}

fn fill_inbox(
    mut traffic: ResMut<'_, Traffic>,
    mut inbox: ResMut<'_, Inbox>,
    mut outbox: ResMut<'_, Outbox>,
    mut tally: ResMut<'_, Tally>,
) {
    let traffic = &mut *traffic;
    {
        let mut mailbox = traffic.mailbox.lock();
        let mailbox = &mut *mailbox;
        std::mem::swap(&mut mailbox.sessions, &mut inbox.sessions);
        std::mem::swap(&mut mailbox.hellos, &mut inbox.hellos);
        inbox.flooding.append(&mut mailbox.flooding);
        tally.door.clone_from(&mailbox.tally);
    }
    for Sent {
        outbox,
        mut reports,
        tally: sent,
    } in traffic.sent.try_iter()
    {
        inbox.sent.append(&mut reports);
        traffic.spare = Some(outbox);
        tally.sent.add(&sent);
    }
    if outbox.is_empty()
        && let Some(storage) = traffic.spare.take()
    {
        *outbox = storage;
    }
}

/// Notices first, so that every listener knows a session before its ServerHello is sent.
pub(crate) fn hand_out(
    mut traffic: ResMut<'_, Traffic>,
    mut notices: ResMut<'_, DoorNotices>,
    mut outbox: ResMut<'_, Outbox>,
    mut tally: ResMut<'_, Tally>,
    inbox: Res<'_, Inbox>,
    netsim: Res<'_, Netsim>,
) {
    debug_assert!(
        inbox.sessions.is_empty() && inbox.hellos.is_empty(),
        "every datagram is judged in its tick"
    );
    for notice in notices.0.drain(..) {
        // The readers outlive the tick; without them there is nobody to tell.
        let _ = traffic.notices.send(notice);
    }
    // With nothing to send there is still to tell that a bad network ended.
    if outbox.is_empty() && traffic.told == *netsim {
        return;
    }
    let full = ToSend {
        outbox: std::mem::take(&mut *outbox),
        netsim: *netsim,
    };
    match traffic.to_send.try_send(full) {
        Ok(()) => traffic.told = *netsim,
        Err(TrySendError::Full(late) | TrySendError::Disconnected(late)) => {
            let mut late = late.outbox;
            tally.sent.outboxes_dropped += 1;
            tracing::error!(
                reason = "transmit",
                "the transmit thread is behind: what this tick sends is dropped"
            );
            late.clear();
            traffic.spare = Some(late);
        }
    }
}
