//! Completion of console lines: the server knows who is on and what there is; when it does not say so at once, the one
//! table of commands has to do. It knows no terminal.

use std::time::Duration;

use decitick_components::console::{COMMANDS, Candidate, CompletionAnswer, MAX_LINE, cut, may_hold_secret};
use decitick_protocol::is_control_or_format;

use super::{client::ConsoleClient, terminal::for_terminal};

/// How long a person who presses Tab waits for a server.
const PATIENCE: Duration = Duration::from_millis(300);
/// Candidates that are offered.
const OFFERED: usize = 200;
/// Columns of one.
const COLUMNS: usize = 60;

/// What the server says may stand at the end of `line`; `None` when it does not say in time, or may not be asked.
pub fn ask_server(client: &mut ConsoleClient, line: &str) -> Option<CompletionAnswer> {
    // What is typed there is nobody's business.
    if may_hold_secret(line) || line.chars().any(char::is_control) {
        return None;
    }
    // In quotes the blank at its end belongs to it.
    let asked = format!("complete \"{line}\" --json");
    if asked.len() > MAX_LINE {
        return None;
    }
    let reply = client.ask_within(&asked, PATIENCE).ok()??;
    let answer = serde_json::from_str(&reply.text).ok()?;
    reply.ok.then(|| fit_to_be_offered(answer, line)).flatten()
}

/// Keeps what may be put on a line and shown on a terminal, whatever the server sent.
fn fit_to_be_offered(answer: CompletionAnswer, line: &str) -> Option<CompletionAnswer> {
    line.get(answer.start..)?;
    let candidates = answer
        .candidates
        .into_iter()
        .filter(|candidate| !candidate.text.chars().any(is_control_or_format))
        .take(OFFERED)
        .map(|candidate| Candidate {
            shown: cut(
                &for_terminal(&candidate.shown).replace(['\n', '\t'], " "),
                COLUMNS,
            ),
            text: candidate.text,
        });
    Some(CompletionAnswer {
        start: answer.start,
        candidates: candidates.collect(),
    })
}

/// What the table of commands says may stand at the end of `line`.
#[must_use]
pub fn from_the_table(line: &str) -> CompletionAnswer {
    let (start, words) = words(line);
    CompletionAnswer {
        start,
        candidates: words.into_iter().map(Candidate::word).collect(),
    }
}

fn words(line: &str) -> (usize, Vec<&'static str>) {
    let start = line.rfind([' ', '\t']).map_or(0, |blank| blank + 1);
    let (before, word) = line.split_at_checked(start).unwrap_or(("", line));
    let before: Vec<&str> = before.split_whitespace().collect();
    let words: Vec<&'static str> = match before.as_slice() {
        [] | ["help"] => COMMANDS.iter().map(|info| info.name).collect(),
        ["password"] if !word.starts_with('-') => vec!["set", "clear"],
        // Never inside a password.
        ["password", "set", ..] | ["eval", ..] => Vec::new(),
        _ if word.is_empty() => Vec::new(),
        _ => vec!["--json"],
    };
    (
        start,
        words
            .into_iter()
            .filter(|candidate| candidate.starts_with(word))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::net::UnixListener};

    use super::*;

    #[test]
    fn a_first_word_is_completed_to_the_commands() {
        assert_eq!(words("st"), (0, vec!["status"]));
        assert_eq!(words("  ban"), (2, vec!["ban", "bans"]));
        assert_eq!(words("").1.len(), COMMANDS.len());
        assert_eq!(words("xyz"), (0, vec![]));
        assert_eq!(words("жук"), (0, vec![]));
    }

    #[test]
    fn arguments_are_completed_where_a_choice_is_known() {
        assert_eq!(words("help unb"), (5, vec!["unban"]));
        assert_eq!(words("password "), (9, vec!["set", "clear"]));
        assert_eq!(words("password c"), (9, vec!["clear"]));
        assert_eq!(words("status --"), (7, vec!["--json"]));
        assert_eq!(words("kick 5 "), (7, vec![]));
        assert_eq!(words("password set --"), (13, vec![]));
        assert_eq!(words("eval --"), (5, vec![]));
    }

    fn asked_of(sent: &str, line: &str) -> Option<CompletionAnswer> {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("console.sock")).unwrap();
        let mut client = ConsoleClient::connect(directory.path()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        if !sent.is_empty() {
            let frame = format!("ok {}\n{sent}\n", sent.len());
            server.write_all(frame.as_bytes()).unwrap();
        }
        ask_server(&mut client, line)
    }

    #[test]
    fn a_server_offers_what_is_fit_for_a_terminal_and_no_more() {
        let answer = asked_of(
            r#"{"start":5,"candidates":[{"text":"5 ","shown":"5 Bob\u001b[2J"},{"text":"6\n","shown":"x"}]}"#,
            "kick B",
        );
        let offered = answer.unwrap().candidates;
        assert_eq!(offered.len(), 1);
        assert_eq!(
            (offered[0].text.as_str(), offered[0].shown.as_str()),
            ("5 ", "5 Bob\\u{1b}[2J")
        );
        assert_eq!(asked_of(r#"{"start":99,"candidates":[]}"#, "kick B"), None);
        assert_eq!(asked_of("nonsense", "kick B"), None);
        assert_eq!(
            asked_of("", "kick B"),
            None,
            "a server that says nothing is not waited for"
        );
    }

    #[test]
    fn no_server_sees_what_may_be_a_secret() {
        for line in ["password set x", "eval x", "pasword s"] {
            assert_eq!(asked_of(r#"{"start":0,"candidates":[]}"#, line), None, "{line}");
        }
    }
}
