//! One packet a file, in groups; everything is re-exported here and at the root of the crate.

pub mod auth;
pub mod handshake;
pub mod lane;
pub mod query;
pub mod session;
pub mod state;
pub mod view;

pub use auth::*;
pub use handshake::*;
pub use lane::*;
pub use query::*;
pub use session::*;
pub use state::*;
pub use view::*;
