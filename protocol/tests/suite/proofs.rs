//! Every signed and hashed value of the fixtures comes out of this crate's own code, and only the right one verifies.

use decitick_protocol::credential::{self, CREDENTIAL_CONTEXT};
use decitick_protocol::password::{self, PASSWORD_CONTEXT};
use decitick_protocol::seal::{HELLO_CONTEXT, QUERY_CONTEXT, REJECT_CONTEXT, signed_message};
use decitick_protocol::*;

use crate::{Fixture, hex};

fn array<const N: usize>(bytes: Vec<u8>) -> [u8; N] {
    bytes.try_into().expect("the right length")
}

fn identity_of(fixture: &Fixture) -> ServerIdentity {
    ServerIdentity::from_seed(&array(fixture.intermediate("server_seed")))
}

#[test]
fn contexts_have_their_bytes_and_lengths() {
    assert_eq!(hex(HELLO_CONTEXT), "446172716c696e654d502068656c6c6f00");
    assert_eq!(hex(REJECT_CONTEXT), "446172716c696e654d502072656a65637400");
    assert_eq!(hex(QUERY_CONTEXT), "446172716c696e654d5020717565727900");
    assert_eq!(
        hex(CREDENTIAL_CONTEXT),
        "446172716c696e654d502063726564656e7469616c00"
    );
    assert_eq!(hex(PASSWORD_CONTEXT), "446172716c696e654d502070617373776f726400");
}

#[test]
fn sealed_fixtures_come_out_of_our_own_signing() {
    let mut seen = 0;
    for name in Fixture::names() {
        let fixture = Fixture::load(&name);
        let hello = fixture.twin["packet"] == "ServerHello";
        if !hello && fixture.twin["packet"] != "ConnectReject" {
            continue;
        }
        seen += 1;
        let identity = identity_of(&fixture);
        let nonce = array(fixture.intermediate("client_nonce"));
        let context = if hello {
            HELLO_CONTEXT.as_slice()
        } else {
            REJECT_CONTEXT
        };
        assert_eq!(fixture.intermediate("context"), context, "{name}");
        assert_eq!(
            signed_message(&fixture.datagram, &nonce).expect("a signed packet"),
            fixture.intermediate("signed_message"),
            "{name}"
        );

        let mut datagram = fixture.datagram.clone();
        let end = datagram.len();
        datagram[end - 96..].fill(0);
        if hello {
            identity.seal_hello(&nonce, &mut datagram)
        } else {
            identity.seal_reject(&nonce, &mut datagram)
        }
        .expect("a packet of the kind");
        assert_eq!(datagram, fixture.datagram, "{name}");
        assert_eq!(datagram[end - 64..], fixture.intermediate("signature"), "{name}");

        let verify = if hello { verify_hello } else { verify_reject };
        let (own, other) = (identity.public_key(), [7; 32]);
        assert!(verify(&datagram, &nonce, None), "{name}");
        assert!(verify(&datagram, &nonce, Some(&own)), "{name}");
        assert!(
            !verify(&datagram, &nonce, Some(&other)),
            "{name}: another server was expected"
        );
        assert!(!verify(&datagram, &[0; 32], None), "{name}: another nonce");
        for at in 0..end {
            let mut changed = datagram.clone();
            changed[at] ^= 1;
            assert!(!verify(&changed, &nonce, None), "{name}: byte {at}");
        }
        let other_kind = if hello { verify_reject } else { verify_hello };
        assert!(!other_kind(&datagram, &nonce, None), "{name}");
        assert!(!verify(&datagram[..end - 1], &nonce, None), "{name}");
        assert!(!verify(&[], &nonce, None));
    }
    assert!(seen >= 6, "the fixtures hold signed packets");
}

#[test]
fn only_a_packet_of_its_kind_is_sealed() {
    let identity = ServerIdentity::from_seed(&[3; 32]);
    let mut hello = Fixture::load("server_hello").datagram;
    let mut reject = Fixture::load("connect_reject_banned").datagram;
    let before = (hello.clone(), reject.clone());
    assert_eq!(
        identity.seal_reject(&[0; 32], &mut hello),
        Err(SealError::WrongPacket)
    );
    assert_eq!(
        identity.seal_hello(&[0; 32], &mut reject),
        Err(SealError::WrongPacket)
    );
    assert_eq!(
        identity.seal_hello(&[0; 32], &mut hello[..152]),
        Err(SealError::WrongPacket)
    );
    assert_eq!(
        identity.seal_hello(&[0; 32], &mut []),
        Err(SealError::WrongPacket)
    );
    assert_eq!((hello, reject), before, "what is refused is untouched");
}

#[test]
fn query_fixtures_come_out_of_our_own_signing() {
    for name in ["query_answer", "query_answer_longest", "query_answer_shortest"] {
        let fixture = Fixture::load(name);
        let identity = identity_of(&fixture);
        let nonce = array(fixture.intermediate("request_nonce"));
        let answer = QueryAnswer::decode(&fixture.datagram).expect("an answer");
        let mut body = Vec::new();
        answer.body.encode(&mut body);
        assert_eq!(body, fixture.intermediate("body"), "{name}");
        assert_eq!(fixture.datagram[..38], fixture.intermediate("header"), "{name}");
        assert_eq!(
            signed_message(&fixture.datagram, &nonce).expect("a signed packet"),
            fixture.intermediate("signed_message"),
            "{name}"
        );
        assert_eq!(
            answer.signature.as_slice(),
            fixture.intermediate("signature"),
            "{name}"
        );

        let mut datagram = vec![0xAA];
        identity.sign_query_answer(&nonce, &answer.body, &mut datagram);
        assert_eq!(datagram[1..], fixture.datagram, "{name}: appended");
        assert!(verify_query_answer(&fixture.datagram, &nonce), "{name}");
        assert!(
            !verify_query_answer(&fixture.datagram, &[0; 32]),
            "{name}: another nonce"
        );
        for at in 0..fixture.datagram.len() {
            let mut changed = fixture.datagram.clone();
            changed[at] ^= 1;
            assert!(!verify_query_answer(&changed, &nonce), "{name}: byte {at}");
        }
    }
}

#[test]
fn a_query_answer_that_was_cut_or_lengthened_does_not_verify() {
    let fixture = Fixture::load("query_answer");
    let nonce = array(fixture.intermediate("request_nonce"));
    let mut longer = fixture.datagram.clone();
    longer.push(0);
    assert!(
        QueryAnswer::decode(&longer).is_ok(),
        "further bytes are skipped when decoding"
    );
    assert!(
        !verify_query_answer(&longer, &nonce),
        "but they are under the signature"
    );
    let shorter = &fixture.datagram[..fixture.datagram.len() - 1];
    assert!(!verify_query_answer(shorter, &nonce));
}

#[test]
fn the_password_proof_of_the_fixture_comes_out_of_our_own_code() {
    let fixture = Fixture::load("client_hello_with_proofs");
    let hello = ClientHello::decode(&fixture.datagram).expect("a hello");
    let server_key = array(fixture.intermediate("server_key"));
    let text = fixture.twin["intermediate"]["password"]
        .as_str()
        .expect("a password");
    let password = Password::parse(text).expect("a password");
    assert_eq!(
        password.reveal().as_bytes(),
        fixture.intermediate("password_utf8")
    );
    assert_eq!(password::salt(&server_key), fixture.intermediate("pbkdf2_salt"));
    assert_eq!(
        fixture.twin["intermediate"]["pbkdf2_iterations"],
        PBKDF2_ITERATIONS
    );
    assert_eq!(
        password::message(&server_key, hello.cookie, &hello.nonce),
        fixture.intermediate("password_message")
    );

    let key = PasswordKey::derive(&password, &server_key);
    assert_eq!(key.reveal().as_slice(), fixture.intermediate("password_key_K"));
    let proof = key.proof(hello.cookie, &hello.nonce);
    assert_eq!(proof.as_slice(), fixture.intermediate("password_proof"));
    assert_eq!(proof, hello.password_proof);

    assert!(key.verify(hello.cookie, &hello.nonce, &proof));
    assert!(
        !key.verify(hello.cookie ^ 1, &hello.nonce, &proof),
        "another cookie"
    );
    assert!(!key.verify(hello.cookie, &[0; 32], &proof), "another nonce");
    assert!(!key.verify(hello.cookie, &hello.nonce, &[0; 32]), "zeros");
    for bit in 0..256 {
        let mut changed = proof;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!key.verify(hello.cookie, &hello.nonce, &changed), "bit {bit}");
    }
    let elsewhere = PasswordKey::from_bytes(*key.reveal(), [9; 32]);
    assert!(
        !elsewhere.verify(hello.cookie, &hello.nonce, &proof),
        "another server"
    );
    let again = PasswordKey::from_bytes(*key.reveal(), server_key);
    assert!(
        again.verify(hello.cookie, &hello.nonce, &proof),
        "a key that was kept"
    );
}

#[test]
fn the_credential_proof_of_the_fixture_comes_out_of_our_own_code() {
    let fixture = Fixture::load("client_hello_with_proofs");
    let hello = ClientHello::decode(&fixture.datagram).expect("a hello");
    let server_key: [u8; 32] = array(fixture.intermediate("server_key"));
    let seed = array(fixture.intermediate("credential_seed"));
    assert_eq!(credential::public_key(&seed), hello.credential_key);
    assert_eq!(
        credential::message(&server_key, hello.cookie, &hello.nonce),
        fixture.intermediate("credential_message")
    );
    assert_eq!(
        credential::credential_id(&hello.credential_key).as_slice(),
        fixture.intermediate("credential_id_sha256_of_key")
    );
    let proof = credential::sign(&seed, &server_key, hello.cookie, &hello.nonce);
    assert_eq!(proof, hello.credential_proof);

    let key = &hello.credential_key;
    assert!(credential::verify(
        key,
        &proof,
        &server_key,
        hello.cookie,
        &hello.nonce
    ));
    assert!(
        !credential::verify(key, &proof, &[9; 32], hello.cookie, &hello.nonce),
        "another server"
    );
    assert!(
        !credential::verify(key, &proof, &server_key, hello.cookie ^ 1, &hello.nonce),
        "another cookie"
    );
    assert!(
        !credential::verify(key, &proof, &server_key, hello.cookie, &[0; 32]),
        "another nonce"
    );
    assert!(
        !credential::verify(&[8; 32], &proof, &server_key, hello.cookie, &hello.nonce),
        "another key"
    );
}

#[test]
fn a_credential_key_of_zeros_proves_nothing() {
    assert!(!credential::is_present(&[0; 32]));
    // The identity as R and S = 0: with the key of zeros, whose order is 4, one message in four satisfies the plain
    // equation. None may pass.
    let mut proof = [0; 64];
    proof[0] = 1;
    for cookie in 0..64 {
        assert!(!credential::verify(&[0; 32], &proof, &[1; 32], cookie, &[2; 32]));
        assert!(!credential::verify(
            &[0; 32], &[0; 64], &[1; 32], cookie, &[2; 32]
        ));
    }
}

#[test]
fn passwords_have_one_to_64_bytes_and_no_control_characters() {
    assert_eq!(Password::parse("").map(drop), Err(PasswordFault::Empty));
    assert!(Password::parse("x").is_ok());
    assert!(Password::parse(&"щ".repeat(32)).is_ok());
    assert_eq!(
        Password::parse(&"x".repeat(65)).map(drop),
        Err(PasswordFault::TooLong { length: 65 })
    );
    for bad in ["a\nb", "\0", "\u{7f}", "\u{85}"] {
        assert_eq!(
            Password::parse(bad).map(drop),
            Err(PasswordFault::ControlCharacter)
        );
    }
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let identity = ServerIdentity::from_seed(&[0x42; 32]);
    assert!(!format!("{identity:?}").contains("4242"));
    assert!(format!("{identity:?}").contains(&hex(&identity.public_key())));
    let password = Password::parse("hunter2").expect("a password");
    assert_eq!(format!("{password:?}"), "Password(..)");
    assert_eq!(
        format!("{:?}", PasswordKey::from_bytes([1; 32], [2; 32])),
        "PasswordKey(..)"
    );
    assert_eq!(format!("{:?}", CookieKey::new([1; 16])), "CookieKey(..)");
    let hello = ServerHello::decode(&Fixture::load("server_hello").datagram).expect("a hello");
    assert!(!format!("{hello:?}").contains(&hello.session_token.to_string()));
}
