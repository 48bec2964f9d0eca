//! The terminal while the live view has it: raw, on its second screen, without a cursor. It is given back whatever
//! happens, a panic too.

use std::{
    io::{self, Stdout, Write},
    panic,
    sync::Once,
};

use crossterm::{
    cursor::{Hide, MoveTo, Show},
    execute, queue,
    style::{Attribute, Color, Print, ResetColor, SetAttribute, SetForegroundColor},
    terminal::{
        Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
    },
};

use super::view::{Ink, Row};

/// The terminal, taken. Dropped, it is given back.
pub(super) struct Screen {
    output: Stdout,
    colours: bool,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn open(colours: bool) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        enable_raw_mode()?;
        let screen = Self {
            output: io::stdout(),
            colours,
        };
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws rows from the top; what was there before is gone.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn draw(&mut self, rows: &[Row]) -> io::Result<()> {
        for (line, row) in (0_u16..).zip(rows) {
            queue!(self.output, MoveTo(0, line))?;
            for (ink, text) in &row.0 {
                self.ink(*ink)?;
                queue!(
                    self.output,
                    Print(text),
                    SetAttribute(Attribute::Reset),
                    ResetColor
                )?;
            }
            queue!(self.output, Clear(ClearType::UntilNewLine))?;
        }
        self.output.flush()
    }

    fn ink(&mut self, ink: Ink) -> io::Result<()> {
        match ink {
            Ink::Plain => Ok(()),
            Ink::Head => queue!(self.output, SetAttribute(Attribute::Reverse)),
            Ink::Name => queue!(self.output, SetAttribute(Attribute::Bold)),
            Ink::Alarm if self.colours => queue!(self.output, SetForegroundColor(Color::Red)),
            Ink::Alarm => queue!(self.output, SetAttribute(Attribute::Bold)),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// A terminal that is gone has nothing to be given back.
fn give_back() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
