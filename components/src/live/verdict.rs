//! Whether a server is well, in one word and the reasons, judged by what its last minute shows.

use std::time::Duration;

use super::HealthSecond;
use crate::clock::TICK;

/// Skipped ticks of a minute from which on a server is ill: players have lost a second or more.
const ILL_SKIPPED: u64 = 10;
/// Late ticks of a minute from which on a server is ill: one in twenty.
const ILL_OVERRUNS: u64 = 30;
/// Datagrams of a minute that the kernel lost from which on a server is ill.
const ILL_KERNEL_LOST: u64 = 1_000;
/// A tick that uses more than half of its time leaves too little for a bad moment.
const STRAINED_TICK: Duration = Duration::from_millis(TICK.as_millis() as u64 / 2);
/// Names that a reason lists.
const NAMED: usize = 3;

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing is amiss.
    Well,
    /// Something is amiss that players hardly notice yet.
    Strained,
    /// Players notice.
    Ill,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Strained => "strained",
            Self::Ill => "ill",
        }
    }
}

/// What a verdict is made from.
#[derive(Clone, Debug, Default)]
pub struct Signs {
    /// The 99th percentile of the ticks of the last minute.
    pub p99: Duration,
    /// Late ticks of the last minute.
    pub overruns: u64,
    /// Skipped ticks of the last minute.
    pub skipped: u64,
    /// Datagrams of the last minute that the kernel lost.
    pub kernel_lost: u64,
    /// Gamemodes that were paused for what they use.
    pub paused: Vec<String>,
    /// Gamemodes whose files have faults.
    pub faulty: Vec<String>,
    /// Whether the server is going to stop.
    pub stopping: bool,
}

impl Signs {
    /// Adds up the seconds of the last minute.
    pub fn add<'a>(&mut self, seconds: impl Iterator<Item = &'a HealthSecond>) {
        for second in seconds {
            self.overruns += second.counts.overruns;
            self.skipped += second.counts.skipped;
            self.kernel_lost += second.counts.kernel_lost;
        }
    }

    /// How the server is, and a sentence for each reason; none when it is well.
    #[must_use]
    pub fn judge(&self) -> (Verdict, Vec<String>) {
        let mut found: Vec<(Verdict, String)> = Vec::new();
        let by = |ill: bool| if ill { Verdict::Ill } else { Verdict::Strained };
        if self.skipped > 0 {
            found.push((
                by(self.skipped >= ILL_SKIPPED),
                format!(
                    "{} skipped in the last minute: the machine did not let the server run",
                    ticks(self.skipped)
                ),
            ));
        }
        if self.overruns > 0 {
            found.push((
                by(self.overruns >= ILL_OVERRUNS),
                format!(
                    "{} took longer than 100 ms in the last minute; `slow` at the console tells why",
                    ticks(self.overruns)
                ),
            ));
        }
        if self.p99 > STRAINED_TICK {
            found.push((
                Verdict::Strained,
                format!(
                    "ticks take up to {} ms of the 100 ms they have; `systems` at the console tells where it goes",
                    self.p99.as_millis()
                ),
            ));
        }
        if self.kernel_lost > 0 {
            found.push((
                by(self.kernel_lost >= ILL_KERNEL_LOST),
                format!(
                    "the kernel lost {} datagrams in the last minute: the receive buffer is too small, or a flood comes in",
                    self.kernel_lost
                ),
            ));
        }
        if let Some(names) = named(&self.paused) {
            found.push((
                Verdict::Strained,
                format!("paused for using too much too often: {names}"),
            ));
        }
        if let Some(names) = named(&self.faulty) {
            found.push((
                Verdict::Strained,
                format!("does not run, its files have faults: {names}"),
            ));
        }
        if self.stopping {
            found.push((Verdict::Strained, "the server is going to stop".to_owned()));
        }
        let worst = found.iter().map(|(verdict, _)| *verdict).max();
        found.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        (
            worst.unwrap_or(Verdict::Well),
            found.into_iter().map(|(_, why)| why).collect(),
        )
    }
}

fn ticks(count: u64) -> String {
    if count == 1 {
        "1 tick".to_owned()
    } else {
        format!("{count} ticks")
    }
}

fn named(names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let mut listed = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        listed.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(signs: Signs) -> (&'static str, Vec<String>) {
        let (verdict, why) = signs.judge();
        (verdict.name(), why)
    }

    #[test]
    fn a_server_without_any_sign_is_well() {
        let signs = Signs {
            p99: Duration::from_millis(50),
            ..Signs::default()
        };
        assert_eq!(judged(signs), ("well", Vec::new()));
    }

    #[test]
    fn each_sign_has_its_weight_and_its_sentence_and_the_worst_comes_first() {
        let strained: [(Signs, &str); 6] = [
            (
                Signs {
                    overruns: 1,
                    ..Signs::default()
                },
                "1 tick took longer",
            ),
            (
                Signs {
                    skipped: 9,
                    ..Signs::default()
                },
                "9 ticks skipped",
            ),
            (
                Signs {
                    p99: Duration::from_millis(51),
                    ..Signs::default()
                },
                "up to 51 ms",
            ),
            (
                Signs {
                    kernel_lost: 5,
                    ..Signs::default()
                },
                "lost 5 datagrams",
            ),
            (
                Signs {
                    paused: vec!["race".to_owned()],
                    ..Signs::default()
                },
                "race",
            ),
            (
                Signs {
                    stopping: true,
                    ..Signs::default()
                },
                "going to stop",
            ),
        ];
        for (signs, word) in strained {
            let (verdict, why) = judged(signs);
            assert!(
                verdict == "strained" && why.len() == 1 && why[0].contains(word),
                "{why:?}"
            );
        }
        for signs in [
            Signs {
                overruns: 30,
                ..Signs::default()
            },
            Signs {
                skipped: 10,
                ..Signs::default()
            },
            Signs {
                kernel_lost: 1_000,
                ..Signs::default()
            },
        ] {
            assert_eq!(judged(signs).0, "ill");
        }
        let (verdict, why) = judged(Signs {
            overruns: 30,
            faulty: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            stopping: true,
            ..Signs::default()
        });
        assert!(verdict == "ill" && why[0].starts_with("30 ticks"), "{why:?}");
        assert!(why[1].ends_with("a, b, c and 1 more"), "{why:?}");
    }

    #[test]
    fn seconds_are_added_up() {
        let second = HealthSecond {
            counts: super::super::Totals {
                overruns: 2,
                skipped: 3,
                kernel_lost: 4,
                ..super::super::Totals::default()
            },
            ..HealthSecond::default()
        };
        let mut signs = Signs::default();
        signs.add([second, second].iter());
        assert_eq!((signs.overruns, signs.skipped, signs.kernel_lost), (4, 6, 8));
    }
}
