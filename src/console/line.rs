//! Lines of bounded length out of a byte stream, with every fault as a value. It knows no socket.

use std::io::{self, BufRead};

use decitick_components::console::MAX_LINE;

/// One line of a peer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its text without the line end, or what is wrong with it.
    pub(crate) content: Result<String, LineFault>,
    /// Whether its line end came; the last line of a stream may lack it.
    pub(crate) finished: bool,
}

/// Why a line is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// More than [`MAX_LINE`] bytes; all of it was skipped.
    TooLong,
    /// Bytes that are no UTF-8.
    NotUtf8 {
        /// Where the first of them is.
        at: usize,
    },
}

impl LineFault {
    /// What the peer is told.
    pub(crate) fn message(self) -> String {
        match self {
            Self::TooLong => format!("the line has more than {MAX_LINE} bytes; shorten it"),
            Self::NotUtf8 { at } => {
                format!(
                    "the line is no UTF-8 from byte {at} on; set the terminal to UTF-8 and write it again"
                )
            }
        }
    }
}

/// Makes lines of bytes that come in pieces. Holds at most one line, and of one that is too long only its beginning.
#[derive(Debug, Default)]
pub(crate) struct LineAssembler {
    kept: Vec<u8>,
    any: bool,
}

impl LineAssembler {
    /// Room for a carriage return beside the longest line.
    const KEEP: usize = MAX_LINE + 2;

    /// Takes bytes up to the first line end: how many were taken, and the line that they end.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> (usize, Option<Line>) {
        let (part, found) = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) => (bytes.get(..end).unwrap_or_default(), true),
            None => (bytes, false),
        };
        self.any |= !bytes.is_empty();
        self.kept
            .extend(part.iter().take(Self::KEEP.saturating_sub(self.kept.len())));
        (part.len() + usize::from(found), found.then(|| self.line(true)))
    }

    /// What is left when the bytes end: a line without its line end.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        self.any.then(|| self.line(false))
    }

    fn line(&mut self, finished: bool) -> Line {
        let mut kept = std::mem::take(self).kept;
        if kept.last() == Some(&b'\r') {
            kept.pop();
        }
        let content = if kept.len() > MAX_LINE {
            Err(LineFault::TooLong)
        } else {
            String::from_utf8(kept).map_err(|error| LineFault::NotUtf8 {
                at: error.utf8_error().valid_up_to(),
            })
        };
        Line { content, finished }
    }
}

impl Line {
    /// Whether it is a finished line of nothing but blanks: it ends an answer that goes on.
    pub(crate) fn is_empty(&self) -> bool {
        self.finished && self.content.as_ref().is_ok_and(|text| text.trim().is_empty())
    }
}

/// Reads the next line; `None` at the end. A line that is too long is read to its end and never kept whole.
///
/// # Errors
/// What the reader says; an interrupted read is tried again.
pub(crate) fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut assembler = LineAssembler::default();
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(assembler.finish());
        }
        let (used, line) = assembler.take(available);
        reader.consume(used);
        if line.is_some() {
            return Ok(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Line> {
        // A small buffer makes every line come in pieces.
        let mut reader = BufReader::with_capacity(7, bytes);
        std::iter::from_fn(|| next_line(&mut reader).unwrap()).collect()
    }

    fn whole(text: &str) -> Line {
        Line {
            content: Ok(text.to_owned()),
            finished: true,
        }
    }

    #[test]
    fn lines_end_in_a_line_feed_with_or_without_a_carriage_return() {
        assert_eq!(lines(b""), []);
        assert_eq!(
            lines("status\r\nsay жук\n\n".as_bytes()),
            [whole("status"), whole("say жук"), whole("")]
        );
        let last = lines(b"a\nshutdown 6");
        assert_eq!(
            last[1],
            Line {
                content: Ok("shutdown 6".to_owned()),
                finished: false
            }
        );
    }

    #[test]
    fn a_line_of_4096_bytes_passes_and_a_longer_one_is_skipped_whole() {
        let exact = "x".repeat(MAX_LINE);
        assert_eq!(
            lines(format!("{exact}\r\nnext\n").as_bytes()),
            [whole(&exact), whole("next")]
        );
        let over = lines(format!("{exact}xyz{exact}\nnext\n").as_bytes());
        assert_eq!(
            over,
            [
                Line {
                    content: Err(LineFault::TooLong),
                    finished: true
                },
                whole("next")
            ]
        );
    }

    #[test]
    fn a_line_that_never_ends_takes_no_memory() {
        let mut endless = BufReader::new(io::repeat(b'x').take(64 * 1024 * 1024));
        let line = next_line(&mut endless).unwrap().unwrap();
        assert_eq!(
            line,
            Line {
                content: Err(LineFault::TooLong),
                finished: false
            }
        );
    }

    #[test]
    fn bytes_that_are_no_utf8_are_a_fault_with_its_place() {
        let found = lines(b"say \xff\nstatus\n");
        assert_eq!(found[0].content, Err(LineFault::NotUtf8 { at: 4 }));
        assert_eq!(found[1], whole("status"));
    }
}
