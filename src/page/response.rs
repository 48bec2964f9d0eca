//! The answer to a request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{
        ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
        LOCATION, REFERRER_POLICY, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
    http::request::Parts,
};
use serde_json::json;

use super::{
    Page,
    guard::{self, Refusal, SIGNED_OUT, WRONG_LINK, Wants},
    site,
};
use crate::{
    http::{self, EdgeBody, only},
    remote::{Acting, Asked, respond, set},
};

/// The header that says of which run of the server an answer is, and in questions which one was seen.
const RUN_HEADER: HeaderName = HeaderName::from_static("x-decitick-run");
/// How long what is left of a refused request is waited for.
const DISCARD_TIME: Duration = Duration::from_secs(10);
/// What a browser lets the page do: run its own files, ask its own server, and nothing else. No text becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// Answers a request.
pub(super) async fn answer(page: &Page, request: Request<Incoming>) -> Response<EdgeBody> {
    let (head, body) = request.into_parts();
    let mut answer = match wanted(page, &head) {
        Ok(Allowed::Ask(session)) => {
            let asked = Asked {
                acting: acting(page, &head, &session),
                ..page.asked.clone()
            };
            let mut answer = respond(&asked, body).await;
            set_text(&mut answer, RUN_HEADER, &page.run);
            if !answer.status().is_success() {
                tell("page_body", answer.status());
            }
            answer
        }
        Ok(Allowed::Done(answer)) => {
            http::discard(body, DISCARD_TIME).await;
            answer
        }
        Err((refusal, as_json)) => {
            tell(refusal.reason, refusal.status);
            http::discard(body, DISCARD_TIME).await;
            refused(refusal, as_json)
        }
    };
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        set(&mut answer, name, value);
    }
    answer
}

/// Whether somebody may act, who says of which run of the server they speak.
fn acting(page: &Page, head: &Parts, session: &str) -> Acting {
    let run = only(&head.headers, &RUN_HEADER).and_then(|run| run.to_str().ok());
    match &page.actor {
        None => Acting::NotAllowed,
        Some(_) if run != Some(&*page.run) => Acting::OtherRun,
        Some(actor) => Acting::Allowed(actor.named(session)),
    }
}

fn tell(reason: &'static str, status: StatusCode) {
    tracing::warn!(
        reason,
        status = status.as_u16(),
        "a request to the live page was refused"
    );
}

/// A request that is let through.
enum Allowed {
    /// Whoever this is asks something.
    Ask(String),
    /// It is answered.
    Done(Response<EdgeBody>),
}

/// What becomes of a request; a refusal, and whether it is told as JSON.
fn wanted(page: &Page, head: &Parts) -> Result<Allowed, (Refusal, bool)> {
    let wants = guard::judge(head, page.asked.address).map_err(|refusal| {
        let as_json = matches!(head.uri.path(), "/rpc" | "/leave");
        (refusal, as_json)
    })?;
    let session = || {
        page.sign_ins
            .of(&head.headers, unix_seconds())
            .ok_or((SIGNED_OUT, true))
    };
    Ok(match wants {
        Wants::Ask => Allowed::Ask(session()?),
        Wants::Leave => {
            let session = session()?;
            tracing::info!(session, "somebody signed out of the live page");
            let mut answer = Response::new(EdgeBody::text(""));
            *answer.status_mut() = StatusCode::NO_CONTENT;
            set_text(&mut answer, SET_COOKIE, &page.sign_ins.end());
            Allowed::Done(answer)
        }
        Wants::Enter => Allowed::Done(enter(page, head).ok_or((WRONG_LINK, false))?),
        Wants::File => Allowed::Done(file(head)),
    })
}

/// Spends a ticket; `None` when it is not good.
fn enter(page: &Page, head: &Parts) -> Option<Response<EdgeBody>> {
    let ticket = head.uri.query()?.strip_prefix("ticket=")?;
    if !page.tickets.spend(ticket, unix_ms()) {
        return None;
    }
    let Ok(sign_in) = page.sign_ins.begin(unix_seconds()) else {
        return Some(failure("the system gives no random bytes"));
    };
    tracing::info!(session = sign_in.name, "somebody signed in to the live page");
    let mut answer = Response::new(EdgeBody::text(""));
    *answer.status_mut() = StatusCode::SEE_OTHER;
    set_text(&mut answer, SET_COOKIE, &sign_in.cookie);
    set_text(&mut answer, LOCATION, &format!("/#key={}", sign_in.key));
    Some(answer)
}

fn file(head: &Parts) -> Response<EdgeBody> {
    let Some(file) = site::file(head.uri.path()) else {
        // Browsers ask for icons and the like by themselves: that is nothing to log.
        let mut answer = plain("there is no such file");
        *answer.status_mut() = StatusCode::NOT_FOUND;
        return answer;
    };
    let body = if head.method == Method::HEAD {
        &[]
    } else {
        file.bytes
    };
    let mut answer = Response::new(EdgeBody::Bytes(hyper::body::Bytes::from_static(body)));
    set(&mut answer, CONTENT_TYPE, file.kind);
    answer
}

fn refused(refusal: Refusal, as_json: bool) -> Response<EdgeBody> {
    let mut answer = if as_json {
        let error =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": refusal.message}});
        let mut answer = Response::new(EdgeBody::text(error.to_string()));
        set(&mut answer, CONTENT_TYPE, "application/json");
        answer
    } else {
        plain(refusal.message)
    };
    *answer.status_mut() = refusal.status;
    set(&mut answer, CONNECTION, "close");
    match refusal.status {
        StatusCode::METHOD_NOT_ALLOWED if as_json => set(&mut answer, ALLOW, "POST"),
        StatusCode::METHOD_NOT_ALLOWED => set(&mut answer, ALLOW, "GET, HEAD"),
        StatusCode::UNAUTHORIZED => set(&mut answer, WWW_AUTHENTICATE, "Link"),
        _ => {}
    }
    answer
}

fn failure(message: &str) -> Response<EdgeBody> {
    let mut answer = plain(message);
    *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    answer
}

fn plain(text: &str) -> Response<EdgeBody> {
    let mut answer = Response::new(EdgeBody::text(format!("{text}\n")));
    set(&mut answer, CONTENT_TYPE, "text/plain; charset=utf-8");
    answer
}

/// Sets a header to a text of our own, which has nothing in it that a header must not have.
fn set_text(answer: &mut Response<EdgeBody>, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        answer.headers_mut().insert(name, value);
    }
}

fn unix_seconds() -> u64 {
    unix_ms() / 1000
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
