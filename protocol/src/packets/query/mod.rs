//! The server query, which needs no session.

mod query_answer_s2c;
mod query_request_c2s;

pub use query_answer_s2c::*;
pub use query_request_c2s::{QueryRequest, query_nonce_of};

use query_request_c2s::after_magic;

/// What follows the id of a query of either way.
const QUERY_MAGIC: &[u8] = b"DQRY";
