//! A whole server without its edges, stepped: datagrams come through a real door from peers that know their
//! tokens, console lines are executed, workers answer or fail, time stands still or jumps, and whatever can be wished of
//! the world is wished. Every packet that leaves must decode as strictly as a client decodes it and fit what its session
//! was told before, and the ledger and every index must balance after every tick.
#![no_main]

use decitick_fuzz::{server_plan::Plan, server_run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|plan: Plan| server_run::run(&plan));
