//! The server as it goes on, for people who look at it: `decitick.live+watch` (docs/page.md).
//!
//! What viewers want is taken in at most twice a second and once for all of them, into a [`Board`] of rows that know
//! when they changed. Each [`Viewer`] is told what changed since it was told last, within a number of bytes; what
//! does not fit comes the next time. While nobody looks, nothing is taken in and nothing is kept, but for one record
//! of the last ten minutes.

mod board;
mod health;
mod map;
mod players;
mod scripts;
mod table;
mod values;
mod viewer;

pub(super) use self::{board::Board, health::record_health, viewer::Viewer};

/// Ticks between what one viewer is told and what it is told next: twice a second.
const PERIOD: u64 = 5;
/// Bytes of one event, but for the one row, value or line that goes over it: with that it has under 100,000
/// (docs/page.md).
const EVENT_BYTES: usize = 80 * 1024;
