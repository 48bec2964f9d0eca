//! The standard input edge: lines in, answers to standard output. It works with a pipe as with a terminal, and
//! ends quietly when its input ends; the server runs on.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    thread,
    time::Duration,
};

use nix::sys::signal::{SigSet, Signal};

use super::{
    hub::{AskError, ConsoleHandle},
    line::{Line, next_line},
    terminal::for_terminal,
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
            let escape = io::stdout().is_terminal();
            loop {
                let ended = answer_lines(&mut io::stdin().lock(), &mut io::stdout(), &handle, escape);
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
/// over; a last line without a line end counts.
fn answer_lines(
    input: &mut impl BufRead,
    output: &mut impl Write,
    handle: &ConsoleHandle,
    escape: bool,
) -> io::Result<()> {
    while let Some(Line { content, .. }) = next_line(input)? {
        let text = match content {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => match handle.ask(line, PATIENCE) {
                Ok(answer) => answer.text,
                Err(AskError::Stopped) => return Ok(()),
                Err(error) => error.to_string(),
            },
            Err(fault) => fault.message(),
        };
        let shown = if escape {
            for_terminal(&text)
        } else {
            text.as_str().into()
        };
        // One write a line keeps an answer together beside the log on the same terminal.
        output.write_all(format!("{shown}\n").as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleOutbox};

    use super::{super::hub::ConsoleHub, *};

    fn with_echo<T: Send>(edge: impl FnOnce(ConsoleHandle) -> T + Send) -> T {
        let (mut hub, handle) = ConsoleHub::new();
        thread::scope(|scope| {
            let edge = scope.spawn(move || edge(handle));
            while !edge.is_finished() {
                let (mut inbox, mut outbox) = (ConsoleInbox::default(), ConsoleOutbox::default());
                hub.drain_into(&mut inbox);
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

    fn answers_to(input: &[u8], escape: bool) -> String {
        with_echo(|handle| {
            let mut output = Vec::new();
            answer_lines(&mut &*input, &mut output, &handle, escape).unwrap();
            String::from_utf8(output).unwrap()
        })
    }

    #[test]
    fn a_pipe_is_answered_line_by_line_and_its_last_line_needs_no_end() {
        assert_eq!(
            answers_to(b"status\n\n  \n!kick 5\r\nplayers", false),
            "re: status\nre: !kick 5\nre: players\n"
        );
        assert_eq!(answers_to(b"", false), "");
    }

    #[test]
    fn bad_lines_are_answered_and_the_next_one_runs() {
        let mut input = vec![b'x'; 5000];
        input.extend(b"\n\xff\nstatus\n");
        let output = answers_to(&input, false);
        let lines: Vec<&str> = output.lines().collect();
        assert!(
            lines[0].contains("4096") && lines[1].contains("no UTF-8"),
            "{output}"
        );
        assert_eq!(lines[2], "re: status");
    }

    #[test]
    fn a_terminal_gets_no_escape_sequence_and_a_pipe_the_answer_as_it_is() {
        assert_eq!(answers_to(b"\x1b[2J\n", true), "re: \\u{1b}[2J\n");
        assert_eq!(answers_to(b"\x1b[2J\n", false), "re: \u{1b}[2J\n");
    }

    #[test]
    fn the_edge_ends_when_the_server_does_and_when_nobody_reads_it() {
        let (hub, handle) = ConsoleHub::new();
        drop(hub);
        assert!(answer_lines(&mut &b"status\nstatus\n"[..], &mut Vec::new(), &handle, false).is_ok());
        let closed = with_echo(|handle| {
            let mut full: [u8; 4] = [0; 4];
            answer_lines(&mut &b"status\n"[..], &mut full.as_mut_slice(), &handle, false)
        });
        assert!(closed.is_err());
    }
}
