//! Pages that resources show on a client.

mod view_action_c2s;
mod view_close_s2c;
mod view_data_s2c;
mod view_open_s2c;
mod view_status_c2s;

pub use view_action_c2s::*;
pub use view_close_s2c::*;
pub use view_data_s2c::*;
pub use view_open_s2c::*;
pub use view_status_c2s::*;
