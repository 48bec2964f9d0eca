//! What edges on a loopback address judge a request by: a web page that a browser of this machine shows must not get
//! through, even when a name of its own leads here.

use std::net::{IpAddr, Ipv4Addr};

use hyper::{
    header::{HeaderMap, HeaderName, HeaderValue},
    http::uri::Authority,
};

/// The value of a header that is there exactly once.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Whether `host:port` names this endpoint by a loopback name or address.
pub(crate) fn is_here(host: &str, port: u16) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    // Without user information, which no Host has.
    !host.contains('@') && is_loopback(authority.host()) && authority.port_u16().unwrap_or(80) == port
}

/// Whether an origin, `scheme://host[:port]`, is of this machine.
pub(crate) fn is_local_origin(origin: &str) -> bool {
    let rest = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let Some(Ok(authority)) = rest.map(str::parse::<Authority>) else {
        return false;
    };
    !origin.contains('@') && is_loopback(authority.host())
}

fn is_loopback(host: &str) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    if let Some(host) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_ipv6() && ip.to_canonical().is_loopback());
    }
    host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

/// What follows `Bearer`.
pub(crate) fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_matches(' '))
}

/// Whether a content type is JSON.
pub(crate) fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or(kind).trim();
    [
        "application/json",
        "application/json-rpc",
        "application/jsonrequest",
    ]
    .iter()
    .any(|json| kind.eq_ignore_ascii_case(json))
}
