//! Parses a file, and finds further faults behind the first.
//!
//! The engine stops at the first fault. So what was at fault is covered and the text parsed again: an undefined name is
//! replaced by a defined one of the same length, anything else is blanked together with the function around it. Lines
//! and columns stay what they are.

use std::collections::BTreeSet;

use decitick_components::script::ScriptFault;
use rhai::{AST, Engine, ParseError, ParseErrorType, Scope};

use super::super::fault::{Names, parse_fault};

/// Most faults that are reported of one file.
const MOST_FAULTS: usize = 20;

/// Most times a file is parsed; each parse after the first covers one fault.
const MOST_PARSES: usize = 100;

/// Compiles `source` with what `scope` defines, and names the AST `file`.
///
/// # Errors
/// Everything that keeps the file from being parsed, at most 20 faults in the order of their places.
pub(crate) fn parse_all(
    engine: &Engine,
    source: &str,
    scope: &Scope<'_>,
    file: &str,
    names: &Names,
) -> Result<AST, Vec<ScriptFault>> {
    let first = match engine.compile_with_scope(scope, source) {
        Ok(mut ast) => {
            ast.set_source(file);
            return Ok(ast);
        }
        Err(error) => error,
    };
    let mut cover = Cover::new(source, scope.clone());
    let mut faults = Vec::new();
    let mut error = first;
    for _ in 0..MOST_PARSES {
        if let Some(fault) = cover.cover(&error, file, names) {
            faults.push(fault);
        }
        if faults.len() >= MOST_FAULTS || cover.stuck {
            break;
        }
        match engine.compile_with_scope(&cover.scope, cover.text()) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    faults.sort();
    faults.dedup();
    Err(faults)
}

/// A text whose faults are being covered.
struct Cover<'s> {
    source: &'s str,
    lines: Vec<String>,
    /// What the text may name, with the stand-ins.
    scope: Scope<'s>,
    /// Names of modules whose import was blanked: that they are missing is no fault of its own.
    lost_modules: BTreeSet<String>,
    /// Undefined names that were reported, each with the item it is in.
    reported: BTreeSet<(usize, String)>,
    /// Whether nothing was left to cover.
    stuck: bool,
}

impl<'s> Cover<'s> {
    fn new(source: &'s str, scope: Scope<'s>) -> Self {
        Self {
            source,
            lines: source.lines().map(str::to_owned).collect(),
            scope,
            lost_modules: BTreeSet::new(),
            reported: BTreeSet::new(),
            stuck: false,
        }
    }

    fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Covers what is at fault; answers with the fault unless it only follows from an earlier one.
    fn cover(&mut self, error: &ParseError, file: &str, names: &Names) -> Option<ScriptFault> {
        let fault = parse_fault(error, file, self.source, names);
        // Without a place it is the end of the file that is at fault.
        let line = match usize::try_from(fault.line) {
            Ok(line @ 1..) => line - 1,
            _ => self.lines.len().saturating_sub(1),
        };
        match error.err_type() {
            ParseErrorType::VariableUndefined(name) => {
                let item = self.item_around(line).0;
                let new = self.reported.insert((item, name.clone()));
                let column = error.position().position().unwrap_or(0);
                if !self.replace(line, column, name) {
                    self.blank(line);
                }
                new.then_some(fault)
            }
            ParseErrorType::ModuleUndefined(name) => {
                let follows = self.lost_modules.contains(name);
                self.blank(line);
                (!follows).then_some(fault)
            }
            // A function inside another is most likely after one that is not closed.
            ParseErrorType::WrongFnDefinition if line > 0 && self.starts_item(line) => {
                let (start, _) = self.item_around(line - 1);
                self.blank(line - 1);
                let problem = format!(
                    "the function before this, at line {}, is not closed: a `}}` is missing",
                    start + 1
                );
                Some(ScriptFault { problem, ..fault })
            }
            _ => {
                self.blank(line);
                Some(fault)
            }
        }
    }

    /// Replaces an undefined name, at a column from 1, by a defined one of the same length.
    fn replace(&mut self, line: usize, column: usize, name: &str) -> bool {
        let Some(text) = self.lines.get_mut(line) else {
            return false;
        };
        let Some((start, _)) = text.char_indices().nth(column.saturating_sub(1)) else {
            return false;
        };
        let end = start + name.len();
        if text.get(start..end) != Some(name) {
            return false;
        }
        let stand_in = "z".repeat(name.len());
        text.replace_range(start..end, &stand_in);
        if !self.scope.contains(&stand_in) {
            self.scope.push(stand_in, ());
        }
        true
    }

    /// Empties the lines of the top-level item around a line.
    fn blank(&mut self, line: usize) {
        let (start, end) = self.item_around(line);
        self.stuck = true;
        for text in self.lines.iter_mut().take(end).skip(start) {
            if let Some((_, alias)) = text
                .strip_prefix("import ")
                .and_then(|rest| rest.rsplit_once(" as "))
            {
                self.lost_modules
                    .insert(alias.trim_end_matches([';', ' ']).to_owned());
            }
            self.stuck &= text.trim().is_empty();
            text.clear();
        }
    }

    /// The first line of the item around a line, and the line after its last.
    fn item_around(&self, line: usize) -> (usize, usize) {
        let start = (0..=line).rev().find(|&line| self.starts_item(line));
        let end = (line + 1..self.lines.len()).find(|&line| self.starts_item(line));
        (start.unwrap_or(0), end.unwrap_or(self.lines.len()))
    }

    /// Whether an item begins at a line: with a keyword at its very start, or with the comment before that.
    fn starts_item(&self, line: usize) -> bool {
        // Blanked lines still count as what they were, so an item never grows into its neighbours.
        let original = |line: usize| self.source.lines().nth(line).unwrap_or_default();
        let text = original(line);
        let after_comment = line > 0 && {
            let before = original(line - 1);
            before.starts_with("///") || before.trim_end().ends_with("*/")
        };
        let comment = text.starts_with("///") || text.starts_with("/**");
        let keyword = ["fn ", "private ", "const ", "import ", "export ", "let "]
            .iter()
            .any(|keyword| text.starts_with(keyword));
        (keyword || comment) && !after_comment
    }
}
