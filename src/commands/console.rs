//! `decitick console [DIR]`: attaches to the running server of a directory. With `-c` it runs one command; on a
//! terminal it edits lines, remembers them and completes them; with `--top` it shows a live view; otherwise it reads
//! commands from standard input.

mod interactive;
mod top;

use std::{
    fmt,
    io::{self, BufRead, IsTerminal, Write},
    os::fd::AsFd,
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use nix::poll::PollFlags;
use rustyline::error::ReadlineError;

use crate::console::{
    Attention, ClientError, ConsoleClient, Look, Reply,
    input::ready,
    line::{Line, next_line},
};

/// What `decitick console` is to do.
#[derive(Clone)]
pub struct ConsoleArguments {
    /// The server directory.
    pub directory: PathBuf,
    /// The one command to run; without it commands are read from the terminal or standard input.
    pub command: Option<String>,
    /// Whether a live view is shown instead.
    pub top: bool,
}

impl fmt::Debug for ConsoleArguments {
    /// Leaves the command out: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            directory,
            command,
            top,
        } = self;
        f.debug_struct("ConsoleArguments")
            .field("directory", directory)
            .field("has_command", &command.is_some())
            .field("top", top)
            .finish()
    }
}

/// Runs `decitick console`. 0 when every command was done, 1 when one failed or no server runs there.
#[must_use]
pub fn run(arguments: &ConsoleArguments) -> ExitCode {
    match attach(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Who reads the answers has enough, as `head` does.
        Err(trouble) if trouble.is_closed_pipe() => ExitCode::SUCCESS,
        Err(trouble) => {
            // Nothing is left to tell it to when standard error is gone as well.
            let _ = writeln!(io::stderr(), "{trouble}");
            ExitCode::FAILURE
        }
    }
}

fn attach(arguments: &ConsoleArguments) -> Result<bool, Trouble> {
    let mut client = ConsoleClient::connect(&arguments.directory)?;
    if arguments.top {
        return top::run(&mut client, &arguments.directory);
    }
    if arguments.command.is_none() && io::stdin().is_terminal() {
        return interactive::run(client, &arguments.directory);
    }
    let mut streams = Streams {
        output: io::stdout(),
        errors: io::stderr(),
        look: (Look::of(&io::stdout()), Look::of(&io::stderr())),
    };
    match &arguments.command {
        Some(command) => one(&mut client, command, &mut streams),
        None => piped(&mut client, &mut io::stdin().lock(), &mut streams),
    }
}

/// Where answers go: those of commands that failed to `errors`.
struct Streams<Output, Errors> {
    output: Output,
    errors: Errors,
    /// How they look on each.
    look: (Look, Look),
}

impl<Output: Write, Errors: Write> Streams<Output, Errors> {
    fn show(&mut self, line: &str, reply: &Reply) -> io::Result<()> {
        if reply.ok {
            write_line(&mut self.output, &self.look.0.shown(line, true, &reply.text))
        } else {
            write_line(&mut self.errors, &self.look.1.shown(line, false, &reply.text))
        }
    }

    /// Asks a line and shows its answer; says whether the command was done.
    fn run(&mut self, client: &mut ConsoleClient, line: &str) -> Result<bool, Trouble> {
        let (look, output) = (self.look.0, &mut self.output);
        let tell = |part: &str| write_line(output, &look.shown(line, true, part));
        let asked = look.asked(line);
        let Some(reply) = client.converse(&asked, tell, attention_of_a_pipe(look))? else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        };
        self.show(line, &reply)?;
        Ok(reply.ok)
    }
}

fn write_line(output: &mut impl Write, text: &str) -> io::Result<()> {
    output.write_all(format!("{text}\n").as_bytes())?;
    output.flush()
}

/// Leaves once nobody reads standard output any more, though there is nothing to write yet.
fn attention_of_a_pipe(look: Look) -> impl Fn() -> Attention {
    move || {
        let seen = ready(io::stdout().as_fd(), PollFlags::empty(), Some(Duration::ZERO));
        if !look.terminal && seen.is_ok_and(|seen| seen.contains(PollFlags::POLLERR)) {
            Attention::Leave
        } else {
            Attention::Stay
        }
    }
}

fn one(
    client: &mut ConsoleClient,
    command: &str,
    streams: &mut Streams<impl Write, impl Write>,
) -> Result<bool, Trouble> {
    let command = command.trim();
    if command.contains('\n') {
        return Err(Trouble::SeveralLines);
    }
    streams.run(client, command)
}

/// One command a line; says whether all were done.
fn piped(
    client: &mut ConsoleClient,
    input: &mut impl BufRead,
    streams: &mut Streams<impl Write, impl Write>,
) -> Result<bool, Trouble> {
    let mut all_done = true;
    while let Some(Line { content, .. }) = next_line(input)? {
        all_done &= match content {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => streams.run(client, &line)?,
            Err(fault) => {
                let text = fault.message();
                streams.show("", &Reply { ok: false, text })?;
                false
            }
        };
    }
    Ok(all_done)
}

/// What ends the console before its time.
#[derive(Debug)]
enum Trouble {
    Client(ClientError),
    Stream(io::Error),
    Editor(ReadlineError),
    SeveralLines,
}

impl Trouble {
    fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Stream(error) | Self::Client(ClientError::Output { source: error }) => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::Stream(error) => write!(f, "the console's input or output failed: {error}"),
            Self::Editor(error) => write!(f, "the terminal failed: {error}"),
            Self::SeveralLines => f.write_str(
                "-c takes one command, this has a line break; write one command a line on standard input instead",
            ),
        }
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

impl From<ReadlineError> for Trouble {
    fn from(error: ReadlineError) -> Self {
        Self::Editor(error)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleLeft, ConsoleOutbox};

    use super::*;
    use crate::console::{ConsoleHub, ConsoleServer, ConsoleSocket, Limits};

    /// Runs `console` against a server that does every command that does not start with `kick`.
    fn against_a_server(
        console: impl FnOnce(&mut ConsoleClient, &mut Streams<Vec<u8>, Vec<u8>>) -> Result<bool, Trouble> + Send,
    ) -> (Result<bool, Trouble>, String, String) {
        let directory = tempfile::tempdir().unwrap();
        let (mut hub, handle) = ConsoleHub::new();
        let socket = ConsoleSocket::bind(directory.path()).unwrap();
        let _server = ConsoleServer::start(socket, handle, Limits::default()).unwrap();
        thread::scope(|scope| {
            let console = scope.spawn(|| {
                let mut client = ConsoleClient::connect(directory.path()).unwrap();
                let mut streams = Streams {
                    output: Vec::new(),
                    errors: Vec::new(),
                    look: (Look::PIPE, Look::PIPE),
                };
                let done = console(&mut client, &mut streams);
                let text = |bytes| String::from_utf8(bytes).unwrap();
                (done, text(streams.output), text(streams.errors))
            });
            while !console.is_finished() {
                let (mut inbox, mut outbox) = (ConsoleInbox::default(), ConsoleOutbox::default());
                hub.drain_into(&mut inbox, &mut ConsoleLeft::default());
                for request in inbox.0.drain(..) {
                    if request.line.starts_with("watch") {
                        outbox
                            .0
                            .push(ConsoleAnswer::part(request.id, "a part".to_owned()));
                    }
                    outbox.0.push(ConsoleAnswer::last(
                        request.id,
                        !request.line.starts_with("kick"),
                        format!("re: {}", request.line),
                    ));
                }
                hub.deliver(&mut outbox);
                thread::yield_now();
            }
            console.join().unwrap()
        })
    }

    #[test]
    fn one_command_prints_its_answer_and_says_whether_it_was_done() {
        let (done, output, errors) = against_a_server(|client, streams| one(client, " say жук\n", streams));
        assert_eq!(
            (done.unwrap(), output.as_str(), errors.as_str()),
            (true, "re: say жук\n", "")
        );
        let (done, output, errors) = against_a_server(|client, streams| one(client, "kick 5", streams));
        assert_eq!(
            (done.unwrap(), output.as_str(), errors.as_str()),
            (false, "", "re: kick 5\n")
        );
        let (done, _, _) = against_a_server(|client, streams| one(client, "status\nshutdown", streams));
        assert!(matches!(done, Err(Trouble::SeveralLines)));
    }

    #[test]
    fn parts_are_printed_before_the_last_word() {
        let (done, output, _) = against_a_server(|client, streams| one(client, "watch 5 Motion", streams));
        assert_eq!(
            (done.unwrap(), output.as_str()),
            (true, "a part\nre: watch 5 Motion\n")
        );
    }

    #[test]
    fn a_terminal_is_named_with_its_width() {
        let look = Look {
            terminal: true,
            colours: false,
            columns: Some(80),
        };
        let (_, output, _) = against_a_server(|client, streams| {
            streams.look = (look, look);
            one(client, "status", streams)
        });
        assert_eq!(output, "re: status --width 80\n");
    }

    #[test]
    fn a_pipe_is_answered_line_by_line_and_one_failure_counts() {
        let input = b"status\n\nkick 5\nsay \xff\nbans";
        let (done, output, errors) =
            against_a_server(|client, streams| piped(client, &mut input.as_slice(), streams));
        assert_eq!(
            (done.unwrap(), output.as_str()),
            (false, "re: status\nre: bans\n")
        );
        assert!(
            errors.starts_with("re: kick 5\n") && errors.contains("no UTF-8"),
            "{errors}"
        );
        let (done, _, _) = against_a_server(|client, streams| piped(client, &mut &b"status\n"[..], streams));
        assert!(done.unwrap());
    }

    #[test]
    fn arguments_in_a_log_show_nothing_of_the_command() {
        let command = Some("password set hunter2".to_owned());
        let arguments = ConsoleArguments {
            directory: PathBuf::from("."),
            command,
            top: false,
        };
        assert!(!format!("{arguments:?}").contains("hunter2"));
    }
}
