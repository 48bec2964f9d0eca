//! The site's key, and the assertions that it signs.
//!
//! The library here shares no code with the one that judges assertions, so each is a check of the other.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use ed25519_compact::{KeyPair, Seed};
use jwt_compact::{AlgorithmExt, Claims, Header, alg::Ed25519};
use serde::Serialize;

/// Seconds that an assertion is good for.
pub(crate) const LIFETIME: u64 = 300;
/// Bytes of the longest id of a site, and of the longest account name. With both at their longest, and the longest
/// ticket, an assertion still is no longer than the 1,024 bytes that the wire carries.
pub(crate) const NAME_MAX: usize = 64;

/// What the claims of an assertion are called on the wire.
#[derive(Serialize)]
struct Assertion<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    iat: u64,
    exp: u64,
    nonce: &'a str,
}

/// The key pair of a site, and the id that it signs under.
pub(crate) struct SiteKey {
    pair: KeyPair,
    id: String,
}

impl SiteKey {
    /// The key in a file of 32 bytes, which is made when it is not there.
    pub(crate) fn load_or_create(path: &Path, id: &str) -> Result<Self, String> {
        if !is_name(id) {
            return Err(format!("--id: 1 to {NAME_MAX} bytes without control characters"));
        }
        let seed = match create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
            made => made,
        };
        let seed = seed.map_err(|error| {
            format!(
                "the key file {}: {error}; name another with --key-file",
                path.display()
            )
        })?;
        Ok(Self::from_seed(seed, id))
    }

    pub(crate) fn from_seed(seed: [u8; 32], id: &str) -> Self {
        Self {
            pair: KeyPair::from_seed(Seed::new(seed)),
            id: id.to_owned(),
        }
    }

    /// What the assertions say who issued them.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The public key, which servers verify with.
    pub(crate) fn public_key(&self) -> [u8; 32] {
        *self.pair.pk
    }

    /// The entry of `auth.providers` for this site.
    pub(crate) fn configuration(&self) -> String {
        format!("(id: {:?}, key: \"{}\")", self.id, hex(&self.public_key()))
    }

    /// An assertion in compact form: `subject` is who that is, for the server with this key in hexadecimal digits and
    /// the connection with this ticket.
    pub(crate) fn assertion(
        &self,
        server: &str,
        ticket: &str,
        subject: &str,
        unix_seconds: u64,
    ) -> Option<String> {
        let claims = Claims::new(Assertion {
            iss: &self.id,
            aud: server,
            sub: subject,
            iat: unix_seconds,
            exp: unix_seconds.saturating_add(LIFETIME),
            nonce: ticket,
        });
        Ed25519.token(&Header::empty(), &claims, &self.pair.sk).ok()
    }
}

/// Whether a text may be the id of a site or the name of an account.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

fn create(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(io::Error::other)?;
    file.write_all(&seed)?;
    file.sync_all()?;
    Ok(seed)
}

fn read(path: &Path) -> io::Result<[u8; 32]> {
    let mut bytes = Vec::new();
    File::open(path)?.take(33).read_to_end(&mut bytes)?;
    bytes
        .try_into()
        .map_err(|_| io::Error::other("it does not have 32 bytes"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use decitick_protocol::{
        AssertionFault, CompactJwt, Expectations, ExpectedTicket, Issuer, judge_assertion,
    };

    use super::*;

    const NOW: u64 = 1_700_000_000;

    fn judge(token: &str, key: &SiteKey, ticket: &str, unix_seconds: u64) -> Result<String, AssertionFault> {
        let issuer = Issuer {
            id: &key.id,
            key: &key.public_key(),
        };
        let expected = Expectations {
            server_key: &[0xA5; 32],
            unix_seconds,
            ticket: Some(ExpectedTicket {
                provider: &key.id,
                ticket,
            }),
        };
        judge_assertion(&CompactJwt::parse(token).unwrap(), [issuer], &expected)
            .map(|identity| identity.subject)
    }

    #[test]
    fn the_server_accepts_an_assertion_for_300_seconds() {
        let key = SiteKey::from_seed([7; 32], "example");
        let token = key.assertion(&"a5".repeat(32), "ticket", "ada", NOW).unwrap();
        assert_eq!(judge(&token, &key, "ticket", NOW), Ok("ada".into()));
        assert_eq!(judge(&token, &key, "ticket", NOW + 299), Ok("ada".into()));
        assert_eq!(
            judge(&token, &key, "ticket", NOW + 300),
            Err(AssertionFault::Expired)
        );
        assert_eq!(judge(&token, &key, "other", NOW), Err(AssertionFault::Ticket));
        let other = key.assertion(&"a6".repeat(32), "ticket", "ada", NOW).unwrap();
        assert_eq!(judge(&other, &key, "ticket", NOW), Err(AssertionFault::Audience));
        let foreign = SiteKey::from_seed([8; 32], "example");
        assert_eq!(
            judge(&token, &foreign, "ticket", NOW),
            Err(AssertionFault::Invalid)
        );
    }

    #[test]
    fn the_longest_assertion_still_fits_the_wire() {
        // A quotation mark takes two bytes in JSON, more than any other character that a name may have.
        let longest = "\"".repeat(NAME_MAX);
        let key = SiteKey::from_seed([7; 32], &longest);
        let ticket = "t".repeat(128);
        let token = key.assertion(&"a5".repeat(32), &ticket, &longest, NOW).unwrap();
        assert_eq!(judge(&token, &key, &ticket, NOW), Ok(longest));
    }

    #[test]
    fn a_key_is_made_once_for_its_owner_alone_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("site.key");
        let first = SiteKey::load_or_create(&path, "example").unwrap();
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(
            (metadata.len(), metadata.permissions().mode() & 0o777),
            (32, 0o600)
        );
        let again = SiteKey::load_or_create(&path, "example").unwrap();
        assert_eq!(first.public_key(), again.public_key());
        let line = again.configuration();
        assert_eq!(
            line,
            format!("(id: \"example\", key: \"{}\")", hex(&first.public_key()))
        );
    }

    #[test]
    fn a_key_file_of_another_length_and_a_bad_id_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("site.key");
        for length in [0, 31, 33] {
            std::fs::write(&path, vec![1; length]).unwrap();
            let error = SiteKey::load_or_create(&path, "example").err().unwrap();
            assert!(
                error.contains("site.key") && error.contains("32 bytes"),
                "{error}"
            );
        }
        for id in ["", "a\n", &"x".repeat(NAME_MAX + 1)] {
            assert!(SiteKey::load_or_create(&path, id).is_err_and(|error| error.starts_with("--id")));
        }
    }
}
