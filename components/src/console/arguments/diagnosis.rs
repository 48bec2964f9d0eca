//! Arguments of the commands that answer why: why it is slow, why one does not see another, what a connection says,
//! what a bad network would do.

use super::{
    Parsed,
    words::{nothing_in, player_id, required, seconds, whole_number},
};
use crate::{
    console::{
        command::{ConsoleCommand, NetsimAction},
        error::ArgumentFault,
        grammar::first_word,
    },
    netsim::Impairment,
};

pub(in super::super) fn systems(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Systems)
}

pub(in super::super) fn slow(arguments: &str) -> Parsed {
    nothing_in(arguments)?;
    Ok(ConsoleCommand::Slow)
}

pub(in super::super) fn why(arguments: &str) -> Parsed {
    let (viewer, rest) = required("ID", arguments)?;
    let (seen, rest) = required("ID", rest)?;
    nothing_in(rest)?;
    Ok(ConsoleCommand::Why {
        viewer: player_id(viewer)?,
        seen: player_id(seen)?,
    })
}

pub(in super::super) fn trace(arguments: &str) -> Parsed {
    let (id, rest) = required("ID", arguments)?;
    Ok(ConsoleCommand::Trace {
        id: player_id(id)?,
        seconds: seconds(rest)?,
    })
}

/// Pairs of a word and a number in any order, or `off`. What is not named is 0.
pub(in super::super) fn netsim(arguments: &str) -> Parsed {
    const WORDS: &[&str] = &["loss P", "delay MS", "jitter MS", "dup P", "off"];
    let (word, rest) = first_word(arguments);
    match word {
        "" => return Ok(ConsoleCommand::Netsim(NetsimAction::Show)),
        "off" => {
            nothing_in(rest)?;
            return Ok(ConsoleCommand::Netsim(NetsimAction::Off));
        }
        _ => {}
    }
    let mut impairment = Impairment::default();
    let mut rest = arguments;
    loop {
        let (word, after) = first_word(rest);
        let (value, argument): (&mut u16, _) = match word {
            "" => return Ok(ConsoleCommand::Netsim(NetsimAction::Set(impairment))),
            "loss" => (&mut impairment.loss_percent, "P"),
            "dup" => (&mut impairment.duplicate_percent, "P"),
            "delay" => (&mut impairment.delay_ms, "MS"),
            "jitter" => (&mut impairment.jitter_ms, "MS"),
            _ => return Err(ArgumentFault::NoneOf { words: WORDS }),
        };
        let (number, after) = required(argument, after)?;
        let most = if argument == "P" { 100 } else { Impairment::MAX_MS };
        *value = whole_number(argument, number, 0..=most)?;
        rest = after;
    }
}

pub(in super::super) fn complete(arguments: &str) -> Parsed {
    Ok(ConsoleCommand::Complete(arguments.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{read, refused},
        *,
    };

    #[test]
    fn a_bad_network_is_described_in_any_order_and_what_is_not_named_is_nothing() {
        let ConsoleCommand::Netsim(NetsimAction::Set(impairment)) = read("netsim delay 80 loss 5") else {
            panic!()
        };
        assert_eq!(
            impairment,
            Impairment {
                loss_percent: 5,
                delay_ms: 80,
                ..Impairment::default()
            }
        );
        assert!(matches!(
            read("netsim"),
            ConsoleCommand::Netsim(NetsimAction::Show)
        ));
        assert!(matches!(
            read("netsim off"),
            ConsoleCommand::Netsim(NetsimAction::Off)
        ));
        for bad in [
            "netsim loss",
            "netsim loss 101",
            "netsim loss -1",
            "netsim delay 2001",
            "netsim off now",
            "netsim 5",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
    }

    #[test]
    fn who_sees_whom_takes_two_ids() {
        assert!(matches!(
            read("why 3 4"),
            ConsoleCommand::Why { viewer: 3, seen: 4 }
        ));
        for bad in [
            "why",
            "why 3",
            "why 3 4 5",
            "why 3 1000",
            "trace",
            "trace 5 0",
            "systems now",
            "slow 1",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
        assert!(matches!(
            read("trace 5 30"),
            ConsoleCommand::Trace { id: 5, seconds: 30 }
        ));
    }
}
