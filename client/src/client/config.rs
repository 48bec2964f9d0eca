//! What a program says about itself and about the server it means to join.

use std::fmt;

use decitick_protocol::{NAME_LEN, PasswordKey, PlayerName};

/// Everything an attempt needs besides the time and a nonce.
#[derive(Clone)]
pub struct ClientConfig {
    pub(super) name: [u8; NAME_LEN],
    pub(super) server: Option<PinnedServer>,
}

/// The server a client means, known by its public key (from a server query, or from an earlier session).
///
/// A password proof and a credential are bound to the server's key, so they can only be given together with it.
#[derive(Clone)]
pub struct PinnedServer {
    /// The Ed25519 public key that must have signed the ServerHello.
    pub server_key: [u8; 32],
    /// The key derived from the server's password for `server_key`. Deriving takes tens of milliseconds or more, so it is
    /// done once, before the attempt.
    pub password: Option<PasswordKey>,
    /// Ed25519 seed of the credential the player keeps for this server.
    pub credential_seed: Option<[u8; 32]>,
}

impl ClientConfig {
    /// A client that joins as `name`, whatever key the server has.
    #[must_use]
    pub fn new(name: &PlayerName) -> Self {
        Self::with_name_field(name.to_field())
    }

    /// A client whose ClientHello carries exactly these bytes as its name, well-formed or not: for programs that check
    /// how a server judges names.
    #[must_use]
    pub const fn with_name_field(name: [u8; NAME_LEN]) -> Self {
        Self { name, server: None }
    }

    /// Joins only this server.
    #[must_use]
    pub fn pinned_to(mut self, server: PinnedServer) -> Self {
        self.server = Some(server);
        self
    }
}

impl PinnedServer {
    /// A server without a password, joined without a credential.
    #[must_use]
    pub const fn new(server_key: [u8; 32]) -> Self {
        Self {
            server_key,
            password: None,
            credential_seed: None,
        }
    }
}

impl fmt::Debug for PinnedServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PinnedServer")
            .field("server_key", &self.server_key)
            .field("password", &self.password.is_some())
            .field("credential", &self.credential_seed.is_some())
            .finish()
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ClientConfig")
            .field("name", &String::from_utf8_lossy(&self.name))
            .field("server", &self.server)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_holds_no_secret() {
        let server = PinnedServer {
            credential_seed: Some([0x17; 32]),
            ..PinnedServer::new([0x42; 32])
        };
        let config = ClientConfig::new(&PlayerName::parse("Ann Bee").unwrap()).pinned_to(server);
        let text = format!("{config:?}");
        assert!(
            text.contains("Ann Bee") && text.contains("credential: true"),
            "{text}"
        );
        assert!(!text.contains("23, 23"), "{text}");
    }

    #[test]
    fn the_name_field_is_padded_with_zeros() {
        let config = ClientConfig::new(&PlayerName::parse("Иван").unwrap());
        assert_eq!(&config.name[..8], "Иван".as_bytes());
        assert_eq!(config.name[8..], [0; 56]);
    }
}
