//! The operating system's random bytes.

use std::{error::Error, fmt};

use decitick_components::entropy::Entropy;

/// Tops the pool up from the operating system's generator.
///
/// # Errors
/// When the system gives no random bytes; the server cannot go on without.
pub fn refill(entropy: &mut Entropy) -> Result<(), EntropyError> {
    entropy.refill(getrandom::fill).map_err(EntropyError)
}

/// Sixteen bytes for the key of this process's cookies.
///
/// # Errors
/// When the system gives no random bytes.
pub fn cookie_key() -> Result<[u8; 16], EntropyError> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(EntropyError)?;
    Ok(key)
}

/// The operating system gave no random bytes.
#[derive(Debug)]
pub struct EntropyError(getrandom::Error);

impl fmt::Display for EntropyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the operating system gives no random bytes: {}; a server cannot run without them",
            self.0
        )
    }
}

impl Error for EntropyError {}
