//! Ed25519 against the vectors of RFC 8032, and what only a strict verifier refuses.

use decitick_protocol::{credential, is_usable_key, verify_strict};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use crate::{unhex, unhex_array};

struct Known {
    seed: &'static str,
    key: &'static str,
    message: &'static str,
    signature: &'static str,
}

/// RFC 8032, 7.1: TEST 1, 2, 3 and SHA(abc).
const RFC_8032: [Known; 4] = [
    Known {
        seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        message: "",
        signature: concat!(
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    },
    Known {
        seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        message: "72",
        signature: concat!(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    },
    Known {
        seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        message: "af82",
        signature: concat!(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    },
    Known {
        seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        key: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        message: concat!(
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a",
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        signature: concat!(
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589",
            "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    },
];

/// The seed and message of the signatures below.
const SEED: [u8; 32] = [0x17; 32];
const KEY: &str = "31debe55d37c722768b137131caa6087080b2e0b60b94bd785d14575cfa498bc";
const MESSAGE: &[u8] = b"a message nobody signed";

/// Every encoding of a point of small order as a key, with an R and an S (its lowest byte, the others are 0) that satisfy
/// the plain equation for it when the key is read laxly.
const FORGED_FOR_SMALL_ORDER: [(&str, &str, u8); 14] = [
    (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "2f1132ca61ab38dff00f2fea3228f24c6c71d58085b80e47e19515cb27e8d047",
        4,
    ),
    (
        "0000000000000000000000000000000000000000000000000000000000000080",
        "f9e42d2edc81d23367967352b47e4856b82578634e6c1de72280ce8b60ce70c0",
        12,
    ),
    (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "385a3c6fda7b31ddb960a916becf71bef035c571313e6a5e9d0a26b6aceb6c93",
        20,
    ),
    (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "d4b4f5784868c3020403246717ec169ff79e26608ea126a1ab69ee77d1b16712",
        3,
    ),
    (
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "d4b4f5784868c3020403246717ec169ff79e26608ea126a1ab69ee77d1b16712",
        3,
    ),
    (
        "0100000000000000000000000000000000000000000000000000000000000080",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "2f1132ca61ab38dff00f2fea3228f24c6c71d58085b80e47e19515cb27e8d047",
        4,
    ),
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edc876d6831fd2105d0b4389ca2e283166469289146e2ce06faefe98b22548df",
        5,
    ),
    (
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
    (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022",
        2,
    ),
];

/// Signatures by an honest key whose R is the identity, in its canonical encoding and in others.
const IDENTITY_AS_R: [(&str, &str); 4] = [
    (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "3581596ed6b5a4e109132e85860a05ac83f7f1d5c31e096a0b88592c3f687303",
    ),
    (
        "0100000000000000000000000000000000000000000000000000000000000080",
        "b05611f22770c3a03d2dd47abe3f3ced1573163fb20bc8a0b9e9560cace6cf0b",
    ),
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "4271180f145cbb69a7ceec4d2530f321d8e581ec47c15e50c3bdfaa69285aa0f",
    ),
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "11f5bab69616dcec61eae66f1a380fcee7d819891812e3c297a04c373382bf03",
    ),
];

#[test]
fn the_vectors_of_rfc_8032_sign_and_verify() {
    for known in RFC_8032 {
        let message = unhex(known.message);
        let signature = unhex_array::<64>(known.signature);
        let key = unhex_array::<32>(known.key);
        let signer = SigningKey::from_bytes(&unhex_array(known.seed));
        assert_eq!(credential::public_key(&unhex_array(known.seed)), key);
        assert_eq!(signer.sign(&message).to_bytes(), signature);
        assert!(verify_strict(&key, &message, &signature));
    }
}

#[test]
fn one_changed_bit_anywhere_makes_a_signature_fail() {
    let known = &RFC_8032[2];
    let (key, message) = (unhex_array::<32>(known.key), unhex(known.message));
    let signature = unhex_array::<64>(known.signature);
    for bit in 0..512 {
        let mut changed = signature;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(
            !verify_strict(&key, &message, &changed),
            "bit {bit} of the signature"
        );
    }
    for bit in 0..256 {
        let mut changed = key;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(
            !verify_strict(&changed, &message, &signature),
            "bit {bit} of the key"
        );
    }
    for bit in 0..16 {
        let mut changed = message.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(
            !verify_strict(&key, &changed, &signature),
            "bit {bit} of the message"
        );
    }
}

#[test]
fn keys_of_small_order_are_refused_though_their_equation_holds() {
    let mut accepted_by_the_plain_equation = 0;
    for (key, r, s) in FORGED_FOR_SMALL_ORDER {
        let key = unhex_array::<32>(key);
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&unhex(r));
        signature[32] = s;
        assert!(!verify_strict(&key, MESSAGE, &signature), "{key:02x?}");
        assert!(!verify_strict(&key, b"", &[0; 64]), "{key:02x?}");
        let lax = VerifyingKey::from_bytes(&key).is_ok_and(|key| {
            ed25519_dalek::Verifier::verify(&key, MESSAGE, &Signature::from_bytes(&signature)).is_ok()
        });
        accepted_by_the_plain_equation += u32::from(lax);
    }
    assert!(
        accepted_by_the_plain_equation >= 7,
        "the forgeries would pass a verifier that is not strict"
    );
}

#[test]
fn an_r_of_small_order_is_refused_in_every_encoding() {
    for (r, s) in IDENTITY_AS_R {
        let signature = unhex_array::<64>(&format!("{r}{s}"));
        assert!(!verify_strict(&unhex_array(KEY), MESSAGE, &signature), "R {r}");
    }
    let (r, s) = IDENTITY_AS_R[0];
    let signature = Signature::from_bytes(&unhex_array(&format!("{r}{s}")));
    let key = VerifyingKey::from_bytes(&unhex_array(KEY)).expect("an honest key");
    assert!(
        ed25519_dalek::Verifier::verify(&key, MESSAGE, &signature).is_ok(),
        "the first would pass a verifier that is not strict"
    );
}

#[test]
fn an_s_at_or_above_the_group_order_is_refused() {
    let signature = SigningKey::from_bytes(&SEED).sign(MESSAGE).to_bytes();
    let key = unhex_array(KEY);
    assert!(verify_strict(&key, MESSAGE, &signature));
    let with_order_added = concat!(
        "1ed756ab1953a033e8f74b72da0178a39a2991736feb2c6e7b83c45dcb192f2e",
        "c04dc762a38592cec8f8d527cd2d376394901ca742c770b63230f5ca1ad95213"
    );
    assert_eq!(unhex(with_order_added)[..32], signature[..32]);
    assert!(!verify_strict(&key, MESSAGE, &unhex_array(with_order_added)));
    for high_bit in [0x20, 0x40, 0x80] {
        let mut changed = signature;
        changed[63] |= high_bit;
        assert!(!verify_strict(&key, MESSAGE, &changed));
    }
}

#[test]
fn points_that_are_not_canonical_are_refused_as_key_and_as_r() {
    let signature = SigningKey::from_bytes(&SEED).sign(MESSAGE).to_bytes();
    for low in 0xED..=0xFF {
        for high in [0x7F, 0xFF] {
            let mut point = [0xFF; 32];
            (point[0], point[31]) = (low, high);
            assert!(!verify_strict(&point, MESSAGE, &signature));
            let mut changed = signature;
            changed[..32].copy_from_slice(&point);
            assert!(!verify_strict(&unhex_array(KEY), MESSAGE, &changed));
        }
    }
}

#[test]
fn a_key_is_usable_when_something_signed_with_it_could_pass() {
    for known in RFC_8032 {
        assert!(is_usable_key(&unhex_array(known.key)), "{}", known.key);
    }
    for (key, ..) in FORGED_FOR_SMALL_ORDER {
        assert!(!is_usable_key(&unhex_array(key)), "{key} is of small order");
    }
    let mut no_point = [0; 32];
    no_point[0] = 2;
    assert!(!is_usable_key(&no_point), "no point of the curve has y = 2");
    // y = p + 3 is a point, y = 3, in an encoding that is not canonical.
    let mut three = [0; 32];
    three[0] = 3;
    let mut again = [0xFF; 32];
    (again[0], again[31]) = (0xF0, 0x7F);
    assert!(is_usable_key(&three));
    assert!(VerifyingKey::from_bytes(&again).is_ok(), "a lax reader takes it");
    assert!(!is_usable_key(&again));
}
