//! `decitick console [DIR]`: attaches to the running server of a directory. With `-c` it runs one command; on a
//! terminal it edits lines, remembers them and completes them; otherwise it reads commands from standard input.

use std::{
    fmt,
    io::{self, BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use rustyline::{
    Config, Context, Editor, Helper,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::{History as _, MemHistory},
    validate::Validator,
};

use crate::console::{
    ClientError, ConsoleClient, Reply,
    complete::completions,
    for_terminal,
    history::{HISTORY_LINES, History, belongs_in_history},
    line::{Line, next_line},
};

/// What `decitick console` is to do.
#[derive(Clone)]
pub struct ConsoleArguments {
    /// The server directory.
    pub directory: PathBuf,
    /// The one command to run; without it commands are read from the terminal or standard input.
    pub command: Option<String>,
}

impl fmt::Debug for ConsoleArguments {
    /// Leaves the command out: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { directory, command } = self;
        f.debug_struct("ConsoleArguments")
            .field("directory", directory)
            .field("has_command", &command.is_some())
            .finish()
    }
}

/// Runs `decitick console`. 0 when every command was done, 1 when one failed or no server runs there.
#[must_use]
pub fn run(arguments: &ConsoleArguments) -> ExitCode {
    let done = ConsoleClient::connect(&arguments.directory)
        .map_err(Trouble::from)
        .and_then(|mut client| {
            let mut streams = Streams {
                output: io::stdout().lock(),
                errors: io::stderr(),
            };
            match &arguments.command {
                Some(command) => one(&mut client, command, &mut streams),
                None if io::stdin().is_terminal() => {
                    interactive(&mut client, &arguments.directory, &mut streams)
                }
                None => piped(&mut client, &mut io::stdin().lock(), &mut streams),
            }
        });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            // Nothing is left to tell it to when standard error is gone as well.
            let _ = writeln!(io::stderr(), "{trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Where answers go: those of commands that failed to `errors`.
struct Streams<Output, Errors> {
    output: Output,
    errors: Errors,
}

impl<Output: Write, Errors: Write> Streams<Output, Errors> {
    fn show(&mut self, reply: &Reply, terminal: bool) -> io::Result<()> {
        let text = if terminal {
            for_terminal(&reply.text)
        } else {
            reply.text.as_str().into()
        };
        if reply.ok {
            writeln!(self.output, "{text}").and_then(|()| self.output.flush())
        } else {
            writeln!(self.errors, "{text}").and_then(|()| self.errors.flush())
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
    let reply = client.ask(command)?;
    let terminal = if reply.ok {
        io::stdout().is_terminal()
    } else {
        io::stderr().is_terminal()
    };
    streams.show(&reply, terminal)?;
    Ok(reply.ok)
}

/// One command a line; says whether all were done.
fn piped(
    client: &mut ConsoleClient,
    input: &mut impl BufRead,
    streams: &mut Streams<impl Write, impl Write>,
) -> Result<bool, Trouble> {
    let mut all_done = true;
    while let Some(Line { content, .. }) = next_line(input)? {
        let reply = match content {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => client.ask(&line)?,
            Err(fault) => Reply {
                ok: false,
                text: fault.message(),
            },
        };
        all_done &= reply.ok;
        streams.show(&reply, io::stdout().is_terminal())?;
    }
    Ok(all_done)
}

fn interactive(
    client: &mut ConsoleClient,
    directory: &Path,
    streams: &mut Streams<impl Write, impl Write>,
) -> Result<bool, Trouble> {
    let config = Config::builder()
        .history_ignore_space(true)
        .max_history_size(HISTORY_LINES)?
        .build();
    let memory = MemHistory::with_config(&config);
    let mut editor: Editor<CommandHelper, MemHistory> = Editor::with_history(config, memory)?;
    editor.set_helper(Some(CommandHelper));
    let mut history = match History::open(directory) {
        Ok(history) => Some(history),
        Err(error) => {
            let name = directory.join(crate::console::history::HISTORY_NAME);
            writeln!(
                streams.errors,
                "{}: {error}; lines are not remembered",
                name.display()
            )?;
            None
        }
    };
    for line in history.iter().flat_map(|history| &history.lines) {
        editor.history_mut().add(line)?;
    }
    loop {
        let typed = match editor.readline("decitick> ") {
            Ok(typed) => typed,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        // A paste may hold several lines.
        for line in typed.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if matches!(line.trim_start(), "exit" | "quit") {
                return Ok(true);
            }
            if belongs_in_history(line) && editor.add_history_entry(line)? {
                remember(&mut history, line, &mut streams.errors)?;
            }
            let reply = client.ask(line)?;
            // On a terminal both go to the same place, in order.
            writeln!(streams.output, "{}", for_terminal(&reply.text))?;
            streams.output.flush()?;
        }
    }
}

fn remember(history: &mut Option<History>, line: &str, errors: &mut impl Write) -> io::Result<()> {
    if let Some(Err(error)) = history.as_mut().map(|history| history.add(line)) {
        writeln!(errors, "{error}; lines are not remembered any more")?;
        *history = None;
    }
    Ok(())
}

/// What the line editor asks: completion only.
struct CommandHelper;

impl Completer for CommandHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, words) = completions(line.get(..at).unwrap_or(line));
        let pair = |word: &str| Pair {
            display: word.to_owned(),
            replacement: format!("{word} "),
        };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

impl Hinter for CommandHelper {
    type Hint = String;
}
impl Highlighter for CommandHelper {}
impl Validator for CommandHelper {}
impl Helper for CommandHelper {}

/// What ends the console before its time.
#[derive(Debug)]
enum Trouble {
    Client(ClientError),
    Stream(io::Error),
    Editor(ReadlineError),
    SeveralLines,
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

    use decitick_components::console::{ConsoleAnswer, ConsoleInbox, ConsoleOutbox};

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
                };
                let done = console(&mut client, &mut streams);
                let text = |bytes| String::from_utf8(bytes).unwrap();
                (done, text(streams.output), text(streams.errors))
            });
            while !console.is_finished() {
                let (mut inbox, mut outbox) = (ConsoleInbox::default(), ConsoleOutbox::default());
                hub.drain_into(&mut inbox);
                outbox.0.extend(inbox.0.drain(..).map(|request| ConsoleAnswer {
                    id: request.id,
                    ok: !request.line.starts_with("kick"),
                    text: format!("re: {}", request.line),
                    more: false,
                }));
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
        };
        assert!(!format!("{arguments:?}").contains("hunter2"));
    }
}
