//! One point of the curve: a scene, shown once by a server and once by a bare loop, in windows of a few seconds.

use std::time::{Duration, Instant};

use crate::{
    bare::{Bare, relay::Relay},
    support::{
        cpu::ThreadTimes,
        scene::{Form, Scene},
        server::Server,
        sight::Seen,
        swarm::Swarm,
        ticks::{TickFigures, TickWatch},
    },
};

/// 10 Hz.
const EVERY: Duration = Duration::from_millis(100);
const WINDOW: Duration = Duration::from_secs(5);
/// How long until everybody sees whom it should; in a milling crowd that is never so.
const PATIENCE: Duration = Duration::from_secs(6);
/// Until the load is even.
const SETTLE: Duration = Duration::from_millis(500);
/// Until what is on its way has come.
const DRAIN: Duration = Duration::from_millis(350);

/// CPU time of a window.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// Core-milliseconds a second.
    pub(super) a_second: f64,
    /// Microseconds for each record that came. Where the machine has other things to do, two frames of a player come
    /// in one tick more often, and who then has less to relay is not cheaper for it.
    pub(super) a_record: f64,
}

impl Cost {
    pub(super) fn new(used: Duration, took: Duration, records: f64) -> Self {
        Self {
            a_second: used.as_secs_f64() * 1e3 / took.as_secs_f64(),
            a_record: used.as_secs_f64() * 1e6 / records,
        }
    }
}

/// What was measured of a server.
pub(super) struct Ours {
    pub(super) used: ThreadTimes,
    pub(super) cpu: Cost,
    pub(super) ticks: TickFigures,
    /// Ticks of the window that lasted longer than a tick may, or were left out.
    pub(super) overruns: u64,
    /// Datagrams lost in the kernel or dropped for a full queue in the window.
    pub(super) lost: u64,
    pub(super) seen: Seen,
    pub(super) resident_mib: f64,
    /// p50, p99, longest of the last minute, as the console has it.
    pub(super) minute: [f64; 3],
}

/// What was measured of a loop.
pub(super) struct Theirs {
    pub(super) cpu: Cost,
    pub(super) seen: Seen,
}

/// The real server.
pub(super) fn server(scene: Scene) -> Ours {
    let limit = format!("streaming.limit={}", scene.limit());
    let server = Server::start_with(&[&limit], Some(&scene.spawns_ron()));
    let mut swarm = joined(server.address, scene);
    let (status_before, drops_before) = (server.status(), server.drops());
    // Nobody walked while the console answered; what was held up goes out before the window.
    swarm.run_for(SETTLE);
    let watch = TickWatch::new(server.pid());
    swarm.sight.as_mut().unwrap().open();
    let (before, started) = (server.times(), Instant::now());
    swarm.run_for(WINDOW);
    let (used, took) = (server.times().since(&before), started.elapsed());
    let ticks = watch.figures();
    let seen = seen(&mut swarm);
    let (status, drops) = (server.status(), server.drops());
    let grown = |path: &dyn Fn(&serde_json::Value) -> &serde_json::Value, after, before| {
        path(after).as_u64().unwrap() - path(before).as_u64().unwrap()
    };
    let minute = ["p50_ms", "p99_ms", "max_ms"].map(|name| status["tick"][name].as_f64().unwrap());
    Ours {
        cpu: Cost::new(used.total(), took, seen.delivered as f64),
        used,
        ticks,
        overruns: grown(&|status| &status["tick"]["overruns"], &status, &status_before)
            + grown(&|status| &status["tick"]["skipped"], &status, &status_before),
        lost: grown(&|drops| &drops["kernel_lost"], &drops, &drops_before)
            + grown(&|drops| &drops["by_reason"]["queue_full"], &drops, &drops_before),
        seen,
        resident_mib: server.resident_kib() as f64 / 1024.0,
        minute,
    }
}

/// The bare loop.
pub(super) fn bare(scene: Scene) -> Theirs {
    let bare = Bare::start(Relay::new(scene));
    let mut swarm = joined(bare.address, scene);
    swarm.run_for(SETTLE);
    let (before, started) = (bare.time(), Instant::now());
    swarm.sight.as_mut().unwrap().open();
    swarm.run_for(WINDOW);
    let (used, took) = (bare.time() - before, started.elapsed());
    let seen = seen(&mut swarm);
    Theirs {
        cpu: Cost::new(used, took, seen.delivered as f64),
        seen,
    }
}

/// A swarm that walks and of which everybody sees whom it should.
fn joined(server: std::net::SocketAddr, scene: Scene) -> Swarm {
    let mut swarm = Swarm::new(server, scene.players);
    swarm.join_all();
    swarm.run_for(Duration::from_millis(300));
    swarm.stroll(EVERY, scene);
    let wanted = scene.players * scene.view();
    let started = Instant::now();
    while swarm.sight.as_ref().unwrap().pairs_in_view() < wanted && started.elapsed() < PATIENCE {
        swarm.sweep();
    }
    let pairs = swarm.sight.as_ref().unwrap().pairs_in_view();
    assert!(
        pairs == wanted || scene.form != Form::Spread,
        "{pairs} of {wanted} pairs in view after {PATIENCE:?}"
    );
    if pairs != wanted {
        println!("{pairs} pairs in view of {wanted} after {:?}", started.elapsed());
    }
    swarm
}

fn seen(swarm: &mut Swarm) -> Seen {
    swarm.sight.as_mut().unwrap().close();
    swarm.run_for(DRAIN);
    swarm.sight.as_ref().unwrap().seen()
}
