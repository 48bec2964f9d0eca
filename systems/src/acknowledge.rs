//! Acknowledgements and pongs take effect: lanes advance and round trips are measured (docs/protocol.md 1.5, 2.1).

use bevy_app::{App, Plugin};
use bevy_ecs::{message::MessageReader, schedule::IntoScheduleConfigs, system::Query};
use decitick_components::{
    lane::OutboundLane,
    liveness::{Keepalive, SmoothedRtt},
    messages::{AcknowledgementReceived, PongReceived},
};

use crate::tick::{Tick, TickSystems};

/// Adds the systems of [`TickSystems::Acknowledge`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AcknowledgePlugin;

impl Plugin for AcknowledgePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Tick,
            (advance_lanes, take_pongs)
                .chain()
                .in_set(TickSystems::Acknowledge),
        );
    }
}

fn advance_lanes(
    mut received: MessageReader<'_, '_, AcknowledgementReceived>,
    mut connections: Query<'_, '_, (&mut OutboundLane, &mut SmoothedRtt)>,
) {
    for &AcknowledgementReceived {
        entity,
        event_id,
        arrived,
    } in received.read()
    {
        let Ok((mut lane, mut rtt)) = connections.get_mut(entity) else {
            continue;
        };
        if let Some(sample) = lane.acknowledge(event_id, arrived) {
            rtt.sample(sample);
        }
    }
}

pub(crate) fn take_pongs(
    mut received: MessageReader<'_, '_, PongReceived>,
    mut connections: Query<'_, '_, (&mut Keepalive, &mut SmoothedRtt)>,
) {
    for &PongReceived {
        entity,
        nonce,
        arrived,
    } in received.read()
    {
        let Ok((mut keepalive, mut rtt)) = connections.get_mut(entity) else {
            continue;
        };
        if let Some(sample) = keepalive.answer(nonce, arrived) {
            rtt.sample(sample);
        }
    }
}
