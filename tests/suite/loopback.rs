//! The real binary over real sockets, as its operator and its players meet it.
//!
//! Every wait has a condition and a deadline. Servers listen on port 0 and tell in their log where that is.

mod bad_network;
mod browser;
mod browser_login;
mod consoles;
mod guest;
mod hostile_scripts;
mod log;
mod logins;
mod message_pack;
mod page;
mod page_in_a_browser;
pub(crate) mod server;

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    process::Output,
    time::{Duration, Instant},
};

use decitick_client::{
    client::{ClientConfig, ClientNotice, EndReason, PinnedServer},
    driver::{UdpDriver, query},
};
use decitick_protocol::{PlayerName, RejectReason};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use server::{PATIENCE, Server, decitick};

/// Joins over a real socket and waits for the body.
fn join(address: SocketAddr, key: [u8; 32], name: &str) -> UdpDriver {
    let config = ClientConfig::new(&PlayerName::parse(name).unwrap()).pinned_to(PinnedServer::new(key));
    let mut driver = UdpDriver::connect(address, config).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !driver.client().is_spawned() {
        assert!(
            Instant::now() < deadline,
            "no body in time: {:?}",
            driver.client().end_reason()
        );
        if let Some(ClientNotice::Joined(_)) = driver.next_notice(Duration::from_millis(50)).unwrap() {
            driver.client().request_spawn();
        }
    }
    driver
}

/// Why a client ends; it is to end in time.
fn end_of(driver: &mut UdpDriver) -> EndReason {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(ClientNotice::Ended(reason)) = driver.next_notice(Duration::from_millis(50)).unwrap() {
            return reason;
        }
        assert!(Instant::now() < deadline, "the session goes on");
    }
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_server_is_asked_played_on_operated_and_stopped() {
    let directory = TempDir::new().unwrap();
    assert!(
        decitick(&["init", directory.path().to_str().unwrap()])
            .status
            .success()
    );
    let server = Server::start(directory.path(), &[]);
    let address = server.addresses()[0];
    let shown = json(&decitick(&["query", &address.to_string(), "--json"]));
    assert_eq!(
        (shown["players"].as_u64(), shown["name"].as_str()),
        (Some(0), Some("Decitick server"))
    );
    let key = query(address).unwrap().info.server_key;

    // People play while bots come and go.
    let mut kicked = join(address, key, "Kicked One");
    let mut stays = join(address, key, "Stays On");
    let bots = std::thread::spawn(move || {
        decitick(&[
            "bots",
            &address.to_string(),
            "--count",
            "20",
            "--seconds",
            "2",
            "--json",
        ])
    });
    while !bots.is_finished() {
        kicked.run_for(Duration::from_millis(20)).unwrap();
        stays.run_for(Duration::from_millis(20)).unwrap();
    }
    let report = json(&bots.join().unwrap());
    assert_eq!(report["bots"]["joined"].as_u64(), Some(20), "{report}");

    // The operator looks around and kicks one of them.
    let status = json(&server.console("status --json"));
    assert_eq!(status["players"].as_u64(), Some(2), "{status}");
    assert!(text(&server.console("players").stdout).contains("Kicked One"));
    let id = kicked.client().welcome().unwrap().player_id;
    assert!(
        server
            .console(&format!("kick {id} enough for today"))
            .status
            .success()
    );
    assert_eq!(
        end_of(&mut kicked),
        EndReason::Kicked {
            reason: "enough for today".to_owned()
        }
    );
    let unknown = server.console("kcik 0");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        format!("{}{}", text(&unknown.stdout), text(&unknown.stderr)).contains("kick"),
        "the nearest command is named"
    );

    // A ban is on disk when the command returns.
    assert!(server.console("ban 192.0.2.0/24 60 trouble").status.success());
    assert!(
        fs::read_to_string(directory.path().join("bans.toml"))
            .unwrap()
            .contains("192.0.2.0/24")
    );

    let stopping = Instant::now();
    server.signal(Signal::SIGTERM);
    assert_eq!(
        end_of(&mut stays),
        EndReason::Kicked {
            reason: "server shutting down".to_owned()
        }
    );
    let (code, log) = server.wait();
    assert!(
        stopping.elapsed() < Duration::from_secs(2),
        "{:?}",
        stopping.elapsed()
    );
    assert_eq!(code, Some(0), "{log:#?}");
    assert!(!directory.path().join("console.sock").exists());
    for line in &log {
        let value: serde_json::Value = serde_json::from_str(line).expect(line);
        assert_ne!(value["level"].as_str(), Some("ERROR"), "{line}");
    }
}

#[test]
fn a_banned_address_is_refused_also_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &[]);
    let key = query(server.addresses()[0]).unwrap().info.server_key;
    let mut player = join(server.addresses()[0], key, "Player One");
    assert!(server.console("ban 127.0.0.1 0 not you").status.success());
    assert!(matches!(end_of(&mut player), EndReason::Kicked { .. }));
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait().0, Some(0));

    let server = Server::start(directory.path(), &[]);
    let config =
        ClientConfig::new(&PlayerName::parse("Player One").unwrap()).pinned_to(PinnedServer::new(key));
    let mut again = UdpDriver::connect(server.addresses()[0], config).unwrap();
    let refused = EndReason::Rejected {
        reason: RejectReason::Banned,
        text: "not you".to_owned(),
        seconds: 0,
    };
    assert_eq!(end_of(&mut again), refused);
}

#[test]
fn a_password_is_derived_beside_the_tick_and_then_asked_for() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &["--set", "password=\"sesame\""]);
    let address = server.addresses()[0].to_string();
    let without = decitick(&["bots", &address, "--count", "1", "--seconds", "1", "--json"]);
    assert_eq!(without.status.code(), Some(1));
    let with = decitick(&[
        "bots",
        &address,
        "--count",
        "3",
        "--seconds",
        "1",
        "--password",
        "sesame",
        "--json",
    ]);
    assert_eq!(json(&with)["bots"]["joined"].as_u64(), Some(3));
    assert!(server.log().iter().all(|line| !line.contains("sesame")));
}

#[test]
fn two_servers_that_start_at_once_in_one_directory_end_with_one_key() {
    let directory = TempDir::new().unwrap();
    let no_socket = ["--set", "console.socket=false"];
    let servers = [
        Server::spawn(directory.path(), &no_socket),
        Server::spawn(directory.path(), &no_socket),
    ];
    let keys: Vec<[u8; 32]> = servers
        .iter()
        .map(|server| query(server.addresses()[0]).unwrap().info.server_key)
        .collect();
    assert_eq!(keys[0], keys[1]);
    let file = directory.path().join("server_identity.key");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(&file).unwrap().len(), 32);
    let leftovers = fs::read_dir(directory.path()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains(".tmp")
    });
    assert_eq!(leftovers.count(), 0);
}

#[test]
fn one_server_listens_on_ipv4_and_ipv6_and_a_peer_is_one_across_them() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &["--listen", "[::1]:0"]);
    let addresses = server.addresses();
    assert!(addresses[0].is_ipv4() && addresses[1].is_ipv6(), "{addresses:?}");
    let key = query(addresses[1]).unwrap().info.server_key;
    let mut four = join(addresses[0], key, "Over Four");
    let mut six = join(addresses[1], key, "Over Six");
    let deadline = Instant::now() + PATIENCE;
    while six
        .client()
        .roster()
        .is_none_or(|roster| roster.in_view_count() == 0)
    {
        assert!(Instant::now() < deadline, "they see each other");
        four.run_for(Duration::from_millis(20)).unwrap();
        six.run_for(Duration::from_millis(20)).unwrap();
    }
    assert_eq!(
        json(&server.console("status --json"))["players"].as_u64(),
        Some(2)
    );
    let twin = ClientConfig::new(&PlayerName::parse("over four").unwrap());
    let mut twin = UdpDriver::connect(addresses[1], twin).unwrap();
    assert!(matches!(
        end_of(&mut twin),
        EndReason::Rejected {
            reason: RejectReason::NameTaken,
            ..
        }
    ));
}

#[test]
fn a_stop_of_the_process_is_one_line_and_costs_nobody_the_session() {
    let directory = TempDir::new().unwrap();
    let server = Server::start(directory.path(), &[]);
    let key = query(server.addresses()[0]).unwrap().info.server_key;
    let mut player = join(server.addresses()[0], key, "Patient One");
    server.signal(Signal::SIGSTOP);
    player.run_for(Duration::from_millis(2_500)).unwrap();
    server.signal(Signal::SIGCONT);
    server.wait_for_line("skipped ticks");
    player.run_for(Duration::from_millis(1_500)).unwrap();
    assert_eq!(player.client().end_reason(), None);
    let status = json(&server.console("status --json"));
    let (number, skipped) = (
        status["tick"]["number"].as_u64().unwrap(),
        status["tick"]["skipped"].as_u64().unwrap(),
    );
    assert!((20..=30).contains(&skipped) && number > skipped, "{status}");
    let lines = server
        .log()
        .iter()
        .filter(|line| line.contains("skipped ticks"))
        .count();
    assert_eq!(lines, 1, "{:#?}", server.log());
}

/// Runs a start that is to fail: its exit code, and the one line it says.
fn failed_start(arguments: &[&str]) -> (Option<i32>, String) {
    let output = decitick(arguments);
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("decitick")).collect();
    assert_eq!(lines.len(), 1, "one clear line: {said}");
    assert!(output.stdout.is_empty());
    (output.status.code(), lines[0].to_owned())
}

#[test]
fn a_start_that_fails_says_file_place_and_mend_in_one_line() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let serve = |name: &str| {
        let directory = path(name);
        failed_start(&[
            "serve",
            directory.to_str().unwrap(),
            "--listen",
            "127.0.0.1:0",
            "--no-console",
        ])
    };

    let (code, line) = serve("missing");
    assert_eq!(code, Some(2), "{line}");
    assert!(
        line.contains("missing") && line.contains("decitick init"),
        "{line}"
    );

    fs::create_dir_all(path("settings/assets")).unwrap();
    fs::write(path("settings/assets/server.ron"), "(\n    max_player: 3,\n)").unwrap();
    let (code, line) = serve("settings");
    assert_eq!(code, Some(2), "{line}");
    assert!(
        line.contains("server.ron:2:5") && line.contains("max_players"),
        "{line}"
    );

    fs::write(path("settings/assets/server.ron"), "(max_players: 5000)").unwrap();
    let (code, line) = serve("settings");
    assert_eq!(code, Some(2), "{line}");
    assert!(line.contains("server.ron:1:") && line.contains("1000"), "{line}");

    fs::create_dir(path("key")).unwrap();
    fs::write(path("key/server_identity.key"), [0x42; 32]).unwrap();
    fs::set_permissions(path("key/server_identity.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let (code, line) = serve("key");
    assert_eq!(code, Some(1), "{line}");
    assert!(
        line.contains("server_identity.key") && line.contains("chmod 600"),
        "{line}"
    );

    fs::set_permissions(path("key/server_identity.key"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(path("key/server_identity.key"), [0x42; 31]).unwrap();
    let (code, line) = serve("key");
    assert_eq!(code, Some(1), "{line}");
    assert!(
        line.contains("server_identity.key") && line.contains("32"),
        "{line}"
    );
    assert_eq!(
        fs::read(path("key/server_identity.key")).unwrap(),
        [0x42; 31],
        "a key is never replaced"
    );

    fs::create_dir(path("bans")).unwrap();
    fs::write(path("bans/bans.toml"), "[[bans]]\naddress = \"nowhere\"\n").unwrap();
    let (code, line) = serve("bans");
    assert_eq!(code, Some(1), "{line}");
    assert!(
        line.contains("bans.toml:2:") && line.contains("nowhere"),
        "{line}"
    );
    assert_eq!(
        fs::read_to_string(path("bans/bans.toml")).unwrap(),
        "[[bans]]\naddress = \"nowhere\"\n"
    );
}

#[test]
fn an_address_in_use_stops_the_start_and_a_directory_in_use_costs_the_second_server_its_console() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = Server::start(first.path(), &[]);
    let address = server.addresses()[0].to_string();
    let (code, line) = failed_start(&[
        "serve",
        second.path().to_str().unwrap(),
        "--listen",
        &address,
        "--no-console",
    ]);
    assert_eq!(code, Some(1), "{line}");
    assert!(line.contains(&address) && line.contains("--listen"), "{line}");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let (code, line) = failed_start(&[
        "serve",
        second.path().to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
        "--no-console",
        "--set",
        &format!("client_files.listen={taken:?}"),
    ]);
    assert_eq!(code, Some(1), "{line}");
    assert!(
        line.contains(&taken) && line.contains("client_files.listen"),
        "{line}"
    );
    let beside = Server::start(first.path(), &[]);
    beside.wait_for_line("another server runs in this directory");
    assert!(
        server.console("status").status.success(),
        "the console is still the first one's"
    );
    drop(beside);
    assert!(
        query(server.addresses()[0]).is_ok(),
        "the running server is not disturbed"
    );
    let unknown = decitick(&["serve", "--no-such-option"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_console_without_a_server_says_so() {
    let directory = TempDir::new().unwrap();
    let output = decitick(&["console", directory.path().to_str().unwrap(), "-c", "status"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(directory.path().to_str().unwrap()));
}
