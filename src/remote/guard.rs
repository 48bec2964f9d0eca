//! Who may ask, judged by the head of a request alone. A web page that a browser of this machine shows must not get
//! through, even when a name of its own leads here; and nobody without the token.

use std::net::SocketAddr;

use hyper::{
    Method, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN},
    http::{request::Parts, uri::Authority},
};

use crate::{
    access_token::AccessToken,
    http::{bearer, is_here, is_json, is_local_origin, only},
};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: StatusCode,
    /// One sentence for people.
    pub message: &'static str,
}

const fn refusal(status: StatusCode, message: &'static str) -> Refusal {
    Refusal { status, message }
}

const NO_HOST: Refusal = refusal(StatusCode::BAD_REQUEST, "a request has one Host header");
const FOREIGN_HOST: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "Host must be localhost or a loopback address, with the port of this endpoint",
);
const FOREIGN_ORIGIN: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "requests of web pages from elsewhere are refused",
);
const NO_TOKEN: Refusal = refusal(
    StatusCode::UNAUTHORIZED,
    "send `Authorization: Bearer TOKEN` with the token of the file remote_token in the server directory",
);
const NO_SUCH_PATH: Refusal = refusal(StatusCode::NOT_FOUND, "the endpoint is at / and /jsonrpc");
const NOT_POST: Refusal = refusal(
    StatusCode::METHOD_NOT_ALLOWED,
    "requests are sent with POST, in JSON-RPC 2.0",
);
const NOT_JSON: Refusal = refusal(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "Content-Type is application/json",
);

/// Judges a request to the endpoint at this address.
pub(super) fn judge(request: &Parts, address: SocketAddr, token: &AccessToken) -> Result<(), Refusal> {
    let headers = &request.headers;
    let host = only(headers, &HOST).ok_or(NO_HOST)?;
    let hosts = [host.to_str().ok(), request.uri.authority().map(Authority::as_str)];
    let [Some(host), absolute] = hosts else {
        return Err(FOREIGN_HOST);
    };
    if ![Some(host), absolute]
        .into_iter()
        .flatten()
        .all(|host| is_here(host, address.port()))
    {
        return Err(FOREIGN_HOST);
    }
    if headers.contains_key(ORIGIN)
        && !only(headers, &ORIGIN)
            .and_then(|origin| origin.to_str().ok())
            .is_some_and(is_local_origin)
    {
        return Err(FOREIGN_ORIGIN);
    }
    if !only(headers, &AUTHORIZATION)
        .and_then(bearer)
        .is_some_and(|sent| token.is(sent))
    {
        return Err(NO_TOKEN);
    }
    if !matches!(request.uri.path(), "/" | "/jsonrpc") {
        return Err(NO_SUCH_PATH);
    }
    if request.method != Method::POST {
        return Err(NOT_POST);
    }
    if headers.contains_key(CONTENT_TYPE)
        && !only(headers, &CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(is_json)
    {
        return Err(NOT_JSON);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn judged(host: &str, headers: &[(&str, &str)]) -> Result<(), u16> {
        let token = AccessToken::of("ab".repeat(32));
        let mut request = Request::builder().method("POST").uri("/");
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {}", "ab".repeat(32)));
        }
        if !host.is_empty() {
            request = request.header("host", host);
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        judge(&parts, "127.0.0.1:15702".parse().unwrap(), &token).map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn hosts_of_this_machine_with_the_port_get_through_and_no_others() {
        for host in [
            "localhost:15702",
            "LOCALHOST:15702",
            "127.0.0.1:15702",
            "127.8.8.8:15702",
            "[::1]:15702",
            "[::ffff:127.0.0.1]:15702",
        ] {
            assert_eq!(judged(host, &[]), Ok(()), "{host}");
        }
        for host in [
            "localhost",
            "localhost:80",
            "localhost:157020",
            "evil.example:15702",
            "localhost.evil.example:15702",
            "127.0.0.1.evil.example:15702",
            "evil@localhost:15702",
            "192.0.2.1:15702",
            "0.0.0.0:15702",
            "[::]:15702",
            "[127.0.0.1]:15702",
            "127.1:15702",
            "2130706433:15702",
            "localhost:15702, evil.example",
        ] {
            assert_eq!(judged(host, &[]), Err(403), "{host}");
        }
        assert_eq!(judged("", &[]), Err(400));
        assert_eq!(
            judged("localhost:15702", &[("host", "localhost:15702")]),
            Err(400),
            "two"
        );
    }

    #[test]
    fn pages_of_this_machine_get_through_and_no_others() {
        let origin = |origin: &str| judged("localhost:15702", &[("origin", origin)]);
        for local in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:1"] {
            assert_eq!(origin(local), Ok(()), "{local}");
        }
        for foreign in [
            "null",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://evil@localhost",
            "file://",
            "ftp://localhost",
            "localhost",
        ] {
            assert_eq!(origin(foreign), Err(403), "{foreign}");
        }
        let two = [("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(judged("localhost:15702", &two), Err(403));
    }

    #[test]
    fn only_the_token_lets_through() {
        let sent = |value: &str| judged("localhost:15702", &[("authorization", value)]);
        let token = "ab".repeat(32);
        for right in [
            format!("Bearer {token}"),
            format!("bearer {token}"),
            format!("BEARER  {token}"),
        ] {
            assert_eq!(sent(&right), Ok(()), "{right}");
        }
        for wrong in [
            String::new(),
            token.clone(),
            format!("Basic {token}"),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Bearer {}", "ab".repeat(31)),
            format!("Bearer {token}0"),
            format!("Bearer {}", token.to_uppercase()),
            format!("Bearer {}ac", "ab".repeat(31)),
        ] {
            assert_eq!(sent(&wrong), Err(401), "{wrong}");
        }
    }

    #[test]
    fn a_content_type_is_json_or_absent() {
        let kind = |kind: &str| judged("localhost:15702", &[("content-type", kind)]);
        for json in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json-rpc",
        ] {
            assert_eq!(kind(json), Ok(()), "{json}");
        }
        for other in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "json",
            "application/jsonx",
        ] {
            assert_eq!(kind(other), Err(415), "{other}");
        }
        assert_eq!(judged("localhost:15702", &[]), Ok(()));
    }
}
