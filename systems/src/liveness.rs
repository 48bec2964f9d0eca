//! Who is silent, and who is asked whether it is there (docs/protocol.md 1.5).

use bevy_ecs::reflect::ReflectResource;
use bevy_reflect::Reflect;
use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    entity::Entity,
    message::MessageWriter,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    connection::Peer,
    entropy::Entropy,
    lane::OutboundLane,
    limits::{ACK_STALL, CLIENT_TIMEOUT, KEEPALIVE_PERIOD},
    liveness::{Keepalive, LastSeen, SmoothedRtt},
    mailbox::{Outbox, Stamp, Stamped},
    messages::EndSessionRequest,
    phase::Phase,
    reasons::CloseReason,
    session::{PlayerId, PlayerToken, SlotTable},
};
use decitick_protocol::ServerKeepalive;

use crate::{
    expire::begin_stop,
    tick::{Tick, TickSystems},
};

/// Finds sessions that are over by themselves, and keeps the others awake.
#[derive(Clone, Copy, Debug, Default)]
pub struct LivenessPlugin;

impl Plugin for LivenessPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Patience>()
            .add_systems(
                Tick,
                (grant_patience, find_dead)
                    .chain()
                    .before(begin_stop)
                    .in_set(TickSystems::Expire),
            )
            .add_systems(
                Tick,
                send_keepalives
                    .in_set(TickSystems::Encode)
                    .before(crate::encode::send_acknowledgements),
            );
    }
}

/// After the process stood still, what clients sent meanwhile is still on its way from the kernel: nobody is
/// called silent before it had time to arrive.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource)]
pub(crate) struct Patience {
    until: Duration,
}

/// How long after a stall nobody times out.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) fn grant_patience(clock: Res<'_, Clock>, mut patience: ResMut<'_, Patience>) {
    if !clock.stalled.is_zero() {
        patience.until = clock.since_start + PATIENCE;
    }
}

fn find_dead(
    clock: Res<'_, Clock>,
    patience: Res<'_, Patience>,
    slots: Res<'_, SlotTable>,
    connections: Query<'_, '_, (&LastSeen, &OutboundLane)>,
    mut ends: MessageWriter<'_, EndSessionRequest>,
) {
    let now = clock.since_start;
    for (_, entity) in slots.iter() {
        let Ok((last_seen, lane)) = connections.get(entity) else {
            continue;
        };
        if let Some(reason) = death(now, patience.until, last_seen, lane) {
            end(&mut ends, entity, reason);
        }
    }
}

fn death(
    now: Duration,
    patient_until: Duration,
    seen: &LastSeen,
    lane: &OutboundLane,
) -> Option<CloseReason> {
    if lane.overflowed() {
        return Some(CloseReason::Overflow);
    }
    if now < patient_until {
        return None;
    }
    if now.saturating_sub(seen.0) > CLIENT_TIMEOUT {
        return Some(CloseReason::Timeout);
    }
    lane.stalled_for(now)
        .is_some_and(|stalled| stalled > ACK_STALL)
        .then_some(CloseReason::Overflow)
}

fn end(ends: &mut MessageWriter<'_, EndSessionRequest>, entity: Entity, reason: CloseReason) {
    ends.write(EndSessionRequest {
        entity,
        reason,
        notice: None,
    });
}

/// One keepalive a second to every connection, each with a nonce of its own.
pub(crate) fn send_keepalives(
    clock: Res<'_, Clock>,
    slots: Res<'_, SlotTable>,
    mut entropy: ResMut<'_, Entropy>,
    mut outbox: ResMut<'_, Outbox>,
    mut connections: Query<
        '_,
        '_,
        (
            &Peer,
            &PlayerId,
            &PlayerToken,
            &Phase,
            &SmoothedRtt,
            &mut Keepalive,
        ),
    >,
) {
    let now = clock.since_start;
    for (_, entity) in slots.iter() {
        let Ok((peer, &player, &generation, phase, rtt, mut keepalive)) = connections.get_mut(entity) else {
            continue;
        };
        if now < keepalive.due {
            continue;
        }
        // Without random bytes there is no nonce; the keepalive stays due.
        let Some(nonce) = entropy.next_u32() else { return };
        keepalive.due = (keepalive.due + KEEPALIVE_PERIOD).max(now + KEEPALIVE_PERIOD / 2);
        keepalive.sending(nonce);
        let rtt_ms = if phase.joined() {
            rtt.wire_millis()
        } else {
            SmoothedRtt::NOT_MEASURED
        };
        let stamp = Stamp {
            player,
            generation,
            what: Stamped::Keepalive(nonce),
        };
        let packet = ServerKeepalive { nonce, rtt_ms };
        outbox.push_with(peer.0, None, Some(stamp), |out| packet.encode(out));
    }
}

/// Makes what this module keeps known to the inspector.
pub(crate) fn show(app: &mut App) {
    app.register_type::<Patience>();
}

#[cfg(test)]
mod tests {
    use decitick_components::lane::LaneEvent;

    use super::*;

    #[test]
    fn a_client_is_silent_past_fifteen_seconds_and_not_at_fifteen() {
        let lane = OutboundLane::default();
        let seen = LastSeen(Duration::from_secs(10));
        let at = |ms| death(Duration::from_millis(ms), Duration::ZERO, &seen, &lane);
        assert_eq!(at(25_000), None);
        assert_eq!(at(25_001), Some(CloseReason::Timeout));
    }

    #[test]
    fn a_client_that_is_silent_altogether_timed_out_and_did_not_overflow() {
        let mut lane = OutboundLane::default();
        lane.push(LaneEvent {
            datagram: [0; 5].into(),
            droppable: false,
        })
        .unwrap();
        lane.next_new(Duration::from_secs(10)).unwrap();
        let at = |seen, ms| {
            let seen = LastSeen(Duration::from_secs(seen));
            death(Duration::from_millis(ms), Duration::ZERO, &seen, &lane)
        };
        assert_eq!(at(10, 25_001), Some(CloseReason::Timeout));
        assert_eq!(at(20, 25_000), None);
        assert_eq!(at(20, 25_001), Some(CloseReason::Overflow));
    }

    #[test]
    fn nobody_is_silent_right_after_the_process_stood_still() {
        let lane = OutboundLane::default();
        let seen = LastSeen(Duration::ZERO);
        let until = Duration::from_secs(60);
        assert_eq!(death(Duration::from_millis(59_999), until, &seen, &lane), None);
        assert_eq!(death(until, until, &seen, &lane), Some(CloseReason::Timeout));
    }
}
