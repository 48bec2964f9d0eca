//! JSON as text, put together from parts that are JSON already, within a number of bytes.

use std::{fmt::Write as _, io};

use decitick_components::remote::RemoteError;

/// A map or a list that grows.
pub(super) struct JsonText {
    text: String,
    closes: char,
    most: usize,
}

impl JsonText {
    /// An empty map of at most so many bytes.
    pub(super) fn map(most: usize) -> Self {
        Self {
            text: "{".to_owned(),
            closes: '}',
            most,
        }
    }

    /// An empty list of at most so many bytes.
    pub(super) fn list(most: usize) -> Self {
        Self {
            text: "[".to_owned(),
            closes: ']',
            most,
        }
    }

    /// Bytes that may still come.
    pub(super) const fn room(&self) -> usize {
        self.most.saturating_sub(self.text.len())
    }

    /// Adds a value, which is JSON, under a key, which is not.
    pub(super) fn entry(&mut self, key: &str, value: &str) -> Result<(), RemoteError> {
        self.separate();
        let _ = write!(self.text, "{}:", string(key));
        self.push(value)
    }

    /// Adds a value, which is JSON.
    pub(super) fn item(&mut self, value: &str) -> Result<(), RemoteError> {
        self.separate();
        self.push(value)
    }

    /// The whole of it.
    pub(super) fn end(mut self) -> String {
        self.text.push(self.closes);
        self.text
    }

    /// Bytes there are.
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }

    fn separate(&mut self) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
    }

    fn push(&mut self, value: &str) -> Result<(), RemoteError> {
        if value.len() >= self.room() {
            return Err(RemoteError::too_large(self.most));
        }
        self.text.push_str(value);
        Ok(())
    }
}

/// A text as JSON.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Texts as a JSON list.
pub(super) fn list<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| string(text.as_ref())).collect();
    format!("[{}]", texts.join(","))
}

/// An error as JSON.
pub(super) fn error(error: &RemoteError) -> String {
    format!(
        r#"{{"code":{},"message":{}}}"#,
        error.code,
        string(&error.message)
    )
}

/// Takes a number of bytes and no more.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    /// Whether there were more.
    pub(super) full: bool,
}

impl Bounded {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
            full: false,
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl io::Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(piece.len()) > self.most {
            self.full = true;
            return Err(io::Error::other("too many bytes"));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
