//! How a bare loop lets somebody in: a cookie that is always the same, then a signed hello.

use decitick_protocol::{ConnectChallenge, PROTOCOL_VERSION, ServerHello, ServerIdentity};

/// Answers ClientHellos.
pub(crate) struct Door(ServerIdentity);

impl Door {
    pub(crate) fn new() -> Self {
        Self(ServerIdentity::from_seed(&[0x42; 32]))
    }

    /// Whether this hello has no cookie yet, so that its answer lets nobody in.
    pub(crate) fn is_challenge(datagram: &[u8]) -> bool {
        datagram[67..75] == [0; 8]
    }

    /// The token of the `number`th who is let in.
    pub(crate) fn token(number: usize) -> u64 {
        number as u64 + 1
    }

    /// A challenge, or the signed hello of the `number`th who is let in; its id is that number.
    pub(crate) fn answer(&self, number: usize, datagram: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        if Self::is_challenge(datagram) {
            ConnectChallenge { cookie: 1 }.encode(&mut answer);
            return answer;
        }
        let token = Self::token(number);
        ServerHello {
            protocol_version: PROTOCOL_VERSION,
            player_id: number as u32,
            session_token: token,
            player_token: token as u32,
            hours: 12,
            minutes: 0,
            weather: 1,
            driveby_interval: [0; 12],
            garage_doors: 0,
            client_files_port: 7778,
            auth_pending: false,
            server_key: [0; 32],
            signature: [0; 64],
        }
        .encode(&mut answer);
        let nonce: [u8; 32] = datagram[75..107].try_into().unwrap();
        self.0.seal_hello(&nonce, &mut answer).unwrap();
        answer
    }
}

/// The session token of a packet, if it is long enough for one.
pub(crate) fn token_of(datagram: &[u8]) -> Option<u64> {
    datagram
        .get(1..9)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes)
}
