//! Text of players and operators drives no terminal and forges no line, and one event is one line of the log.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
};

use decitick_protocol::{ClientBye, SessionPacket, is_control_or_format};
use tracing::{Dispatch, subscriber::NoSubscriber, subscriber::with_default};

use crate::sim::{Sim, Visitor};

/// A log that a test can read.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A second log beside the captured one, for as long as the process runs.
///
/// While there is only one log, tracing asks the thread that comes first to a log line whether anybody wants it, and
/// keeps the answer: a test on another thread, which has no log, would silence the line for the test that captures
/// it. With two, every log is asked.
static SECOND_LOG: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::default()));

/// What is logged while `run` runs, line by line.
fn log_of(run: impl FnOnce()) -> Vec<String> {
    LazyLock::force(&SECOND_LOG);
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    with_default(subscriber, run);
    let bytes = captured.0.lock().unwrap().clone();
    String::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_join_and_a_leave_are_one_line_each() {
    let lines = log_of(|| {
        let mut sim = Sim::new();
        let (visitor, hello) = sim.admit("203.0.113.1:5000", "Guest \"0\" [x]=y");
        sim.send_session(
            visitor.address,
            hello.session_token,
            SessionPacket::Bye(ClientBye),
        );
        sim.ticks(5);
    });
    let about: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("203.0.113.1:5000"))
        .collect();
    assert_eq!(about.len(), 2, "{lines:#?}");
    assert!(
        about[0].contains("joined") && about[1].contains("left") && about[1].contains("bye"),
        "{about:?}"
    );
}

#[test]
fn a_kicked_client_that_goes_on_sending_is_no_line_at_all() {
    let mut lines = Vec::new();
    lines.extend(log_of(|| {
        let mut sim = Sim::new();
        let (visitor, hello) = sim.admit("203.0.113.1:5000", "Guest 0");
        sim.console("kick 0 enough");
        for _ in 0..200 {
            sim.send_session(
                visitor.address,
                hello.session_token,
                SessionPacket::Bye(ClientBye),
            );
            sim.knock(visitor.address, &[0x03; 46]);
            sim.tick();
        }
    }));
    assert!(lines.len() <= 3, "{lines:#?}");
}

#[test]
fn many_sessions_from_one_exempt_address_are_warned_of_once_with_the_setting() {
    let lines = log_of(|| {
        let mut sim = Sim::new();
        for n in 0..30 {
            sim.admit(&format!("127.0.0.1:{}", 5000 + n), &format!("Guest {n}"));
        }
    });
    let warnings: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("limits.loopback_exempt"))
        .collect();
    assert_eq!(warnings.len(), 1, "{lines:#?}");
}

#[test]
fn what_an_operator_pastes_is_never_echoed_raw() {
    let mut sim = Sim::new();
    sim.admit("127.0.0.1:5000", "Guest 0");
    let long = format!("say {}", "y".repeat(10 * 1024));
    let hostile = [
        "kick 0 \u{1b}[2Jgone",
        "say line\r\nforged line",
        "say \u{2066}hidden\u{2069}",
        "ban 203.0.113.1 0 \u{1b}]0;title\u{7}",
        "mode \u{202e}edom",
        "\u{1b}[31mred",
        "help \u{9b}2J",
        "unban \u{7f}\u{0}",
        "password set \u{1b}[2J",
        long.as_str(),
    ];
    for line in hostile {
        for json in ["", " --json"] {
            let answer = sim.console(&format!("{line}{json}"));
            let shown: Vec<char> = answer
                .text
                .chars()
                .filter(|&c| c != '\n' && is_control_or_format(c))
                .collect();
            assert!(!answer.ok && shown.is_empty(), "{line:?}: {:?}", answer.text);
            assert!(answer.text.len() < 2_000, "an answer is no echo of 10 KiB");
        }
    }
    assert_eq!(sim.slots_taken(), 1);
}

#[test]
fn json_answers_are_one_json_value_each() {
    let mut sim = Sim::new();
    let visitor = Visitor::new(&mut sim, "127.0.0.1:5000", "Quote \" Slash \\");
    sim.visit(&visitor);
    for line in [
        "status", "players", "bans", "drops", "limits", "identity", "help", "kick 9 x", "nonsense",
    ] {
        let answer = sim.console(&format!("{line} --json"));
        let value: serde_json::Value = serde_json::from_str(&answer.text).expect(line);
        assert!(value.is_object(), "{line}: {value}");
    }
    assert!(
        sim.console("players --json")
            .text
            .contains("Quote \\\" Slash \\\\")
    );
}
