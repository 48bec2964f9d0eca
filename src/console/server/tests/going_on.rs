//! Answers that go on: parts, their end, and consoles that do not keep up.

use super::*;

#[test]
fn an_answer_that_goes_on_comes_in_parts_and_an_empty_line_ends_it() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    console.send(b"watch 5 Motion\nstatus\n");
    for _ in 0..5 {
        assert_eq!(console.frame(), Some((Outcome::Part, "x".repeat(400))));
    }
    console.send(b"\r\nplayers\n");
    assert_eq!(console.answer(), Some(done("ended")));
    assert_eq!(
        console.answer(),
        Some(done("status")),
        "lines sent meanwhile have their turn"
    );
    assert_eq!(console.answer(), Some(done("players")));
    console.send(b"watch 5 Silence --json\n\n");
    assert_eq!(console.answer(), Some(done("{\"message\":\"ended\"}")));
}

#[test]
fn a_producer_hears_within_moments_that_its_asker_closed_or_is_gone() {
    let (directory, server, executor) = running(Limits::default());
    let mut closing = Console::attach(directory.path());
    closing.send(b"watch 5 Silence\n");
    let mut half_closed = Console::attach(directory.path());
    half_closed.send(b"watch 5 Motion\n");
    half_closed.0.get_ref().shutdown(Shutdown::Write).unwrap();
    for _ in 0..10 {
        assert_eq!(half_closed.frame().unwrap().0, Outcome::Part, "it still reads");
    }
    assert!(executor.streams.load(Ordering::Relaxed) > 0);
    drop((closing, half_closed));
    let begun = Instant::now();
    while !server.shared.consoles().attached.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        thread::yield_now();
    }
    let begun = Instant::now();
    while executor.streams.load(Ordering::Relaxed) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "its producer goes on");
        thread::yield_now();
    }
}

#[test]
fn an_asker_that_is_told_too_much_at_once_is_told_that_it_is_cut_off_and_may_ask_again() {
    let (directory, _server, _executor) = running(Limits::default());
    let mut console = Console::attach(directory.path());
    console.send(b"watch 5 Burst\n");
    let mut parts = 0;
    let (ok, text) = loop {
        match console.frame().unwrap() {
            (Outcome::Part, text) => {
                assert_eq!(text, parts.to_string());
                parts += 1;
            }
            (outcome, text) => break (outcome == Outcome::Done, text),
        }
    };
    assert!(!ok && text.starts_with("cut off: "), "{text}");
    assert!((64..200).contains(&parts), "{parts}");
    assert_eq!(console.ask("status"), done("status"));
}

#[test]
fn a_console_that_takes_nothing_is_cut_off_and_reads_why_when_it_wakes() {
    let limits = Limits {
        write: Duration::from_millis(300),
        ..Limits::default()
    };
    let (directory, server, _executor) = running(limits);
    let mut stopped = Console::attach(directory.path());
    stopped.send(b"watch 5 Motion\n");
    assert_eq!(stopped.frame().unwrap().0, Outcome::Part);
    let mut quick = Console::attach(directory.path());
    assert_eq!(quick.ask("status"), done("status"));
    let begun = Instant::now();
    while server.shared.consoles().attached.len() > 1 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it was never cut off");
        assert_eq!(quick.ask("status"), done("status"));
    }
    let mut parts = 0;
    let last = loop {
        match stopped.frame() {
            Some((Outcome::Part, text)) => {
                assert_eq!(text.len(), 400);
                parts += 1;
            }
            last => break last,
        }
    };
    let (outcome, text) = last.unwrap();
    assert_eq!(outcome, Outcome::Failed);
    assert!(
        text.starts_with("cut off: ") && parts > 10,
        "{parts} parts, then {text}"
    );
    assert_eq!(stopped.frame(), None);
}
