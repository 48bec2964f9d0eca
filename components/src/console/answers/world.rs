//! The answer of `time`, and what `status` says of the world and of hits.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{super::text_table::Layout, AnswerText};
use crate::{
    combat::{HitRefusal, HitTally},
    world::WorldState,
};

/// The answer of `time`: time of day, clock and weather.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorldAnswer {
    /// The time of day, `HH:MM`.
    pub time: String,
    /// How many milliseconds a minute of the world lasts; none: the clock is frozen.
    pub clock_ms_per_minute: Option<u16>,
    /// The weather, a number of the game.
    pub weather: u8,
}

impl From<&WorldState> for WorldAnswer {
    fn from(world: &WorldState) -> Self {
        Self {
            time: format!("{:02}:{:02}", world.hours, world.minutes),
            clock_ms_per_minute: world.clock_ms_per_minute,
            weather: world.weather,
        }
    }
}

impl AnswerText for WorldAnswer {
    fn text(&self, _: Layout) -> String {
        let clock = self.clock_ms_per_minute.map_or_else(
            || "the clock is frozen".to_owned(),
            |milliseconds| format!("a minute lasts {milliseconds} ms"),
        );
        format!("{}, {clock}, weather {}", self.time, self.weather)
    }
}

/// Claimed hits since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HitsAnswer {
    /// Hits that counted.
    pub counted: u64,
    /// Hits that did not, by reason. In JSON a map that has every reason, zeros too.
    pub refused: BTreeMap<&'static str, u64>,
}

impl From<&HitTally> for HitsAnswer {
    fn from(tally: &HitTally) -> Self {
        Self {
            counted: tally.counted,
            refused: HitRefusal::ALL
                .iter()
                .map(|&reason| (reason.name(), tally.refused(reason)))
                .collect(),
        }
    }
}

impl HitsAnswer {
    /// The text for people: the reasons that occurred, the most frequent first.
    #[must_use]
    pub fn text(&self) -> String {
        let mut occurred: Vec<_> = self.refused.iter().filter(|&(_, &count)| count > 0).collect();
        occurred.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        let total: u64 = occurred.iter().map(|&(_, &count)| count).sum();
        let reasons: Vec<String> = occurred
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let colon = if reasons.is_empty() { "" } else { ": " };
        format!(
            "{} counted, {total} refused{colon}{}",
            self.counted,
            reasons.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_time_has_two_digits_a_part_and_a_frozen_clock_is_null() {
        let mut world = WorldState {
            hours: 6,
            minutes: 5,
            weather: 8,
            clock_ms_per_minute: Some(1_000),
            garage_doors: 0,
            driveby_intervals: [0; 12],
            since_minute: Duration::ZERO,
        };
        let running = WorldAnswer::from(&world);
        assert_eq!(
            running.text(Layout::WIDE),
            "06:05, a minute lasts 1000 ms, weather 8"
        );
        world.clock_ms_per_minute = None;
        let frozen = WorldAnswer::from(&world);
        assert_eq!(frozen.text(Layout::WIDE), "06:05, the clock is frozen, weather 8");
        assert_eq!(
            serde_json::to_string(&frozen).unwrap(),
            "{\"time\":\"06:05\",\"clock_ms_per_minute\":null,\"weather\":8}"
        );
    }

    #[test]
    fn hits_name_every_reason_in_json_and_those_that_occurred_in_text() {
        assert_eq!(
            HitsAnswer::from(&HitTally::default()).text(),
            "0 counted, 0 refused"
        );
        let mut tally = HitTally::default();
        tally.counted += 1;
        tally.refuse(HitRefusal::NoCredit);
        tally.refuse(HitRefusal::MissedTarget);
        tally.refuse(HitRefusal::MissedTarget);
        let answer = HitsAnswer::from(&tally);
        assert_eq!(
            answer.text(),
            "1 counted, 3 refused: missed_target 2, no_credit 1"
        );
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["refused"]["missed_target"], 2);
        assert_eq!(json["refused"]["oneself"], 0);
        assert_eq!(
            json["refused"].as_object().map(serde_json::Map::len),
            Some(HitRefusal::ALL.len())
        );
    }
}
