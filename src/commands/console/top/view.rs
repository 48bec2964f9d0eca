//! How the live view looks: a pure function of figures, of what the operator chose, and of a size.

mod sort;
mod text;

use std::{cmp::Reverse, collections::VecDeque, path::Path};

use decitick_components::console::{cut, display_width};
use decitick_protocol::escape_for_display;

use self::{
    sort::Sort,
    text::{amount, line_of, padded, short, sparkline, uptime},
};
use super::figures::{Figures, Player, Resource, System};

/// Refreshes that the small curves show.
const HISTORY: usize = 120;
/// Rows beside the blocks of systems and gamemodes, and the table of players.
const FIXED_ROWS: usize = 10;
/// Rows of such a block at most.
const BLOCK_ROWS: usize = 12;
/// From so many columns on there is room for addresses.
const WIDE: usize = 120;
const HELP: &[&str] = &[
    "q, Esc, Ctrl-C    leave",
    "s                 sort players by the next column",
    "up, down, j, k    scroll the players by one",
    "PgUp, PgDn        by ten; Home and End to the first and the last",
    "?                 this help",
    "",
    "Ticks are those of the last minute; a tick lasts 100 ms, and one that takes longer is an overrun.",
    "The curves show the last two minutes, a column each refresh.",
];

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// How a text is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// As it is.
    Plain,
    /// A head, over the whole width.
    Head,
    /// What names a line.
    Name,
    /// What wants attention.
    Alarm,
}

/// A row of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row(pub(super) Vec<(Ink, String)>);

impl Row {
    fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self(vec![(ink, text.into())])
    }

    /// `name` and what follows it.
    fn named(name: &str, text: impl Into<String>) -> Self {
        Self(vec![(Ink::Name, format!("{name:<8}")), (Ink::Plain, text.into())])
    }

    /// No wider than this.
    fn fit(self, columns: usize) -> Self {
        let mut left = columns;
        let parts = self.0.into_iter().map(|(ink, text)| {
            let text = cut(&text, left);
            left = left.saturating_sub(display_width(&text));
            (ink, text)
        });
        Self(parts.collect())
    }

    fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The figures, and what the operator chose to see of them.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    figures: Figures,
    directory: String,
    packets_in: VecDeque<f64>,
    packets_out: VecDeque<f64>,
    ticks: VecDeque<f64>,
    sort: Sort,
    /// Players that are scrolled past.
    first: usize,
    /// Whether the keys are explained.
    pub(super) help: bool,
}

impl View {
    pub(super) const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Takes the figures of a refresh.
    pub(super) fn take(&mut self, figures: Figures, directory: &Path) {
        self.directory = escape_for_display(&directory.display().to_string(), 60);
        let status = &figures.status;
        for (curve, value) in [
            (&mut self.packets_in, status.packets_in_per_s),
            (&mut self.packets_out, status.packets_out_per_s),
            (&mut self.ticks, status.tick.p99_ms),
        ] {
            curve.push_back(value);
            if curve.len() > HISTORY {
                curve.pop_front();
            }
        }
        self.figures = figures;
    }

    pub(super) const fn sort_by_next(&mut self) {
        self.sort = self.sort.next();
        self.first = 0;
    }

    /// Scrolls the players by so many.
    pub(super) fn scroll(&mut self, by: isize) {
        let last = self.figures.players.players.len().saturating_sub(1);
        self.first = self.first.saturating_add_signed(by).min(last);
    }

    /// Exactly as many rows as the terminal has, none wider than it.
    pub(super) fn drawn(&self, size: Size) -> Vec<Row> {
        let (columns, rows) = (usize::from(size.columns), usize::from(size.rows));
        let mut drawn = self.body(columns, rows.saturating_sub(1));
        drawn.resize_with(rows.saturating_sub(1), Row::default);
        if rows > 0 {
            drawn.push(self.footer());
        }
        drawn.into_iter().map(|row| row.fit(columns)).collect()
    }

    /// The same as plain text, without the keys.
    pub(super) fn printed(&self, size: Size) -> String {
        let (columns, rows) = (usize::from(size.columns), usize::from(size.rows));
        self.body(columns, rows)
            .into_iter()
            .map(|row| format!("{}\n", row.fit(columns).text().trim_end()))
            .collect()
    }

    fn body(&self, columns: usize, rows: usize) -> Vec<Row> {
        let mut body = vec![self.header(columns)];
        body.extend(self.summary(columns));
        let block = (rows.saturating_sub(FIXED_ROWS - 1) / 3).min(BLOCK_ROWS);
        if block > 0 {
            body.push(Row::default());
            body.extend(self.blocks(columns, block));
        }
        body.push(Row::default());
        let left = rows.saturating_sub(body.len());
        if self.help {
            body.extend(HELP.iter().map(|line| Row::of(Ink::Plain, *line)));
        } else {
            body.extend(self.players(columns, left));
        }
        body.truncate(rows);
        body
    }

    fn header(&self, columns: usize) -> Row {
        let status = &self.figures.status;
        let name = if status.name.is_empty() {
            self.directory.clone()
        } else {
            escape_for_display(&status.name, 64)
        };
        let left = format!(" {name}");
        let right = format!(
            "up {}  {} of {} players, {} spawned ",
            uptime(status.uptime_s),
            status.players,
            status.max_players,
            status.players_spawned
        );
        let room = columns.saturating_sub(display_width(&right) + 1);
        Row::of(Ink::Head, format!("{} {right}", padded(&left, room)))
    }

    fn summary(&self, columns: usize) -> Vec<Row> {
        let status = &self.figures.status;
        let tick = &status.tick;
        let room = columns.saturating_sub(8 + 52).min(HISTORY);
        let curve =
            |text: String, curve: &VecDeque<f64>| format!("{} {}", padded(&text, 51), sparkline(curve, room));
        let ticks = format!(
            "p50 {:.2} ms  p99 {:.2} ms  max {:.2} ms",
            tick.p50_ms, tick.p99_ms, tick.max_ms
        );
        let mut late = Row::named("late", String::new());
        let ink = if tick.overruns + tick.skipped > 0 {
            Ink::Alarm
        } else {
            Ink::Plain
        };
        late.0.push((
            ink,
            format!(
                "{} overruns, {} skipped ticks since the start",
                tick.overruns, tick.skipped
            ),
        ));
        let rate = |packets: f64, bytes: f64| format!("{packets:.0} packets/s  {}/s", amount(bytes));
        vec![
            Row::named("ticks", curve(ticks, &self.ticks)),
            late,
            Row::named(
                "in",
                curve(
                    rate(status.packets_in_per_s, status.bytes_in_per_s),
                    &self.packets_in,
                ),
            ),
            Row::named(
                "out",
                curve(
                    rate(status.packets_out_per_s, status.bytes_out_per_s),
                    &self.packets_out,
                ),
            ),
            Row::named("drops", self.drops()),
        ]
    }

    fn drops(&self) -> String {
        let mut drops: Vec<(&String, u64)> = self
            .figures
            .status
            .drops_by_reason
            .iter()
            .map(|(reason, &count)| (reason, count))
            .filter(|&(_, count)| count > 0)
            .collect();
        if drops.is_empty() {
            return "none".to_owned();
        }
        drops.sort_by_key(|&(reason, count)| (Reverse(count), reason));
        let drops: Vec<String> = drops
            .into_iter()
            .map(|(reason, count)| format!("{} {count}", escape_for_display(reason, 40)))
            .collect();
        drops.join(", ")
    }

    /// The slowest systems beside the slowest gamemodes.
    fn blocks(&self, columns: usize, rows: usize) -> Vec<Row> {
        let half = columns.saturating_sub(2) / 2;
        let left = self.systems(half, rows);
        let right = self.gamemodes(columns.saturating_sub(half + 2), rows);
        let heads = line_of(
            "slowest gamemodes",
            &["ms/s", "longest", "errors"],
            columns.saturating_sub(half + 2),
        );
        let mut block = vec![Row(vec![
            Ink::Name.pair(line_of("slowest systems", &["mean ms", "max ms", "share"], half)),
            Ink::Name.pair(format!("  {heads}")),
        ])];
        for index in 0..rows {
            let left = left.get(index).cloned().unwrap_or_default();
            let right = right.get(index).cloned().unwrap_or_default();
            block.push(Row(vec![
                Ink::Plain.pair(padded(&left, half)),
                Ink::Plain.pair(format!("  {right}")),
            ]));
        }
        block
    }

    fn systems(&self, columns: usize, rows: usize) -> Vec<String> {
        let Some(systems) = &self.figures.systems else {
            return vec!["this server does not tell".to_owned()];
        };
        let mut systems: Vec<&System> = systems.iter().collect();
        systems.sort_by(|one, other| other.avg_ms.total_cmp(&one.avg_ms));
        let lines = systems.into_iter().take(rows).map(|system| {
            let figures = [
                format!("{:.3}", system.avg_ms),
                format!("{:.3}", system.max_ms),
                format!("{:.1} %", system.share_percent),
            ];
            line_of(&short(&system.system), &figures, columns)
        });
        lines.collect()
    }

    fn gamemodes(&self, columns: usize, rows: usize) -> Vec<String> {
        let mut resources: Vec<&Resource> = self.figures.resources.iter().collect();
        resources.sort_by(|one, other| other.ms_per_s.total_cmp(&one.ms_per_s));
        if resources.is_empty() {
            return vec!["none".to_owned()];
        }
        let lines = resources.into_iter().take(rows).map(|resource| {
            let figures = [
                format!("{:.2}", resource.ms_per_s),
                format!("{:.2}", resource.longest_call_ms),
                resource.errors.to_string(),
            ];
            let name = if resource.state == "running" {
                resource.name.clone()
            } else {
                format!("{} ({})", resource.name, resource.state)
            };
            line_of(&name, &figures, columns)
        });
        lines.collect()
    }

    fn players(&self, columns: usize, rows: usize) -> Vec<Row> {
        let mut players: Vec<&Player> = self.figures.players.players.iter().collect();
        players.sort_by(|one, other| self.sort.compare(one, other));
        let address = if columns >= WIDE { 47 } else { 0 };
        let name = columns
            .saturating_sub(4 + 2 + 9 + 9 + 9 + 8 + 11 + address)
            .clamp(8, 40);
        let line = |id: &str, shown: &str, at: &str, phase: &str, figures: [&str; 4]| {
            let [rtt, loss, queue, idle] = figures;
            let at = if address > 0 {
                padded(at, address)
            } else {
                String::new()
            };
            format!(
                "{id:>4} {} {at}{phase:<9}{rtt:>9}{loss:>9}{queue:>8}{idle:>11}",
                padded(&escape_for_display(shown, 64), name)
            )
        };
        let marked = |sort: Sort| {
            let mark = if sort == self.sort { "*" } else { "" };
            format!("{mark}{}", sort.name())
        };
        let heads = [Sort::Rtt, Sort::Loss, Sort::Queue, Sort::Idle].map(marked);
        let head = line(
            &marked(Sort::Id),
            "name",
            "address",
            "phase",
            heads.each_ref().map(String::as_str),
        );
        let mut table = vec![Row::of(Ink::Head, padded(&head, columns))];
        let shown = players.iter().skip(self.first).take(rows.saturating_sub(1));
        table.extend(shown.map(|player| {
            let figures = [
                player
                    .rtt_ms
                    .map_or_else(|| "-".to_owned(), |rtt| format!("{rtt} ms")),
                format!("{:.1} %", player.loss_percent),
                player.queue_length.to_string(),
                format!("{} ms", player.idle_ms),
            ];
            let text = line(
                &player.id.to_string(),
                &player.name,
                &player.address,
                &player.phase,
                figures.each_ref().map(String::as_str),
            );
            Row::of(Ink::Plain, text)
        }));
        table
    }

    fn footer(&self) -> Row {
        let count = self.figures.players.players.len();
        let from = if count == 0 { 0 } else { self.first + 1 };
        Row(vec![
            Ink::Name.pair("q"),
            Ink::Plain.pair(" quit  "),
            Ink::Name.pair("s"),
            Ink::Plain.pair(format!(" sort by {}  ", self.sort.next().name())),
            Ink::Name.pair("up/down"),
            Ink::Plain.pair(" scroll  "),
            Ink::Name.pair("?"),
            Ink::Plain.pair(format!(" help   players from {from} of {count}")),
        ])
    }
}

impl Ink {
    fn pair(self, text: impl Into<String>) -> (Self, String) {
        (self, text.into())
    }
}

#[cfg(test)]
mod tests;
