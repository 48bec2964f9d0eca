//! The checks a hello meets, one function each, in the order of docs/protocol.md 1.4. They decide; acting on
//! the decision is somebody else's job.

use std::{net::IpAddr, time::Duration};

use bevy_ecs::world::World;
use decitick_components::{
    admission::{HandshakeLimits, ServerPassword, UsedProofs},
    auth::AuthResource,
    bans::BanList,
    clock::Clock,
    connection::PeerIndex,
    gamemode::Gamemode,
    limits::{Allowance, limit_key},
    mailbox::{CredentialVerdict, HelloTicket, Route},
    profile::NameBook,
    reasons::{DropReason, RejectReason},
    server::Lifecycle,
    session::SlotTable,
    settings::Settings,
};
use decitick_protocol::{ClientHello, PlayerName, RejectText};

use crate::decode::is_exempt;

/// A hello, and what the door found out about it.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) hello: ClientHello,
    pub(super) route: Route,
    pub(super) ticket: HelloTicket,
}

impl Arrival {
    pub(super) const fn ip(&self) -> IpAddr {
        self.route.peer.ip()
    }

    /// What per-IP limits count it as; `None` when it is exempt from them.
    pub(super) fn limit_key(&self, world: &World) -> Option<IpAddr> {
        let settings = world.resource::<Settings>();
        (!is_exempt(settings, &self.route.peer)).then(|| limit_key(self.ip(), settings.limits.ipv6_prefix))
    }
}

/// A refusal as the client is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reason: RejectReason,
    pub(super) text: RejectText,
    pub(super) seconds: u32,
}

impl From<RejectReason> for Refusal {
    fn from(reason: RejectReason) -> Self {
        Self {
            reason,
            text: RejectText::default(),
            seconds: 0,
        }
    }
}

/// Why a hello does not become a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is answered with a signed refusal.
    Answer(Refusal),
    /// It gets no answer.
    Silence(DropReason),
}

impl From<RejectReason> for Refused {
    fn from(reason: RejectReason) -> Self {
        Self::Answer(reason.into())
    }
}

type Check<T = ()> = Result<T, Refused>;

/// Steps 4 to 11: the name of the newcomer, or why it is none.
pub(super) fn judge(world: &mut World, arrival: &Arrival) -> Check<PlayerName> {
    if world.resource::<Lifecycle>().stopping {
        return Err(Refused::Silence(DropReason::Stopping));
    }
    check_ban(world, arrival)?;
    check_password(world, arrival)?;
    let name = check_name(world, arrival)?;
    check_connections(world, arrival)?;
    check_slots(world)?;
    check_admission_rate(world, arrival)?;
    check_credential(world, arrival)?;
    ask_gamemode(world, arrival, &name)?;
    check_auth_resource(world)?;
    Ok(name)
}

/// Step 4.
fn check_ban(world: &World, arrival: &Arrival) -> Check {
    let now = world.resource::<Clock>().unix_seconds();
    match world.resource::<BanList>().find(arrival.ip(), now) {
        None => Ok(()),
        Some(ban) => Err(Refused::Answer(Refusal {
            reason: RejectReason::Banned,
            text: RejectText::parse(ban.reason.as_str()).unwrap_or_default(),
            seconds: ban.remaining_seconds(now),
        })),
    }
}

/// Step 5.
fn check_password(world: &mut World, arrival: &Arrival) -> Check {
    let key = match world.resource::<ServerPassword>() {
        ServerPassword::None => return Ok(()),
        ServerPassword::Deriving { .. } => return Err(Refused::Silence(DropReason::PasswordPending)),
        ServerPassword::Set(key) => key.clone(),
    };
    let now = world.resource::<Clock>().since_start;
    let limited_as = arrival.limit_key(world);
    let mut limits = world.resource_mut::<HandshakeLimits>();
    if let Some(ip) = limited_as {
        let wait = limits.passwords.wait(ip, now);
        if !wait.is_zero() {
            return Err(Refused::Answer(Refusal {
                reason: RejectReason::PasswordAttempts,
                text: RejectText::default(),
                seconds: whole_seconds(wait),
            }));
        }
    }
    let hello = &arrival.hello;
    if key.verify(hello.cookie, &hello.nonce, &hello.password_proof) {
        return Ok(());
    }
    if let Some(ip) = limited_as {
        limits
            .passwords
            .count_wrong(ip, &hello.password_proof, arrival.ticket.cookie_dies, now);
    }
    Err(RejectReason::WrongPassword.into())
}

/// Seconds rounded up, so that a client that waits as told has waited long enough.
fn whole_seconds(wait: Duration) -> u32 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

/// Step 6.
fn check_name(world: &World, arrival: &Arrival) -> Check<PlayerName> {
    let name =
        PlayerName::from_field(&arrival.hello.name).map_err(|_| Refused::from(RejectReason::InvalidName))?;
    let book = world.resource::<NameBook>();
    book.judge(&name)
        .map_err(|_| Refused::from(RejectReason::InvalidName))?;
    match book.holder(&name) {
        Some(_) => Err(RejectReason::NameTaken.into()),
        None => Ok(name),
    }
}

/// Step 7, connections of the IP.
fn check_connections(world: &World, arrival: &Arrival) -> Check {
    let settings = world.resource::<Settings>();
    let held = world.resource::<PeerIndex>().connections_of(arrival.ip());
    let most = usize::try_from(settings.limits.connections_per_ip).unwrap_or(usize::MAX);
    if !is_exempt(settings, &arrival.route.peer) && held >= most {
        return Err(RejectReason::TooManyConnections.into());
    }
    Ok(())
}

/// Step 7, free slots.
fn check_slots(world: &World) -> Check {
    match world.resource::<SlotTable>().lowest_free() {
        Some(_) => Ok(()),
        None => Err(RejectReason::ServerFull.into()),
    }
}

/// Step 8.
fn check_admission_rate(world: &mut World, arrival: &Arrival) -> Check {
    let Some(ip) = arrival.limit_key(world) else {
        return Ok(());
    };
    let now = world.resource::<Clock>().since_start;
    match world.resource_mut::<HandshakeLimits>().admissions.take(ip, now) {
        Allowance::Allowed => Ok(()),
        Allowance::Limited | Allowance::NoRoom => Err(Refused::Silence(DropReason::AdmissionLimited)),
    }
}

/// Step 9. The door verified the proof; a bad one is told before its nonce is looked up.
fn check_credential(world: &mut World, arrival: &Arrival) -> Check {
    match arrival.ticket.credential {
        CredentialVerdict::NotChecked if arrival.hello.credential_key == [0; 32] => return Ok(()),
        // The address held a slot when the door saw the hello and has lost it since; the next hello is verified.
        CredentialVerdict::NotChecked => return Err(Refused::Silence(DropReason::SessionGone)),
        CredentialVerdict::OverBudget => return Err(Refused::Silence(DropReason::CredentialBudget)),
        CredentialVerdict::Invalid => return Err(RejectReason::InvalidCredential.into()),
        CredentialVerdict::Valid => {}
    }
    let now = world.resource::<Clock>().since_start;
    if world
        .resource_mut::<UsedProofs>()
        .may_open(&arrival.hello.nonce, now)
    {
        Ok(())
    } else {
        Err(Refused::Silence(DropReason::ProofUsed))
    }
}

/// Step 10.
fn ask_gamemode(world: &mut World, arrival: &Arrival, name: &PlayerName) -> Check {
    let mut gamemode = world.resource_mut::<Gamemode>();
    gamemode
        .0
        .player_connecting(name.as_str(), arrival.ip())
        .map_err(|text| {
            Refused::Answer(Refusal {
                reason: RejectReason::Gamemode,
                text,
                seconds: 0,
            })
        })
}

/// Step 11.
fn check_auth_resource(world: &World) -> Check {
    if world.resource::<Settings>().auth.is_none() {
        return Ok(());
    }
    match world.resource::<AuthResource>() {
        AuthResource { running: Some(_), .. } => Ok(()),
        // Its client asks again, as for any answer that was lost.
        AuthResource { known: false, .. } => Err(Refused::Silence(DropReason::Starting)),
        AuthResource { .. } => Err(RejectReason::AuthUnavailable.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_rounded_up() {
        assert_eq!(whole_seconds(Duration::from_millis(29_001)), 30);
        assert_eq!(whole_seconds(Duration::from_secs(30)), 30);
    }
}
