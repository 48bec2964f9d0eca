//! What `trace` looks at: datagrams of a few connections, copied as they come in and go out while somebody asked for it.
//!
//! Nothing is copied while nobody did. The copies hold secrets: who shows them chooses what, field by field.

use std::{fmt, net::SocketAddr};

use bevy_ecs::{entity::Entity, resource::Resource};
use decitick_protocol::{PacketId, session_token_of};

use crate::reasons::DropReason;

/// Datagrams of one connection that are noted in a tick; the others are counted.
pub const NOTED_PER_TICK: usize = 64;

/// Which way a datagram went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceDirection {
    /// From the client to the server.
    In,
    /// From the server to the client.
    Out,
}

/// A datagram as it was noted.
#[derive(Clone, PartialEq, Eq)]
pub struct Noted {
    /// The connection.
    pub entity: Entity,
    /// Which way it went.
    pub direction: TraceDirection,
    /// Its bytes, secrets and all.
    pub bytes: Vec<u8>,
    /// Why it was dropped; none when it was not, or nobody knows.
    pub dropped: Option<DropReason>,
}

impl fmt::Debug for Noted {
    /// Shows the length only: the bytes may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Noted({:?}, {} bytes)", self.direction, self.bytes.len())
    }
}

/// The connections that are looked at, and what was noted of them in this tick.
#[derive(Resource, Debug, Default)]
pub struct Traces {
    followed: Vec<Followed>,
    noted: Vec<Noted>,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    entity: Entity,
    peer: SocketAddr,
    noted: usize,
    missed: u32,
}

impl Traces {
    /// Whether nobody is looked at: nothing need be noted.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.followed.is_empty()
    }

    /// Looks at these connections from now on, and at no others. What was noted is forgotten.
    pub fn follow(&mut self, connections: impl Iterator<Item = (Entity, SocketAddr)>) {
        self.noted.clear();
        self.followed.clear();
        self.followed.extend(connections.map(|(entity, peer)| Followed {
            entity,
            peer,
            noted: 0,
            missed: 0,
        }));
        if self.followed.is_empty() {
            self.noted = Vec::new();
        }
    }

    /// Notes a datagram of a connection, if it is looked at.
    pub fn note(
        &mut self,
        entity: Entity,
        direction: TraceDirection,
        bytes: &[u8],
        dropped: Option<DropReason>,
    ) {
        let of_it = |followed: &&mut Followed| followed.entity == entity;
        let Some(followed) = self.followed.iter_mut().find(of_it) else {
            return;
        };
        if followed.noted >= NOTED_PER_TICK {
            followed.missed = followed.missed.saturating_add(1);
            return;
        }
        followed.noted += 1;
        self.noted.push(Noted {
            entity,
            direction,
            bytes: bytes.to_vec(),
            dropped,
        });
    }

    /// Notes a datagram of an address, if the connection behind it is looked at.
    pub fn note_address(&mut self, peer: SocketAddr, direction: TraceDirection, bytes: &[u8]) {
        let followed = self.followed.iter().find(|followed| followed.peer == peer);
        if let Some(entity) = followed.map(|followed| followed.entity) {
            self.note(entity, direction, bytes, None);
        }
    }

    /// A state frame that came in earlier in this tick was judged and dropped.
    pub fn frame_dropped(&mut self, entity: Entity, sequence: u32, reason: DropReason) {
        let frame = self.noted.iter_mut().find(|noted| {
            noted.entity == entity && noted.dropped.is_none() && sequence_of(&noted.bytes) == Some(sequence)
        });
        if let Some(frame) = frame {
            frame.dropped = Some(reason);
        }
    }

    /// What was noted of a connection in this tick, in order, and how many datagrams there were beyond it.
    pub fn of(&self, entity: Entity) -> (impl Iterator<Item = &Noted>, u32) {
        let followed = self.followed.iter().find(|followed| followed.entity == entity);
        let missed = followed.map_or(0, |followed| followed.missed);
        let noted = self.noted.iter().filter(move |noted| noted.entity == entity);
        (noted, missed)
    }
}

/// The number of a state frame; none when the datagram is none.
fn sequence_of(datagram: &[u8]) -> Option<u32> {
    session_token_of(datagram)?;
    let (&id, rest) = datagram.split_first()?;
    let number = rest.get(8..)?.first_chunk::<4>()?;
    (id == PacketId::PlayerSync.byte()).then(|| u32::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(number: u32) -> (Entity, SocketAddr) {
        let entity = Entity::from_raw_u32(number).unwrap();
        (entity, SocketAddr::from(([192, 0, 2, 1], number as u16)))
    }

    #[test]
    fn only_who_is_looked_at_is_noted_and_no_more_than_there_is_room_for() {
        let (one, other) = (connection(1), connection(2));
        let mut traces = Traces::default();
        traces.note(one.0, TraceDirection::In, b"x", None);
        assert!(traces.is_idle() && traces.of(one.0).0.count() == 0);
        traces.follow([one].into_iter());
        for _ in 0..NOTED_PER_TICK + 3 {
            traces.note(one.0, TraceDirection::In, b"x", None);
            traces.note(other.0, TraceDirection::In, b"x", None);
        }
        traces.note_address(one.1, TraceDirection::Out, b"y");
        let (noted, missed) = traces.of(one.0);
        assert_eq!((noted.count(), missed), (NOTED_PER_TICK, 4));
        assert_eq!(traces.of(other.0).0.count(), 0);
        traces.follow([one, other].into_iter());
        assert_eq!((traces.of(one.0).0.count(), traces.of(one.0).1), (0, 0));
        traces.note_address(other.1, TraceDirection::Out, b"y");
        assert_eq!(traces.of(other.0).0.count(), 1);
    }

    #[test]
    fn a_frame_that_is_judged_later_gets_its_reason() {
        let (entity, peer) = connection(1);
        let mut traces = Traces::default();
        traces.follow([(entity, peer)].into_iter());
        for sequence in [7u32, 8] {
            let mut frame = vec![PacketId::PlayerSync.byte()];
            frame.extend_from_slice(&[9; 8]);
            frame.extend_from_slice(&sequence.to_le_bytes());
            traces.note(entity, TraceDirection::In, &frame, None);
        }
        traces.frame_dropped(entity, 8, DropReason::TooFast);
        traces.frame_dropped(entity, 9, DropReason::TooFast);
        let reasons: Vec<_> = traces.of(entity).0.map(|noted| noted.dropped).collect();
        assert_eq!(reasons, [None, Some(DropReason::TooFast)]);
    }

    #[test]
    fn the_bytes_of_a_noted_datagram_are_not_in_a_log() {
        let noted = Noted {
            entity: connection(1).0,
            direction: TraceDirection::In,
            bytes: b"hunter2".to_vec(),
            dropped: None,
        };
        assert_eq!(format!("{noted:?}"), "Noted(In, 7 bytes)");
    }
}
