//! `decitick serve`: puts a server together, runs it, and takes it down again in order.

mod observers;

use std::{
    fmt,
    path::Path,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

use bevy_app::App;
use crossbeam_channel::unbounded;
use decitick_components::{inspection::InspectApp, server::PublicFace, settings::Settings};
use decitick_protocol::{CookieKey, ServerIdentity};
use decitick_systems::{door::Door, encode::query_body};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{
    ServerParts, asset_files, ban_file, build_app,
    cli::ServeArguments,
    client_files::{self, ClientFilesListener, ServeLimits},
    console::{self, Console, ConsoleEdgePlugin, ConsoleHub, ConsoleServer, ConsoleSocket, SocketError},
    edge_runtime::EdgeRuntime,
    entropy,
    http::HttpLimits,
    identity_file,
    metrics::MetricsEdge,
    page::LiveEdge,
    pulse::{Heart, Pulse, PulsePlugin},
    remote::RemoteEdge,
    runner::{self, Ended},
    scripts::gauges,
    service_manager::ServiceManager,
    settings_file,
    socket::{
        Epoch, Listener, SharedMailbox, SocketPlugin, Traffic, bind_all, start_readers, start_transmit,
    },
    telemetry::{self, Telemetry},
    tick_thread,
    worker::{self, WorkerPlugin, Workers},
};

use self::observers::{Observers, Surroundings, bind_observers, is_looked_at, observe};

/// Exit code for usage and configuration.
const CONFIGURATION: u8 = 2;
/// Exit code for everything that fails while it runs.
const RUN_TIME: u8 = 1;

/// Runs the server of a directory until it is stopped.
#[must_use]
pub fn run(arguments: &ServeArguments) -> ExitCode {
    match serve(arguments) {
        Ok(Ended::Gracefully) => ExitCode::SUCCESS,
        Ok(Ended::BadlyAfterFault) => ExitCode::from(RUN_TIME),
        Err(failure) => {
            super::complain(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}

/// Why a server does not start.
struct Failure {
    text: String,
    code: u8,
}

fn configuration(error: impl fmt::Display) -> Failure {
    Failure {
        text: error.to_string(),
        code: CONFIGURATION,
    }
}

fn run_time(error: impl fmt::Display) -> Failure {
    Failure {
        text: error.to_string(),
        code: RUN_TIME,
    }
}

fn serve(arguments: &ServeArguments) -> Result<Ended, Failure> {
    let directory = arguments.directory.as_path();
    let mut settings =
        settings_file::load(directory, &arguments.options.overrides()).map_err(configuration)?;
    let weapons = asset_files::load_weapons(directory).map_err(configuration)?;
    let spawns =
        asset_files::load_spawns(directory, settings.world.bounds, Some(&weapons)).map_err(configuration)?;
    let things = asset_files::load_things(directory, settings.world.bounds).map_err(configuration)?;
    let format = arguments.options.log.map_or(settings.log.format, Into::into);
    let telemetry =
        telemetry::init(format, &settings.log.filter, is_looked_at(&settings)).map_err(configuration)?;
    // From here on everything that is taken is a run-time matter.
    let socket = bind_console(directory, &settings)?;
    let identity = identity_file::load_or_create(directory).map_err(run_time)?;
    ban_file::remove_leftovers(directory);
    let bans = ban_file::load(directory).map_err(run_time)?;
    let listeners: Vec<Arc<Listener>> = bind_all(&settings.listen)
        .map_err(run_time)?
        .into_iter()
        .map(Arc::new)
        .collect();
    let client_files = ClientFilesListener::bind(settings.client_files.listen).map_err(run_time)?;
    // With port 0 it is the system's choice that clients are told.
    settings.client_files.listen = client_files.address();
    let observers = bind_observers(directory, &settings)?;
    tell_what_has_no_effect(&settings);
    if let Some(auth) = &settings.auth {
        tracing::info!(
            resource = auth.resource,
            "newcomers have to log in: this resource decides who joins"
        );
    }
    let parts = ServerParts {
        server_key: identity.public_key(),
        settings,
        spawns,
        weapons,
        things,
        bans,
    };
    let stop = stop_on_signals().map_err(run_time)?;
    let memory_mib = parts.settings.scripts.memory_mib;
    tick_thread::run(memory_mib, |memory_mib| {
        let mut parts = parts;
        parts.settings.scripts.memory_mib = memory_mib;
        let sockets = Sockets {
            listeners,
            console: socket,
            client_files,
            observers,
        };
        run_server(arguments, parts, &identity, sockets, &stop, &telemetry)
    })
    .map_err(|error| run_time(format_args!("the thread that ticks cannot be started: {error}")))?
}

/// Everything that listens.
struct Sockets {
    listeners: Vec<Arc<Listener>>,
    console: Option<ConsoleSocket>,
    client_files: ClientFilesListener,
    observers: Observers,
}

fn bind_console(directory: &Path, settings: &Settings) -> Result<Option<ConsoleSocket>, Failure> {
    if !settings.console.socket {
        return Ok(None);
    }
    match ConsoleSocket::bind(directory) {
        Ok(socket) => Ok(Some(socket)),
        // Servers may share a directory, and with it their key; the console is that of the first.
        Err(error @ SocketError::Live { .. }) => {
            tracing::warn!(%error, "this server has no console socket");
            Ok(None)
        }
        Err(error) => Err(run_time(error)),
    }
}

/// The first signal stops gracefully, a second one ends at once.
fn stop_on_signals() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(RUN_TIME), Arc::clone(&second))?;
        signal_hook::flag::register(signal, Arc::clone(&second))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Starts the threads, runs the ticks, and ends the threads in the order in which they depend on each other.
fn run_server(
    arguments: &ServeArguments,
    parts: ServerParts,
    identity: &ServerIdentity,
    sockets: Sockets,
    stop: &Arc<AtomicBool>,
    telemetry: &Telemetry,
) -> Result<Ended, Failure> {
    let Sockets {
        listeners,
        console: socket,
        client_files,
        observers,
    } = sockets;
    let listeners = listeners.as_slice();
    let epoch = Epoch::start();
    let face = PublicFace {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..PublicFace::default()
    };
    let first_query = query_body(&parts.settings, &face, 0, parts.settings.password.is_some());
    let cookie_key = CookieKey::new(entropy::cookie_key().map_err(run_time)?);
    let door = Door::new(
        identity.clone(),
        cookie_key,
        parts.settings.limits.clone(),
        first_query,
    );
    let (notices, noticed) = unbounded();
    let mailbox = SharedMailbox::default();
    let transmit = start_transmit(listeners, identity.clone(), epoch).map_err(run_time)?;
    let (workers, scripts, worker_threads) =
        worker::start(arguments.directory.clone(), parts.server_key, &parts.settings).map_err(run_time)?;
    let (hub, handle) = ConsoleHub::new();
    let readers = start_readers(listeners, door, &noticed, &mailbox, epoch).map_err(run_time)?;
    let console_server = socket
        .map(|socket| ConsoleServer::start(socket, handle.clone(), console::Limits::default()))
        .transpose()
        .map_err(run_time)?;
    let edges = EdgeRuntime::start().map_err(run_time)?;
    tracing::info!(address = %client_files.address(), "serving client files");
    let files = workers.client_files().clone();
    client_files::serve(&edges, client_files, files, ServeLimits::of(&parts.settings));
    let pulse = Arc::new(Pulse::new(epoch));
    let surroundings = Surroundings {
        edges: &edges,
        limits: HttpLimits::of(&parts.settings),
        pulse: &pulse,
        console: &handle,
        telemetry,
    };
    let observed = observe(&surroundings, observers);
    let service_manager = ServiceManager::attach(Arc::clone(&pulse)).map_err(run_time)?;
    if !arguments.options.no_console {
        console::stdin::start(handle).map_err(run_time)?;
    }
    for listener in listeners {
        tracing::info!(address = %listener.address, "listening");
    }
    tracing::info!(
        name = parts.settings.name,
        key = hex(&parts.server_key),
        max_players = parts.settings.max_players,
        version = face.version,
        "server started"
    );
    let mut app = build_app(parts);
    app.insert_resource(Traffic::new(mailbox, notices, &transmit))
        .insert_resource(workers)
        .insert_resource(scripts)
        .insert_resource(gauges::stopwatch())
        .insert_resource(gauges::memory_gauge())
        .insert_resource(Console(hub))
        .insert_resource(Heart(pulse))
        .add_plugins((SocketPlugin, WorkerPlugin, ConsoleEdgePlugin, PulsePlugin));
    hide_edges(&mut app);
    observed(&mut app);
    let ended = runner::run(&mut app, epoch, stop, telemetry);
    if let Some(manager) = service_manager {
        manager.finish();
    }
    finish_console(&mut app);
    drop(console_server);
    edges.finish();
    drop(app);
    transmit.finish();
    readers.stop();
    worker_threads.finish();
    tracing::info!("server stopped");
    telemetry.finish();
    Ok(ended)
}

/// What the edges keep in the App says nothing to people.
fn hide_edges(app: &mut App) {
    let why = "it is how the tick speaks with other threads";
    app.keep_inside::<Traffic>(why)
        .keep_inside::<Workers>(why)
        .keep_inside::<Console>(why)
        .keep_inside::<Heart>(why)
        .keep_inside::<MetricsEdge>(why)
        .keep_inside::<RemoteEdge>(why)
        .keep_inside::<LiveEdge>(why);
}

/// Answers to commands whose work is still under way when the server stops would never come: those who ask get
/// the end of the connection instead.
fn finish_console(app: &mut App) {
    app.world_mut().remove_resource::<Console>();
}

/// Keys of features that this version does not have are accepted and checked; that they have no effect is said once.
fn tell_what_has_no_effect(settings: &Settings) {
    let set = [
        ("voxel", settings.voxel.is_some()),
        ("gateway", settings.gateway.is_some()),
    ];
    for (key, _) in set.iter().filter(|(_, is_set)| *is_set) {
        tracing::warn!(
            key,
            "this version does not have the feature of this key; it has no effect"
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
