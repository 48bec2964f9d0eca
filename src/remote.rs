//! The remote endpoint: programs ask about the running world over HTTP, in the methods and shapes of the Bevy Remote
//! Protocol, and cannot change anything (docs/remote.md).
//!
//! Who may ask is decided here, before a question is read: a loopback listener, a token, a loopback name in `Host` and
//! `Origin`. What the answer is, is decided by the tick; this edge carries letters and knows no world.

mod act;
mod guard;
mod hub;
mod plugin;
mod response;
mod rpc;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use crate::{
    access_token::AccessToken,
    edge_runtime::EdgeRuntime,
    http::{self, HttpLimits, HttpListener, ListenError, Purpose},
};

pub(crate) use self::{
    act::{Acting, Actor},
    response::{Asked, respond, set},
};
pub use self::{
    hub::{AskError, RemoteHandle, RemoteHub},
    plugin::{RemoteEdge, RemoteEdgePlugin},
};

const PURPOSE: Purpose = Purpose {
    what: "the remote endpoint",
    key: "remote",
    connections_reason: "remote_connections",
    accept_reason: "remote_accept",
};

/// Bytes of the body of a request.
const BODY_BYTES: usize = 64 * 1024;
/// How long the body of a request may take.
const BODY_TIME: Duration = Duration::from_secs(10);
/// How long an answer of the tick may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A bound listener on a loopback address.
#[derive(Debug)]
pub struct RemoteListener(HttpListener);

impl RemoteListener {
    /// Binds the address, which the settings let through only when it is a loopback address; with port 0 the system
    /// chooses one.
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

/// Who is asked, and who may ask.
#[derive(Clone, Debug)]
struct Endpoint {
    asked: Asked,
    token: Arc<AccessToken>,
}

/// Answers whoever has the token, until the runtime ends.
pub fn serve(
    runtime: &EdgeRuntime,
    listener: RemoteListener,
    handle: RemoteHandle,
    token: AccessToken,
    limits: HttpLimits,
) {
    let endpoint = Endpoint {
        asked: Asked {
            handle,
            acting: Acting::Never,
            address: listener.address(),
        },
        token: Arc::new(token),
    };
    runtime.spawn(http::serve(listener.0, limits.for_few(), move |request| {
        let endpoint = endpoint.clone();
        async move { response::answer(&endpoint, request).await }
    }));
}
