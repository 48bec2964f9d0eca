//! One connection, from its first byte to its last.

use std::convert::Infallible;

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::{ClientFiles, HEAD_BYTES, ServeLimits, pace::Paced, response::answer};

/// Serves requests one after the other until the client goes, or is too slow.
pub(super) async fn run(stream: TcpStream, files: ClientFiles, limits: ServeLimits) {
    let service = service_fn(|request| {
        let files = files.clone();
        async move { Ok::<_, Infallible>(answer(&files, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_header_size(HEAD_BYTES)
        // One piece of a file is more than this, so no second one is read before the first is gone.
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Paced::new(stream, limits)), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection for client files ended");
    }
}
