//! Datagrams of sessions become messages, each judged strictly and counted once (docs/protocol.md 0).

use std::{net::SocketAddr, time::Duration};

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::MessageWriter,
    query::QueryData,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut, SystemParam},
};
use decitick_components::{
    auth::{AssertionQueue, AssertionReceived, Login},
    clock::Clock,
    connection::{Peer, PeerIndex},
    lane::{Arrival, BudgetedKind, InboundLane, LaneBudgets},
    liveness::{LastSeen, Traffic},
    mailbox::{Batch, Inbox},
    messages::{
        AcknowledgementReceived, ChatReceived, ClientEventReceived, EndSessionRequest, FrameReceived,
        HitReported, PongReceived, SpawnRequest,
    },
    pages::{OpenViews, ViewReport, ViewReported},
    phase::Phase,
    reasons::{CloseReason, DropReason},
    session::SessionToken,
    settings::Settings,
    tally::Tally,
    trace::{TraceDirection, Traces},
};
use decitick_protocol::{
    ClientLaneEvent, ClientPacket, DecodeError, LaneHead, PacketId, SessionPacket, ViewState,
};

use crate::tick::{Tick, TickSystems};

/// Adds the system of [`TickSystems::Decode`].
#[derive(Clone, Copy, Debug, Default)]
pub struct DecodePlugin;

impl Plugin for DecodePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, decode_datagrams.in_set(TickSystems::Decode));
    }
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Receiving {
    peer: &'static Peer,
    token: &'static SessionToken,
    phase: &'static Phase,
    last_seen: &'static mut LastSeen,
    traffic: &'static mut Traffic,
    lane: &'static mut InboundLane,
    budgets: &'static mut LaneBudgets,
    views: &'static mut OpenViews,
    login: &'static mut Login,
}

#[derive(SystemParam)]
pub(crate) struct Facts<'w> {
    frames: MessageWriter<'w, FrameReceived>,
    acknowledgements: MessageWriter<'w, AcknowledgementReceived>,
    pongs: MessageWriter<'w, PongReceived>,
    spawns: MessageWriter<'w, SpawnRequest>,
    chats: MessageWriter<'w, ChatReceived>,
    client_events: MessageWriter<'w, ClientEventReceived>,
    hits: MessageWriter<'w, HitReported>,
    views: MessageWriter<'w, ViewReported>,
    assertions: ResMut<'w, AssertionQueue>,
    ends: MessageWriter<'w, EndSessionRequest>,
}

pub(crate) fn decode_datagrams(
    clock: Res<'_, Clock>,
    mut inbox: ResMut<'_, Inbox>,
    index: Res<'_, PeerIndex>,
    settings: Res<'_, Settings>,
    mut tally: ResMut<'_, Tally>,
    mut traces: ResMut<'_, Traces>,
    mut connections: Query<'_, '_, Receiving>,
    mut facts: Facts<'_>,
) {
    // Taken out for the loop, so that the rest of the inbox stays borrowable; the storage goes back.
    let mut sessions = std::mem::replace(&mut inbox.sessions, Batch::bounded(0, 0));
    tally.taken += sessions.len() as u64;
    for (datagram, bytes) in sessions.iter() {
        let entity = index.find(&datagram.route.peer);
        let connection =
            entity.and_then(|entity| connections.get_mut(entity).ok().map(|found| (entity, found)));
        let Some((entity, mut connection)) = connection else {
            tally.dropped.add(DropReason::SessionGone);
            continue;
        };
        connection.traffic.came(clock.tick);
        let outcome = read(bytes, *connection.phase)
            .and_then(|packet| take_packet(entity, &mut connection, packet, datagram.arrived, &mut facts));
        if !traces.is_idle() {
            let dropped = outcome.as_ref().err().copied();
            traces.note(entity, TraceDirection::In, bytes, dropped);
        }
        match outcome {
            Ok(Outcome::Handled) => tally.handled += 1,
            // A frame is counted by whoever judges it.
            Ok(Outcome::Frame) => {}
            Err(reason) => tally.dropped.add(reason),
        }
        let exempt = is_exempt(&settings, &connection.peer.address());
        tally.lane_limited += deliver_in_order(entity, &mut connection, datagram.arrived, exempt, &mut facts);
    }
    sessions.clear();
    inbox.sessions = sessions;
}

enum Outcome {
    Handled,
    Frame,
}

/// A datagram as far as the phase of its connection lets it be read.
#[expect(clippy::large_enum_variant, reason = "it lives on the stack for one call")]
enum Received {
    Whole(ClientPacket),
    /// An event of the lane whose content is not for this phase.
    Head(LaneHead),
}

/// Who waits in PreAuth is listened to for its login only: what else it sends is dropped before it is decoded, and an event
/// of its lane uses up its id (docs/protocol.md 1.5).
fn read(bytes: &[u8], phase: Phase) -> Result<Received, DropReason> {
    let malformed = |_: DecodeError| DropReason::Malformed;
    let id = bytes.first().copied().and_then(PacketId::from_byte);
    match id {
        Some(id) if !phase.joined() && !is_for_login(id) => {
            if id.is_client_lane() {
                LaneHead::read(bytes).map(Received::Head).map_err(malformed)
            } else {
                Err(DropReason::WrongPhase)
            }
        }
        _ => ClientPacket::decode(bytes)
            .map(Received::Whole)
            .map_err(malformed),
    }
}

const fn is_for_login(id: PacketId) -> bool {
    matches!(
        id,
        PacketId::RequestSpawn
            | PacketId::ClientAck
            | PacketId::ClientPong
            | PacketId::ClientBye
            | PacketId::ViewStatus
            | PacketId::ViewAction
            | PacketId::AuthAssertion
    )
}

fn take_packet(
    entity: Entity,
    connection: &mut ReceivingItem<'_, '_>,
    packet: Received,
    arrived: Duration,
    facts: &mut Facts<'_>,
) -> Result<Outcome, DropReason> {
    let token = match &packet {
        Received::Whole(
            ClientPacket::Session { session_token, .. } | ClientPacket::Lane { session_token, .. },
        )
        | Received::Head(LaneHead { session_token, .. }) => *session_token,
        // The door passes neither among the datagrams of sessions.
        Received::Whole(ClientPacket::Hello(_) | ClientPacket::Query(_)) => {
            return Err(DropReason::UnknownPacket);
        }
    };
    // The door compared it, but the address may have begun a new session since.
    if !connection.token.0.matches(token) {
        return Err(DropReason::WrongToken);
    }
    connection.last_seen.0 = connection.last_seen.0.max(arrived);
    connection.traffic.datagrams_in += 1;
    let arrival = match packet {
        Received::Whole(ClientPacket::Session { packet, .. }) => {
            return take_session_packet(entity, *connection.phase, packet, arrived, facts);
        }
        Received::Whole(ClientPacket::Lane { event_id, event, .. }) => {
            connection.lane.accept(event_id, event, arrived)
        }
        Received::Head(head) => connection.lane.accept(head.event_id, None, arrived),
        Received::Whole(ClientPacket::Hello(_) | ClientPacket::Query(_)) => {
            return Err(DropReason::UnknownPacket);
        }
    };
    match arrival {
        Arrival::Taken | Arrival::Old => Ok(Outcome::Handled),
        Arrival::Beyond => Err(DropReason::BeyondWindow),
    }
}

fn take_session_packet(
    entity: Entity,
    phase: Phase,
    packet: SessionPacket,
    arrived: Duration,
    facts: &mut Facts<'_>,
) -> Result<Outcome, DropReason> {
    match packet {
        SessionPacket::PlayerSync(frame) => {
            facts.frames.write(FrameReceived {
                entity,
                frame,
                arrived,
            });
            return Ok(Outcome::Frame);
        }
        SessionPacket::Ack(ack) => {
            facts.acknowledgements.write(AcknowledgementReceived {
                entity,
                event_id: ack.ack,
                arrived,
            });
        }
        SessionPacket::Pong(pong) => {
            facts.pongs.write(PongReceived {
                entity,
                nonce: pong.nonce,
                arrived,
            });
        }
        // Who has a body asks for none: a wish must not wait for a death that comes later in the tick.
        SessionPacket::RequestSpawn(_) if phase != Phase::PreSpawn => {}
        SessionPacket::RequestSpawn(_) => {
            facts.spawns.write(SpawnRequest { entity });
        }
        SessionPacket::Bye(_) => {
            facts.ends.write(EndSessionRequest {
                entity,
                reason: CloseReason::Bye,
                notice: None,
            });
        }
    }
    Ok(Outcome::Handled)
}

/// Delivers what is in order; returns how many events came too often and are ignored.
fn deliver_in_order(
    entity: Entity,
    connection: &mut ReceivingItem<'_, '_>,
    now: Duration,
    exempt: bool,
    facts: &mut Facts<'_>,
) -> u64 {
    let mut limited = 0;
    while let Some((event, arrived)) = connection.lane.next_in_order() {
        let Some(event) = event else { continue };
        let within_budget =
            exempt || budgeted_kind(&event).is_none_or(|kind| connection.budgets.take(kind, now));
        if !within_budget {
            limited += 1;
            continue;
        }
        match event {
            ClientLaneEvent::ViewStatus(status) => {
                let report = ViewReport::State(status.status);
                report_view(entity, connection, status.view_id, report, facts);
                if status.status != ViewState::Loaded {
                    connection.views.close(status.view_id);
                }
            }
            ClientLaneEvent::ViewAction(action) => {
                let report = ViewReport::Action(action.data);
                report_view(entity, connection, action.view_id, report, facts);
            }
            ClientLaneEvent::AuthAssertion(assertion) if !connection.phase.joined() => {
                if connection.login.take_assertion(arrived) {
                    facts.assertions.0.push_back(AssertionReceived {
                        entity,
                        jwt: assertion.jwt,
                        // One ticket, one attempt.
                        ticket: connection.login.ticket.take(),
                    });
                } else {
                    limited += 1;
                }
            }
            event if connection.phase.joined() => hand_on(entity, event, arrived, facts),
            _ => {}
        }
    }
    limited
}

/// What is said of a view that is not open on this connection concerns nobody.
fn report_view(
    entity: Entity,
    connection: &ReceivingItem<'_, '_>,
    view: u16,
    report: ViewReport,
    facts: &mut Facts<'_>,
) {
    if let Some(resource) = connection.views.owner(view) {
        facts.views.write(ViewReported {
            entity,
            view,
            resource: resource.clone(),
            report,
        });
    }
}

/// Tells of an event of a player to whom it concerns; an event that concerns nobody has been acknowledged and that is all.
fn hand_on(entity: Entity, event: ClientLaneEvent, arrived: Duration, facts: &mut Facts<'_>) {
    match event {
        ClientLaneEvent::ChatSend(chat) => {
            facts.chats.write(ChatReceived {
                entity,
                text: chat.text.into_string(),
            });
        }
        ClientLaneEvent::HitReport(report) => {
            facts.hits.write(HitReported {
                entity,
                report,
                arrived,
            });
        }
        ClientLaneEvent::ClientEvent(event) => {
            facts.client_events.write(ClientEventReceived {
                entity,
                name: event.name.into_string(),
                data: event.data,
            });
        }
        ClientLaneEvent::AuthAssertion(_)
        | ClientLaneEvent::ViewStatus(_)
        | ClientLaneEvent::ViewAction(_) => {}
    }
}

const fn budgeted_kind(event: &ClientLaneEvent) -> Option<BudgetedKind> {
    match event {
        ClientLaneEvent::ChatSend(_) => Some(BudgetedKind::Chat),
        ClientLaneEvent::ClientEvent(_) => Some(BudgetedKind::ClientEvent),
        ClientLaneEvent::HitReport(_) => Some(BudgetedKind::HitReport),
        ClientLaneEvent::ViewAction(_) => Some(BudgetedKind::ViewAction),
        // An AuthAssertion has limits of its own in PreAuth and no effect after joining; a ViewStatus is bounded
        // by the packet budget alone.
        ClientLaneEvent::AuthAssertion(_) | ClientLaneEvent::ViewStatus(_) => None,
    }
}

/// Whether an address is exempt from the per-IP limits.
#[must_use]
pub fn is_exempt(settings: &Settings, peer: &SocketAddr) -> bool {
    settings.limits.loopback_exempt && peer.ip().is_loopback()
}
