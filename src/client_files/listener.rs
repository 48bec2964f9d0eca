//! The TCP listener of client files.

use std::net::SocketAddr;

use crate::http::{HttpListener, ListenError, Purpose};

/// What it is for, in errors and logs.
const PURPOSE: Purpose = Purpose {
    what: "client files",
    key: "client_files.listen",
    connections_reason: "client_files_connections",
    accept_reason: "client_files_accept",
};

/// A bound listener.
#[derive(Debug)]
pub struct ClientFilesListener(pub(super) HttpListener);

impl ClientFilesListener {
    /// Binds the address; with port 0 the system chooses one.
    ///
    /// # Errors
    /// It cannot be bound; the error names the key and the mend.
    pub fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        HttpListener::bind(address, PURPOSE).map(Self)
    }

    /// Where it is bound.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_0_becomes_a_real_one_and_a_used_one_is_told_with_its_key() {
        let first = ClientFilesListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert_ne!(first.address().port(), 0);
        let error = ClientFilesListener::bind(first.address())
            .unwrap_err()
            .to_string();
        assert!(error.contains(&first.address().to_string()), "{error}");
        assert!(
            error.contains("another program uses it") && error.contains("client_files.listen"),
            "{error}"
        );
    }
}
