//! The codec and the proofs of the wire protocol against fixtures, known answers and hostile input.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test by panicking"
)]
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

mod assertions;
mod ed25519;
mod fixtures;
mod hashes;
mod hostile;
mod json;
mod proofs;
mod queries;
mod round_trip;
mod strategies;
mod strictness;
mod texts;

use std::path::PathBuf;

/// One golden fixture: the datagram and its readable twin.
struct Fixture {
    name: String,
    datagram: Vec<u8>,
    twin: serde_json::Value,
}

impl Fixture {
    fn folder() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/fixtures/protocol")
    }

    fn load(name: &str) -> Self {
        let datagram =
            std::fs::read(Self::folder().join(format!("{name}.bin"))).expect("the fixture's bytes");
        let twin = std::fs::read(Self::folder().join(format!("{name}.json"))).expect("the fixture's twin");
        let twin = serde_json::from_slice(&twin).expect("the twin is JSON");
        Self {
            name: name.to_owned(),
            datagram,
            twin,
        }
    }

    fn names() -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(Self::folder())
            .expect("the folder of fixtures")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name in UTF-8")
            })
            .collect();
        names.sort();
        let twins: Vec<_> = names
            .iter()
            .filter_map(|name| name.strip_suffix(".json"))
            .collect();
        let datagrams: Vec<_> = names
            .iter()
            .filter_map(|name| name.strip_suffix(".bin"))
            .collect();
        assert_eq!(
            datagrams, twins,
            "every .bin has its .json and the other way round"
        );
        assert_eq!(names.len(), 2 * twins.len(), "nothing else lies in the folder");
        twins.into_iter().map(ToOwned::to_owned).collect()
    }

    /// A value of the twin under `intermediate`, as bytes of its hex.
    fn intermediate(&self, key: &str) -> Vec<u8> {
        unhex(
            self.twin["intermediate"][key]
                .as_str()
                .unwrap_or_else(|| panic!("{}: {key}", self.name)),
        )
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "whole bytes of hex: {hex}");
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hex digit") as u8;
    hex.as_bytes()
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn unhex_array<const N: usize>(hex: &str) -> [u8; N] {
    unhex(hex).try_into().expect("hex of the right length")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
