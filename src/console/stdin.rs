//! The standard input edge: lines in, answers to standard output. It works with a pipe as with a terminal, and
//! ends quietly when its input ends; the server runs on.

use std::{
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
    thread,
    time::Duration,
};

use nix::sys::signal::{SigSet, Signal};

use super::{
    conversation::{Told, converse},
    framing::Outcome,
    hub::ConsoleHandle,
    input::{Input, Seen},
    line::Line,
    terminal::Look,
};

/// How long a command may take to be answered.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a server in the background looks whether the terminal is its own again.
const BACKGROUND_PAUSE: Duration = Duration::from_secs(1);
/// EIO.
const INPUT_OUTPUT_ERROR: i32 = nix::errno::Errno::EIO as i32;

/// Begins to read standard input on a thread of its own, which nobody waits for.
///
/// # Errors
/// When the system gives no thread.
pub fn start(handle: ConsoleHandle) -> io::Result<()> {
    thread::Builder::new()
        .name("console-stdin".to_owned())
        .spawn(move || {
            // A server in the background that reads its terminal would be stopped by SIGTTIN. With the signal blocked
            // the read fails instead.
            let mut stopping = SigSet::empty();
            stopping.add(Signal::SIGTTIN);
            let blocked = stopping.thread_block().is_ok();
            let on_terminal = io::stdin().is_terminal();
            if on_terminal && !blocked {
                return;
            }
            let stdin = io::stdin();
            let mut input = Input::new(stdin.as_fd(), false);
            loop {
                let ended = answer_lines(&mut input, &mut io::stdout(), &handle, || Look::of(&io::stdout()));
                match ended {
                    Err(error) if on_terminal && error.raw_os_error() == Some(INPUT_OUTPUT_ERROR) => {
                        thread::sleep(BACKGROUND_PAUSE);
                    }
                    _ => return,
                }
            }
        })?;
    Ok(())
}

/// Answers line by line until the input ends, nobody reads the output, or the server stops. Empty lines are passed
/// over, but end an answer that goes on; a last line without a line end counts.
fn answer_lines(
    input: &mut Input<impl AsFd>,
    output: &mut impl Write,
    handle: &ConsoleHandle,
    look: impl Fn() -> Look,
) -> io::Result<()> {
    while let Some(Line { content, .. }) = input.next()? {
        let look = look();
        let line = match content {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => line,
            Err(fault) => {
                show(output, &look.shown("", false, &fault.message()))?;
                continue;
            }
        };
        let asked = look.asked(&line).into_owned();
        let tell = |part: &str| show(output, &look.shown(&line, true, part));
        // A server that was put into the background meanwhile cannot read its terminal: it sees nothing there.
        let see = |goes_on| {
            Ok(if goes_on {
                input.look().unwrap_or(Seen::Nothing)
            } else {
                Seen::Nothing
            })
        };
        match converse(handle, asked, PATIENCE, tell, see)? {
            Told::Last(outcome, text) => {
                show(output, &look.shown(&line, outcome == Outcome::Done, &text))?;
            }
            Told::Stopped(_) | Told::HungUp => return Ok(()),
        }
    }
    Ok(())
}

/// One write keeps an answer together beside the log on the same terminal.
fn show(output: &mut impl Write, text: &str) -> io::Result<()> {
    output.write_all(format!("{text}\n").as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::{net::Shutdown, os::unix::net::UnixStream};

    use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleLeft, ConsoleOutbox};

    use super::{super::hub::ConsoleHub, *};

    fn with_echo<T: Send>(edge: impl FnOnce(ConsoleHandle) -> T + Send) -> T {
        let (mut hub, handle) = ConsoleHub::new();
        thread::scope(|scope| {
            let edge = scope.spawn(move || edge(handle));
            while !edge.is_finished() {
                let (mut inbox, mut outbox) = (ConsoleInbox::default(), ConsoleOutbox::default());
                hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
                outbox.0.extend(inbox.0.drain(..).map(|request| ConsoleAnswer {
                    id: request.id,
                    ok: !request.line.starts_with('!'),
                    text: format!("re: {}", request.line),
                    more: false,
                }));
                hub.deliver(&mut outbox);
                thread::yield_now();
            }
            edge.join().unwrap()
        })
    }

    const TERMINAL: Look = Look {
        terminal: true,
        colours: false,
        columns: None,
    };

    fn input_of(bytes: &[u8]) -> Input<UnixStream> {
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        theirs.write_all(bytes).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        Input::new(ours, false)
    }

    fn answers_to(bytes: &[u8], look: Look) -> String {
        with_echo(|handle| {
            let mut output = Vec::new();
            answer_lines(&mut input_of(bytes), &mut output, &handle, || look).unwrap();
            String::from_utf8(output).unwrap()
        })
    }

    #[test]
    fn a_pipe_is_answered_line_by_line_and_its_last_line_needs_no_end() {
        assert_eq!(
            answers_to(b"status\n\n  \n!kick 5\r\nplayers", Look::PIPE),
            "re: status\nre: !kick 5\nre: players\n"
        );
        assert_eq!(answers_to(b"", Look::PIPE), "");
    }

    #[test]
    fn bad_lines_are_answered_and_the_next_one_runs() {
        let mut input = vec![b'x'; 5000];
        input.extend(b"\n\xff\nstatus\n");
        let output = answers_to(&input, Look::PIPE);
        let lines: Vec<&str> = output.lines().collect();
        assert!(
            lines[0].contains("4096") && lines[1].contains("no UTF-8"),
            "{output}"
        );
        assert_eq!(lines[2], "re: status");
    }

    #[test]
    fn a_terminal_gets_no_escape_sequence_and_a_pipe_the_answer_as_it_is() {
        assert_eq!(answers_to(b"\x1b[2J\n", TERMINAL), "re: \\u{1b}[2J\n");
        assert_eq!(answers_to(b"\x1b[2J\n", Look::PIPE), "re: \u{1b}[2J\n");
    }

    #[test]
    fn the_edge_ends_when_the_server_does_and_when_nobody_reads_it() {
        let (hub, handle) = ConsoleHub::new();
        drop(hub);
        let look = || Look::PIPE;
        let mut input = input_of(b"status\nstatus\n");
        assert!(answer_lines(&mut input, &mut Vec::new(), &handle, look).is_ok());
        let closed = with_echo(|handle| {
            let mut full: [u8; 4] = [0; 4];
            answer_lines(
                &mut input_of(b"status\n"),
                &mut full.as_mut_slice(),
                &handle,
                look,
            )
        });
        assert!(closed.is_err());
    }

    #[test]
    fn an_answer_that_goes_on_is_shown_part_by_part_and_enter_ends_it() {
        let (mut hub, handle) = ConsoleHub::new();
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        let (mut shown, output) = UnixStream::pair().unwrap();
        theirs.write_all(b"watch 5 Motion\nstatus\n").unwrap();
        let edge = thread::spawn(move || {
            let mut output = output;
            answer_lines(&mut Input::new(ours, false), &mut output, &handle, || Look::PIPE)
        });
        let (mut inbox, mut left) = (ConsoleInbox::default(), ConsoleLeft::default());
        while inbox.0.is_empty() {
            hub.drain_into(&mut inbox, &mut left);
        }
        let id = inbox.0.pop_front().unwrap().id;
        hub.deliver(&mut ConsoleOutbox(vec![ConsoleAnswer::part(
            id,
            "moved".to_owned(),
        )]));
        let mut part = [0; 6];
        io::Read::read_exact(&mut shown, &mut part).unwrap();
        assert_eq!(&part, b"moved\n");
        theirs.write_all(b"\n").unwrap();
        while left.0.is_empty() {
            hub.drain_into(&mut inbox, &mut left);
        }
        assert_eq!(left.0, [id]);
        while inbox.0.is_empty() {
            hub.drain_into(&mut inbox, &mut left);
        }
        assert_eq!(inbox.0[0].line, "status", "what was typed meanwhile has its turn");
        drop(hub);
        edge.join().unwrap().unwrap();
        let mut rest = String::new();
        io::Read::read_to_string(&mut shown, &mut rest).unwrap();
        assert_eq!(rest, "ended\n");
    }
}
