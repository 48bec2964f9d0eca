//! Signed refusals leave, within their limit.

use bevy_ecs::world::World;
use decitick_components::{
    admission::HandshakeLimits,
    clock::Clock,
    limits::Allowance,
    mailbox::{Outbox, Seal},
    reasons::DropReason,
};
use decitick_protocol::ConnectReject;

use super::checks::{Arrival, Refusal};

/// Sends a refusal, to be signed on the way out.
///
/// # Errors
/// [`DropReason::RefusalLimited`] when the address got too many: the hello then has no answer.
pub(super) fn refuse(world: &mut World, arrival: &Arrival, refusal: Refusal) -> Result<(), DropReason> {
    let now = world.resource::<Clock>().since_start;
    if let Some(ip) = arrival.limit_key(world)
        && world.resource_mut::<HandshakeLimits>().refusals.take(ip, now) != Allowance::Allowed
    {
        return Err(DropReason::RefusalLimited);
    }
    tracing::debug!(peer = %arrival.route.peer, reason = refusal.reason.name(), "hello refused");
    let packet = ConnectReject {
        text: refusal.text,
        ban_seconds: refusal.seconds,
        ..ConnectReject::unsigned(refusal.reason)
    };
    let seal = Seal::Reject(arrival.hello.nonce);
    world
        .resource_mut::<Outbox>()
        .push_with(arrival.route, Some(seal), None, |out| packet.encode(out));
    Ok(())
}
