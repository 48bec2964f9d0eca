//! 0xA2 AuthAssertion, C>S lane: the token of a login provider (docs/protocol.md 1.3); 1,039 bytes.
//!
//! | byte | field | type |
//! | --- | --- | --- |
//! | 13 | len | u16, 1 to 1024 |
//! | 15 | jwt | [1024], zeros after len |

use crate::assertion::CompactJwt;
use crate::constants::MAX_JWT;
use crate::error::DecodeError;
use crate::packet::Body;
use crate::packet_id::PacketId;
use crate::reader::Reader;
use crate::writer::Writer;

/// What a login provider says about the player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthAssertion {
    /// The token in compact form. Its signature and claims are not judged here.
    pub jwt: CompactJwt,
}

impl Body for AuthAssertion {
    const ID: PacketId = PacketId::AuthAssertion;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = usize::from(reader.u16("len")?);
        let field = reader.bytes("jwt", MAX_JWT)?;
        let (token, padding) = field
            .split_at_checked(length)
            .filter(|(token, _)| !token.is_empty())
            .ok_or(DecodeError::BadLength {
                field: "len",
                length,
                minimum: 1,
                maximum: MAX_JWT,
            })?;
        if padding.iter().any(|&byte| byte != 0) {
            return Err(DecodeError::NonzeroPadding { field: "jwt" });
        }
        Ok(Self {
            jwt: CompactJwt::from_bytes(token)?,
        })
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let token = self.jwt.as_str().as_bytes();
        writer.u16(u16::try_from(token.len()).unwrap_or(u16::MAX));
        writer.padded(token, MAX_JWT);
    }
}
