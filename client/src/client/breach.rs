//! What a server did that no network explains, for programs that check one (docs/protocol.md 2.4, 2.6).

use std::fmt;

use decitick_protocol::PacketId;

/// The rules a server can be seen to break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// The lane told of a generation older than one it had told of already, of the same player id.
    OldGenerationOnLane,
    /// PlayerStreamIn of somebody the lane had streamed in and not out again.
    StreamInTwice,
    /// PlayerStreamIn of a generation while an older one of the same player id was still streamed in.
    StreamOutMissing,
    /// PlayerStreamOut of somebody the lane had not streamed in.
    StreamOutUnseen,
    /// A frame of a generation that was known to be gone for 2 s or more.
    FramesAfterLeave,
    /// Frames of somebody streamed out 2 s ago or earlier, and for 3 s no PlayerStreamIn that explains them.
    FramesAfterStreamOut,
    /// EntitySpawn of an entity that was there.
    EntitySpawnTwice,
    /// EntityDespawn of an entity that was not there.
    EntityDespawnUnseen,
    /// EntityData of an entity that was not there.
    EntityDataUnseen,
    /// Frames of an entity despawned 2 s ago or earlier, and for 3 s no EntitySpawn that explains them.
    EntityFramesAfterDespawn,
    /// ViewOpen of a view that was open.
    ViewOpenTwice,
    /// ViewData of a view that was not open.
    ViewDataUnseen,
    /// ViewClose of a view that was not open.
    ViewCloseUnseen,
    /// A packet that docs/protocol.md 1.5 withholds from a client whose login is undecided. One that may have overtaken
    /// AuthAccepted counts only when that does not follow within 3 s.
    PreAuthLeak,
}

impl Fault {
    /// The fault's stable name, for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OldGenerationOnLane => "old_generation_on_lane",
            Self::StreamInTwice => "stream_in_twice",
            Self::StreamOutMissing => "stream_out_missing",
            Self::StreamOutUnseen => "stream_out_unseen",
            Self::FramesAfterLeave => "frames_after_leave",
            Self::FramesAfterStreamOut => "frames_after_stream_out",
            Self::EntitySpawnTwice => "entity_spawn_twice",
            Self::EntityDespawnUnseen => "entity_despawn_unseen",
            Self::EntityDataUnseen => "entity_data_unseen",
            Self::EntityFramesAfterDespawn => "entity_frames_after_despawn",
            Self::ViewOpenTwice => "view_open_twice",
            Self::ViewDataUnseen => "view_data_unseen",
            Self::ViewCloseUnseen => "view_close_unseen",
            Self::PreAuthLeak => "pre_auth_leak",
        }
    }
}

/// Whom a breach is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// One generation of a player.
    Player {
        /// The player's id.
        player_id: u32,
        /// The generation.
        player_token: u32,
    },
    /// An entity.
    Entity {
        /// The entity's id.
        entity_id: u32,
    },
    /// A view.
    View {
        /// The view's number.
        view_id: u16,
    },
    /// No one in particular: the packet should not have come at all.
    Packet {
        /// Which packet it was.
        id: PacketId,
    },
}

/// A rule the server broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breach {
    /// Which one.
    pub fault: Fault,
    /// About whom.
    pub subject: Subject,
}

impl Breach {
    pub(super) const fn of_player(fault: Fault, player_id: u32, player_token: u32) -> Self {
        Self {
            fault,
            subject: Subject::Player {
                player_id,
                player_token,
            },
        }
    }

    pub(super) const fn of_entity(fault: Fault, entity_id: u32) -> Self {
        Self {
            fault,
            subject: Subject::Entity { entity_id },
        }
    }

    pub(super) const fn of_view(fault: Fault, view_id: u16) -> Self {
        Self {
            fault,
            subject: Subject::View { view_id },
        }
    }

    pub(super) const fn of_packet(fault: Fault, id: PacketId) -> Self {
        Self {
            fault,
            subject: Subject::Packet { id },
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.fault.name();
        match self.subject {
            Subject::Player {
                player_id,
                player_token,
            } => write!(out, "{name}: player {player_id} of generation {player_token}"),
            Subject::Entity { entity_id } => write!(out, "{name}: entity {entity_id}"),
            Subject::View { view_id } => write!(out, "{name}: view {view_id}"),
            Subject::Packet { id } => write!(out, "{name}: {id:?}"),
        }
    }
}
