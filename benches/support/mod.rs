//! What every row needs: cores, clocks of threads, the server as a process, many light clients, floods, a table.

pub(crate) mod cores;
pub(crate) mod cpu;
pub(crate) mod flood;
pub(crate) mod honest;
pub(crate) mod program;
pub(crate) mod scene;
pub(crate) mod server;
pub(crate) mod sight;
pub(crate) mod stamped;
pub(crate) mod swarm;
pub(crate) mod table;
pub(crate) mod ticks;
