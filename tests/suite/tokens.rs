//! Tokens as an identity site makes them, for the tests that need one.

use base64ct::{Base64UrlUnpadded, Encoding};
use decitick_components::settings::{AuthProvider, ProviderKey};
use ed25519_dalek::{Signer, SigningKey};

/// Providers for the settings, by their id and the seed of their key.
pub(crate) fn providers(sites: &[(&str, [u8; 32])]) -> Vec<AuthProvider> {
    sites
        .iter()
        .map(|(id, seed)| AuthProvider {
            id: (*id).to_owned(),
            key: ProviderKey(SigningKey::from_bytes(seed).verifying_key().to_bytes()),
        })
        .collect()
}

/// The claims of a player called `ada`.
pub(crate) fn claims(server_key: &[u8; 32], issuer: &str, nonce: &str, expires: u64) -> String {
    let audience: String = server_key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(r#"{{"iss":"{issuer}","aud":"{audience}","sub":"ada","exp":{expires},"nonce":"{nonce}"}}"#)
}

/// Signs claims with the key of a site.
pub(crate) fn signed(seed: &[u8; 32], claims: &str) -> String {
    let head = Base64UrlUnpadded::encode_string(br#"{"alg":"EdDSA","typ":"JWT"}"#);
    let message = format!("{head}.{}", Base64UrlUnpadded::encode_string(claims.as_bytes()));
    let signature = SigningKey::from_bytes(seed).sign(message.as_bytes());
    format!(
        "{message}.{}",
        Base64UrlUnpadded::encode_string(&signature.to_bytes())
    )
}
