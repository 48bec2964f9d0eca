//! The hashes under the proofs against the known answers of their specifications.

use std::hash::Hasher;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use siphasher::sip::SipHasher24;

use crate::{hex, unhex};

fn hmac_sha256(key: &[u8], message: &[u8]) -> String {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    hmac.update(message);
    hex(&hmac.finalize().into_bytes())
}

#[test]
fn hmac_sha256_gives_the_answers_of_rfc_4231() {
    let ascending: Vec<u8> = (1..=25).collect();
    let cases: [(&[u8], &[u8], &str); 7] = [
        (
            &[0x0B; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xAA; 20],
            &[0xDD; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        ),
        (
            &ascending,
            &[0xCD; 50],
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
        ),
        // The RFC gives the first 16 bytes of this one.
        (
            &[0x0C; 20],
            b"Test With Truncation",
            "a3b6167473100ee06e0c796c2955552b",
        ),
        (
            &[0xAA; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
        (
            &[0xAA; 131],
            b"This is a test using a larger than block-size key and a larger than block-size data. \
              The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        ),
    ];
    for (key, message, answer) in cases {
        assert_eq!(hmac_sha256(key, message)[..answer.len()], *answer);
    }
}

#[test]
fn pbkdf2_gives_the_answers_of_rfc_7914() {
    let cases: [(&[u8], &[u8], u32, &str); 2] = [
        (
            b"passwd",
            b"salt",
            1,
            concat!(
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc",
                "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
            ),
        ),
        (
            b"Password",
            b"NaCl",
            80_000,
            concat!(
                "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56",
                "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
            ),
        ),
    ];
    for (password, salt, rounds, answer) in cases {
        let mut key = [0; 64];
        pbkdf2::pbkdf2_hmac::<Sha256>(password, salt, rounds, &mut key);
        assert_eq!(hex(&key), answer);
    }
}

#[test]
fn siphash_2_4_gives_the_answers_of_its_reference() {
    let key: [u8; 16] = std::array::from_fn(|index| index as u8);
    let input: Vec<u8> = (0..15).collect();
    for (length, answer) in [
        (0, "310e0edd47db6f72"),
        (1, "fd67dc93c539f874"),
        (2, "5a4fa9d909806c0d"),
        (15, "e545be4961ca29a1"),
    ] {
        let hash = SipHasher24::new_with_key(&key).hash(&input[..length]);
        assert_eq!(hash.to_le_bytes().as_slice(), unhex(answer));
        let mut streamed = SipHasher24::new_with_key(&key);
        streamed.write(&input[..length]);
        assert_eq!(streamed.finish(), hash);
    }
}

#[test]
fn sha256_gives_the_answers_of_fips_180() {
    assert_eq!(
        hex(&Sha256::digest(b"abc")),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}
