//! The edges that let others look at a running server, each where the settings want it: metrics, the remote endpoint, the
//! live page.

use std::{path::Path, sync::Arc};

use bevy_app::App;
use decitick_components::settings::Settings;

use super::{Failure, run_time};
use crate::{
    access_token::{self, AccessToken},
    console::ConsoleHandle,
    edge_runtime::EdgeRuntime,
    http::HttpLimits,
    metrics::{self, MetricsEdge, MetricsEdgePlugin, MetricsHub, MetricsListener},
    page::{self, LiveEdge, LiveEdgePlugin, PageListener, ResidentMemory},
    pulse::Pulse,
    remote::{self, RemoteEdge, RemoteEdgePlugin, RemoteHub, RemoteListener},
    telemetry::Telemetry,
};

/// What lets others look at the server, each where the settings want it.
pub(super) struct Observers {
    metrics: Option<MetricsListener>,
    remote: Option<(RemoteListener, AccessToken)>,
    page: Option<(PageListener, AccessToken)>,
    /// Whether the page may act.
    allow_actions: bool,
}

/// Whether somebody may look at the server as it goes on.
pub(super) const fn is_looked_at(settings: &Settings) -> bool {
    settings.remote.is_some() || settings.page.is_some()
}

pub(super) fn bind_observers(directory: &Path, settings: &Settings) -> Result<Observers, Failure> {
    let metrics = settings
        .metrics
        .map(MetricsListener::bind)
        .transpose()
        .map_err(run_time)?;
    let remote = match settings.remote {
        None => None,
        Some(address) => {
            let token = access_token::load_or_create(directory, access_token::REMOTE).map_err(run_time)?;
            Some((RemoteListener::bind(address).map_err(run_time)?, token))
        }
    };
    let page = match &settings.page {
        None => None,
        Some(page) => {
            let token = access_token::load_or_create(directory, access_token::PAGE).map_err(run_time)?;
            Some((PageListener::bind(page.listen).map_err(run_time)?, token))
        }
    };
    Ok(Observers {
        metrics,
        remote,
        page,
        allow_actions: settings.page.as_ref().is_some_and(|page| page.allow_actions),
    })
}

/// What the edges that let others look are put into.
pub(super) struct Surroundings<'s> {
    pub edges: &'s EdgeRuntime,
    pub limits: HttpLimits,
    pub pulse: &'s Arc<Pulse>,
    pub console: &'s ConsoleHandle,
    pub telemetry: &'s Telemetry,
}

/// Starts the edges that let others look, and returns what gives them their end in the App.
pub(super) fn observe(around: &Surroundings<'_>, observers: Observers) -> impl FnOnce(&mut App) + use<> {
    let metrics = observers.metrics.map(|listener| {
        let (hub, handle) = MetricsHub::new();
        tracing::info!(address = %listener.address(), "serving metrics");
        metrics::serve(
            around.edges,
            listener,
            handle,
            Arc::clone(around.pulse),
            around.limits,
        );
        MetricsEdge(hub)
    });
    let looked_at = observers.remote.is_some() || observers.page.is_some();
    let (hub, handle) = RemoteHub::new();
    if let Some((listener, token)) = observers.remote {
        tracing::info!(
            address = %listener.address(),
            token_file = access_token::REMOTE.name,
            "serving the remote endpoint"
        );
        remote::serve(around.edges, listener, handle.clone(), token, around.limits);
    }
    if let Some((listener, token)) = observers.page {
        tracing::info!(
            address = %listener.address(),
            allow_actions = observers.allow_actions,
            "serving the live page; `decitick page` prints a link to it"
        );
        let console = observers.allow_actions.then(|| around.console.clone());
        page::serve(around.edges, listener, handle, token, console, around.limits);
    }
    let live = looked_at.then(|| LiveEdge {
        log: around.telemetry.tail().cloned(),
        memory: ResidentMemory::start(around.edges),
    });
    move |app| {
        if let Some(edge) = metrics {
            app.insert_resource(edge).add_plugins(MetricsEdgePlugin);
        }
        if let Some(edge) = live {
            app.insert_resource(RemoteEdge(hub))
                .insert_resource(edge)
                .add_plugins((RemoteEdgePlugin, LiveEdgePlugin));
        }
    }
}
