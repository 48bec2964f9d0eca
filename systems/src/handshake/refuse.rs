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
        reason: refusal.reason,
        // The text comes from the ban list or a gamemode, where 20 bytes are the bound already.
        text: refusal.text.parse().unwrap_or_default(),
        ban_seconds: refusal.seconds,
        server_key: [0; 32],
        signature: [0; 64],
    };
    let seal = Seal::Reject(arrival.hello.nonce);
    world.resource_mut::<Outbox>().push_with(arrival.route, Some(seal), None, |out| packet.encode(out));
    Ok(())
}
