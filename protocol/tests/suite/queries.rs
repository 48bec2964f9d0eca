//! The query is laxer than the rest of the wire where it says so, and nowhere else.

use decitick_protocol::*;

use crate::{
    Fixture,
    strictness::{client_error, patched, server_error},
};

#[test]
fn a_query_request_is_judged_by_id_magic_and_length_only() {
    let request = Fixture::load("query_request").datagram;
    let mut odd = request.clone();
    odd[5] = 77;
    odd[38..].fill(0xAB);
    odd.resize(MAX_PACKET, 0xCD);
    let decoded = QueryRequest::decode(&odd).expect("version and padding are not judged");
    assert_eq!((decoded.query_version, decoded.nonce), (77, [0x5A; 32]));
    assert_eq!(query_nonce_of(&odd), Some([0x5A; 32]));
    assert_eq!(
        client_error(&request[..511]),
        DecodeError::TooShort { field: "padding" }
    );
    assert_eq!(
        client_error(&patched("query_request", 1, b"d")),
        DecodeError::BadMagic
    );
    odd.push(0);
    assert!(matches!(
        client_error(&odd),
        DecodeError::TooLong {
            length: 1201,
            maximum: 1200
        }
    ));
}

#[test]
fn a_query_answer_may_end_before_the_flags_or_go_on_after_them() {
    let answer = Fixture::load("query_answer").datagram;
    let whole = QueryAnswer::decode(&answer).unwrap();
    assert!(whole.body.password_required());
    let mut without_flags = QueryAnswer::decode(&answer[..answer.len() - 1]).expect("no flags: no password");
    assert!(!without_flags.body.password_required());
    without_flags.body.flags = whole.body.flags;
    assert_eq!(without_flags, whole);
    for length in 0..answer.len() - 1 {
        assert!(QueryAnswer::decode(&answer[..length]).is_err(), "{length} bytes");
    }
    let later = QueryAnswer::decode(&patched("query_answer", 5, &[2])).expect("a later format only appends");
    assert_eq!((later.query_version, &later.body), (2, &whole.body));
    let mut longer = answer.clone();
    longer.resize(QUERY_ANSWER_MAX, 0xAA);
    assert_eq!(
        QueryAnswer::decode(&longer).as_ref(),
        Ok(&whole),
        "further bytes are skipped"
    );
    longer.push(0);
    assert!(matches!(
        server_error(&longer),
        DecodeError::TooLong {
            length: 274,
            maximum: 273
        }
    ));
    // Byte 104 is the length of the server's version, 105 its first character.
    for character in *b"\n\x7f" {
        let error = server_error(&patched("query_answer", 105, &[character]));
        assert_eq!(
            error,
            DecodeError::ForbiddenCharacter {
                field: "server_version"
            }
        );
    }
    assert!(matches!(
        server_error(&patched("query_answer", 104, &[33])),
        DecodeError::BadLength {
            field: "server_version",
            length: 33,
            minimum: 0,
            maximum: 32
        }
    ));
}
