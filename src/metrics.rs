//! Metrics and health over HTTP: `/metrics` in the Prometheus text format, `/healthz`, `/readyz` (docs/metrics.md).
//!
//! A scrape asks the tick for a snapshot; everything else happens beside it. Health is read off a pulse that the tick
//! beats, so it can be told while the tick hangs. The format is written by hand: the values are counted elsewhere
//! already, and what a client library would add is a second registry to copy them into.

mod families;
mod hub;
mod plugin;
mod process;
mod response;
mod text;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use crate::{
    edge_runtime::EdgeRuntime,
    http::{self, HttpLimits, HttpListener, ListenError, Purpose},
    pulse::Pulse,
};

pub use self::{
    families::{FAMILIES, Family, Kind, render},
    hub::{MetricsHandle, MetricsHub},
    plugin::{MetricsEdge, MetricsEdgePlugin},
    process::ProcessFigures,
};

const PURPOSE: Purpose = Purpose {
    what: "metrics",
    key: "metrics",
    connections_reason: "metrics_connections",
    accept_reason: "metrics_accept",
};

/// How long a snapshot may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// A bound listener.
#[derive(Debug)]
pub struct MetricsListener(HttpListener);

impl MetricsListener {
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

/// Answers whoever connects, until the runtime ends.
pub fn serve(
    runtime: &EdgeRuntime,
    listener: MetricsListener,
    handle: MetricsHandle,
    pulse: Arc<Pulse>,
    limits: HttpLimits,
) {
    runtime.spawn(http::serve(listener.0, limits.for_few(), move |request| {
        let (handle, pulse) = (handle.clone(), Arc::clone(&pulse));
        async move { response::answer(&handle, &pulse, request).await }
    }));
}
