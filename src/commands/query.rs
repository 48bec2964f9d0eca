//! `decitick query HOST:PORT`: asks a server what it is and prints the signed answer.
//!
//! The asking and the verifying are the client's; here are the words around it and the exit code.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use decitick_client::{bots::find, client::hex, driver::Answered};
use decitick_protocol::escape_for_display;
use serde::Serialize;

/// What `query` is told.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// The server, as HOST:PORT.
    pub server: String,
    /// The public key that it must have.
    pub key: Option<[u8; 32]>,
    /// Print one JSON value instead of lines for people.
    pub json: bool,
}

/// Asks, prints on standard output and says on standard error what is wrong.
///
/// Exit code 0; 1 without a verified answer, or when the key is not the expected one.
pub fn run(options: &QueryOptions) -> ExitCode {
    match find(&options.server) {
        Ok(answered) => {
            let printed = print(
                options,
                &answered,
                &mut io::stdout().lock(),
                &mut io::stderr().lock(),
            );
            if printed.is_ok_and(|key_is_right| key_is_right) {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            // With standard error closed there is nobody left to tell.
            let _ = writeln!(io::stderr(), "decitick query: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints an answer; false when its key is not the expected one.
fn print(
    options: &QueryOptions,
    answered: &Answered,
    out: &mut impl Write,
    errors: &mut impl Write,
) -> io::Result<bool> {
    let answer = Answer::new(options, answered);
    if options.json {
        serde_json::to_writer(&mut *out, &answer)?;
        writeln!(out)?;
    } else {
        answer.write_lines(out)?;
    }
    let Some(expected) = options.key.filter(|_| answer.key_matches == Some(false)) else {
        return Ok(true);
    };
    writeln!(
        errors,
        "decitick query: {} has the key {}, not the expected {}: another server answers there",
        answer.address,
        answer.key,
        hex(&expected)
    )?;
    Ok(false)
}

/// The answer as it is printed. The fields are the keys of the JSON form.
#[derive(Serialize)]
struct Answer<'a> {
    address: String,
    key: String,
    /// Whether the key is the expected one; `None` when none was given.
    key_matches: Option<bool>,
    name: &'a str,
    mode: &'a str,
    players: u16,
    max_players: u16,
    server_version: &'a str,
    minimum_client_version: &'a str,
    protocol_version: u16,
    password_required: bool,
    round_trip_ms: f64,
}

impl<'a> Answer<'a> {
    fn new(options: &QueryOptions, answered: &'a Answered) -> Self {
        let info = &answered.info;
        Self {
            address: answered.address.to_string(),
            key: hex(&info.server_key),
            key_matches: options.key.map(|expected| expected == info.server_key),
            name: &info.name,
            mode: &info.mode,
            players: info.players,
            max_players: info.max_players,
            server_version: &info.server_version,
            minimum_client_version: &info.minimum_client_version,
            protocol_version: info.protocol_version,
            password_required: info.password_required,
            round_trip_ms: (answered.round_trip.as_secs_f64() * 1e6).round() / 1e3,
        }
    }

    fn write_lines(&self, out: &mut impl Write) -> io::Result<()> {
        let shown = |text: &str| match text {
            "" => "-".to_owned(),
            text => escape_for_display(text, 64),
        };
        writeln!(out, "name        {}", shown(self.name))?;
        writeln!(out, "address     {}", self.address)?;
        writeln!(out, "key         {}", self.key)?;
        writeln!(out, "mode        {}", shown(self.mode))?;
        writeln!(out, "players     {} of {}", self.players, self.max_players)?;
        writeln!(out, "version     {}", shown(self.server_version))?;
        writeln!(out, "protocol    {}", self.protocol_version)?;
        writeln!(out, "client from {}", shown(self.minimum_client_version))?;
        writeln!(
            out,
            "password    {}",
            if self.password_required {
                "required"
            } else {
                "none"
            }
        )?;
        writeln!(out, "round trip  {:.3} ms", self.round_trip_ms)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use decitick_client::query::ServerInfo;

    use super::*;

    fn answered(name: &str) -> Answered {
        Answered {
            address: "127.0.0.1:7777".parse().unwrap(),
            info: ServerInfo {
                server_key: [0xab; 32],
                protocol_version: 1,
                server_version: "0.1.0".to_owned(),
                minimum_client_version: String::new(),
                name: name.to_owned(),
                mode: "Freeroam".to_owned(),
                players: 3,
                max_players: 1000,
                password_required: true,
            },
            round_trip: Duration::from_micros(1234),
        }
    }

    fn printed(key: Option<[u8; 32]>, json: bool, answered: &Answered) -> (bool, String, String) {
        let options = QueryOptions {
            server: "127.0.0.1:7777".to_owned(),
            key,
            json,
        };
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let right = print(&options, answered, &mut out, &mut errors).unwrap();
        (
            right,
            String::from_utf8(out).unwrap(),
            String::from_utf8(errors).unwrap(),
        )
    }

    #[test]
    fn the_answer_is_printed_line_by_line_and_texts_are_escaped() {
        let (right, out, errors) = printed(None, false, &answered("Evil\u{1b}[2J"));
        assert!(right && errors.is_empty());
        assert!(
            out.contains("3 of 1000") && out.contains("password    required"),
            "{out}"
        );
        assert!(
            out.contains(&"ab".repeat(32)) && out.contains("1.234 ms"),
            "{out}"
        );
        assert!(out.contains("client from -") && !out.contains('\u{1b}'), "{out}");
    }

    #[test]
    fn the_json_form_is_one_value_with_stable_keys() {
        let (right, out, _) = printed(Some([0xab; 32]), true, &answered("Home"));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(right);
        assert_eq!(
            (out.lines().count(), value["key_matches"].as_bool()),
            (1, Some(true))
        );
        assert_eq!(
            (value["name"].as_str(), value["round_trip_ms"].as_f64()),
            (Some("Home"), Some(1.234))
        );
        for key in [
            "address",
            "key",
            "mode",
            "players",
            "max_players",
            "server_version",
            "minimum_client_version",
            "protocol_version",
            "password_required",
        ] {
            assert!(value.get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn another_key_than_the_expected_one_is_said_and_fails() {
        let (right, out, errors) = printed(Some([0xcd; 32]), true, &answered("Home"));
        assert!(!right && out.contains("\"key_matches\":false"), "{out}");
        assert_eq!(errors.lines().count(), 1);
        assert!(
            errors.contains(&"ab".repeat(32)) && errors.contains(&"cd".repeat(32)),
            "{errors}"
        );
    }

    #[test]
    fn a_server_that_cannot_be_found_is_a_failure() {
        let options = QueryOptions {
            server: "no port".to_owned(),
            key: None,
            json: false,
        };
        assert_eq!(run(&options), ExitCode::FAILURE);
    }
}
