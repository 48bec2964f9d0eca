//! What a browser may ask for: which server, which ticket, and where it may be sent back to.

use std::fmt;

use super::return_place::{ReturnOrigin, ReturnPlace};

/// A request for an assertion. Every part was judged.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LoginRequest {
    /// The public key of the server: 64 lower-case hexadecimal digits.
    pub(crate) server: String,
    /// The ticket of the connection: 1 to 128 characters of `A-Z a-z 0-9 - _`.
    pub(crate) ticket: String,
    /// Where the browser is sent back to.
    pub(crate) return_to: ReturnPlace,
}

impl LoginRequest {
    /// Reads the three fields among others.
    pub(crate) fn read(fields: &Fields, origins: &[ReturnOrigin]) -> Result<Self, BadRequest> {
        let server = fields.one("server")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if server.len() != 64 || !server.bytes().all(is_digit) {
            return Err(BadRequest::Server);
        }
        let ticket = fields.one("ticket")?;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !(1..=128).contains(&ticket.len()) || !ticket.bytes().all(is_part) {
            return Err(BadRequest::Ticket);
        }
        let return_to = ReturnPlace::read(fields.one("return")?)?;
        if !return_to.origin.is_loopback() && !origins.contains(&return_to.origin) {
            return Err(BadRequest::Origin);
        }
        Ok(Self {
            server: server.to_owned(),
            ticket: ticket.to_owned(),
            return_to,
        })
    }
}

/// The fields of a query or a form, in the order they came.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `name=value&...` with percent signs.
    pub(crate) fn read(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// The value of a field that must be there once.
    pub(crate) fn one(&self, name: &'static str) -> Result<&str, BadRequest> {
        let mut values = self.0.iter().filter(|(field, _)| field == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Ok(value),
            (None, _) => Err(BadRequest::Missing(name)),
            (Some(_), Some(_)) => Err(BadRequest::Twice(name)),
        }
    }
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadRequest {
    Missing(&'static str),
    Twice(&'static str),
    Server,
    Ticket,
    Return,
    Origin,
}

impl fmt::Display for BadRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(
                out,
                "The field “{name}” is missing. Start the login from the game again."
            ),
            Self::Twice(name) => write!(
                out,
                "The field “{name}” stands there twice. Start the login from the game again."
            ),
            Self::Server => out.write_str(
                "The server's key is not 64 lower-case hexadecimal digits. Start the login from the game again.",
            ),
            Self::Ticket => out.write_str(
                "The ticket is not 1 to 128 letters, digits, “-” and “_”. Start the login from the game again.",
            ),
            Self::Return => out.write_str(
                "The place to return to is no plain http or https address without a fragment.",
            ),
            Self::Origin => out.write_str(
                "This site does not send logins to that place. It returns to http on this machine, and to the \
                 origins it was started with (--return-origin).",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::return_place::RETURN_MAX;
    use super::*;

    fn read(server: &str, ticket: &str, place: &str) -> Result<LoginRequest, BadRequest> {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("server", server)
            .append_pair("ticket", ticket)
            .append_pair("return", place)
            .finish();
        let origins = [
            "https://play.example".parse().unwrap(),
            "http://10.0.0.1:8080/".parse().unwrap(),
        ];
        LoginRequest::read(&Fields::read(query.as_bytes()), &origins)
    }

    fn place(text: &str) -> Result<String, BadRequest> {
        read(&"a5".repeat(32), "t", text).map(|request| request.return_to.to_string())
    }

    #[test]
    fn a_request_has_a_key_a_ticket_and_a_place() {
        let good = "0123456789abcdef".repeat(4);
        let request =
            read(&good, "A-z_9", "http://127.0.0.1:7778/x?y=1").unwrap_or_else(|bad| panic!("{bad}"));
        assert_eq!((request.server, request.ticket), (good.clone(), "A-z_9".into()));
        assert_eq!(
            request.return_to.with_token("a.b.c"),
            "http://127.0.0.1:7778/x?y=1#token=a.b.c"
        );
        for server in [
            "",
            &good[1..],
            &good.to_uppercase(),
            &format!("{good}0"),
            &good.replace('a', "g"),
        ] {
            assert!(
                read(server, "t", "http://127.0.0.1/") == Err(BadRequest::Server),
                "{server}"
            );
        }
        for ticket in ["", "a b", "a.b", "é", &"t".repeat(129)] {
            assert!(
                read(&good, ticket, "http://127.0.0.1/") == Err(BadRequest::Ticket),
                "{ticket}"
            );
        }
        assert!(read(&good, &"t".repeat(128), "http://127.0.0.1/").is_ok());
    }

    #[test]
    fn a_field_stands_there_once() {
        let fields = Fields::read(b"a=1&b=2&a=3&c=%26%3D+x");
        assert_eq!(fields.one("b"), Ok("2"));
        assert_eq!(fields.one("c"), Ok("&= x"));
        assert_eq!(fields.one("a"), Err(BadRequest::Twice("a")));
        assert_eq!(fields.one("d"), Err(BadRequest::Missing("d")));
    }

    #[test]
    fn places_on_this_machine_and_named_origins_are_taken() {
        for (text, written) in [
            ("http://127.0.0.1:7778", "http://127.0.0.1:7778/"),
            ("http://127.0.0.1:80/a", "http://127.0.0.1/a"),
            ("http://127.9.9.9:1/?a=b&c", "http://127.9.9.9:1/?a=b&c"),
            ("http://127.0.0.1?a", "http://127.0.0.1/?a"),
            ("HTTP://LocalHost:5/", "http://localhost:5/"),
            ("http://[::1]:7778/x", "http://[::1]:7778/x"),
            ("http://[0:0::1]/", "http://[::1]/"),
            (
                "https://play.example/login?x=%20",
                "https://play.example/login?x=%20",
            ),
            ("https://PLAY.example:443/", "https://play.example/"),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080/"),
        ] {
            assert_eq!(place(text), Ok(written.into()), "{text}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        for text in [
            "http://play.example/",
            "https://play.example:444/",
            "https://play.example.evil.test/",
            "https://evil.test/play.example",
            "http://10.0.0.1/",
            "http://10.0.0.1:8081/",
            "https://127.0.0.1/",
            "https://localhost/",
            "http://localhost.evil.test/",
            "http://128.0.0.1/",
            "http://[::2]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
        ] {
            assert_eq!(place(text), Err(BadRequest::Origin), "{text}");
        }
    }

    #[test]
    fn places_that_two_readers_could_read_in_two_ways_are_refused() {
        for text in [
            "",
            "/",
            "//127.0.0.1/",
            "127.0.0.1:7778",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://127.0.0.1/",
            "http:127.0.0.1",
            "http:///127.0.0.1",
            "http://",
            "http://127.0.0.1@evil.test/",
            "http://evil.test@127.0.0.1/",
            "http://user:word@127.0.0.1/",
            "http://@127.0.0.1/",
            "http://evil.test\\@127.0.0.1/",
            "http://127.0.0.1\\.evil.test/",
            "http://127.0.0.1/#x",
            "http://127.0.0.1/\r\nSet-Cookie: a=b",
            "http://127.0.0.1/\t",
            "http://127.0.0.1/a b",
            "http://127.0.0.1/é",
            "http://127.0.0.1/\"><script>",
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://2130706433/",
            "http://127.0.0.01/",
            "http://127.0.0.1./",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:/",
            "http://127.0.0.1:65536/",
            "http://127.0.0.1:+80/",
            "http://[::1/",
            "http://[::1%25lo]/",
            "http://%31%32%37.0.0.1/",
        ] {
            assert_eq!(place(text), Err(BadRequest::Return), "{text:?}");
        }
        assert_eq!(
            place(&format!("http://127.0.0.1/{}", "x".repeat(RETURN_MAX))),
            Err(BadRequest::Return)
        );
    }
}
