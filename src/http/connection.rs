//! One connection, from its first byte to its last.

use std::{convert::Infallible, future::Future};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::{HttpLimits, pace::Paced};

/// Serves requests one after the other until the client goes, or is too slow.
pub(super) async fn run<A, F, B>(stream: TcpStream, limits: HttpLimits, what: &'static str, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_header_size(limits.head_bytes)
        // One piece of a long body is more than this, so no second one is read before the first is gone.
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(Paced::new(stream, limits)), service_fn(answer))
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, what, "a connection ended");
    }
}
