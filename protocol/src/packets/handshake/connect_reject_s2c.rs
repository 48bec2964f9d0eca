//! 0x76 ConnectReject, S>C: no slot was given (docs/protocol.md 1.3); 122 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 1 | reason | u8 |
//! | 2 | text | text[20] |
//! | 22 | ban_seconds | u32 |
//! | 26 | server_key | [32] |
//! | 58 | signature | [64] |

use crate::constants::REJECT_TEXT_LEN;
use crate::error::DecodeError;
use crate::packet::{Body, decode_alone, encode_alone};
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::text::ShownText;
use crate::writer::Writer;

/// The text of a refusal: up to 20 bytes without control and format characters.
pub type RejectText = ShownText<0, REJECT_TEXT_LEN>;

/// Refuses a ClientHello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectReject {
    /// Why.
    pub reason: RejectReason,
    /// What the gamemode or the ban says; empty for every other reason.
    pub text: RejectText,
    /// Seconds until another try makes sense, rounded up: only for a ban (0: permanent) and for
    /// [`RejectReason::PasswordAttempts`]; 0 for every other reason.
    pub ban_seconds: u32,
    /// Public key of the server.
    pub server_key: [u8; 32],
    /// Signature over the client's nonce and every byte before it; see
    /// [`ServerIdentity::seal_reject`](crate::ServerIdentity::seal_reject) and
    /// [`verify_reject`](crate::verify_reject).
    pub signature: [u8; 64],
}

impl ConnectReject {
    /// A refusal without text and seconds, and not signed yet.
    #[must_use]
    pub fn unsigned(reason: RejectReason) -> Self {
        Self {
            reason,
            text: RejectText::default(),
            ban_seconds: 0,
            server_key: [0; 32],
            signature: [0; 64],
        }
    }

    /// Appends the datagram, with key and signature as they stand in the struct.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_alone(self, out);
    }

    /// Reads the datagram. The signature is not verified here.
    ///
    /// # Errors
    /// [`DecodeError`], also for text or seconds where none belong.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        decode_alone(datagram)
    }
}

impl Body for ConnectReject {
    const ID: PacketId = PacketId::ConnectReject;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let reason = RejectReason::from_byte(reader.u8("reason")?)
            .ok_or(DecodeError::OutOfRange { field: "reason" })?;
        let text = RejectText::read_padded(reader, "text")?;
        if !text.as_str().is_empty() && !reason.may_carry_text() {
            return Err(DecodeError::Misplaced { field: "text" });
        }
        let ban_seconds = reader.u32("ban_seconds")?;
        if ban_seconds != 0 && !reason.may_carry_seconds() {
            return Err(DecodeError::Misplaced { field: "ban_seconds" });
        }
        let server_key = reader.array("server_key")?;
        let signature = reader.array("signature")?;
        Ok(Self {
            reason,
            text,
            ban_seconds,
            server_key,
            signature,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.reason.byte());
        writer.padded(self.text.as_str().as_bytes(), REJECT_TEXT_LEN);
        writer.u32(self.ban_seconds);
        writer.bytes(&self.server_key);
        writer.bytes(&self.signature);
    }
}

/// Why a ClientHello is refused (docs/protocol.md 1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RejectReason {
    /// The name breaks a rule.
    InvalidName = 1,
    /// Another player bears the name.
    NameTaken = 2,
    /// No slot is free.
    ServerFull = 3,
    /// The gamemode refused; its text may follow.
    Gamemode = 4,
    /// The address holds as many connections as it may.
    TooManyConnections = 5,
    /// The address is banned; a text and the seconds left may follow.
    Banned = 6,
    /// The password is wrong.
    WrongPassword = 7,
    /// Too many wrong passwords came from the address; the seconds to wait follow.
    PasswordAttempts = 8,
    /// The configured login is not running.
    AuthUnavailable = 9,
    /// The proof of the credential does not verify.
    InvalidCredential = 10,
}

impl RejectReason {
    /// Every reason, in the order of the wire.
    pub const ALL: [Self; 10] = [
        Self::InvalidName,
        Self::NameTaken,
        Self::ServerFull,
        Self::Gamemode,
        Self::TooManyConnections,
        Self::Banned,
        Self::WrongPassword,
        Self::PasswordAttempts,
        Self::AuthUnavailable,
        Self::InvalidCredential,
    ];

    /// The value on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// The reason of a byte, or none when it has no meaning.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::InvalidName),
            2 => Some(Self::NameTaken),
            3 => Some(Self::ServerFull),
            4 => Some(Self::Gamemode),
            5 => Some(Self::TooManyConnections),
            6 => Some(Self::Banned),
            7 => Some(Self::WrongPassword),
            8 => Some(Self::PasswordAttempts),
            9 => Some(Self::AuthUnavailable),
            10 => Some(Self::InvalidCredential),
            _ => None,
        }
    }

    /// The name in docs/protocol.md.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidName => "invalid_name",
            Self::NameTaken => "name_taken",
            Self::ServerFull => "server_full",
            Self::Gamemode => "gamemode",
            Self::TooManyConnections => "too_many_connections",
            Self::Banned => "banned",
            Self::WrongPassword => "wrong_password",
            Self::PasswordAttempts => "password_attempts",
            Self::AuthUnavailable => "auth_unavailable",
            Self::InvalidCredential => "invalid_credential",
        }
    }

    /// Whether a refusal for this reason may have a text.
    #[must_use]
    pub const fn may_carry_text(self) -> bool {
        matches!(self, Self::Gamemode | Self::Banned)
    }

    /// Whether a refusal for this reason may have seconds.
    #[must_use]
    pub const fn may_carry_seconds(self) -> bool {
        matches!(self, Self::Banned | Self::PasswordAttempts)
    }
}
