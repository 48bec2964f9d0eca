//! Texts and figures of the live view in so many columns.

use std::collections::VecDeque;

use decitick_components::console::{cut, display_width};
use decitick_protocol::escape_for_display;

/// Eighths of a row, from the lowest to a full one.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Columns below which a line has no room for its middle figure.
const NARROW: usize = 50;

/// A name with three figures at the right edge; the middle one only where there is room.
pub(super) fn line_of(name: &str, figures: &[impl AsRef<str>], columns: usize) -> String {
    let figures: String = figures
        .iter()
        .enumerate()
        .filter(|&(place, _)| place != 1 || columns >= NARROW)
        .map(|(_, figure)| format!("{:>9}", figure.as_ref()))
        .collect();
    let room = columns.saturating_sub(display_width(&figures));
    format!("{}{figures}", padded(&escape_for_display(name, 64), room))
}

/// Cut or padded to exactly so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let blanks = columns.saturating_sub(display_width(&text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The last part of a path such as `decitick_systems::motion::advance`.
pub(super) fn short(system: &str) -> String {
    let parts: Vec<&str> = system.rsplitn(3, "::").collect();
    match parts.as_slice() {
        [name, module, _] => format!("{module}::{name}"),
        _ => system.to_owned(),
    }
}

/// The last values as bars, the highest of them as a full one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of eight, which fits"
)]
pub(super) fn sparkline(values: &VecDeque<f64>, columns: usize) -> String {
    let shown = values.iter().skip(values.len().saturating_sub(columns));
    let most = shown.clone().copied().fold(0.0, f64::max);
    shown
        .map(|value| {
            let share = if most > 0.0 { value / most } else { 0.0 };
            let index = ((share * 8.0).ceil() as usize).clamp(1, BARS.len()) - 1;
            BARS.get(index).copied().unwrap_or(' ')
        })
        .collect()
}

/// `1.5 kB`.
pub(super) fn amount(bytes: f64) -> String {
    if bytes >= 1e6 {
        format!("{:.1} MB", bytes / 1e6)
    } else if bytes >= 1e3 {
        format!("{:.1} kB", bytes / 1e3)
    } else {
        format!("{bytes:.0} B")
    }
}

/// `3 d 04:05:06`.
pub(super) fn uptime(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let clock = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if days > 0 {
        format!("{days} d {clock}")
    } else {
        clock
    }
}
