//! The live page: one page in a browser that shows the running server, and where the operator allows it does a few things
//! (docs/page.md).
//!
//! Who gets in is decided here; what is asked goes the way of the remote endpoint, and what the answer is, is decided by
//! the tick. The site itself is in `page/site/`, without a build step.

mod guard;
mod link;
mod plugin;
mod response;
mod sign_in;
mod site;

use std::{net::SocketAddr, sync::Arc};

use crate::{
    access_token::AccessToken,
    console::ConsoleHandle,
    edge_runtime::EdgeRuntime,
    http::{self, HttpLimits, HttpListener, ListenError, Purpose},
    remote::{Acting, Actor, Asked, RemoteHandle},
};

use self::{link::Tickets, sign_in::SignIns};

pub use self::plugin::{LiveEdge, LiveEdgePlugin, ResidentMemory};
pub(crate) use self::{
    link::{LINK_SECONDS, ticket},
    response::unix_ms,
};

const PURPOSE: Purpose = Purpose {
    what: "the live page",
    key: "page.listen",
    connections_reason: "page_connections",
    accept_reason: "page_accept",
};

/// A bound listener on a loopback address.
#[derive(Debug)]
pub struct PageListener(HttpListener);

impl PageListener {
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

/// Everything that a request needs.
#[derive(Clone, Debug)]
struct Page {
    asked: Asked,
    /// For those who may act.
    actor: Option<Actor>,
    sign_ins: SignIns,
    tickets: Tickets,
    /// What this run of the server is told from others by.
    run: Arc<str>,
}

/// Serves the page until the runtime ends; with a console whoever is signed in may act.
pub fn serve(
    runtime: &EdgeRuntime,
    listener: PageListener,
    handle: RemoteHandle,
    token: AccessToken,
    console: Option<ConsoleHandle>,
    limits: HttpLimits,
) {
    let token = Arc::new(token);
    let address = listener.address();
    let page = Page {
        asked: Asked {
            handle,
            acting: Acting::NotAllowed,
            address,
        },
        actor: console.map(Actor::new),
        sign_ins: SignIns::new(Arc::clone(&token), address.port()),
        tickets: Tickets::new(token, unix_ms()),
        run: Arc::from(format!("{:x}", unix_ms())),
    };
    runtime.spawn(http::serve(listener.0, limits.for_browsers(), move |request| {
        let page = page.clone();
        async move { response::answer(&page, request).await }
    }));
}
