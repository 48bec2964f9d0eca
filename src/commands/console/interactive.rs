//! `decitick console` on a terminal: a line editor with history and completion. Ctrl-C ends an answer that goes on.

use std::{
    borrow::Cow,
    cell::RefCell,
    io::{self, Write},
    path::Path,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use decitick_components::console::{CompletionAnswer, goes_on};
use rustyline::{
    CompletionType, Config, Context, Editor, Helper,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::{History as _, MemHistory},
    validate::Validator,
};
use signal_hook::consts::SIGINT;

use super::{Trouble, write_line};
use crate::console::{
    Attention, ConsoleClient, Look,
    complete::{ask_server, from_the_table},
    history::{HISTORY_LINES, HISTORY_NAME, History, belongs_in_history},
};

/// Edits lines, asks them, and shows their answers until the operator leaves.
pub(super) fn run(client: ConsoleClient, directory: &Path) -> Result<bool, Trouble> {
    let config = Config::builder()
        .history_ignore_space(true)
        // Several candidates are listed: what is completed may be whom a command is about.
        .completion_type(CompletionType::List)
        .max_history_size(HISTORY_LINES)?
        .build();
    let memory = MemHistory::with_config(&config);
    let mut editor: Editor<CommandHelper, MemHistory> = Editor::with_history(config, memory)?;
    let client = Rc::new(RefCell::new(client));
    editor.set_helper(Some(CommandHelper {
        client: Rc::clone(&client),
    }));
    let (mut output, mut errors) = (io::stdout(), io::stderr());
    let mut history = match History::open(directory) {
        Ok(history) => Some(history),
        Err(error) => {
            let name = directory.join(HISTORY_NAME);
            writeln!(errors, "{}: {error}; lines are not remembered", name.display())?;
            None
        }
    };
    for line in history.iter().flat_map(|history| &history.lines) {
        editor.history_mut().add(line)?;
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))?;
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
                remember(&mut history, line, &mut errors)?;
            }
            if !converse(&mut client.borrow_mut(), line, &interrupted, &mut output)? {
                return Ok(false);
            }
        }
    }
}

/// Asks one line and shows its answer. False when Ctrl-C was pressed while an answer was awaited that does not go on:
/// then the operator wants to leave.
fn converse(
    client: &mut ConsoleClient,
    line: &str,
    interrupted: &AtomicBool,
    output: &mut impl Write,
) -> Result<bool, Trouble> {
    interrupted.store(false, Ordering::Relaxed);
    let look = Look::of(&io::stdout());
    let wish = if goes_on(line) {
        Attention::End
    } else {
        Attention::Leave
    };
    let attention = || {
        if interrupted.load(Ordering::Relaxed) {
            wish
        } else {
            Attention::Stay
        }
    };
    let tell = |part: &str| write_line(output, &look.shown(line, true, part));
    let Some(reply) = client.converse(&look.asked(line), tell, attention)? else {
        return Ok(false);
    };
    // On a terminal answers and errors go to the same place, in order.
    write_line(output, &look.shown(line, reply.ok, &reply.text))?;
    Ok(true)
}

fn remember(history: &mut Option<History>, line: &str, errors: &mut impl Write) -> io::Result<()> {
    if let Some(Err(error)) = history.as_mut().map(|history| history.add(line)) {
        writeln!(errors, "{error}; lines are not remembered any more")?;
        *history = None;
    }
    Ok(())
}

/// What the line editor asks: completion, and how the prompt looks.
struct CommandHelper {
    client: Rc<RefCell<ConsoleClient>>,
}

impl Completer for CommandHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..at).unwrap_or(line);
        let answered = self
            .client
            .try_borrow_mut()
            .ok()
            .and_then(|mut client| ask_server(&mut client, line));
        let CompletionAnswer { start, candidates } = answered.unwrap_or_else(|| from_the_table(line));
        let pairs = candidates.into_iter().map(|candidate| Pair {
            display: candidate.shown,
            replacement: candidate.text,
        });
        Ok((start, pairs.collect()))
    }
}

impl Highlighter for CommandHelper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        // The editor asks only where colours are shown and wanted.
        format!("\x1b[1m{prompt}\x1b[0m").into()
    }
}

impl Hinter for CommandHelper {
    type Hint = String;
}
impl Validator for CommandHelper {}
impl Helper for CommandHelper {}
