//! How answers travel over the socket: `ok <bytes>`, `error <bytes>` or `part <bytes>` on a line, so many bytes of
//! text, and a line feed that is not counted (docs/console.md). It knows no socket.

use std::io::{self, BufRead, Read};

/// Bytes of text that a reader takes: far more than 1,000 players need.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;
/// What is answered instead of a longer text.
const TOO_LONG: &str = "the answer is longer than 16 MiB, more than a console takes; ask for less";
/// Bytes of the longest header, with its line feed.
const LONGEST_HEADER: u64 = 32;

/// What a text is to the request it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command was done: the last word.
    Done,
    /// It failed: the last word too.
    Failed,
    /// A part of an answer that goes on.
    Part,
}

impl Outcome {
    /// Of a last word.
    pub(crate) const fn of(ok: bool) -> Self {
        if ok { Self::Done } else { Self::Failed }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Failed => "error",
            Self::Part => "part",
        }
    }
}

/// One answer or part as bytes.
///
/// A text that no reader would take becomes one that says so, an error unless it is a part.
pub(super) fn frame(outcome: Outcome, text: &str) -> Vec<u8> {
    if text.len() > LONGEST_TEXT {
        return match outcome {
            Outcome::Part => frame(outcome, TOO_LONG),
            Outcome::Done | Outcome::Failed => frame(Outcome::Failed, TOO_LONG),
        };
    }
    format!("{} {}\n{text}\n", outcome.word(), text.len()).into_bytes()
}

/// Reads one answer or part; `None` when the stream ends before it.
///
/// # Errors
/// What the reader says; `UnexpectedEof` when the stream ends inside; `InvalidData` for anything that is no answer.
pub(super) fn read_frame(reader: &mut impl BufRead) -> io::Result<Option<(Outcome, String)>> {
    let mut header = Vec::new();
    reader
        .by_ref()
        .take(LONGEST_HEADER)
        .read_until(b'\n', &mut header)?;
    if header.is_empty() {
        return Ok(None);
    }
    let (outcome, length) = parse_header(&header).ok_or_else(no_answer)?;
    // One more for the line feed. Memory grows with what comes, not with what the header promises.
    let mut text = Vec::new();
    reader.by_ref().take(length as u64 + 1).read_to_end(&mut text)?;
    if text.len() <= length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if text.pop() != Some(b'\n') {
        return Err(no_answer());
    }
    String::from_utf8(text)
        .map(|text| Some((outcome, text)))
        .map_err(|_| no_answer())
}

fn parse_header(header: &[u8]) -> Option<(Outcome, usize)> {
    let header = std::str::from_utf8(header).ok()?.strip_suffix('\n')?;
    let (word, length) = header.split_once(' ')?;
    let outcome = [Outcome::Done, Outcome::Failed, Outcome::Part]
        .into_iter()
        .find(|outcome| outcome.word() == word)?;
    if !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    length
        .parse()
        .ok()
        .filter(|&length| length <= LONGEST_TEXT)
        .map(|length| (outcome, length))
}

fn no_answer() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "what came over the socket is no console answer",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back_as_it_was_sent_lines_and_all() {
        let mut bytes = frame(Outcome::Done, "Zwölf\nLinien\n");
        bytes.extend(frame(Outcome::Part, "p"));
        bytes.extend(frame(Outcome::Failed, ""));
        assert!(bytes.starts_with("ok 14\nZwölf\n".as_bytes()));
        let mut reader = bytes.as_slice();
        assert_eq!(
            read_frame(&mut reader).unwrap(),
            Some((Outcome::Done, "Zwölf\nLinien\n".to_owned()))
        );
        assert_eq!(
            read_frame(&mut reader).unwrap(),
            Some((Outcome::Part, "p".to_owned()))
        );
        assert_eq!(
            read_frame(&mut reader).unwrap(),
            Some((Outcome::Failed, String::new()))
        );
        assert_eq!(read_frame(&mut reader).unwrap(), None);
    }

    #[test]
    fn an_answer_that_no_reader_takes_becomes_an_error_that_it_does() {
        let longest = "x".repeat(LONGEST_TEXT);
        let bytes = frame(Outcome::Done, &longest);
        assert_eq!(
            read_frame(&mut bytes.as_slice()).unwrap(),
            Some((Outcome::Done, longest))
        );
        let bytes = frame(Outcome::Done, &"x".repeat(LONGEST_TEXT + 1));
        assert_eq!(
            read_frame(&mut bytes.as_slice()).unwrap(),
            Some((Outcome::Failed, TOO_LONG.to_owned()))
        );
    }

    #[test]
    fn anything_else_is_refused_without_taking_its_word_for_a_length() {
        let bad: [&[u8]; 8] = [
            b"ok 99999999999999999999\n",
            b"ok 4294967296\nx",
            b"ok -1\n\n",
            b"fine 1\nx\n",
            b"ok 1 \nx\n",
            b"ok 1\nxy",
            b"ok 2\n\xff\xff\n",
            b"HTTP/1.1 400 Bad Request, and a long line",
        ];
        for bytes in bad {
            let error = read_frame(&mut &bytes[..]).unwrap_err();
            assert_eq!(
                error.kind(),
                io::ErrorKind::InvalidData,
                "{}",
                bytes.escape_ascii()
            );
        }
        let cut = read_frame(&mut &b"ok 5\nxy"[..]).unwrap_err();
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
    }
}
