//! Aligned columns and amounts as people read them. It knows no command and no world.

use std::time::Duration;

/// For whom a text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal that shows it; none: lines may have any length, as for a pipe.
    pub width: Option<u16>,
}

impl Layout {
    /// Lines of any length.
    pub const WIDE: Self = Self { width: None };
}

/// Rows of cells whose columns are padded to the widest cell.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Adds a row.
    pub(super) fn row<const COLUMNS: usize>(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells.into());
    }

    /// Lines without a line end at the last, two blanks between columns, none at the end of a line.
    pub(super) fn text(&self, _layout: Layout) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            if !text.is_empty() {
                text.push('\n');
            }
            let start = text.len();
            for (cell, width) in row.iter().zip(&widths) {
                text.push_str(cell);
                let padding = width.saturating_sub(cell.chars().count()) + 2;
                text.extend(std::iter::repeat_n(' ', padding));
            }
            text.truncate(text.trim_end_matches(' ').len().max(start));
        }
        text
    }
}

/// `3 d 4 h`, `2 min 5 s`, `7 s`: the two largest units that are not zero.
pub(super) fn duration(seconds: u64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut left = seconds;
    let mut parts = Vec::new();
    for (size, unit) in units {
        let amount = left / size;
        left %= size;
        if amount > 0 {
            parts.push(format!("{amount} {unit}"));
        }
    }
    parts.truncate(2);
    if parts.is_empty() {
        "0 s".to_owned()
    } else {
        parts.join(" ")
    }
}

/// `1.5 kB`, `2.0 MB`: powers of 1,000, one digit after the point from a kilobyte on.
pub(super) fn bytes(amount: f64) -> String {
    if amount >= 1e6 {
        format!("{:.1} MB", amount / 1e6)
    } else if amount >= 1e3 {
        format!("{:.1} kB", amount / 1e3)
    } else {
        format!("{amount:.0} B")
    }
}

/// `5 players`, `1 player`.
pub(super) fn counted(amount: u64, one: &str) -> String {
    if amount == 1 {
        format!("1 {one}")
    } else {
        format!("{amount} {one}s")
    }
}

/// Milliseconds with a fraction, for answers.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters_and_lines_have_no_blanks_at_the_end() {
        let mut table = TextTable::default();
        table.row(["id".to_owned(), "name".to_owned(), String::new()]);
        table.row(["1000".to_owned(), "жук".to_owned(), "x".to_owned()]);
        table.row([String::new(), String::new(), String::new()]);
        assert_eq!(table.text(Layout::WIDE), "id    name\n1000  жук   x\n");
        assert_eq!(TextTable::default().text(Layout::WIDE), "");
    }

    #[test]
    fn amounts_read_as_people_write_them() {
        let durations = [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3661, "1 h 1 min"),
            (90_000, "1 d 1 h"),
        ];
        for (seconds, text) in durations {
            assert_eq!(duration(seconds), text);
        }
        for (amount, text) in [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1500.0, "1.5 kB"),
            (2e6, "2.0 MB"),
        ] {
            assert_eq!(bytes(amount), text);
        }
        assert_eq!(
            (counted(1, "ban"), counted(0, "ban")),
            ("1 ban".to_owned(), "0 bans".to_owned())
        );
        assert!((milliseconds(Duration::from_micros(1234)) - 1.234).abs() < 1e-9);
    }
}
