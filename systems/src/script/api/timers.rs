//! `timers`: what happens later.

use std::time::Duration;

use super::{Call, Native, Outcome, Owner, param};
use crate::script::desk::{MOST_TIMERS, Timer};

/// The longest a timer runs, in milliseconds: thirty days.
const LONGEST: i64 = 30 * 24 * 3600 * 1000;

pub(super) const NATIVES: &[Native] = &[
    Native {
        owner: Owner::Module("timers"),
        name: "after",
        params: &[param("ms", "int"), param("fn", "function")],
        optional: 0,
        returns: "int",
        doc: "Calls a function once, this many milliseconds from now, at the next tick (a tenth of a second). The result is the timer's number. A resource may have 1,000 timers; they go when it stops.",
        example: "fn player_death(player, killer, weapon) {\n    timers::after(3000, || { if player.online { player.respawn(); } });\n}",
        run: after,
    },
    Native {
        owner: Owner::Module("timers"),
        name: "every",
        params: &[param("ms", "int"), param("fn", "function")],
        optional: 0,
        returns: "int",
        doc: "Calls a function again and again, this many milliseconds apart, at least 100. What was missed while the server was late is not made up for.",
        example: "fn resource_start() {\n    timers::every(60000, || chat::broadcast(`${players::count()} players are on`));\n}",
        run: every,
    },
    Native {
        owner: Owner::Module("timers"),
        name: "cancel",
        params: &[param("timer", "int")],
        optional: 0,
        returns: "bool",
        doc: "Stops a timer; `false` when there is none of this number.",
        example: "let timer = timers::after(1000, || log::info(\"never\"));\ntimers::cancel(timer);",
        run: cancel,
    },
];

fn after(call: &mut Call<'_, '_>) -> Outcome {
    let ms = call.integer(0, 0..=LONGEST)?;
    start(call, ms, false)
}

fn every(call: &mut Call<'_, '_>) -> Outcome {
    let ms = call.integer(0, 100..=LONGEST)?;
    start(call, ms, true)
}

fn start(call: &mut Call<'_, '_>, ms: i64, again: bool) -> Outcome {
    let callback = call.callback(1)?;
    let period = Duration::from_millis(u64::try_from(ms).unwrap_or_default());
    let due = call.desk.clock.since_start.saturating_add(period);
    if call.desk.office()?.timers.len() >= MOST_TIMERS {
        return Err(format!(
            "a resource may have {MOST_TIMERS} timers; cancel some first"
        ));
    }
    let number = call.desk.next_timer();
    let timer = Timer {
        due,
        every: again.then_some(period),
        callback,
        waits: false,
    };
    call.desk.office()?.timers.insert(number, timer);
    Ok(number.into())
}

fn cancel(call: &mut Call<'_, '_>) -> Outcome {
    let number = call.integer(0, i64::MIN..=i64::MAX)?;
    let removed = call.desk.office()?.timers.remove(&number);
    let stood = removed.is_some();
    // What its function carried along is not held any more.
    call.keep(|_| drop(removed));
    Ok(stood.into())
}
