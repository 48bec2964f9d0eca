//! Bodies: a request's read within bounds, and an answer that is at hand or comes piece by piece.

use std::{
    convert::Infallible,
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::timeout;

/// Bytes of a body that is refused which are still taken, so that its sender comes to read the answer.
const DISCARDED_BYTES: u64 = 16 * 1024 * 1024;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    /// It has more bytes than are taken.
    TooLong,
    /// It did not come in time.
    TooSlow,
    /// It ended before its end.
    Broken,
}

/// Reads a whole body of at most `most` bytes within `time`.
pub(crate) async fn read<B>(body: B, most: usize, time: Duration) -> Result<Vec<u8>, BodyFault>
where
    B: Body<Data = Bytes>,
{
    if body.size_hint().lower() > most as u64 {
        discard(body, time).await;
        return Err(BodyFault::TooLong);
    }
    let mut body = pin!(body);
    let reading = async {
        let mut bytes = Vec::new();
        while let Some(piece) = next_piece(&mut body).await {
            let piece = piece.ok_or(BodyFault::Broken)?;
            if bytes.len().saturating_add(piece.len()) > most {
                return Err(BodyFault::TooLong);
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    };
    let read = timeout(time, reading).await.unwrap_or(Err(BodyFault::TooSlow));
    if read == Err(BodyFault::TooLong) {
        let _ = timeout(time, discard_pinned(&mut body)).await;
    }
    read
}

/// Takes what comes and keeps nothing, within bounds: who is still sending would not see why it is refused.
pub(crate) async fn discard<B>(body: B, time: Duration)
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let _ = timeout(time, discard_pinned(&mut body)).await;
}

async fn discard_pinned<B: Body<Data = Bytes>>(body: &mut Pin<&mut B>) {
    let mut taken = 0u64;
    while taken < DISCARDED_BYTES {
        match next_piece(body).await {
            Some(Some(piece)) => taken = taken.saturating_add(piece.len() as u64),
            Some(None) | None => return,
        }
    }
}

/// The next piece; nothing at the end, an inner nothing when it broke. Trailers are empty pieces.
async fn next_piece<B: Body<Data = Bytes>>(body: &mut Pin<&mut B>) -> Option<Option<Bytes>> {
    let frame = poll_fn(|context| body.as_mut().poll_frame(context)).await?;
    Some(frame.ok().map(|frame| frame.into_data().unwrap_or_default()))
}

/// The body of an answer.
pub(crate) enum EdgeBody {
    /// At hand.
    Bytes(Bytes),
    /// What this gives, piece by piece, until it gives nothing.
    Pieces(Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Bytes>> + Send>),
}

impl EdgeBody {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Bytes(Bytes::from(text.into()))
    }
}

impl Body for EdgeBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut *self {
            Self::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Bytes(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Self::Pieces(next) => next(context),
        };
        piece.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Bytes(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for EdgeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "EdgeBody({} bytes)", bytes.len()),
            Self::Pieces(_) => f.write_str("EdgeBody(pieces)"),
        }
    }
}
