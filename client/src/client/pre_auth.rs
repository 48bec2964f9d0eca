//! What a server may send before a login is decided, and when anything else is its fault (docs/protocol.md 1.5).
//!
//! Lane events keep their order, so one that comes before AuthAccepted was sent before it. Any other packet may have
//! overtaken an AuthAccepted that was lost: it is held against the server only when none follows.

use std::time::Duration;

use decitick_protocol::{PacketId, RTT_NOT_MEASURED, ServerLaneEvent, ServerPacket};

use super::grace::IN_GRACE;

/// Whether the lane may carry this event while the login is undecided.
pub(super) const fn allows(event: &ServerLaneEvent) -> bool {
    matches!(
        event,
        ServerLaneEvent::AuthAccepted(_)
            | ServerLaneEvent::FilesManifest(_)
            | ServerLaneEvent::ViewOpen(_)
            | ServerLaneEvent::ViewData(_)
            | ServerLaneEvent::ViewClose(_)
    )
}

/// The packet outside the lane that came too early and is not explained yet.
#[derive(Debug, Default)]
pub(super) struct PreAuth {
    suspect: Option<(Duration, PacketId)>,
}

impl PreAuth {
    /// Notes a packet that arrived at `now` while the login was undecided. Lane events are judged in their turn.
    pub(super) fn note_packet(&mut self, now: Duration, packet: &ServerPacket) {
        let leaks = match packet {
            ServerPacket::RemotePlayerSync(_)
            | ServerPacket::EntitySync(_)
            | ServerPacket::PlayerLeave(_) => true,
            ServerPacket::Keepalive(keepalive) => keepalive.rtt_ms != RTT_NOT_MEASURED,
            _ => false,
        };
        if leaks {
            self.suspect.get_or_insert((now, packet.id()));
        }
    }

    /// The packet that nothing explains any more; each is given once.
    pub(super) fn take_leak(&mut self, now: Duration) -> Option<PacketId> {
        let (since, id) = self.suspect?;
        if now < since + IN_GRACE {
            return None;
        }
        self.suspect = None;
        Some(id)
    }
}
