//! The arguments of the commands about the world: `time`, `weather`, `clock`, `spawn`.

use std::{num::NonZeroU16, ops::RangeInclusive};

use super::{
    super::{
        command::{ClockAction, ConsoleCommand, TimeAction},
        error::ArgumentFault,
        grammar::first_word,
    },
    Parsed,
    words::{nothing_in, player_id, required, whole_number},
};

pub(in crate::console) fn time(arguments: &str) -> Parsed {
    let (word, rest) = first_word(arguments);
    nothing_in(rest)?;
    if word.is_empty() {
        return Ok(ConsoleCommand::Time(TimeAction::Show));
    }
    let (hours, minutes) = time_of_day(word).ok_or(ArgumentFault::TimeOfDay { argument: "HH:MM" })?;
    Ok(ConsoleCommand::Time(TimeAction::Set { hours, minutes }))
}

pub(in crate::console) fn weather(arguments: &str) -> Parsed {
    let (weather, rest) = required("N", arguments)?;
    nothing_in(rest)?;
    Ok(ConsoleCommand::Weather(whole_number("N", weather, 0..=u8::MAX)?))
}

pub(in crate::console) fn clock(arguments: &str) -> Parsed {
    let action = match first_word(arguments) {
        ("freeze", "") => ClockAction::Freeze,
        ("freeze", _) => return Err(ArgumentFault::TooMany),
        ("run", rest) => {
            let (milliseconds, rest) = required("MS", rest)?;
            nothing_in(rest)?;
            ClockAction::Run(minute_length(milliseconds)?)
        }
        _ => {
            return Err(ArgumentFault::NoneOf {
                words: &["run MS", "freeze"],
            });
        }
    };
    Ok(ConsoleCommand::Clock(action))
}

fn minute_length(word: &str) -> Result<NonZeroU16, ArgumentFault> {
    let milliseconds = whole_number("MS", word, 1..=u16::MAX)?;
    // The range begins at 1.
    Ok(NonZeroU16::new(milliseconds).unwrap_or(NonZeroU16::MIN))
}

pub(in crate::console) fn spawn(arguments: &str) -> Parsed {
    let (id, rest) = required("ID", arguments)?;
    nothing_in(rest)?;
    Ok(ConsoleCommand::Spawn { id: player_id(id)? })
}

/// `HH:MM` with one or two digits for the hour and two for the minute.
fn time_of_day(word: &str) -> Option<(u8, u8)> {
    let (hours, minutes) = word.split_once(':')?;
    let part = |digits: &str, lengths: RangeInclusive<usize>, greatest: u8| {
        let written = lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|&number| number <= greatest);
        number.filter(|_| written)
    };
    Some((part(hours, 1..=2, 23)?, part(minutes, 2..=2, 59)?))
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{read, refused},
        *,
    };

    #[test]
    fn a_time_of_day_has_a_colon_and_two_digits_for_the_minute() {
        assert!(matches!(read("time"), ConsoleCommand::Time(TimeAction::Show)));
        for (line, wanted) in [
            ("time 00:00", (0, 0)),
            ("time 6:05", (6, 5)),
            ("time 06:30", (6, 30)),
            ("time 23:59", (23, 59)),
        ] {
            let ConsoleCommand::Time(TimeAction::Set { hours, minutes }) = read(line) else {
                panic!("{line}")
            };
            assert_eq!((hours, minutes), wanted, "{line}");
        }
        for bad in [
            "time 24:00",
            "time 12:60",
            "time 12",
            "time 12:5",
            "time 012:05",
            "time :05",
            "time +1:05",
            "time 12:05:00",
            "time noon",
        ] {
            assert!(refused(bad).contains("HH:MM must be a time of day"), "{bad}");
        }
        assert!(refused("time 12 30").contains("more on the line"));
    }

    #[test]
    fn a_weather_is_a_byte() {
        assert!(matches!(read("weather 0"), ConsoleCommand::Weather(0)));
        assert!(matches!(read("weather 255"), ConsoleCommand::Weather(255)));
        for bad in ["weather 256", "weather -1", "weather sunny", "weather 1.0"] {
            assert!(
                refused(bad).contains("N must be a whole number from 0 to 255"),
                "{bad}"
            );
        }
        assert!(refused("weather").contains("N is missing"));
        assert!(refused("weather 1 2").contains("more on the line"));
    }

    #[test]
    fn a_clock_runs_at_a_length_of_its_minute_or_is_frozen() {
        assert!(matches!(
            read("clock freeze"),
            ConsoleCommand::Clock(ClockAction::Freeze)
        ));
        for (line, wanted) in [("clock run 1", 1), ("clock run 65535", 65_535)] {
            let ConsoleCommand::Clock(ClockAction::Run(minute)) = read(line) else {
                panic!("{line}")
            };
            assert_eq!(minute.get(), wanted);
        }
        for bad in ["clock run 0", "clock run 65536", "clock run -5", "clock run fast"] {
            assert!(
                refused(bad).contains("MS must be a whole number from 1 to 65535"),
                "{bad}"
            );
        }
        assert!(refused("clock run").contains("MS is missing"));
        for bad in ["clock", "clock stop", "clock 1000"] {
            assert!(refused(bad).contains("run MS, freeze"), "{bad}");
        }
        for bad in ["clock freeze now", "clock run 5 6"] {
            assert!(refused(bad).contains("more on the line"), "{bad}");
        }
    }

    #[test]
    fn spawn_takes_an_id_and_nothing_else() {
        assert!(matches!(read("spawn 999"), ConsoleCommand::Spawn { id: 999 }));
        for bad in ["spawn", "spawn 1000", "spawn Bob", "spawn -1"] {
            assert!(refused(bad).contains("ID"), "{bad}");
        }
        assert!(refused("spawn 5 now").contains("more on the line"));
    }
}
