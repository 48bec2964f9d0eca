//! The relay of the world bench by renet, with its netcode transport: a server and many of its own clients, each a
//! process of its own. The row `peers` of benches/world.rs starts both and measures.
//!
//! `decitick-peers serve ADDRESS PLAYERS FORM` relays until it is ended; `decitick-peers load ADDRESS PLAYERS FORM`
//! walks for a while, says on standard output when it begins and ends, and what came.

mod load;
mod serve;

#[path = "../../support/scene.rs"]
#[expect(dead_code, reason = "where players stand is the other server's matter")]
mod scene;
#[path = "../../support/sight.rs"]
#[expect(dead_code, reason = "views do not change here")]
mod sight;

use std::{
    error::Error,
    net::SocketAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use scene::{Form, Scene};

/// Time between two relays, and between two frames of a client.
const BEAT: Duration = Duration::from_millis(100);
/// Bytes of a relayed record, and of a client's frame.
const RECORD: usize = 46;
/// As in a RemotePlayerSync; so many fit the 1,200 bytes of a packet of renet too.
const RECORDS_IN_MESSAGE: usize = 26;
const PROTOCOL: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, address, players, form] = words.as_slice() else {
        return Err("expected: serve|load ADDRESS PLAYERS spread|crowd".into());
    };
    let address: SocketAddr = address.parse()?;
    let form = match form.as_str() {
        "spread" => Form::Spread,
        "crowd" => Form::Crowd,
        other => return Err(format!("the form is spread or crowd, not {other}").into()),
    };
    let players = players.parse()?;
    let scene = Scene { players, form };
    match mode.as_str() {
        "serve" => serve::run(address, scene),
        "load" => load::run(address, scene),
        other => Err(format!("the mode is serve or load, not {other}").into()),
    }
}

fn since_1970() -> Result<Duration, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}
