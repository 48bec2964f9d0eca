//! Login assertions: what is accepted, and which fault each other one has (docs/protocol.md 1.5).

mod claims;
mod foreign;
mod forms;
mod mutations;
mod order;

use base64ct::{Base64UrlUnpadded, Encoding};
use decitick_protocol::{
    AssertionFault, CompactJwt, Expectations, ExpectedTicket, Identity, Issuer, judge_assertion,
};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Map, Value, json};

use crate::hex;

const SEED: [u8; 32] = [0x21; 32];
const SERVER: [u8; 32] = [0xAB; 32];
const PROVIDER: &str = "example";
const OTHER_PROVIDER: &str = "other";
const TICKET: &str = "ticket-01";
const NOW: u64 = 1_700_000_000;
const HEADER: &str = r#"{"typ":"JWT","alg":"EdDSA"}"#;

/// A token before it is signed, and the ticket of the connection it comes from. As made, it is good.
#[derive(Clone)]
struct Draft {
    header: String,
    claims: Map<String, Value>,
    /// Stands in the place of the claims' JSON.
    payload: Option<String>,
    signer: SigningKey,
    ticket: Option<(&'static str, &'static str)>,
}

impl Draft {
    fn good() -> Self {
        let claims = json!({
            "iss": PROVIDER, "aud": hex(&SERVER), "sub": "ada", "iat": NOW, "exp": NOW + 300, "nonce": TICKET,
        });
        Self {
            header: HEADER.into(),
            claims: claims.as_object().expect("an object").clone(),
            payload: None,
            signer: SigningKey::from_bytes(&SEED),
            ticket: Some((PROVIDER, TICKET)),
        }
    }

    fn with(claim: &str, value: impl Into<Value>) -> Self {
        let mut draft = Self::good();
        draft.claims.insert(claim.into(), value.into());
        draft
    }

    fn without(claim: &str) -> Self {
        let mut draft = Self::good();
        draft.claims.remove(claim);
        draft
    }

    fn with_header(header: impl Into<String>) -> Self {
        Self {
            header: header.into(),
            ..Self::good()
        }
    }

    fn with_payload(payload: impl Into<String>) -> Self {
        Self {
            payload: Some(payload.into()),
            ..Self::good()
        }
    }

    /// The good claims with the text of one of them put in as it stands: for what a `Value` cannot hold.
    fn with_raw(claim: &str, text: &str) -> Self {
        let draft = Self::without(claim);
        let mut payload = draft.claims_text();
        payload.pop();
        Self::with_payload(format!("{payload},\"{claim}\":{text}}}"))
    }

    fn claims_text(&self) -> String {
        Value::Object(self.claims.clone()).to_string()
    }

    fn token(&self) -> String {
        let claims = self.claims_text();
        let payload = self.payload.as_ref().unwrap_or(&claims);
        sign(&self.signer, self.header.as_bytes(), payload.as_bytes())
    }

    fn judge(&self) -> Result<Identity, AssertionFault> {
        judge(&self.token(), self.ticket)
    }
}

fn sign(signer: &SigningKey, header: &[u8], payload: &[u8]) -> String {
    let [header, payload] = [header, payload].map(Base64UrlUnpadded::encode_string);
    let signed = format!("{header}.{payload}");
    let signature = Base64UrlUnpadded::encode_string(&signer.sign(signed.as_bytes()).to_bytes());
    format!("{signed}.{signature}")
}

/// Judges a token with two configured providers, whose keys differ.
fn judge(token: &str, ticket: Option<(&str, &str)>) -> Result<Identity, AssertionFault> {
    let token = CompactJwt::parse(token).expect("a token that the wire carries");
    let keys = [SEED, [0x22; 32]].map(|seed| SigningKey::from_bytes(&seed).verifying_key().to_bytes());
    let issuers = [OTHER_PROVIDER, PROVIDER]
        .into_iter()
        .zip(keys.iter().rev())
        .map(|(id, key)| Issuer { id, key });
    let expected = Expectations {
        server_key: &SERVER,
        unix_seconds: NOW,
        ticket: ticket.map(|(provider, ticket)| ExpectedTicket { provider, ticket }),
    };
    judge_assertion(&token, issuers, &expected)
}

fn ada() -> Result<Identity, AssertionFault> {
    Ok(Identity {
        provider: PROVIDER.into(),
        subject: "ada".into(),
    })
}
