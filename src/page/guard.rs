//! Who may ask the page for what, judged by the head of a request alone. Other pages that a browser shows must not get
//! through, even when a name of their own leads here; and nobody who is not signed in.

use std::net::SocketAddr;

use hyper::{
    Method, StatusCode,
    header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN},
    http::{request::Parts, uri::Authority},
};

use crate::http::{is_json, only};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: StatusCode,
    /// The word that logs count it by.
    pub reason: &'static str,
    /// One sentence for people.
    pub message: &'static str,
}

const fn refusal(status: StatusCode, reason: &'static str, message: &'static str) -> Refusal {
    Refusal {
        status,
        reason,
        message,
    }
}

const NO_HOST: Refusal = refusal(
    StatusCode::BAD_REQUEST,
    "page_host",
    "a request has one Host header",
);
const FOREIGN_HOST: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "page_host",
    "This page is at the address that `decitick page` prints, and under no other name; through a tunnel use the same port on both sides",
);
const FOREIGN_ORIGIN: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "page_origin",
    "only the page itself may ask",
);
pub(super) const SIGNED_OUT: Refusal = refusal(
    StatusCode::UNAUTHORIZED,
    "page_sign_in",
    "not signed in, or no longer; `decitick page` prints a link",
);
pub(super) const WRONG_LINK: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "page_link",
    "This link was used already, or is older than a minute. Get a new one with: decitick page",
);
const WRONG_METHOD: Refusal = refusal(
    StatusCode::METHOD_NOT_ALLOWED,
    "page_method",
    "this is asked for otherwise",
);
const NOT_JSON: Refusal = refusal(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "page_content_type",
    "Content-Type is application/json",
);

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// A file of the site.
    File,
    /// To come in by a link.
    Enter,
    /// To ask or to act.
    Ask,
    /// To sign out.
    Leave,
}

/// Judges a request to the page at this address, but for what it must know.
pub(super) fn judge(request: &Parts, address: SocketAddr) -> Result<Wants, Refusal> {
    let headers = &request.headers;
    let host = only(headers, &HOST).ok_or(NO_HOST)?;
    let host = host.to_str().map_err(|_| FOREIGN_HOST)?;
    let absolute = request.uri.authority().map(Authority::as_str);
    // Not `localhost`: it may lead to an address that somebody else listens on.
    let here = |host: &str| host.parse() == Ok(address);
    if !here(host) || !absolute.is_none_or(here) {
        return Err(FOREIGN_HOST);
    }
    let (wants, methods): (Wants, &[Method]) = match request.uri.path() {
        "/rpc" => (Wants::Ask, &[Method::POST]),
        "/leave" => (Wants::Leave, &[Method::POST]),
        "/enter" => (Wants::Enter, &[Method::GET]),
        _ => (Wants::File, &[Method::GET, Method::HEAD]),
    };
    judge_origin(request, host, wants)?;
    if !methods.contains(&request.method) {
        return Err(WRONG_METHOD);
    }
    if wants == Wants::Ask
        && !only(headers, &CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(is_json)
    {
        return Err(NOT_JSON);
    }
    Ok(wants)
}

/// Asking and leaving are for the page alone.
fn judge_origin(request: &Parts, host: &str, wants: Wants) -> Result<(), Refusal> {
    let headers = &request.headers;
    let origin = only(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
    let own = origin
        .and_then(|origin| origin.strip_prefix("http://"))
        .is_some_and(|origin| origin.eq_ignore_ascii_case(host));
    let good = match wants {
        Wants::Ask | Wants::Leave => {
            let site = headers.get_all(SEC_FETCH_SITE).iter();
            own && site.into_iter().all(|site| site == "same-origin")
        }
        Wants::File | Wants::Enter => own || !headers.contains_key(ORIGIN),
    };
    if good { Ok(()) } else { Err(FOREIGN_ORIGIN) }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn judged(method: &str, path: &str, headers: &[(&str, &str)]) -> Result<Wants, u16> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        judge(&parts, "127.0.0.1:7780".parse().unwrap()).map_err(|refusal| refusal.status.as_u16())
    }

    const HOME: (&str, &str) = ("host", "127.0.0.1:7780");
    const OWN: (&str, &str) = ("origin", "http://127.0.0.1:7780");
    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn names_that_only_lead_here_are_refused_for_everything() {
        for path in ["/", "/main.js", "/enter?ticket=0", "/rpc", "/leave"] {
            for host in [
                "evil.example:7780",
                "127.0.0.1",
                "127.0.0.1:80",
                "192.0.2.1:7780",
                "localhost.:7780",
                "x@localhost:7780",
                "",
            ] {
                for method in ["GET", "POST"] {
                    let refused = judged(method, path, &[("host", host), OWN, JSON]);
                    assert_eq!(refused, Err(403), "{method} {path} {host}");
                }
            }
            assert_eq!(judged("GET", path, &[]), Err(400));
            assert_eq!(judged("GET", path, &[HOME, HOME]), Err(400));
        }
        assert_eq!(
            judged("GET", "http://evil.example:7780/", &[HOME]),
            Err(403),
            "an absolute target"
        );
        assert_eq!(judged("GET", "/", &[HOME]), Ok(Wants::File));
        for host in [
            "localhost:7780",
            "[::1]:7780",
            "127.0.0.2:7780",
            "[::ffff:127.0.0.1]:7780",
        ] {
            assert_eq!(judged("GET", "/", &[("host", host)]), Err(403), "{host}");
        }
    }

    #[test]
    fn only_the_page_itself_asks() {
        let asks = |headers: &[(&str, &str)]| judged("POST", "/rpc", &[&[HOME, JSON], headers].concat());
        let same_site = ("sec-fetch-site", "same-origin");
        assert_eq!(asks(&[OWN]), Ok(Wants::Ask));
        assert_eq!(asks(&[OWN, same_site]), Ok(Wants::Ask));
        for origin in [
            "null",
            "http://evil.example",
            "http://127.0.0.1",
            "http://127.0.0.1:7781",
            "https://127.0.0.1:7780",
            "http://localhost:7780",
            "http://127.0.0.1:7780/",
        ] {
            assert_eq!(asks(&[("origin", origin)]), Err(403), "{origin}");
        }
        assert_eq!(asks(&[]), Err(403), "no origin");
        assert_eq!(asks(&[OWN, OWN]), Err(403), "two");
        for site in ["cross-site", "same-site", "none", ""] {
            assert_eq!(asks(&[OWN, ("sec-fetch-site", site)]), Err(403), "{site}");
        }
        assert_eq!(judged("POST", "/leave", &[HOME]), Err(403));
        assert_eq!(judged("POST", "/leave", &[HOME, OWN]), Ok(Wants::Leave));
        assert_eq!(
            judged("GET", "/", &[HOME, ("origin", "http://evil.example")]),
            Err(403)
        );
    }

    #[test]
    fn everything_has_its_method_and_questions_are_json() {
        assert_eq!(judged("GET", "/rpc", &[HOME, OWN, JSON]), Err(405));
        assert_eq!(judged("GET", "/leave", &[HOME, OWN]), Err(405));
        assert_eq!(
            judged("HEAD", "/enter?ticket=0", &[HOME]),
            Err(405),
            "a look must not use a link up"
        );
        assert_eq!(judged("HEAD", "/", &[HOME]), Ok(Wants::File));
        assert_eq!(judged("POST", "/", &[HOME, OWN]), Err(405));
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
        ] {
            assert_eq!(
                judged("POST", "/rpc", &[HOME, OWN, ("content-type", kind)]),
                Err(415),
                "{kind}"
            );
        }
        assert_eq!(judged("POST", "/rpc", &[HOME, OWN]), Err(415));
    }
}
