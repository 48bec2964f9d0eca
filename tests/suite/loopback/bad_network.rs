//! The bad network that `netsim` simulates, both ways, over real sockets.

use std::time::{Duration, Instant};

use decitick_client::driver::{UdpDriver, query};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    join, json,
    server::{PATIENCE, Server, decitick},
};

/// Lets the player play on until `done` says so of its row in `players`.
fn wait_for_rtt(server: &Server, driver: &mut UdpDriver, what: &str, done: impl Fn(u64) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut last = Value::Null;
    while Instant::now() < deadline {
        // What is said is acknowledged, and so are keepalives: both measure the way.
        server.console("say something");
        driver.run_for(Duration::from_millis(100)).unwrap();
        last = json(&server.console("players --json"))["players"][0]["rtt_ms"].clone();
        if last.as_u64().is_some_and(&done) {
            return;
        }
    }
    panic!("{what}: the round trip is {last} ms");
}

#[test]
fn round_trips_grow_by_the_delay_of_both_ways_and_shrink_again() {
    let directory = TempDir::new().unwrap();
    assert!(
        decitick(&["init", directory.path().to_str().unwrap()])
            .status
            .success()
    );
    let server = Server::start(directory.path(), &["--set", "resources=[]"]);
    let address = server.addresses()[0];
    let key = query(address).unwrap().info.server_key;
    let mut player = join(address, key, "Far Away");
    wait_for_rtt(&server, &mut player, "it is measured", |_| true);

    assert!(server.console("netsim delay 150").status.success());
    server.wait_for_line("a bad network is simulated");
    wait_for_rtt(&server, &mut player, "150 ms each way", |rtt| rtt >= 250);
    let status = json(&server.console("status --json"));
    assert_eq!(status["netsim"]["delay_ms"].as_u64(), Some(150));

    assert!(server.console("netsim loss 30 dup 30").status.success());
    player.run_for(Duration::from_millis(1500)).unwrap();
    for _ in 0..5 {
        let drops = json(&server.console("drops --json"));
        assert_eq!(drops["balanced"].as_bool(), Some(true), "{drops}");
        player.run_for(Duration::from_millis(50)).unwrap();
    }
    assert!(server.console("netsim off").status.success());
    wait_for_rtt(&server, &mut player, "the network is as it is", |rtt| rtt < 120);
    assert!(player.client().is_spawned(), "the session outlived it");
    let drops = json(&server.console("drops --json"));
    assert_eq!(
        (drops["balanced"].as_bool(), drops["held_back"].as_u64()),
        (Some(true), Some(0))
    );
}
