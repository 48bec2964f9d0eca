//! The answer to an HTTP request.

use decitick_components::metrics::MetricsSnapshot;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body as _, Incoming},
    header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS},
};
use tokio::{task::spawn_blocking, time::timeout};

use super::{MetricsHandle, PATIENCE, ProcessFigures, render};
use crate::http::EdgeBody;
use crate::pulse::{Health, Pulse};

/// The format of the answer of `/metrics`.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Answers a request.
pub(super) async fn answer(
    handle: &MetricsHandle,
    pulse: &Pulse,
    request: Request<Incoming>,
) -> Response<EdgeBody> {
    let has_content = !request.body().is_end_stream();
    let (status, kind, text) = if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let text = "only GET and HEAD\n".to_owned();
        (StatusCode::METHOD_NOT_ALLOWED, PLAIN, text)
    } else if has_content {
        let text = "a request has no content here\n".to_owned();
        (StatusCode::PAYLOAD_TOO_LARGE, PLAIN, text)
    } else {
        match request.uri().path() {
            "/metrics" => metrics(handle).await,
            "/healthz" => health(pulse),
            "/readyz" => readiness(pulse),
            _ => {
                let text = "there are /metrics, /healthz and /readyz\n".to_owned();
                (StatusCode::NOT_FOUND, PLAIN, text)
            }
        }
    };
    let mut response = Response::new(EdgeBody::text(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    if has_content {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

type Told = (StatusCode, &'static str, String);

async fn metrics(handle: &MetricsHandle) -> Told {
    let snapshot = timeout(PATIENCE, handle.snapshot()).await;
    let Ok(Some(snapshot)) = snapshot else {
        let text = "the tick gives no snapshot: it is held up, or too many ask\n".to_owned();
        return (StatusCode::SERVICE_UNAVAILABLE, PLAIN, text);
    };
    let rendered = spawn_blocking(move || {
        let snapshot: &MetricsSnapshot = &snapshot;
        render(snapshot, &ProcessFigures::read())
    });
    match rendered.await {
        Ok(text) => (StatusCode::OK, EXPOSITION, text),
        Err(error) => {
            tracing::error!(%error, "metrics could not be written");
            let text = "metrics could not be written\n".to_owned();
            (StatusCode::INTERNAL_SERVER_ERROR, PLAIN, text)
        }
    }
}

fn health(pulse: &Pulse) -> Told {
    match pulse.health() {
        Health::Ticks => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
        Health::Silent(silent) => {
            let text = format!("no tick for {:.1} s\n", silent.as_secs_f64());
            (StatusCode::SERVICE_UNAVAILABLE, PLAIN, text)
        }
    }
}

fn readiness(pulse: &Pulse) -> Told {
    match pulse.unready() {
        None => (StatusCode::OK, PLAIN, "ready\n".to_owned()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
    }
}
