//! `decitick console --top`: a live view of a server, refreshed each second. It asks what any console may ask (`status`,
//! `players`, `systems`, `resource list`, as JSON) and draws with a pure function of the answers and of a size.

mod figures;
mod screen;
mod view;

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde::de::DeserializeOwned;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::{
    figures::{Figures, Resources, Systems},
    screen::Screen,
    view::{Size, View},
};
use super::Trouble;
use crate::console::{ConsoleClient, Look};

/// How often the server is asked.
const EACH: Duration = Duration::from_secs(1);
/// How long one of its answers may take; a view that lags shows older figures.
const PATIENCE: Duration = Duration::from_millis(800);
/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(200);
/// The picture that is printed without a terminal.
const PRINTED: Size = Size {
    columns: 80,
    rows: 50,
};

/// Shows the view until the operator leaves. Without a terminal one picture of it is printed.
pub(super) fn run(client: &mut ConsoleClient, directory: &Path) -> Result<bool, Trouble> {
    let mut view = View::default();
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let mut figures = Figures::default();
        ask(client, &mut figures)?;
        view.take(figures, directory);
        let mut output = io::stdout();
        output.write_all(view.printed(PRINTED).as_bytes())?;
        output.flush()?;
        return Ok(true);
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let mut screen = Screen::open(Look::of(&io::stdout()).colours)?;
    let mut due = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= due {
            let mut figures = view.figures().clone();
            ask(client, &mut figures)?;
            view.take(figures, directory);
            due = now + EACH;
        }
        let (columns, rows) = crossterm::terminal::size()?;
        screen.draw(&view.drawn(Size { columns, rows }))?;
        let wait = due.saturating_duration_since(Instant::now()).min(LOOK);
        if event::poll(wait)? && !obey(&mut view, &event::read()?) {
            break;
        }
    }
    Ok(true)
}

/// Asks for everything. What a server does not answer, or not yet, keeps what it was.
fn ask(client: &mut ConsoleClient, figures: &mut Figures) -> Result<(), Trouble> {
    if let Some(status) = answer(client, "status --json")? {
        figures.status = status;
    }
    if let Some(players) = answer(client, "players --json")? {
        figures.players = players;
    }
    if let Some(Resources { resources }) = answer(client, "resource list --json")? {
        figures.resources = resources;
    }
    figures.systems = answer(client, "systems --json")?.map(|Systems { systems }| systems);
    Ok(())
}

fn answer<Answer: DeserializeOwned>(
    client: &mut ConsoleClient,
    line: &str,
) -> Result<Option<Answer>, Trouble> {
    let reply = client.ask_within(line, PATIENCE)?;
    Ok(reply
        .filter(|reply| reply.ok)
        .and_then(|reply| serde_json::from_str(&reply.text).ok()))
}

/// Does what a key says; false when the operator wants to leave.
fn obey(view: &mut View, event: &Event) -> bool {
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press | KeyEventKind::Repeat,
        ..
    }) = event
    else {
        return true;
    };
    match code {
        KeyCode::Char('c' | 'd') if modifiers.contains(KeyModifiers::CONTROL) => return false,
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('s') => view.sort_by_next(),
        KeyCode::Char('?' | 'h') => view.help = !view.help,
        KeyCode::Down | KeyCode::Char('j') => view.scroll(1),
        KeyCode::Up | KeyCode::Char('k') => view.scroll(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => view.scroll(10),
        KeyCode::PageUp => view.scroll(-10),
        KeyCode::Home => view.scroll(isize::MIN),
        KeyCode::End => view.scroll(isize::MAX),
        _ => {}
    }
    true
}
