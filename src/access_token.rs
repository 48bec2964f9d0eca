//! Files that hold a token: `remote_token`, what a program must show to ask, and `page_token`, of which all that lets
//! into the live page is made. Each is made at the first start that needs it and read at every other; whatever another
//! user could have read or put there stops the start.

use std::{
    fmt,
    io::{self, Read},
    path::{Path, PathBuf},
};

use decitick_components::secret::Secret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{
    leftovers,
    private_file::{self, PrivateFault},
};

/// A file in a server directory that holds a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenFile {
    /// Its name.
    pub name: &'static str,
    /// What the name of one that is still being written starts with.
    temporary_prefix: &'static str,
}

/// The token of the remote endpoint.
pub const REMOTE: TokenFile = TokenFile {
    name: "remote_token",
    temporary_prefix: ".remote_token.",
};
/// The token of the live page.
pub const PAGE: TokenFile = TokenFile {
    name: "page_token",
    temporary_prefix: ".page_token.",
};

/// Random bytes, of which the file holds the hex digits.
const RANDOM_BYTES: usize = 32;
const DIGITS: usize = 2 * RANDOM_BYTES;

/// The token. It is never printed.
#[derive(Debug)]
pub struct AccessToken(Secret<String>);

impl AccessToken {
    /// This token; what it looks like is said by [`load_or_create`].
    #[must_use]
    pub const fn of(token: String) -> Self {
        Self(Secret::new(token))
    }

    /// Whether this is the token; compared in constant time.
    #[must_use]
    pub fn is(&self, sent: &str) -> bool {
        Secret::new(sent.as_bytes()) == Secret::new(self.0.expose().as_bytes())
    }

    /// The HMAC-SHA256 of a message under this token: what shows that a message is of someone who has it. Whoever makes
    /// messages of several kinds lets each kind begin with a word of its own.
    #[must_use]
    pub fn authenticate(&self, message: &[u8]) -> [u8; 32] {
        // Keys longer than a block, as 64 digits are not, would be hashed first: every length is taken.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.expose().as_bytes()) else {
            return [0; 32];
        };
        mac.update(message);
        mac.finalize().into_bytes().into()
    }
}

/// Reads a token of a server directory; `None` when there is no such file.
///
/// # Errors
/// [`TokenError`], which names the file and the mend.
pub fn load(directory: &Path, file: TokenFile) -> Result<Option<AccessToken>, TokenError> {
    let path = directory.join(file.name);
    read(&path).map_err(|fault| TokenError { path, fault })
}

/// Reads a token of a server directory, and makes it when there is none: 64 lower-case hex digits and a line end, in a
/// file of mode 0600.
///
/// # Errors
/// [`TokenError`], which names the file and the mend.
pub fn load_or_create(directory: &Path, file: TokenFile) -> Result<AccessToken, TokenError> {
    let path = directory.join(file.name);
    let error = |fault| TokenError {
        path: path.clone(),
        fault,
    };
    if let Some(token) = read(&path).map_err(error)? {
        leftovers::remove(directory, file.temporary_prefix);
        return Ok(token);
    }
    create(directory, file).map_err(|fault| error(TokenFault::Create(fault)))?;
    // Read what won: another server may have been faster.
    read(&path)
        .map_err(error)?
        .ok_or_else(|| error(TokenFault::Create(io::ErrorKind::NotFound.into())))
}

fn read(path: &Path) -> Result<Option<AccessToken>, TokenFault> {
    let Some((file, _)) = private_file::open(path)? else {
        return Ok(None);
    };
    let mut text = String::new();
    file.take(DIGITS as u64 + 3)
        .read_to_string(&mut text)
        .map_err(TokenFault::Unreadable)?;
    let token = text.strip_suffix('\n').unwrap_or(&text);
    let token = token.strip_suffix('\r').unwrap_or(token);
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if token.len() != DIGITS || !token.bytes().all(hex) {
        return Err(TokenFault::Content);
    }
    Ok(Some(AccessToken::of(token.to_owned())))
}

impl From<PrivateFault> for TokenFault {
    fn from(fault: PrivateFault) -> Self {
        match fault {
            PrivateFault::SymbolicLink => Self::SymbolicLink,
            PrivateFault::NotAFile => Self::NotAFile,
            PrivateFault::OtherOwner { owner, user } => Self::OtherOwner { owner, user },
            PrivateFault::Permissions { mode } => Self::Permissions { mode },
            PrivateFault::Unreadable(error) => Self::Unreadable(error),
        }
    }
}

fn create(directory: &Path, file: TokenFile) -> io::Result<()> {
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("{digits}\n");
    private_file::create(directory, file.name, file.temporary_prefix, line.as_bytes())
}

/// Why there is no token.
#[derive(Debug)]
pub struct TokenError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: TokenFault,
}

/// What is wrong with a token file.
#[derive(Debug)]
pub enum TokenFault {
    /// It is a symbolic link.
    SymbolicLink,
    /// It is a directory, a device or the like.
    NotAFile,
    /// It belongs to another user than the server runs as.
    OtherOwner {
        /// The owner's user id.
        owner: u32,
        /// The server's.
        user: u32,
    },
    /// Group or others may do something with it.
    Permissions {
        /// The permission bits.
        mode: u32,
    },
    /// It may not be read, or reading failed.
    Unreadable(io::Error),
    /// It does not hold 64 hex digits.
    Content,
    /// It could not be made.
    Create(io::Error),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.fault {
            TokenFault::SymbolicLink => {
                write!(
                    f,
                    "{path}: the token file is a symbolic link; it must be a file, no link: remove it, and the next start makes one"
                )
            }
            TokenFault::NotAFile => write!(f, "{path}: the token file is no regular file; remove it"),
            TokenFault::OtherOwner { owner, user } => write!(
                f,
                "{path}: the token file belongs to user {owner} and the server runs as user {user}; remove it, and the next start makes a new one"
            ),
            TokenFault::Permissions { mode } => write!(
                f,
                "{path}: the token file has mode {mode:04o}, so others may know the token; remove it, and the next start makes a new one"
            ),
            TokenFault::Unreadable(error) => write!(
                f,
                "{path}: the token file cannot be read: {error}; it must be a file that the server's user may read"
            ),
            TokenFault::Content => write!(
                f,
                "{path}: the token file does not hold {DIGITS} lower-case hex digits; remove it, and the next start makes a new one"
            ),
            TokenFault::Create(error) => write!(
                f,
                "{path}: the token file cannot be made: {error}; let the server's user write to the directory"
            ),
        }
    }
}

impl std::error::Error for TokenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            TokenFault::Unreadable(error) | TokenFault::Create(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    };

    use super::*;

    #[test]
    fn a_token_is_made_once_for_its_owner_alone_and_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let made = load_or_create(directory.path(), REMOTE).unwrap();
        let path = directory.path().join(REMOTE.name);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(text.len() == 65 && made.is(text.trim_end()));
        let again = load_or_create(directory.path(), REMOTE).unwrap();
        assert!(again.is(text.trim_end()) && !again.is("") && !again.is(&text));
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            1,
            "nothing beside"
        );
        assert_eq!(format!("{again:?}"), "AccessToken(Secret(redacted))");
        let other = tempfile::tempdir().unwrap();
        assert!(!load_or_create(other.path(), REMOTE).unwrap().is(text.trim_end()));
    }

    #[test]
    fn each_file_has_a_token_of_its_own_and_each_message_and_token_a_code_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        assert!(load(directory.path(), PAGE).unwrap().is_none());
        let [remote, page] = [REMOTE, PAGE].map(|file| load_or_create(directory.path(), file).unwrap());
        let text = fs::read_to_string(directory.path().join(PAGE.name)).unwrap();
        assert!(page.is(text.trim_end()) && !remote.is(text.trim_end()));
        assert!(load(directory.path(), PAGE).unwrap().unwrap().is(text.trim_end()));
        let code = page.authenticate(b"a message");
        assert_eq!(code, page.authenticate(b"a message"));
        assert!(code != page.authenticate(b"a messagf") && code != remote.authenticate(b"a message"));
    }

    #[test]
    fn servers_that_start_at_once_share_one_token() {
        let directory = tempfile::tempdir().unwrap();
        let starts: Vec<_> = (0..8)
            .map(|_| {
                let directory = directory.path().to_owned();
                std::thread::spawn(move || load_or_create(&directory, REMOTE).unwrap())
            })
            .collect();
        let tokens: Vec<AccessToken> = starts.into_iter().map(|start| start.join().unwrap()).collect();
        let text = fs::read_to_string(directory.path().join(REMOTE.name)).unwrap();
        assert!(tokens.iter().all(|token| token.is(text.trim_end())));
    }

    #[test]
    fn a_token_that_others_may_know_or_that_is_none_stops_the_start_with_the_mend() {
        let refused = |prepare: &dyn Fn(&Path)| {
            let directory = tempfile::tempdir().unwrap();
            prepare(&directory.path().join(REMOTE.name));
            load_or_create(directory.path(), REMOTE).unwrap_err().to_string()
        };
        let put = |path: &Path, text: &str, mode: u32| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let token = "0123456789abcdef".repeat(4);
        for mode in [0o640, 0o604, 0o660, 0o601] {
            let told = refused(&|path| put(path, &token, mode));
            assert!(
                told.contains(&format!("mode {mode:04o}")) && told.contains("remove it"),
                "{told}"
            );
        }
        for text in [
            "",
            "abc",
            &token.to_uppercase(),
            &format!("{token}0"),
            &format!("{token}\n\n"),
        ] {
            let told = refused(&|path| put(path, text, 0o600));
            assert!(told.contains("64 lower-case hex digits"), "{told}");
        }
        let told = refused(&|path| fs::create_dir(path).unwrap());
        assert!(told.contains("no regular file"), "{told}");
        let told = refused(&|path| {
            let elsewhere = path.with_file_name("elsewhere");
            put(&elsewhere, &token, 0o600);
            symlink(elsewhere, path).unwrap();
        });
        assert!(told.contains("no link"), "{told}");
    }
}
