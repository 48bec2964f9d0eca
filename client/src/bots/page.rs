//! What the page of the sample resource `login` and its server say to each other: MessagePack maps with string keys.
//!
//! Data was checked to be one well-formed value before it comes here; what it means is decided here, and what to do about
//! it in `login.rs`.

use rmp::{Marker, decode, encode};

/// What the page is to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageState {
    /// A form: ask the player who it is.
    Ask {
        /// The web login is on offer.
        web: bool,
        /// A credential was shown, so that the player can be remembered.
        remember: bool,
    },
    /// The last action failed; it can be tried again.
    Error {
        /// Why.
        text: String,
    },
    /// Too many attempts.
    Wait {
        /// How long to wait before the next.
        seconds: u64,
    },
    /// The player is to go to a site.
    Web {
        /// The site's URL.
        site: String,
        /// The server's public key in lower-case hex, as the site is to write it into the token.
        server: String,
        /// What the token is to hold besides.
        ticket: String,
    },
}

/// What the player does on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageAction {
    /// Logs in to an account.
    LogIn,
    /// Makes an account and logs in to it.
    Register,
    /// Wants to log in at a site.
    Web,
}

impl PageState {
    /// What a value says; `None` when it is not of the sample resource.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let mut rest = data;
        let mut page = Fields::default();
        for _ in 0..decode::read_map_len(&mut rest).ok()? {
            let (key, after) = decode::read_str_from_slice(rest).ok()?;
            rest = after;
            match key {
                "state" => page.state = read_text(&mut rest)?,
                "web" => page.web = read_bool(&mut rest)?,
                "remember" => page.remember = read_bool(&mut rest)?,
                "text" => page.text = read_text(&mut rest)?,
                "site" => page.site = read_text(&mut rest)?,
                "server" => page.server = read_text(&mut rest)?,
                "ticket" => page.ticket = read_text(&mut rest)?,
                "seconds" => page.seconds = read_seconds(&mut rest)?,
                _ => skip(&mut rest)?,
            }
        }
        page.state()
    }
}

impl PageAction {
    /// The value that tells the server of this action. `remember` asks it to keep the credential that was shown.
    pub(super) fn write(self, account: &str, password: &str, remember: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let name = match self {
            Self::LogIn => "login",
            Self::Register => "register",
            Self::Web => "web",
        };
        // Writing to a Vec does not fail.
        let _ = encode::write_map_len(&mut out, if self == Self::Web { 1 } else { 4 });
        write_text(&mut out, "do", name);
        if self != Self::Web {
            write_text(&mut out, "account", account);
            write_text(&mut out, "password", password);
            let _ = encode::write_str(&mut out, "remember");
            let _ = encode::write_bool(&mut out, remember);
        }
        out
    }
}

/// The fields of any state; those that are missing are empty.
#[derive(Default)]
struct Fields<'a> {
    state: &'a str,
    web: bool,
    remember: bool,
    text: &'a str,
    seconds: u64,
    site: &'a str,
    server: &'a str,
    ticket: &'a str,
}

impl Fields<'_> {
    fn state(self) -> Option<PageState> {
        match self.state {
            "ask" => Some(PageState::Ask {
                web: self.web,
                remember: self.remember,
            }),
            "error" => Some(PageState::Error {
                text: self.text.to_owned(),
            }),
            "wait" => Some(PageState::Wait {
                seconds: self.seconds,
            }),
            "web" => Some(PageState::Web {
                site: self.site.to_owned(),
                server: self.server.to_owned(),
                ticket: self.ticket.to_owned(),
            }),
            _ => None,
        }
    }
}

fn read_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (text, after) = decode::read_str_from_slice(*rest).ok()?;
    *rest = after;
    Some(text)
}

fn read_bool(rest: &mut &[u8]) -> Option<bool> {
    decode::read_bool(rest).ok()
}

/// A negative time is none.
fn read_seconds(rest: &mut &[u8]) -> Option<u64> {
    let seconds: i64 = decode::read_int(rest).ok()?;
    Some(u64::try_from(seconds).unwrap_or(0))
}

/// Leaves out one value, whatever it holds.
fn skip(rest: &mut &[u8]) -> Option<()> {
    // A counter instead of a stack: how deep a value lies does not matter for leaving it out.
    let mut values = 1_u64;
    while values > 0 {
        values -= 1;
        let marker = decode::read_marker(rest).ok()?;
        let (bytes, inner) = match marker {
            Marker::Null | Marker::True | Marker::False | Marker::FixPos(_) | Marker::FixNeg(_) => (0, 0),
            Marker::U8 | Marker::I8 => (1, 0),
            Marker::U16 | Marker::I16 => (2, 0),
            Marker::U32 | Marker::I32 | Marker::F32 => (4, 0),
            Marker::U64 | Marker::I64 | Marker::F64 => (8, 0),
            Marker::FixStr(length) => (u64::from(length), 0),
            Marker::Str8 | Marker::Bin8 => (length(rest, 1)?, 0),
            Marker::Str16 | Marker::Bin16 => (length(rest, 2)?, 0),
            Marker::Str32 | Marker::Bin32 => (length(rest, 4)?, 0),
            Marker::FixArray(count) => (0, u64::from(count)),
            Marker::Array16 => (0, length(rest, 2)?),
            Marker::Array32 => (0, length(rest, 4)?),
            Marker::FixMap(count) => (0, u64::from(count) * 2),
            Marker::Map16 => (0, length(rest, 2)? * 2),
            Marker::Map32 => (0, length(rest, 4)? * 2),
            _ => return None,
        };
        *rest = rest.get(usize::try_from(bytes).ok()?..)?;
        values += inner;
    }
    Some(())
}

/// A big-endian number of `width` bytes.
fn length(rest: &mut &[u8], width: usize) -> Option<u64> {
    let (number, after) = rest.split_at_checked(width)?;
    *rest = after;
    Some(number.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
}

fn write_text(out: &mut Vec<u8>, key: &str, value: &str) {
    // Writing to a Vec does not fail.
    let _ = encode::write_str(out, key);
    let _ = encode::write_str(out, value);
}

#[cfg(test)]
mod tests {
    use decitick_protocol::validate_one;

    use super::*;

    /// A map with these texts, then whatever `more` writes, `extra` entries of it.
    fn map(texts: &[(&str, &str)], extra: u32, more: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        encode::write_map_len(&mut out, texts.len() as u32 + extra).unwrap();
        for (key, value) in texts {
            write_text(&mut out, key, value);
        }
        more(&mut out);
        validate_one(&out).unwrap();
        out
    }

    #[test]
    fn every_state_is_read_and_fields_it_does_not_know_are_left_out() {
        let ask = map(&[("state", "ask")], 3, |out| {
            // A new field with every kind of value inside.
            encode::write_str(out, "new").unwrap();
            encode::write_array_len(out, 9).unwrap();
            encode::write_nil(out).unwrap();
            encode::write_f64(out, 0.5).unwrap();
            encode::write_f32(out, 0.5).unwrap();
            encode::write_sint(out, -40_000).unwrap();
            encode::write_uint(out, u64::MAX).unwrap();
            encode::write_bin(out, &[0; 300]).unwrap();
            encode::write_str(out, &"x".repeat(40)).unwrap();
            encode::write_map_len(out, 1).unwrap();
            write_text(out, "a", "b");
            encode::write_array_len(out, 0).unwrap();
            encode::write_str(out, "web").unwrap();
            encode::write_bool(out, true).unwrap();
            encode::write_str(out, "remember").unwrap();
            encode::write_bool(out, false).unwrap();
        });
        let asked = PageState::Ask {
            web: true,
            remember: false,
        };
        assert_eq!(PageState::read(&ask), Some(asked));
        let error = map(&[("text", "no"), ("state", "error")], 0, |_| {});
        let text = "no".to_owned();
        assert_eq!(PageState::read(&error), Some(PageState::Error { text }));
        for (seconds, expected) in [(7, 7), (-1, 0), (70_000, 70_000)] {
            let wait = map(&[("state", "wait"), ("text", "later")], 1, |out| {
                encode::write_str(out, "seconds").unwrap();
                encode::write_sint(out, seconds).unwrap();
            });
            assert_eq!(
                PageState::read(&wait),
                Some(PageState::Wait { seconds: expected })
            );
        }
        let texts = [
            ("state", "web"),
            ("site", "http://a/"),
            ("server", "ab"),
            ("ticket", "t"),
        ];
        let web = PageState::Web {
            site: "http://a/".to_owned(),
            server: "ab".to_owned(),
            ticket: "t".to_owned(),
        };
        assert_eq!(PageState::read(&map(&texts, 0, |_| {})), Some(web));
    }

    #[test]
    fn a_value_of_another_resource_is_none_of_the_states() {
        let other = map(&[("state", "dance")], 0, |_| {});
        let typed_wrong = map(&[("state", "ask")], 1, |out| write_text(out, "web", "yes"));
        for data in [
            &[0xC0][..],
            &[0x01],
            &[0x80],
            &[0x92, 1, 2],
            &other,
            &typed_wrong,
            &[],
        ] {
            assert_eq!(PageState::read(data), None, "{data:?}");
        }
    }

    #[test]
    fn an_action_is_one_value_with_the_keys_of_the_contract() {
        let login = PageAction::LogIn.write("bot 1", "secret", true);
        validate_one(&login).unwrap();
        assert_eq!(
            login,
            *b"\x84\xA2do\xA5login\xA7account\xA5bot 1\xA8password\xA6secret\xA8remember\xC3"
        );
        let register = PageAction::Register.write("a", "b", false);
        assert_eq!(
            register,
            *b"\x84\xA2do\xA8register\xA7account\xA1a\xA8password\xA1b\xA8remember\xC2"
        );
        assert_eq!(PageAction::Web.write("a", "b", true), *b"\x81\xA2do\xA3web");
    }
}
