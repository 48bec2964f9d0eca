//! How an answer travels over the socket: `ok <bytes>` or `error <bytes>` on a line, so many bytes of text, and a
//! line feed that is not counted (docs/console.md). It knows no socket.

use std::io::{self, BufRead, Read};

/// Bytes of text that a reader takes: far more than 1,000 players need.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;
/// What is answered instead of a longer text.
const TOO_LONG: &str = "the answer is longer than 16 MiB, more than a console takes; ask for less";
/// Bytes of the longest header, with its line feed.
const LONGEST_HEADER: u64 = 32;

/// One answer as bytes.
///
/// A text that no reader would take becomes an error that says so.
pub(super) fn frame(ok: bool, text: &str) -> Vec<u8> {
    if text.len() > LONGEST_TEXT {
        return frame(false, TOO_LONG);
    }
    let word = if ok { "ok" } else { "error" };
    format!("{word} {}\n{text}\n", text.len()).into_bytes()
}

/// Reads one answer; `None` when the stream ends before it.
///
/// # Errors
/// What the reader says; `UnexpectedEof` when the stream ends inside; `InvalidData` for anything that is no answer.
pub(super) fn read_frame(reader: &mut impl BufRead) -> io::Result<Option<(bool, String)>> {
    let mut header = Vec::new();
    reader
        .by_ref()
        .take(LONGEST_HEADER)
        .read_until(b'\n', &mut header)?;
    if header.is_empty() {
        return Ok(None);
    }
    let (ok, length) = parse_header(&header).ok_or_else(no_answer)?;
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
        .map(|text| Some((ok, text)))
        .map_err(|_| no_answer())
}

fn parse_header(header: &[u8]) -> Option<(bool, usize)> {
    let header = std::str::from_utf8(header).ok()?.strip_suffix('\n')?;
    let (ok, length) = match header.split_once(' ')? {
        ("ok", length) => (true, length),
        ("error", length) => (false, length),
        _ => return None,
    };
    if !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    length
        .parse()
        .ok()
        .filter(|&length| length <= LONGEST_TEXT)
        .map(|length| (ok, length))
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
        let mut bytes = frame(true, "Zwölf\nLinien\n");
        bytes.extend(frame(false, ""));
        assert!(bytes.starts_with("ok 14\nZwölf\n".as_bytes()));
        let mut reader = bytes.as_slice();
        assert_eq!(
            read_frame(&mut reader).unwrap(),
            Some((true, "Zwölf\nLinien\n".to_owned()))
        );
        assert_eq!(read_frame(&mut reader).unwrap(), Some((false, String::new())));
        assert_eq!(read_frame(&mut reader).unwrap(), None);
    }

    #[test]
    fn an_answer_that_no_reader_takes_becomes_an_error_that_it_does() {
        let longest = "x".repeat(LONGEST_TEXT);
        let bytes = frame(true, &longest);
        assert_eq!(read_frame(&mut bytes.as_slice()).unwrap(), Some((true, longest)));
        let bytes = frame(true, &"x".repeat(LONGEST_TEXT + 1));
        assert_eq!(
            read_frame(&mut bytes.as_slice()).unwrap(),
            Some((false, TOO_LONG.to_owned()))
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
