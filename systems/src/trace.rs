//! One connection's packets as they come and go, for as long as somebody at a console wants to see them.
//!
//! Datagrams are copied where they are decoded and where the outbox is complete, for connections that are looked at; with
//! nobody looking that is one comparison. What of them is shown is chosen field by field in `inbound` and `outbound`.

mod inbound;
mod outbound;
#[cfg(test)]
mod tests;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    connection::Peer,
    console::{
        ConsoleAnswer, ConsoleOutbox, ConsoleStream, ConsoleStreams, DoneAnswer, StreamSubject, TraceAnswer,
        TraceRow,
    },
    mailbox::{Inbox, Outbox},
    reasons::DropReason,
    session::PlayerId,
    trace::{Noted, TraceDirection, Traces},
};

use crate::{
    console::{StreamSystems, show, tell_watches},
    decode::decode_datagrams,
    encode::tell_door,
    tick::{Tick, TickSystems},
};

/// Tells consoles of packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracePlugin;

impl Plugin for TracePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            tap_hellos.in_set(TickSystems::Decode).before(decode_datagrams),
        )
        .add_systems(Tick, tap_outbox.in_set(TickSystems::Encode).after(tell_door))
        .add_systems(Tick, tell_traces.in_set(StreamSystems::Tell).after(tell_watches));
    }
}

/// Hellos that come again from the address of a session.
fn tap_hellos(inbox: Res<'_, Inbox>, mut traces: ResMut<'_, Traces>) {
    if traces.is_idle() {
        return;
    }
    for (datagram, bytes) in inbox.hellos.iter() {
        traces.note_address(datagram.route.peer, TraceDirection::In, bytes);
    }
}

/// Everything this tick sends.
fn tap_outbox(outbox: Res<'_, Outbox>, mut traces: ResMut<'_, Traces>) {
    if traces.is_idle() {
        return;
    }
    for packet in outbox.packets() {
        traces.note_address(packet.route.peer, TraceDirection::Out, outbox.bytes(packet));
    }
}

/// Tells each console of the packets it wants to see, and looks at what is wanted from now on.
pub(crate) fn tell_traces(
    clock: Res<'_, Clock>,
    mut traces: ResMut<'_, Traces>,
    mut streams: ResMut<'_, ConsoleStreams>,
    mut outbox: ResMut<'_, ConsoleOutbox>,
    connections: Query<'_, '_, (&Peer, &PlayerId)>,
) {
    if traces.is_idle() && streams.0.is_empty() {
        return;
    }
    // A session that ended is told of to its end.
    for stream in &streams.0 {
        if let Some(entity) = traced(stream)
            && let Some(answer) = packets_of(&traces, entity, clock.tick, connections.get(entity).ok())
        {
            let part = show(&answer, stream.json, stream.layout);
            outbox.0.push(ConsoleAnswer::part(stream.id, part));
        }
    }
    let over =
        |stream: &mut ConsoleStream| traced(stream).is_some_and(|entity| !connections.contains(entity));
    for stream in streams.0.extract_if(.., over) {
        let message = "the session is over".to_owned();
        let last = show(&DoneAnswer { message }, stream.json, stream.layout);
        outbox.0.push(ConsoleAnswer::last(stream.id, true, last));
    }
    let mut wanted: Vec<Entity> = streams.0.iter().filter_map(traced).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let wanted = wanted.into_iter().filter_map(|entity| {
        let (peer, _) = connections.get(entity).ok()?;
        Some((entity, peer.address()))
    });
    traces.follow(wanted);
}

fn traced(stream: &ConsoleStream) -> Option<Entity> {
    match &stream.subject {
        StreamSubject::Trace { entity } => Some(*entity),
        StreamSubject::Watch { .. } => None,
    }
}

/// The packets of a connection in this tick; none when there were none.
fn packets_of(
    traces: &Traces,
    entity: Entity,
    tick: u64,
    connection: Option<(&Peer, &PlayerId)>,
) -> Option<TraceAnswer> {
    let (noted, more) = traces.of(entity);
    let packets: Vec<TraceRow> = noted.map(row).collect();
    if packets.is_empty() {
        return None;
    }
    Some(TraceAnswer {
        player: connection.map(|(_, id)| id.0),
        tick,
        packets,
        more,
    })
}

/// What is shown of a datagram.
fn row(noted: &Noted) -> TraceRow {
    let (direction, (packet, fields)) = match noted.direction {
        TraceDirection::In => ("in", inbound::fields(&noted.bytes)),
        TraceDirection::Out => ("out", outbound::fields(&noted.bytes)),
    };
    TraceRow {
        direction,
        packet,
        size_bytes: noted.bytes.len(),
        dropped: noted.dropped.map(DropReason::name),
        fields,
    }
}
