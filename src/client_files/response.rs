//! The answer to a request.

use std::{io, sync::Arc};

use decitick_components::{client_files::ClientManifest, script::ResourceName};
use hyper::{
    Method, Request, Response, StatusCode, Version,
    body::{Body, Bytes},
    header::{
        ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
        HOST, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
    http::request::Parts,
};
use tokio::task::spawn_blocking;

use super::{
    ClientFiles,
    body::ResponseBody,
    conditions::{Span, is_known, match_fails, span},
    content_type,
    request::{Wanted, wanted},
};
use crate::scripts::client_folder::ClientContent;

/// Answers a request. What is asked for is looked up in what is up and in nothing else.
pub(super) async fn answer<B: Body>(files: &ClientFiles, request: Request<B>) -> Response<ResponseBody> {
    let has_content = !request.body().is_end_stream();
    let (request, _) = request.into_parts();
    let (response, name) = match find(files, &request, has_content).await {
        Ok(found) => {
            let name = found.name.clone();
            (of_content(found, &request), name)
        }
        Err(refusal) => (refusal.response(), String::new()),
    };
    // The query of the request is not told anywhere: it may hold what is nobody's business.
    tracing::debug!(
        method = %request.method,
        file = name,
        status = response.status().as_u16(),
        "client files"
    );
    response
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    Host,
    Method,
    Content,
    Missing,
}

impl Refusal {
    fn response(self) -> Response<ResponseBody> {
        match self {
            Self::Host => {
                let mut refused = status(StatusCode::BAD_REQUEST);
                set(&mut refused, CONNECTION, "close");
                refused
            }
            Self::Method => {
                let mut refused = status(StatusCode::METHOD_NOT_ALLOWED);
                set(&mut refused, ALLOW, "GET, HEAD");
                refused
            }
            Self::Content => {
                let mut refused = status(StatusCode::PAYLOAD_TOO_LARGE);
                set(&mut refused, CONNECTION, "close");
                refused
            }
            Self::Missing => status(StatusCode::NOT_FOUND),
        }
    }
}

/// A content that is there.
struct Found {
    /// `resource/path`, for the log.
    name: String,
    etag: String,
    kind: &'static str,
    size: u64,
    source: Source,
}

enum Source {
    Bytes(Bytes),
    File(ClientContent),
}

async fn find(files: &ClientFiles, request: &Parts, has_content: bool) -> Result<Found, Refusal> {
    // RFC 9112 3.2: with none or several a proxy on the way may have read another request than this one.
    if request.version == Version::HTTP_11 && request.headers.get_all(HOST).iter().count() != 1 {
        return Err(Refusal::Host);
    }
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return Err(Refusal::Method);
    }
    if has_content {
        return Err(Refusal::Content);
    }
    let Wanted { resource, file } = wanted(request.uri.path()).ok_or(Refusal::Missing)?;
    let (resource, manifest) = files.manifest(&resource).ok_or(Refusal::Missing)?;
    match file {
        None => Ok(of_manifest(&resource, &manifest)),
        Some(file) => open(files, resource, &manifest, file).await.map_err(|error| {
            tracing::debug!(%error, "a client file cannot be sent");
            Refusal::Missing
        }),
    }
}

fn of_manifest(resource: &ResourceName, manifest: &ClientManifest) -> Found {
    Found {
        name: format!("{resource}/manifest.json"),
        etag: etag(&manifest.sha256),
        kind: content_type::JSON,
        size: manifest.json.len() as u64,
        source: Source::Bytes(Bytes::from_owner(Arc::clone(&manifest.json))),
    }
}

async fn open(
    files: &ClientFiles,
    resource: ResourceName,
    manifest: &ClientManifest,
    file: String,
) -> io::Result<Found> {
    let listed = *manifest
        .files
        .get(file.as_str())
        .ok_or_else(|| io::Error::other("the manifest does not have it"))?;
    let name = format!("{resource}/{file}");
    let kind = content_type::of(&file);
    let files = files.clone();
    let opened = spawn_blocking(move || files.open(&resource, &file, &listed.sha256)).await;
    Ok(Found {
        name,
        etag: etag(&listed.sha256),
        kind,
        size: listed.size,
        source: Source::File(opened.map_err(io::Error::other)??),
    })
}

/// The conditions in their order (RFC 9110, 13.2.2), then the range.
fn of_content(found: Found, request: &Parts) -> Response<ResponseBody> {
    let headers = &request.headers;
    if match_fails(headers, &found.etag) {
        return status(StatusCode::PRECONDITION_FAILED);
    }
    if is_known(headers, &found.etag) {
        // A Content-Length here would be that of the content that is not sent.
        let mut known = Response::new(ResponseBody::empty());
        *known.status_mut() = StatusCode::NOT_MODIFIED;
        set(&mut known, ETAG, &found.etag);
        set(&mut known, CACHE_CONTROL, "no-cache");
        return known;
    }
    let size = found.size;
    // A range is a matter of GET alone.
    let span = if request.method == Method::GET {
        span(headers, &found.etag, size)
    } else {
        Span::Whole
    };
    let (code, first, bytes) = match span {
        Span::Whole => (StatusCode::OK, 0, size),
        Span::Part { first, last } => {
            let bytes = last.saturating_sub(first).saturating_add(1);
            (StatusCode::PARTIAL_CONTENT, first, bytes)
        }
        Span::Beyond => {
            let mut refused = status(StatusCode::RANGE_NOT_SATISFIABLE);
            set(&mut refused, CONTENT_RANGE, &format!("bytes */{size}"));
            return refused;
        }
    };
    let body = if request.method == Method::HEAD {
        ResponseBody::empty()
    } else {
        body_of(found.source, first, bytes)
    };
    let mut response = Response::new(body);
    *response.status_mut() = code;
    set(&mut response, ETAG, &found.etag);
    set(&mut response, CONTENT_TYPE, found.kind);
    set(&mut response, CONTENT_LENGTH, &bytes.to_string());
    set(&mut response, ACCEPT_RANGES, "bytes");
    set(&mut response, CACHE_CONTROL, "no-cache");
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    if code == StatusCode::PARTIAL_CONTENT {
        let last = first.saturating_add(bytes).saturating_sub(1);
        set(
            &mut response,
            CONTENT_RANGE,
            &format!("bytes {first}-{last}/{size}"),
        );
    }
    if found.kind == content_type::HTML {
        set(&mut response, REFERRER_POLICY, "no-referrer");
    }
    response
}

fn body_of(source: Source, first: u64, bytes: u64) -> ResponseBody {
    match source {
        Source::Bytes(all) => {
            let mut rest = all;
            let skipped = usize::try_from(first).unwrap_or(usize::MAX).min(rest.len());
            let mut part = rest.split_off(skipped);
            part.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
            ResponseBody::Bytes(part)
        }
        Source::File(content) => ResponseBody::of_file(content, first, bytes),
    }
}

fn etag(sha256: &[u8; 32]) -> String {
    let hex: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// A response without content.
fn status(code: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = code;
    set(&mut response, CONTENT_LENGTH, "0");
    set(&mut response, CACHE_CONTROL, "no-cache");
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}

/// All values are made here, of characters that a header can hold.
fn set(response: &mut Response<ResponseBody>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
