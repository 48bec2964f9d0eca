//! What a client counts: every datagram once, as handled or as dropped for one reason, and every record of a frame
//! packet that did not count. It judges nothing.

use std::collections::BTreeMap;

use super::breach::Fault;

/// Why a whole datagram from the server's address was dropped (docs/protocol.md 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DropReason {
    /// Longer than 1,200 bytes.
    TooLong,
    /// Not a well-formed packet of the server.
    Malformed,
    /// It came before ServerHello and belongs to a session.
    BeforeHello,
    /// A ConnectChallenge with the cookie 0, which no server issues.
    ZeroCookie,
    /// A ConnectChallenge that repeats the cookie in use; the resend timer answers it.
    RepeatedChallenge,
    /// A ServerHello of another protocol version.
    WrongVersion,
    /// A ServerHello or ConnectReject whose signature does not hold over this attempt's nonce.
    ForeignSignature,
    /// A ConnectReject that another key than the expected one signed.
    ForeignKey,
    /// A packet of the handshake that came after ServerHello.
    AfterHello,
    /// A packet that belongs to no session, such as a query answer.
    NotOfSession,
    /// A lane event that was delivered or is held already.
    LaneDuplicate,
    /// A lane event more than 255 ahead of the next expected one.
    LaneTooFar,
    /// A ServerAck at or below the last one taken.
    StaleAck,
    /// A ServerAck above the highest event id sent.
    ForeignAck,
    /// A PlayerLeave of a generation that is gone already, or of an id out of range.
    StaleLeave,
    /// It came after the end of the session or of the attempt.
    AfterEnd,
}

impl DropReason {
    /// The reason's stable name, for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::BeforeHello => "before_hello",
            Self::ZeroCookie => "zero_cookie",
            Self::RepeatedChallenge => "repeated_challenge",
            Self::WrongVersion => "wrong_version",
            Self::ForeignSignature => "foreign_signature",
            Self::ForeignKey => "foreign_key",
            Self::AfterHello => "after_hello",
            Self::NotOfSession => "not_of_session",
            Self::LaneDuplicate => "lane_duplicate",
            Self::LaneTooFar => "lane_too_far",
            Self::StaleAck => "stale_ack",
            Self::ForeignAck => "foreign_ack",
            Self::StaleLeave => "stale_leave",
            Self::AfterEnd => "after_end",
        }
    }
}

/// Why one record of an accepted packet did not count: a frame of a player or an entity, or what a lane event says about
/// a player (docs/protocol.md 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordDrop {
    /// The player id is not below MAX_PLAYERS.
    PlayerOutOfRange,
    /// It belongs to a generation that left or was replaced.
    OldGeneration,
    /// A frame of a player who is not in view; a datagram may overtake the lane.
    NotInView,
    /// A frame that came 2 s or more after the player's stream-out was delivered; the server should have stopped.
    AfterStreamOut,
    /// A frame that is not newer than the last one taken.
    StaleFrame,
    /// A frame of an entity that was not spawned, or despawned again.
    EntityUnknown,
    /// A frame that came 2 s or more after the entity's despawn was delivered; the server should have stopped.
    EntityAfterDespawn,
    /// An entity spawned past the client's table of entities.
    EntityTableFull,
    /// The program does not fetch its notices, so there is no room for one more frame.
    NoticesFull,
}

impl RecordDrop {
    /// The reason's stable name, for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PlayerOutOfRange => "player_out_of_range",
            Self::OldGeneration => "old_generation",
            Self::NotInView => "not_in_view",
            Self::AfterStreamOut => "after_stream_out",
            Self::StaleFrame => "stale_frame",
            Self::EntityUnknown => "entity_unknown",
            Self::EntityAfterDespawn => "entity_after_despawn",
            Self::EntityTableFull => "entity_table_full",
            Self::NoticesFull => "notices_full",
        }
    }
}

/// What one client received, sent and dropped since it was made.
///
/// `datagrams_in` is always `handled` plus the sum of [`ClientCounters::drops`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCounters {
    /// Datagrams handed to the client.
    pub datagrams_in: u64,
    /// Their bytes, without headers.
    pub bytes_in: u64,
    /// Datagrams the client gave out for sending.
    pub datagrams_out: u64,
    /// Their bytes, without headers.
    pub bytes_out: u64,
    /// Datagrams that had an effect.
    pub handled: u64,
    /// Keepalives answered.
    pub keepalives: u64,
    /// Events of the server's lane delivered, each once and in order.
    pub lane_delivered: u64,
    /// Events of the server's lane that arrived ahead of their turn and were kept.
    pub lane_ahead: u64,
    /// Events of the client's own lane sent for the first time.
    pub lane_sent: u64,
    /// Events of the client's own lane sent again.
    pub lane_resent: u64,
    /// PlayerSync packets sent.
    pub syncs_sent: u64,
    /// ClientAck packets sent.
    pub acks_sent: u64,
    /// Frames of other players that counted.
    pub frames: u64,
    /// Frames of entities that counted.
    pub entity_frames: u64,
    drops: BTreeMap<DropReason, u64>,
    records: BTreeMap<RecordDrop, u64>,
    faults: BTreeMap<Fault, u64>,
}

impl ClientCounters {
    /// Datagrams dropped for `reason`.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops.get(&reason).copied().unwrap_or(0)
    }

    /// Records dropped for `reason`.
    #[must_use]
    pub fn record_dropped(&self, reason: RecordDrop) -> u64 {
        self.records.get(&reason).copied().unwrap_or(0)
    }

    /// Every reason for which a datagram was dropped, with its count.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        self.drops.iter().map(|(reason, count)| (*reason, *count))
    }

    /// Every reason for which a record was dropped, with its count.
    pub fn record_drops(&self) -> impl Iterator<Item = (RecordDrop, u64)> + '_ {
        self.records.iter().map(|(reason, count)| (*reason, *count))
    }

    /// How often the server was seen to break this rule.
    #[must_use]
    pub fn faulted(&self, fault: Fault) -> u64 {
        self.faults.get(&fault).copied().unwrap_or(0)
    }

    /// Every rule the server was seen to break, with how often. Empty is as it should be, whatever the network does.
    pub fn faults(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        self.faults.iter().map(|(fault, count)| (*fault, *count))
    }

    pub(super) fn drop_datagram(&mut self, reason: DropReason) {
        *self.drops.entry(reason).or_default() += 1;
    }

    pub(super) fn drop_record(&mut self, reason: RecordDrop) {
        *self.records.entry(reason).or_default() += 1;
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }
}
