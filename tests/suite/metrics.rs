//! Metrics and health: what a scrape tells, that the format is kept, and that documents and dashboard name what there is.

mod exposition;

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Instant,
};

use bevy_app::Plugin;
use decitick::{
    edge_runtime::EdgeRuntime,
    http::HttpLimits,
    metrics::{
        FAMILIES, Kind, MetricsEdge, MetricsEdgePlugin, MetricsHub, MetricsListener, ProcessFigures, render,
        serve,
    },
    pulse::{Heart, Pulse, PulsePlugin},
    socket::Epoch,
};
use decitick_components::metrics::MetricsDesk;
use exposition::{Exposition, judged_by_python};

use crate::{
    loopback::server::{PATIENCE, Server},
    sim::Sim,
};

/// What a scrape of this server tells.
fn scraped(sim: &mut Sim) -> String {
    sim.app.world_mut().resource_mut::<MetricsDesk>().wanted = true;
    sim.tick();
    let snapshot = sim
        .app
        .world_mut()
        .resource_mut::<MetricsDesk>()
        .snapshot
        .take()
        .unwrap();
    render(&snapshot, &ProcessFigures::read())
}

#[test]
fn a_scrape_tells_of_players_traffic_drops_and_limits() {
    let mut sim = Sim::new();
    sim.join_many(3);
    sim.ticks(30);
    let text = scraped(&mut sim);
    let told = Exposition::parse(&text);
    assert_eq!(told.value("decitick_players", "phase=\"spawned\""), 3.0);
    assert_eq!(told.value("decitick_players", "phase=\"pre_auth\""), 0.0);
    assert_eq!(told.value("decitick_players_max", ""), 1000.0);
    assert_eq!(told.value("decitick_connection_rtt_seconds_count", ""), 3.0);
    assert_eq!(told.value("decitick_lane_depth_events_count", ""), 3.0);
    let received = told.value("decitick_received_datagrams_total", "");
    let handled = told.sum("decitick_handled_datagrams_total");
    let dropped = told.sum("decitick_dropped_datagrams_total");
    assert!(received > 0.0);
    assert_eq!(
        received,
        handled + dropped + told.value("decitick_queued_datagrams", "")
    );
    assert!(told.value("decitick_limiter_capacity", "table=\"admission\"") > 0.0);
    assert_eq!(
        told.value("decitick_sent_bytes_total", "at=\"tick\""),
        0.0,
        "nobody sends here"
    );
    let families: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(told.families(), families);
    judged_by_python(&text);
    let labels: BTreeSet<&str> = FAMILIES
        .iter()
        .flat_map(|family| family.labels)
        .copied()
        .collect();
    let bounded = [
        "at", "kind", "outcome", "phase", "protocol", "reason", "resource", "step", "system", "table",
        "version",
    ];
    assert_eq!(
        labels,
        BTreeSet::from(bounded),
        "a label must not have as many values as there are players"
    );
}

#[test]
fn nothing_is_gathered_when_nobody_asks() {
    let mut sim = Sim::new();
    sim.ticks(3);
    assert!(sim.app.world().resource::<MetricsDesk>().snapshot.is_none());
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    send(address, request.as_bytes())
}

fn send(address: SocketAddr, request: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(request);
    let mut told = Vec::new();
    let _ = stream.read_to_end(&mut told);
    let told = String::from_utf8(told).unwrap();
    let status = told
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    let body = told.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_owned())
}

#[test]
fn health_is_told_while_the_tick_hangs_and_a_scrape_gives_up() {
    let mut sim = Sim::new();
    let (hub, handle) = MetricsHub::new();
    let pulse = Arc::new(Pulse::new(Epoch::start()));
    sim.app
        .insert_resource(MetricsEdge(hub))
        .insert_resource(Heart(Arc::clone(&pulse)));
    MetricsEdgePlugin.build(&mut sim.app);
    PulsePlugin.build(&mut sim.app);
    let runtime = EdgeRuntime::start().unwrap();
    let listener = MetricsListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    serve(&runtime, listener, handle, pulse, HttpLimits::default());
    assert_eq!(
        get(address, "/readyz"),
        (503, "starting: no tick yet\n".to_owned())
    );
    let scrape = thread::spawn(move || {
        [
            get(address, "/metrics"),
            get(address, "/healthz"),
            get(address, "/readyz"),
        ]
    });
    while !scrape.is_finished() {
        sim.tick();
        thread::yield_now();
    }
    let [metrics, health, ready] = scrape.join().unwrap();
    assert_eq!(metrics.0, 200);
    Exposition::parse(&metrics.1);
    assert_eq!(
        (health, ready),
        ((200, "ok\n".to_owned()), (200, "ready\n".to_owned()))
    );
    // No tick any more.
    let deadline = Instant::now() + PATIENCE;
    let told = loop {
        let (status, told) = get(address, "/healthz");
        if status != 200 {
            assert_eq!(status, 503);
            break told;
        }
        assert!(Instant::now() < deadline);
        thread::yield_now();
    };
    assert!(told.starts_with("no tick for "), "{told}");
    let (status, told) = get(address, "/metrics");
    assert!(status == 503 && told.contains("held up"), "{told}");
    assert_eq!(get(address, "/readyz").0, 503);
    for (request, expected) in [
        (
            "POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            405,
        ),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404),
        (
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
            413,
        ),
        ("\u{1}\u{2}\r\n\r\n", 400),
    ] {
        assert_eq!(send(address, request.as_bytes()).0, expected, "{request}");
    }
}

#[test]
fn the_program_serves_metrics_and_becomes_ready() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(
        directory.path(),
        &["--set", "metrics=Some(\"127.0.0.1:0\")", "--set", "resources=[]"],
    );
    let address = server
        .log()
        .iter()
        .find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            let fields = &line["fields"];
            (fields["message"] == "serving metrics")
                .then(|| fields["address"].as_str().unwrap().parse().unwrap())
        })
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    while get(address, "/readyz").0 != 200 {
        assert!(Instant::now() < deadline);
        thread::yield_now();
    }
    assert_eq!(get(address, "/healthz"), (200, "ok\n".to_owned()));
    let (status, text) = get(address, "/metrics");
    assert_eq!(status, 200);
    let told = Exposition::parse(&text);
    assert!(told.value("decitick_uptime_seconds", "") > 0.0);
    assert!(told.value("decitick_process_resident_memory_bytes", "") > 1e6);
    assert!(text.contains(&format!("version=\"{}\"", env!("CARGO_PKG_VERSION"))));
}

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

const BEGIN: &str = "<!-- metrics: held equal to the program by tests/suite/metrics.rs -->\n";
const END: &str = "<!-- end of metrics -->\n";

#[test]
fn docs_metrics_md_lists_every_metric() {
    let mut table = "\n| metric | kind | labels | tells |\n| --- | --- | --- | --- |\n".to_owned();
    for family in FAMILIES {
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        let kind = family.kind.name();
        writeln!(
            table,
            "| `{}` | {kind} | {} | {} |",
            family.name,
            labels.join(" "),
            family.help
        )
        .unwrap();
    }
    table.push('\n');
    let path = repository("docs/metrics.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("DECITICK_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        shown, table,
        "DECITICK_BLESS=1 cargo test --test suite metrics writes the page anew"
    );
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let text = fs::read_to_string(repository("assets/grafana/decitick.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(dashboard["title"].as_str().unwrap().contains("Decitick"));
    let mut known = BTreeSet::new();
    for family in FAMILIES {
        match family.kind {
            Kind::Histogram => {
                known.extend(["_bucket", "_sum", "_count"].map(|part| format!("{}{part}", family.name)));
            }
            Kind::Counter | Kind::Gauge => {
                known.insert(family.name.to_owned());
            }
        }
    }
    let mut asked = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(panel["title"].is_string());
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            asked.extend(
                words
                    .filter(|word| word.starts_with("decitick_"))
                    .map(str::to_owned),
            );
        }
    }
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty() && asked.len() > 15, "{unknown:?}");
}
