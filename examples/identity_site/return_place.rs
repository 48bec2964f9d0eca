//! Where a browser may be sent back to, with an assertion in its hand.
//!
//! Whoever could name any place could collect assertions there. So a place is taken only over http on this machine, or
//! when its origin was named on the command line; and it is written out again from its judged parts, so that a browser
//! cannot read it in another way than this site did.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use hyper::Uri;

use super::request::BadRequest;

/// Bytes of the longest place to return to.
pub(crate) const RETURN_MAX: usize = 1024;

/// A place to return to, without a fragment.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ReturnPlace {
    pub(crate) origin: ReturnOrigin,
    path_and_query: String,
}

impl ReturnPlace {
    pub(crate) fn read(text: &str) -> Result<Self, BadRequest> {
        // A browser would drop tabs and line ends, and read a backslash as a slash.
        let is_plain =
            |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#' | b'"' | b'<' | b'>');
        if text.len() > RETURN_MAX || !text.bytes().all(is_plain) {
            return Err(BadRequest::Return);
        }
        let place: Uri = text.parse().map_err(|_| BadRequest::Return)?;
        let origin = ReturnOrigin::of(&place).ok_or(BadRequest::Return)?;
        let path_and_query = place.path_and_query().map_or("/", |part| part.as_str());
        let slash = if path_and_query.starts_with('/') { "" } else { "/" };
        Ok(Self {
            origin,
            path_and_query: format!("{slash}{path_and_query}"),
        })
    }

    /// The place with the token in its fragment, which browsers do not send to anybody.
    pub(crate) fn with_token(&self, token: &str) -> String {
        format!("{self}#token={token}")
    }
}

impl fmt::Display for ReturnPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.origin, self.path_and_query)
    }
}

/// Scheme, host and port; two are equal when a browser calls them one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReturnOrigin {
    is_secure: bool,
    /// In lower case; an IPv6 address in its brackets, in the shortest form.
    host: String,
    port: u16,
}

impl ReturnOrigin {
    fn of(place: &Uri) -> Option<Self> {
        let is_secure = match place.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = place.authority()?;
        let host = authority.host().to_ascii_lowercase();
        let ipv6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match ipv6 {
            Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().ok()?),
            None => Some(host).filter(|host| is_host(host))?,
        };
        let port = match authority.port() {
            Some(port) => Some(port.as_str())
                .filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|port| port.parse().ok())
                .filter(|&port| port != 0)?,
            None if is_secure => 443,
            None => 80,
        };
        // Nothing but host and port: no user name, no colon without a number.
        let port_length = authority.port().map_or(0, |port| 1 + port.as_str().len());
        (authority.as_str().len() == authority.host().len() + port_length).then_some(Self {
            is_secure,
            host,
            port,
        })
    }

    /// Whether this is http on this very machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let ipv4 = || {
            self.host
                .parse::<Ipv4Addr>()
                .is_ok_and(|address| address.is_loopback())
        };
        !self.is_secure && (self.host == "localhost" || self.host == "[::1]" || ipv4())
    }

    /// What may stand in the `form-action` of a content security policy. There is no form for IPv6 addresses there, so
    /// such a place is allowed by its scheme.
    pub(crate) fn policy_source(&self) -> String {
        if self.host.starts_with('[') {
            format!("{}:", self.scheme())
        } else {
            self.to_string()
        }
    }

    const fn scheme(&self) -> &'static str {
        if self.is_secure { "https" } else { "http" }
    }
}

impl fmt::Display for ReturnOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme(), self.host)?;
        let default = if self.is_secure { 443 } else { 80 };
        if self.port == default {
            Ok(())
        } else {
            write!(out, ":{}", self.port)
        }
    }
}

impl FromStr for ReturnOrigin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = ReturnPlace::read(text).map_err(|_| "write an origin like http://127.0.0.1:7778")?;
        if place.path_and_query == "/" {
            Ok(place.origin)
        } else {
            Err("an origin has no path; write it like http://127.0.0.1:7778")
        }
    }
}

/// Whether a host is a name or an IPv4 address in four decimal parts. Other forms of addresses (`127.1`, `0x7f.1`) are
/// refused, since browsers turn them into something else than what stands there.
fn is_host(host: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let last = host.rsplit('.').next().unwrap_or_default();
    let ends_like_an_address = last.starts_with(|first: char| first.is_ascii_digit());
    !last.is_empty()
        && host.len() <= 253
        && host.bytes().all(is_part)
        && (!ends_like_an_address || host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_on_the_command_line_has_no_path() {
        for bad in [
            "http://a.test/x",
            "http://a.test?x",
            "a.test",
            "http://u@a.test",
            "*",
        ] {
            assert!(bad.parse::<ReturnOrigin>().is_err(), "{bad}");
        }
        let origin: ReturnOrigin = "https://A.test:443".parse().unwrap();
        assert_eq!(origin.to_string(), "https://a.test");
        assert_eq!(origin.policy_source(), "https://a.test");
        let origin: ReturnOrigin = "http://[::1]:9".parse().unwrap();
        assert_eq!(origin.policy_source(), "http:");
    }
}
