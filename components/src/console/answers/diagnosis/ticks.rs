//! The answers of `systems` and `slow`: where the time of ticks goes.

use std::time::Duration;

use decitick_protocol::escape_for_display;
use serde::Serialize;

use super::super::{
    super::text_table::{Layout, TextTable, counted, duration, milliseconds},
    AnswerText, SHOWN_CHARACTERS, tenths,
};
use crate::anatomy::{SlowTick, SystemTimes, TickAnatomy};

/// The answer of `systems`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemsAnswer {
    /// Ticks that the figures are about: the last ones, at most 100.
    pub ticks: u64,
    /// What one of them took on average, all in all.
    pub avg_ms: f64,
    /// Every system in the order in which they run, then what is between them.
    pub systems: Vec<SystemRow>,
}

/// One system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemRow {
    /// The step of the tick; `null` for what belongs to none.
    pub step: Option<&'static str>,
    /// Its path, or `between systems`.
    pub system: String,
    /// What it took on average in one of these ticks.
    pub avg_ms: f64,
    /// What it took in the one in which it took longest.
    pub max_ms: f64,
    /// Its share of the time of these ticks.
    #[serde(serialize_with = "tenths")]
    pub share_percent: f64,
    /// How often it ran since the start.
    pub runs: u64,
}

impl From<&TickAnatomy> for SystemsAnswer {
    fn from(anatomy: &TickAnatomy) -> Self {
        let ticks = anatomy.recent_ticks();
        let all = || anatomy.systems.iter().chain([&anatomy.between]);
        let sum: Duration = all().map(|system| system.recent).sum();
        let average = |time: Duration| {
            let ticks = u32::try_from(ticks.max(1)).unwrap_or(u32::MAX);
            milliseconds(time / ticks)
        };
        let row = |system: &SystemTimes| SystemRow {
            step: (!system.step.is_empty()).then_some(system.step),
            system: system.name.clone(),
            avg_ms: average(system.recent),
            max_ms: milliseconds(system.recent_max),
            share_percent: share(system.recent, sum),
            runs: system.runs,
        };
        Self {
            ticks: ticks as u64,
            avg_ms: average(sum),
            systems: all().map(row).collect(),
        }
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() {
        return 0.0;
    }
    part.as_secs_f64() / whole.as_secs_f64() * 100.0
}

impl AnswerText for SystemsAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["step", "system", "ms/tick", "max ms", "share"].map(str::to_owned));
        let mut last = None;
        for row in &self.systems {
            let step = row.step.filter(|_| row.step != last).unwrap_or_default();
            last = row.step;
            table.row([
                step.to_owned(),
                escape_for_display(&row.system, SHOWN_CHARACTERS),
                format!("{:.3}", row.avg_ms),
                format!("{:.3}", row.max_ms),
                format!("{:.1} %", row.share_percent),
            ]);
        }
        let ticks = counted(self.ticks, "tick");
        format!(
            "{}\nthe last {ticks} took {:.3} ms on average",
            table.text(layout),
            self.avg_ms
        )
    }
}

/// The answer of `slow`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SlowAnswer {
    /// The last slow ticks, newest last.
    pub ticks: Vec<SlowRow>,
}

/// One slow tick.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlowRow {
    /// Its number.
    pub tick: u64,
    /// Unix seconds at its beginning.
    pub unix_s: u64,
    /// Seconds ago.
    pub ago_s: u64,
    /// What it took.
    pub took_ms: f64,
    /// The system that took most.
    pub system: String,
    /// How long that took.
    pub system_ms: f64,
    /// The gamemode that took most; `null` when none ran.
    pub resource: Option<String>,
    /// How long that took.
    pub resource_ms: Option<f64>,
    /// The player id from whose address most datagrams came; `null` when none came.
    pub player: Option<u16>,
    /// How many.
    pub datagrams: Option<u32>,
}

impl SlowRow {
    /// Of one tick, as seen at this Unix second.
    #[must_use]
    pub fn new(slow: &SlowTick, now: u64) -> Self {
        let (system, system_took) = &slow.system;
        Self {
            tick: slow.tick,
            unix_s: slow.unix_seconds,
            ago_s: now.saturating_sub(slow.unix_seconds),
            took_ms: milliseconds(slow.took),
            system: system.clone(),
            system_ms: milliseconds(*system_took),
            resource: slow.resource.as_ref().map(|(name, _)| name.clone()),
            resource_ms: slow.resource.as_ref().map(|(_, took)| milliseconds(*took)),
            player: slow.connection.map(|(player, _)| player),
            datagrams: slow.connection.map(|(_, datagrams)| datagrams),
        }
    }
}

impl AnswerText for SlowAnswer {
    fn text(&self, layout: Layout) -> String {
        if self.ticks.is_empty() {
            return "no slow tick since the start".to_owned();
        }
        let mut table = TextTable::default();
        table.row(
            [
                "tick",
                "ago",
                "took",
                "longest system",
                "gamemode",
                "busiest player",
            ]
            .map(str::to_owned),
        );
        for row in &self.ticks {
            let none = || "-".to_owned();
            let resource = row.resource.as_ref().zip(row.resource_ms);
            let player = row.player.zip(row.datagrams);
            table.row([
                row.tick.to_string(),
                duration(row.ago_s),
                format!("{:.1} ms", row.took_ms),
                format!(
                    "{} {:.1} ms",
                    escape_for_display(&row.system, SHOWN_CHARACTERS),
                    row.system_ms
                ),
                resource.map_or_else(none, |(name, took)| format!("{name} {took:.1} ms")),
                player.map_or_else(none, |(player, count)| {
                    format!("{player}: {}", counted(u64::from(count), "datagram"))
                }),
            ]);
        }
        table.text(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(amount: u64) -> Duration {
        Duration::from_millis(amount)
    }

    #[test]
    fn systems_stand_in_their_order_with_their_share_of_the_last_ticks() {
        let mut anatomy = TickAnatomy::default();
        let system = |name: &str, step| SystemTimes {
            name: name.to_owned(),
            step,
            ..SystemTimes::default()
        };
        anatomy.begin(vec![
            system("a::first", "Decode"),
            system("b::second", "Simulate"),
            system("b::third", "Simulate"),
            system("other::of_a_plugin", ""),
        ]);
        let figures = [(ms(1), 1), (ms(4), 1), (ms(2), 1), (ms(1), 1)];
        anatomy.record(ms(10), figures.into_iter());
        anatomy.record(ms(10), figures.into_iter());
        let answer = SystemsAnswer::from(&anatomy);
        let text = answer.text(Layout::WIDE);
        for line in [
            "step      system              ms/tick  max ms  share",
            "Decode    a::first            1.000    1.000   10.0 %",
            "Simulate  b::second           4.000    4.000   40.0 %",
            "          b::third            2.000    2.000   20.0 %",
            "          other::of_a_plugin  1.000    1.000   10.0 %",
            "          between systems     2.000    2.000   20.0 %",
            "the last 2 ticks took 10.000 ms on average",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["systems"][1]["share_percent"], 40.0);
        assert_eq!(json["systems"][1]["step"], "Simulate");
        assert_eq!(json["systems"][4]["step"], serde_json::Value::Null);
        assert_eq!(
            (json["ticks"].as_u64(), json["systems"][0]["runs"].as_u64()),
            (Some(2), Some(2))
        );
    }

    #[test]
    fn a_slow_tick_names_what_cost_most() {
        assert_eq!(
            SlowAnswer::default().text(Layout::WIDE),
            "no slow tick since the start"
        );
        let slow = SlowTick {
            tick: 1234,
            unix_seconds: 1_000,
            took: ms(72),
            system: ("script::hooks::run_scripts".to_owned(), ms(40)),
            resource: Some(("race".to_owned(), ms(39))),
            connection: Some((7, 31)),
        };
        let quiet = SlowTick {
            tick: 1300,
            resource: None,
            connection: None,
            ..slow.clone()
        };
        let answer = SlowAnswer {
            ticks: [slow, quiet]
                .iter()
                .map(|tick| SlowRow::new(tick, 1_065))
                .collect(),
        };
        let text = answer.text(Layout::WIDE);
        assert!(
            text.contains(
                "1234  1 min 5 s  72.0 ms  script::hooks::run_scripts 40.0 ms  race 39.0 ms  7: 31 datagrams"
            ),
            "{text}"
        );
        assert!(text.ends_with("-             -"), "{text}");
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["ticks"][0]["took_ms"], 72.0);
        assert_eq!(json["ticks"][1]["resource"], serde_json::Value::Null);
    }
}
