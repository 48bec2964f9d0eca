//! Aligned columns within the width of a terminal, and amounts as people read them. It knows no command and no world.

use std::time::Duration;

use unicode_width::UnicodeWidthChar;

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

/// Blanks between columns.
const GAP: usize = 2;
/// How far the second line of a cell of the first column stands in.
const HANGING: usize = 2;
/// Columns down to which a text is broken inside its words before figures are.
const NARROW: usize = 8;
/// The widest cell that counts as a figure.
const FIGURE: usize = 12;

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

    /// Lines without a line end at the last, two blanks between columns, none at the end of a line. No line is wider
    /// than the layout: the widest texts are broken at blanks, then inside words; figures stay whole while they can.
    pub(super) fn text(&self, layout: Layout) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(display_width(cell));
            }
        }
        if let Some(columns) = layout.width {
            self.fit(&mut widths, usize::from(columns));
        }
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            push_row(&mut text, row, &widths, layout.width.map(usize::from));
        }
        text
    }

    /// Narrows columns until a line fits, the widest first.
    fn fit(&self, widths: &mut [usize], columns: usize) {
        let room = columns.saturating_sub(GAP * widths.len().saturating_sub(1));
        if widths.iter().sum::<usize>() <= room {
            return;
        }
        let whole: Vec<bool> = (0..widths.len())
            .map(|column| self.holds_figures(column))
            .collect();
        let words: Vec<usize> = (0..widths.len())
            .map(|column| self.longest_word(column))
            .collect();
        let natural = widths.to_vec();
        for width in widths.iter_mut() {
            *width = (*width).min(room);
        }
        let floors =
            |text: &dyn Fn(usize, usize) -> usize, figure: &dyn Fn(usize, usize) -> usize| -> Vec<usize> {
                natural
                    .iter()
                    .zip(&words)
                    .zip(&whole)
                    .map(|((&natural, &word), &whole)| {
                        if whole {
                            figure(natural, word)
                        } else {
                            text(natural, word)
                        }
                    })
                    .collect()
            };
        let steps = [
            floors(&|_, word| word, &|natural, _| natural),
            floors(&|natural, _| natural.min(NARROW), &|natural, _| natural),
            floors(&|natural, _| natural.min(NARROW), &|_, word| word),
            floors(&|_, _| 1, &|_, _| 1),
        ];
        for floors in steps {
            narrow(widths, &floors, room);
        }
    }

    /// Whether everything below the head of a column is short and begins with a digit or a sign.
    fn holds_figures(&self, column: usize) -> bool {
        self.rows
            .iter()
            .skip(1)
            .filter_map(|row| row.get(column))
            .all(|cell| {
                display_width(cell) <= FIGURE
                    && cell.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+'))
            })
    }

    fn longest_word(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let hanging = if column == 0 { HANGING } else { 0 };
        cells
            .flat_map(|cell| words(cell))
            .map(|word| display_width(word) + hanging)
            .max()
            .unwrap_or(0)
    }
}

/// Takes from the widest column above its floor until the sum is within `room`, or all are at their floors.
fn narrow(widths: &mut [usize], floors: &[usize], room: usize) {
    while widths.iter().sum::<usize>() > room {
        let above = widths
            .iter_mut()
            .zip(floors)
            .filter(|(width, floor)| **width > **floor);
        let Some((widest, _)) = above.max_by_key(|(width, _)| **width) else {
            return;
        };
        *widest -= 1;
    }
}

fn push_row(text: &mut String, row: &[String], widths: &[usize], columns: Option<usize>) {
    let cells: Vec<Vec<String>> = row
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, &width))| broken(cell, width, if column == 0 { HANGING } else { 0 }))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    for line in 0..height {
        if line > 0 {
            text.push('\n');
        }
        let start = text.len();
        for (cell, &width) in cells.iter().zip(widths) {
            let part = cell.get(line).map_or("", String::as_str);
            text.push_str(part);
            let padding = width.saturating_sub(display_width(part)) + GAP;
            text.extend(std::iter::repeat_n(' ', padding));
        }
        text.truncate(text.trim_end_matches(' ').len().max(start));
        let shown = text.get(start..).unwrap_or_default();
        if let Some(columns) = columns
            && display_width(shown) > columns
        {
            let cut = cut(shown, columns);
            text.truncate(start);
            text.push_str(&cut);
        }
    }
}

/// Columns that a terminal needs for a text without control characters: two for a wide character, none for one that
/// combines with the one before it.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// A text whose lines are at most `columns` wide: broken at blanks, and inside a word that is longer than a line. What
/// continues a line stands in two further than its beginning.
#[must_use]
pub fn wrapped(text: &str, columns: u16) -> String {
    let columns = usize::from(columns).max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if display_width(line) <= columns {
            lines.push(line.to_owned());
        } else {
            lines.extend(broken(line, columns, HANGING));
        }
    }
    lines.join("\n")
}

/// The first `columns` of a text, the last of them an ellipsis when something was left out.
#[must_use]
pub fn cut(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut width = 1;
    for character in text.chars() {
        width += columns_of(character);
        if width > columns {
            break;
        }
        shown.push(character);
    }
    if columns > 0 {
        shown.push('…');
    }
    shown
}

/// A cell in lines of at most `width` columns. Blanks at its beginning are kept on every line; lines after the first
/// stand in by `hanging` more, where there is room.
fn broken(cell: &str, width: usize, hanging: usize) -> Vec<String> {
    if display_width(cell) <= width {
        return vec![cell.to_owned()];
    }
    let text = cell.trim_start_matches(' ');
    let indent = cell.len() - text.len();
    let [first, next] = [indent, indent + hanging].map(|blanks| if blanks * 2 < width { blanks } else { 0 });
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut used = first;
    let mut empty = true;
    for mut word in words(text) {
        loop {
            let gap = usize::from(!empty);
            if used + gap + display_width(word) <= width {
                if !empty {
                    line.push(' ');
                }
                line.push_str(word);
                used += gap + display_width(word);
                empty = false;
                break;
            }
            if empty {
                let (head, tail) = split_word(word, width.saturating_sub(used).max(1));
                line.push_str(head);
                word = tail;
            }
            lines.push(
                std::mem::replace(&mut line, " ".repeat(next))
                    .trim_end_matches(' ')
                    .to_owned(),
            );
            (used, empty) = (next, true);
            if word.is_empty() {
                break;
            }
        }
    }
    if !empty || lines.is_empty() {
        lines.push(line.trim_end_matches(' ').to_owned());
    }
    lines
}

/// The parts of a text between which it may be broken: its words, and a figure with its unit as one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    const UNITS: [&str; 9] = ["ms", "s", "min", "h", "d", "B", "kB", "MB", "%"];
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.find(' ').unwrap_or(text.len());
        let figure = text.get(..end).unwrap_or_default();
        let after = text.get(end + 1..).unwrap_or_default();
        let unit = after.split([' ', ',']).next().unwrap_or_default();
        let end = if figure.ends_with(|last: char| last.is_ascii_digit()) && UNITS.contains(&unit) {
            let long = end + 1 + unit.len();
            long + usize::from(text.get(long..).is_some_and(|more| more.starts_with(',')))
        } else {
            end
        };
        let (word, more) = text.split_at_checked(end).unwrap_or((text, ""));
        rest = more.strip_prefix(' ');
        Some(word)
    })
}

/// The part of a word that fits, at least one character: up to a mark that words are commonly parted at, when there is
/// one in the second half of the room.
fn split_word(word: &str, room: usize) -> (&str, &str) {
    let (mut width, mut end, mut mark) = (0, 0, None);
    for (at, character) in word.char_indices() {
        width += columns_of(character);
        if width > room && end > 0 {
            break;
        }
        end = at + character.len_utf8();
        if matches!(character, '/' | ':' | '.' | ',' | '_' | '-' | '=' | ']') && width * 2 > room {
            mark = Some(end);
        }
    }
    word.split_at_checked(mark.unwrap_or(end)).unwrap_or((word, ""))
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

    fn table() -> TextTable {
        let mut table = TextTable::default();
        table.row(["id", "name", "address", "round trip"].map(str::to_owned));
        table.row(
            [
                "5",
                "a name of many words",
                "[2001:db8:aaaa:bbbb::7]:5000",
                "25 ms",
            ]
            .map(str::to_owned),
        );
        table.row(["999", "漢字漢字漢字漢字漢字漢字", "192.0.2.7:5000", "1000 ms"].map(str::to_owned));
        table
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_whatever_the_cells() {
        for width in 20..=120 {
            let text = table().text(Layout { width: Some(width) });
            for line in text.lines() {
                assert!(
                    display_width(line) <= usize::from(width),
                    "{width}: {line:?}\n{text}"
                );
            }
            assert!(width < 40 || text.contains("1000 ms"), "{width}:\n{text}");
            let letters = |text: &str| text.chars().filter(|c| *c == '漢').count();
            assert!(width < 40 || letters(&text) == 6, "nothing is lost\n{text}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns_and_combining_ones_none() {
        assert_eq!((display_width("漢字"), display_width("e\u{301}x")), (4, 2));
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字", 4), "漢字");
    }

    #[test]
    fn long_lines_are_wrapped_at_blanks_and_stand_in() {
        assert_eq!(
            wrapped("short\n  one two three four\nabcdefghijklmnopqrstu x", 12),
            "short\n  one two\n    three\n    four\nabcdefghijkl\n  mnopqrstu\n  x"
        );
        assert_eq!(wrapped("", 10), "");
        assert_eq!(wrapped("a/path/that/is/long", 10), "a/path/\n  that/is/\n  long");
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
