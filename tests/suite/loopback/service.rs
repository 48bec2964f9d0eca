//! A service manager in place of systemd: what a real server tells it over `NOTIFY_SOCKET`, from the start to the end.

use std::{os::unix::net::UnixDatagram, time::Instant};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::server::{PATIENCE, Server, decitick};

/// The next words of the server.
fn next(manager: &UnixDatagram) -> String {
    let mut words = [0; 256];
    let length = manager.recv(&mut words).expect("the server says something in time");
    String::from_utf8(words[..length].to_vec()).unwrap().trim().to_owned()
}

fn started() -> (TempDir, UnixDatagram, Server) {
    let directory = TempDir::new().unwrap();
    assert!(decitick(&["init", directory.path().to_str().unwrap()]).status.success());
    let path = directory.path().join("notify.sock");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let environment = [("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "300000")];
    let server = Server::spawn_with(directory.path(), &[], &environment);
    (directory, manager, server)
}

#[test]
fn a_service_manager_hears_of_readiness_of_every_pulse_and_of_the_stop() {
    let (_directory, manager, server) = started();
    assert_eq!(next(&manager), "READY=1");
    for _ in 0..3 {
        assert_eq!(next(&manager), "WATCHDOG=1");
    }
    server.signal(Signal::SIGTERM);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let words = next(&manager);
        if words == "STOPPING=1" {
            break;
        }
        assert!(words == "WATCHDOG=1" && Instant::now() < deadline, "{words}");
    }
    assert_eq!(server.wait().0, Some(0));
}

#[test]
fn a_service_manager_that_is_gone_disturbs_nobody() {
    let directory = TempDir::new().unwrap();
    assert!(decitick(&["init", directory.path().to_str().unwrap()]).status.success());
    let absent = directory.path().join("absent.sock");
    let environment = [("NOTIFY_SOCKET", absent.to_str().unwrap())];
    let server = Server::spawn_with(directory.path(), &[], &environment);
    server.wait_for_line("the service manager does not listen");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().0, Some(0));
}
