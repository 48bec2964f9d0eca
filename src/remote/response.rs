//! The answer to an HTTP request.

use std::net::SocketAddr;

use decitick_components::remote::{Asked as Question, RemoteError, RemoteResult, codes};
use decitick_systems::remote::ANSWER_BYTES;
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE,
        X_CONTENT_TYPE_OPTIONS,
    },
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    Acting, AskError, BODY_BYTES, BODY_TIME, Endpoint, PATIENCE, RemoteHandle, guard,
    hub::Awaited,
    rpc::{self, Call, Sent, Wanted},
};
use crate::http::{self, BodyFault, EdgeBody};

/// Who answers questions that an edge let through, and what they may do.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The tick.
    pub handle: RemoteHandle,
    /// Whether they may act.
    pub acting: Acting,
    /// Where the edge is.
    pub address: SocketAddr,
}

/// Answers a request.
pub(super) async fn answer(endpoint: &Endpoint, request: Request<Incoming>) -> Response<EdgeBody> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = guard::judge(&head, endpoint.asked.address, &endpoint.token) {
        tracing::debug!(
            status = refusal.status.as_u16(),
            "a request to the remote endpoint was refused"
        );
        http::discard(body, BODY_TIME).await;
        let mut refused = refused(refusal.status, refusal.message);
        match refusal.status {
            StatusCode::UNAUTHORIZED => set(&mut refused, WWW_AUTHENTICATE, "Bearer"),
            StatusCode::METHOD_NOT_ALLOWED => set(&mut refused, ALLOW, "POST"),
            _ => {}
        }
        return refused;
    }
    respond(&endpoint.asked, body).await
}

/// Answers the body of a request that was let through.
pub(crate) async fn respond(asked: &Asked, body: Incoming) -> Response<EdgeBody> {
    let body = match http::read(body, BODY_BYTES, BODY_TIME).await {
        Ok(body) => body,
        Err(BodyFault::TooLong) => {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 65536 bytes");
        }
        Err(BodyFault::TooSlow) => {
            return refused(StatusCode::REQUEST_TIMEOUT, "the request did not come in time");
        }
        Err(BodyFault::Broken) => {
            return refused(StatusCode::BAD_REQUEST, "the request ended before its end");
        }
    };
    match rpc::sent(&body) {
        Err(error) => whole(rpc::response(&Value::Null, &Err(error))),
        Ok(Sent::Single(call)) => single(asked, call).await,
        Ok(Sent::Batch(calls)) => whole(batch(asked, calls).await),
    }
}

async fn single(asked: &Asked, call: Call) -> Response<EdgeBody> {
    let Call { id, wanted } = call;
    if let Ok(Wanted::Asked(Question::Watch(watch))) = wanted {
        return match asked.handle.watch(watch) {
            Ok(events) => stream(id, events),
            Err(error) => whole(rpc::response(&id, &Err(not_answered(error)))),
        };
    }
    if let Ok(Wanted::Act(action)) = wanted {
        return whole(rpc::response(&id, &asked.acting.act(action).await));
    }
    let result = begin(asked, wanted).finish().await;
    whole(rpc::response(&id, &result))
}

async fn batch(asked: &Asked, calls: Vec<Call>) -> String {
    // All are asked before the first is waited for, so that they can be answered in one tick.
    let begun: Vec<(Value, Begun)> = calls
        .into_iter()
        .map(|call| (call.id, begin(asked, call.wanted)))
        .collect();
    let mut responses = Vec::with_capacity(begun.len());
    let mut bytes = 0;
    for (id, begun) in begun {
        let mut result = begun.finish().await;
        bytes += result.as_ref().map_or(0, String::len);
        if bytes > ANSWER_BYTES {
            result = Err(RemoteError::too_large(ANSWER_BYTES));
        }
        responses.push(rpc::response(&id, &result));
    }
    format!("[{}]", responses.join(","))
}

/// A request that is answered already, or by the tick.
enum Begun {
    Done(RemoteResult),
    Awaited(Awaited),
}

impl Begun {
    async fn finish(self) -> RemoteResult {
        match self {
            Self::Done(result) => result,
            Self::Awaited(awaited) => match awaited.answer(PATIENCE).await {
                Ok(result) => result,
                Err(error) => Err(not_answered(error)),
            },
        }
    }
}

fn begin(asked: &Asked, wanted: Result<Wanted, RemoteError>) -> Begun {
    match wanted {
        Err(error) => Begun::Done(Err(error)),
        Ok(Wanted::Methods) => Begun::Done(Ok(rpc::methods(&asked.address.to_string(), &asked.acting))),
        Ok(Wanted::Asked(Question::Watch(_))) => Begun::Done(Err(RemoteError::new(
            codes::INVALID_REQUEST,
            "Streaming can not be used in batch requests",
        ))),
        Ok(Wanted::Act(_)) => Begun::Done(Err(match asked.acting {
            Acting::Never => rpc::read_only(rpc::ACT),
            Acting::NotAllowed | Acting::OtherRun | Acting::Allowed(_) => {
                RemoteError::new(codes::INVALID_REQUEST, "acting is not possible in a batch")
            }
        })),
        Ok(Wanted::Asked(Question::Once(question))) => match asked.handle.begin(question) {
            Ok(awaited) => Begun::Awaited(awaited),
            Err(error) => Begun::Done(Err(not_answered(error))),
        },
    }
}

fn not_answered(error: AskError) -> RemoteError {
    let code = match error {
        AskError::Busy => codes::BUSY,
        AskError::TooLate { .. } | AskError::Stopped => codes::INTERNAL_ERROR,
    };
    RemoteError::new(code, error.to_string())
}

/// Events as they come, each a response of its own. When the client goes, so does the receiver, and with it the watch.
fn stream(id: Value, mut events: mpsc::Receiver<RemoteResult>) -> Response<EdgeBody> {
    let pieces = move |context: &mut std::task::Context<'_>| {
        events
            .poll_recv(context)
            .map(|event| event.map(|event| Bytes::from(format!("data: {}\n\n", rpc::response(&id, &event)))))
    };
    let mut response = Response::new(EdgeBody::Pieces(Box::new(pieces)));
    set(&mut response, CONTENT_TYPE, "text/event-stream");
    set_common(&mut response);
    response
}

fn whole(text: String) -> Response<EdgeBody> {
    let mut response = Response::new(EdgeBody::text(text));
    set(&mut response, CONTENT_TYPE, "application/json");
    set_common(&mut response);
    response
}

/// A refusal on the level of HTTP, whose body is a JSON-RPC error for clients that look at nothing else.
fn refused(status: StatusCode, message: &str) -> Response<EdgeBody> {
    let error = RemoteError::new(codes::INVALID_REQUEST, message);
    let mut response = whole(rpc::response(&Value::Null, &Err(error)));
    *response.status_mut() = status;
    set(&mut response, CONNECTION, "close");
    response
}

fn set_common(response: &mut Response<EdgeBody>) {
    set(response, CACHE_CONTROL, "no-store");
    set(response, X_CONTENT_TYPE_OPTIONS, "nosniff");
}

/// Sets a header.
pub(crate) fn set(response: &mut Response<EdgeBody>, name: HeaderName, value: &'static str) {
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}
