//! What a response carries: nothing, bytes that are at hand, or a part of a file.
//!
//! A file is read piece by piece, beside the thread that speaks. After each piece it is looked at whether the file still
//! is in the state that was hashed, before the piece goes out: when it is not, the connection ends in the middle.

use std::{
    future::Future,
    io,
    os::unix::fs::FileExt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::task::{JoinHandle, spawn_blocking};

use super::PIECE_BYTES;
use crate::scripts::client_folder::ClientContent;

/// The body of a response.
#[derive(Debug)]
pub(super) enum ResponseBody {
    /// At hand.
    Bytes(Bytes),
    /// To be read.
    File(FileBody),
}

/// A part of a file.
#[derive(Debug)]
pub(super) struct FileBody {
    content: Arc<ClientContent>,
    /// Where the next piece begins.
    next: u64,
    /// Bytes that are not sent yet.
    left: u64,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
}

impl ResponseBody {
    pub(super) const fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }

    /// `bytes` of a file from `first` on.
    pub(super) fn of_file(content: ClientContent, first: u64, bytes: u64) -> Self {
        Self::File(FileBody {
            content: Arc::new(content),
            next: first,
            left: bytes,
            reading: None,
        })
    }

    const fn left(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.left,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.left() == 0 {
            return Poll::Ready(None);
        }
        let piece = match &mut *self {
            Self::Bytes(bytes) => Ok(std::mem::take(bytes)),
            Self::File(file) => ready!(file.poll_piece(context)),
        };
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

impl FileBody {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let reading = self.reading.get_or_insert_with(|| {
            let (content, first, bytes) = (Arc::clone(&self.content), self.next, self.left.min(PIECE_BYTES));
            spawn_blocking(move || read_piece(&content, first, bytes))
        });
        let piece = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        let piece = piece.map_err(io::Error::other)??;
        self.next = self.next.saturating_add(piece.len() as u64);
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Ok(piece))
    }
}

fn read_piece(content: &ClientContent, first: u64, bytes: u64) -> io::Result<Bytes> {
    let mut piece = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    content.file.read_exact_at(&mut piece, first)?;
    if !content.is_unchanged()? {
        return Err(io::Error::other("the file changed while it was sent"));
    }
    Ok(Bytes::from(piece))
}
