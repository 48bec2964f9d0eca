//! What is wrong with the text of a script.

use decitick_components::script::ScriptFault;
use rhai::{LexError, ParseError, ParseErrorType};

use super::{
    super::words::{count, did_you_mean, type_word},
    Names, column, line,
    problem::variable_not_found,
};

/// Describes why the text `source` of `file` does not parse.
pub(crate) fn parse_fault(error: &ParseError, file: &str, source: &str, names: &Names) -> ScriptFault {
    let position = error.position();
    let mut place = (line(position), column(position));
    if is_missing_semicolon(error.err_type()) {
        place = end_of_statement_before(source, place).unwrap_or(place);
    }
    ScriptFault {
        file: file.to_owned(),
        line: place.0,
        column: place.1,
        problem: problem(error.err_type(), source, names),
    }
}

pub(super) fn problem(kind: &ParseErrorType, source: &str, names: &Names) -> String {
    use ParseErrorType as P;
    match kind {
        P::BadInput(error) => lexical(error),
        P::MissingToken(token, purpose) => missing(token, purpose),
        P::MissingSymbol(text) => lower_first(text),
        P::UnexpectedEOF => {
            "the file ends in the middle of something: a `}`, `)` or `]` is missing".to_owned()
        }
        P::VariableUndefined(name) => undefined_variable(name, source, names),
        P::ModuleUndefined(name) => format!(
            "there is no module `{name}`{}",
            or_else(
                did_you_mean(name, names.modules.iter().map(String::as_str)),
                &format!(": write `import \"...\" as {name};` at the top of the file"),
            )
        ),
        P::MismatchedType(wanted, found) => {
            format!("this must be {}, not {}", type_word(wanted), type_word(found))
        }
        P::ExprExpected(what) => format!("{what} is expected here"),
        _ => definition(kind).unwrap_or_else(|| structure(kind)),
    }
}

fn is_missing_semicolon(kind: &ParseErrorType) -> bool {
    matches!(kind, ParseErrorType::MissingToken(token, _) if token == ";")
}

/// The place right after the code before a place. Where a comment stands between them, the line as a whole is meant.
fn end_of_statement_before(source: &str, (line, column): (u32, u32)) -> Option<(u32, u32)> {
    let lines: Vec<&str> = source.lines().collect();
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let same_line: String = lines.get(index)?.chars().take(column).collect();
    let earlier = lines.iter().take(index).enumerate().rev();
    let earlier = earlier.map(|(index, text)| (index, *text));
    let (index, text) = std::iter::once((index, same_line.as_str()))
        .chain(earlier)
        .map(|(index, text)| (index, text.trim_end()))
        .find(|(_, text)| !text.trim_start().is_empty() && !text.trim_start().starts_with("//"))?;
    let number = |value: usize| u32::try_from(value).ok();
    let commented = text.contains("//") || text.ends_with("*/");
    let column = if commented { 0 } else { text.chars().count() + 1 };
    Some((number(index + 1)?, number(column)?))
}

/// Faults of functions and variables.
fn definition(kind: &ParseErrorType) -> Option<String> {
    use ParseErrorType as P;
    Some(match kind {
        P::FnDuplicatedDefinition(name, parameters) => {
            format!(
                "`{name}` with {} is defined twice",
                count(*parameters, "parameter")
            )
        }
        P::FnMissingName => "a function needs a name: `fn name(parameters) { ... }`".to_owned(),
        P::FnMissingParams(name) => {
            format!("`fn {name}` needs parentheses for its parameters: `fn {name}() {{ ... }}`")
        }
        P::FnMissingBody(name) if name.is_empty() => {
            "a closure needs a body: `|x| x + 1` or `|| { ... }`".to_owned()
        }
        P::FnMissingBody(name) => format!("`fn {name}` needs a body: `fn {name}() {{ ... }}`"),
        P::FnDuplicatedParam(name, parameter) if name.is_empty() => {
            format!("the closure has two parameters named `{parameter}`")
        }
        P::FnDuplicatedParam(name, parameter) => format!("`{name}` has two parameters named `{parameter}`"),
        P::WrongFnDefinition => {
            "a function cannot be defined inside another: is a `}` missing above?".to_owned()
        }
        P::VariableExpected => "the name of a variable is expected here".to_owned(),
        P::PropertyExpected => "the name of a property is expected here".to_owned(),
        P::ForbiddenVariable(name) => format!("`{name}` cannot be the name of a variable"),
        P::VariableExists(name) => format!("there is already a variable `{name}`"),
        P::DuplicatedVariable(name) => format!("the name `{name}` is used twice"),
        P::DuplicatedProperty(name) => format!("the map has the key `{name}` twice"),
        P::Reserved(word) if word == "eval" => "`eval` is not available to scripts".to_owned(),
        P::Reserved(word) => format!("`{word}` is reserved by the language: choose another name"),
        P::AssignmentToConstant(name) if name.is_empty() => "a constant cannot be assigned to".to_owned(),
        P::AssignmentToConstant(name) => {
            format!("`{name}` is a constant and cannot be assigned to: define it with `let` to change it")
        }
        P::AssignmentToInvalidLHS(_) => {
            "this cannot be assigned to: `=` assigns to a variable, property or item, `==` compares"
                .to_owned()
        }
        _ => return None,
    })
}

/// Faults of what stands where.
fn structure(kind: &ParseErrorType) -> String {
    use ParseErrorType as P;
    match kind {
        P::UnknownOperator(operator) => format!("there is no operator `{operator}`"),
        P::WrongDocComment => {
            "a comment with `///` must stand right before a function: write `//` for others".to_owned()
        }
        P::WrongExport => "`export` stands only outside functions".to_owned(),
        P::WrongSwitchDefaultCase => {
            "`_`, the case for everything else, must be the last of a switch".to_owned()
        }
        P::WrongSwitchIntegerCase => "in a switch, single numbers stand before ranges".to_owned(),
        P::WrongSwitchCaseCondition => "this case of the switch cannot have an `if`".to_owned(),
        P::LoopBreak => "`break` and `continue` work only inside a loop".to_owned(),
        P::ExprTooDeep => {
            "too many brackets or blocks inside each other: split it up with `let` or functions".to_owned()
        }
        P::TooManyFunctions => "too many functions in one file".to_owned(),
        P::LiteralTooLarge(what, limit) => format!("{} is above the limit of {limit}", lower_first(what)),
        other => lower_first(&other.to_string()),
    }
}

fn lexical(error: &LexError) -> String {
    match error {
        LexError::UnterminatedString => {
            "the string is not closed: its closing quote is missing on this line".to_owned()
        }
        LexError::UnexpectedInput(text) => format!("`{text}` has no meaning here"),
        LexError::MalformedEscapeSequence(text) => {
            format!("`{text}` is not a known escape in a string: a backslash itself is written `\\\\`")
        }
        LexError::MalformedNumber(text) => format!("`{text}` is not a number"),
        LexError::MalformedChar(text) => {
            format!("'{text}' is not one character: strings are written with \"\"")
        }
        LexError::MalformedIdentifier(text) => {
            format!("`{text}` is not a name: names have at least one letter")
        }
        LexError::ImproperSymbol(_, advice) if !advice.is_empty() => lower_first(advice),
        other => lower_first(&other.to_string()),
    }
}

fn missing(token: &str, purpose: &str) -> String {
    match (token, purpose) {
        (";", _) => "a `;` is missing here, at the end of the statement".to_owned(),
        ("}", "to terminate this block") => "a `}` is missing: this block is not closed".to_owned(),
        (_, "") => format!("a `{token}` is missing here"),
        _ => format!("a `{token}` is missing here {}", purpose.replace('\'', "`")),
    }
}

fn undefined_variable(name: &str, source: &str, names: &Names) -> String {
    if constants(source).any(|constant| constant == name) {
        return format!("inside functions a constant is written `global::{name}`");
    }
    if top_level_variables(source).any(|variable| variable == name) {
        return format!("functions do not see `let {name}` from outside: use `state.{name}`, or `const`");
    }
    variable_not_found(name, names)
}

/// The names of constants at the top level of a text, as far as they start a line.
pub(crate) fn constants(source: &str) -> impl Iterator<Item = &str> {
    top_level_names(source, "const ")
}

fn top_level_variables(source: &str) -> impl Iterator<Item = &str> {
    top_level_names(source, "let ")
}

fn top_level_names<'s>(source: &'s str, keyword: &'static str) -> impl Iterator<Item = &'s str> {
    source.lines().filter_map(move |line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let rest = line.strip_prefix(keyword)?.trim_start();
        let end = rest
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        rest.get(..end)
    })
}

fn or_else(text: String, otherwise: &str) -> String {
    if text.is_empty() {
        otherwise.to_owned()
    } else {
        text
    }
}

fn lower_first(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}
