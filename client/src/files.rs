//! The files that a server has for its clients: their manifest, read and judged before anything is fetched or named on a
//! disk (docs/protocol.md 2.7).
//!
//! A manifest comes from whoever runs the server, so its names are as hostile as any datagram. Fetching is the driver's.

use std::collections::BTreeSet;
use std::fmt;

use decitick_protocol::text::{escape_for_display, is_control_or_format};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The name of the manifest on the wire; no file has it.
pub const MANIFEST_NAME: &str = "manifest.json";
/// The longest path of a file in bytes: a page of a view fits a str8.
pub const NAME_BYTES_MOST: usize = 255;
/// Names that stand for devices on Windows, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// So many characters of a name are shown in an error.
const SHOWN_CHARACTERS: usize = 80;

/// What a client takes at most from one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestLimits {
    /// Bytes of the manifest itself.
    pub manifest_bytes: u64,
    /// Files.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
}

impl Default for ManifestLimits {
    /// What the server has at most: 4,096 files of 512 MiB each and 4 GiB in all, and a manifest of 8 MiB, which is more
    /// than so many files need.
    fn default() -> Self {
        Self {
            manifest_bytes: 8 << 20,
            files: 4096,
            file_bytes: 512 << 20,
            total_bytes: 4 << 30,
        }
    }
}

/// One file of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Its path inside the resource's files, with `/` between parts; safe to be made on any disk (see [`name_fault`]).
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
}

/// The manifest of one resource, judged: its hash is the announced one, each name is safe and there once, and nothing is
/// over the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFilesManifest {
    files: Vec<ManifestFile>,
}

impl ClientFilesManifest {
    /// Reads and judges `manifest.json` of `resource`. `expected_sha256` is what FilesManifest announced.
    ///
    /// # Errors
    /// [`ManifestError`]: the first thing that is wrong with it.
    pub fn parse(
        bytes: &[u8],
        resource: &str,
        expected_sha256: &[u8; 32],
        limits: &ManifestLimits,
    ) -> Result<Self, ManifestError> {
        if bytes.len() as u64 > limits.manifest_bytes {
            return Err(ManifestError::TooLarge {
                bytes: bytes.len() as u64,
                most: limits.manifest_bytes,
            });
        }
        if Sha256::digest(bytes).as_slice() != expected_sha256 {
            return Err(ManifestError::OtherHash);
        }
        let document: Document = serde_json::from_slice(bytes)
            .map_err(|error| ManifestError::Malformed(escape_for_display(&error.to_string(), 200)))?;
        if document.resource != resource {
            return Err(ManifestError::OtherResource(document.resource));
        }
        if document.files.len() > limits.files {
            return Err(ManifestError::TooManyFiles {
                files: document.files.len(),
                most: limits.files,
            });
        }
        Ok(Self {
            files: judge(document.files, limits)?,
        })
    }

    /// Its files, in its order.
    #[must_use]
    pub fn files(&self) -> &[ManifestFile] {
        &self.files
    }
}

#[derive(Deserialize)]
struct Document {
    resource: String,
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    size: u64,
    sha256: String,
}

fn judge(entries: Vec<Entry>, limits: &ManifestLimits) -> Result<Vec<ManifestFile>, ManifestError> {
    let mut names = NameSet::default();
    let mut total = 0u64;
    let mut files = Vec::with_capacity(entries.len());
    for Entry { name, size, sha256 } in entries {
        if let Some(fault) = name_fault(&name).or_else(|| names.add(&name)) {
            return Err(ManifestError::Name { name, fault });
        }
        if size > limits.file_bytes {
            return Err(ManifestError::FileTooLarge {
                name,
                bytes: size,
                most: limits.file_bytes,
            });
        }
        total = total.saturating_add(size);
        if total > limits.total_bytes {
            return Err(ManifestError::TooMuch {
                most: limits.total_bytes,
            });
        }
        let Some(sha256) = hash_of(&sha256) else {
            return Err(ManifestError::BadHash { name });
        };
        files.push(ManifestFile { name, size, sha256 });
    }
    Ok(files)
}

/// 64 lower-case hex digits.
fn hash_of(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut hash = [0; 32];
    if pairs.len() != hash.len() {
        return None;
    }
    for (byte, &[high, low]) in hash.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(hash)
}

/// Why a name is not fit to be made on every client's disk; `None` when it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameFault {
    /// It is empty, or longer than 255 bytes.
    Length,
    /// It begins or ends with `/`, or holds `//`.
    EmptyPart,
    /// A part begins with a dot: `.`, `..` and hidden names.
    Dot,
    /// A control or format character, a backslash, or one of `< > : " | ? *`, which some systems do not have in names.
    Character(char),
    /// A part ends with a dot or a space, which some systems cut off.
    PartEnd,
    /// A part is the name of a device on some systems, like `con` or `nul.txt`.
    Device,
    /// It is the manifest's own name.
    Manifest,
    /// Another name is the same, or differs only in the case of letters.
    Duplicate,
    /// A part of it is the name of another file.
    FileAndFolder,
}

/// What is wrong with a name by itself.
#[must_use]
pub fn name_fault(name: &str) -> Option<NameFault> {
    if name.is_empty() || name.len() > NAME_BYTES_MOST {
        return Some(NameFault::Length);
    }
    let refused = |&character: &char| is_control_or_format(character) || "\\<>:\"|?*".contains(character);
    if let Some(character) = name.chars().find(refused) {
        return Some(NameFault::Character(character));
    }
    if name.eq_ignore_ascii_case(MANIFEST_NAME) {
        return Some(NameFault::Manifest);
    }
    name.split('/').find_map(part_fault)
}

fn part_fault(part: &str) -> Option<NameFault> {
    if part.is_empty() {
        Some(NameFault::EmptyPart)
    } else if part.starts_with('.') {
        Some(NameFault::Dot)
    } else if part.ends_with(['.', ' ']) {
        Some(NameFault::PartEnd)
    } else if is_device(part) {
        Some(NameFault::Device)
    } else {
        None
    }
}

fn is_device(part: &str) -> bool {
    let stem = part
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_lowercase();
    let numbered = |prefix| {
        stem.strip_prefix(prefix).is_some_and(|number| {
            let mut characters = number.chars();
            let digit = characters.next();
            characters.next().is_none() && digit.is_some_and(|digit| "0123456789¹²³".contains(digit))
        })
    };
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

/// Names that are to be on one disk together.
#[derive(Debug, Default)]
pub struct NameSet {
    /// As a disk that does not tell upper from lower case sees them.
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl NameSet {
    /// Adds a name; a fault when it cannot be beside those that are there already.
    pub fn add(&mut self, name: &str) -> Option<NameFault> {
        let name = name.to_lowercase();
        if self.folders.contains(&name) {
            return Some(NameFault::FileAndFolder);
        }
        for (end, _) in name.match_indices('/') {
            let folder = name.get(..end).unwrap_or_default();
            if self.files.contains(folder) {
                return Some(NameFault::FileAndFolder);
            }
            if !self.folders.contains(folder) {
                self.folders.insert(folder.to_owned());
            }
        }
        (!self.files.insert(name)).then_some(NameFault::Duplicate)
    }
}

impl fmt::Display for NameFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(out, "is not 1 to {NAME_BYTES_MOST} bytes long"),
            Self::EmptyPart => out.write_str("has an empty part"),
            Self::Dot => out.write_str("has a part that begins with a dot"),
            Self::Character(character) => write!(
                out,
                "holds '{}', which not every disk has in names",
                character.escape_debug()
            ),
            Self::PartEnd => out.write_str("has a part that ends with a dot or a space"),
            Self::Device => out.write_str("is the name of a device on Windows"),
            Self::Manifest => write!(out, "is the name of the manifest, {MANIFEST_NAME}"),
            Self::Duplicate => {
                out.write_str("is there twice, or differs from another only in upper and lower case")
            }
            Self::FileAndFolder => out.write_str("is both a file and a folder"),
        }
    }
}

/// Why a manifest is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// More bytes than the limit.
    TooLarge {
        /// Its bytes.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// It is not the one that the server announced.
    OtherHash,
    /// It is no JSON of the form that docs/protocol.md 2.7 shows; the text says where.
    Malformed(String),
    /// It is the manifest of another resource.
    OtherResource(String),
    /// More files than the limit.
    TooManyFiles {
        /// Its files.
        files: usize,
        /// The limit.
        most: usize,
    },
    /// A name that must not be made on a disk.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// A file over the limit.
    FileTooLarge {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// All files together are over the limit.
    TooMuch {
        /// The limit in bytes.
        most: u64,
    },
    /// A hash that is not 64 lower-case hex digits.
    BadHash {
        /// The file's name.
        name: String,
    },
}

impl fmt::Display for ManifestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &str| escape_for_display(name, SHOWN_CHARACTERS);
        match self {
            Self::TooLarge { bytes, most } => {
                write!(out, "the manifest has {bytes} bytes; {most} are taken")
            }
            Self::OtherHash => out.write_str(
                "the manifest is not the one that the server announced; it may just have changed, so wait for the next announcement",
            ),
            Self::Malformed(problem) => write!(out, "the manifest is malformed: {problem}"),
            Self::OtherResource(resource) => {
                write!(out, "the manifest is that of the resource \"{}\"", shown(resource))
            }
            Self::TooManyFiles { files, most } => {
                write!(out, "the manifest lists {files} files; {most} are taken")
            }
            Self::Name { name, fault } => write!(out, "the name \"{}\" {fault}", shown(name)),
            Self::FileTooLarge { name, bytes, most } => {
                write!(out, "\"{}\" has {bytes} bytes; {most} are taken", shown(name))
            }
            Self::TooMuch { most } => write!(out, "the files have more than {most} bytes together"),
            Self::BadHash { name } => {
                write!(out, "the hash of \"{}\" is not 64 lower-case hex digits", shown(name))
            }
        }
    }
}

impl std::error::Error for ManifestError {}

#[cfg(test)]
mod tests;
