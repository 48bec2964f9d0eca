//! One fault at a time: each malformed packet is a single change away from a good one, and is refused with its own error.

use decitick_protocol::*;

use crate::Fixture;

const NOT_FINITE: [f32; 4] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::from_bits(0x7F80_0001),
];

/// A fixture with bytes replaced.
pub(crate) fn patched(name: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut datagram = Fixture::load(name).datagram;
    datagram[at..at + bytes.len()].copy_from_slice(bytes);
    datagram
}

pub(crate) fn client_error(datagram: &[u8]) -> DecodeError {
    ClientPacket::decode(datagram).expect_err("a malformed packet")
}

pub(crate) fn server_error(datagram: &[u8]) -> DecodeError {
    ServerPacket::decode(datagram).expect_err("a malformed packet")
}

fn out_of_range(field: &'static str) -> DecodeError {
    DecodeError::OutOfRange { field }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let id_1000 = &1000u32.to_le_bytes();
    for (name, at, bytes, field) in [
        ("server_hello", 3, id_1000.as_slice(), "player_id"),
        ("server_hello", 7, &[0; 8], "session_token"),
        ("server_hello", 15, &[0; 4], "player_token"),
        ("server_hello", 19, &[24], "hours"),
        ("server_hello", 20, &[60], "minutes"),
        ("server_hello", 54, &[0; 2], "client_files_port"),
        ("server_hello", 56, &[2], "auth_pending"),
        ("connect_reject_wrong_password", 1, &[0], "reason"),
        ("connect_reject_wrong_password", 1, &[11], "reason"),
        ("connect_challenge", 1, &[0; 8], "cookie"),
        ("player_leave", 1, id_1000, "player_id"),
        ("remote_player_sync", 2, id_1000, "player_id"),
        ("player_join", 6, id_1000, "player_id"),
        ("player_rename", 5, id_1000, "player_id"),
        ("player_stream_in", 5, id_1000, "player_id"),
        ("player_stream_out", 5, id_1000, "player_id"),
        ("player_appearance", 5, id_1000, "player_id"),
        ("player_death", 5, id_1000, "player_id"),
        ("set_vitals", 5, &[201], "health"),
        ("set_vitals", 6, &[201], "armour"),
        ("set_time", 5, &[24], "hours"),
        ("set_time", 6, &[60], "minutes"),
        ("run_clock", 5, &[2], "running"),
        ("run_clock", 6, &[0; 2], "ms_per_minute"),
        ("player_skills", 5, &1001u16.to_le_bytes(), "skills"),
        ("player_skills", 25, &1001u16.to_le_bytes(), "skills"),
        ("entity_spawn", 9, &[0], "kind"),
        ("entity_spawn", 9, &[6], "kind"),
        ("query_answer", 5, &[0], "query_version"),
        ("set_weather", 1, &[0; 4], "event_id"),
    ] {
        assert_eq!(
            server_error(&patched(name, at, bytes)),
            out_of_range(field),
            "{name} at {at}"
        );
    }
    for (name, at, bytes, field) in [
        ("hit_report", 22, [7].as_slice(), "body_part"),
        ("hit_report", 22, &[255], "body_part"),
        ("view_status", 15, &[3], "status"),
        ("view_status", 15, &[255], "status"),
        ("chat_send", 9, &[0; 4], "event_id"),
        ("auth_assertion", 9, &[0; 4], "event_id"),
    ] {
        assert_eq!(
            client_error(&patched(name, at, bytes)),
            out_of_range(field),
            "{name} at {at}"
        );
    }
}

#[test]
fn floats_that_are_not_finite_are_refused_in_every_place() {
    for value in NOT_FINITE {
        let bytes = value.to_le_bytes();
        for at in (13..41).step_by(4) {
            let error = client_error(&patched("player_sync", at, &bytes));
            assert!(
                matches!(error, DecodeError::NotFinite { .. }),
                "player_sync at {at}"
            );
        }
        for at in (23..47).step_by(4) {
            let error = client_error(&patched("hit_report", at, &bytes));
            assert!(
                matches!(error, DecodeError::NotFinite { .. }),
                "hit_report at {at}"
            );
        }
        for (name, places) in [
            ("remote_player_sync", vec![14, 18, 22, 26, 30, 34, 38, 60, 84]),
            ("entity_sync", vec![10, 14, 18, 22, 26, 30, 34, 46, 70]),
            ("spawn_player", vec![5, 9, 13, 17]),
            ("set_position", vec![5, 9, 13, 17]),
            ("player_stream_in", vec![19, 23, 27, 31]),
            ("weapon_properties", vec![9, 18]),
            ("entity_spawn", vec![14, 18, 22, 26]),
        ] {
            for at in places {
                let error = server_error(&patched(name, at, &bytes));
                assert!(
                    matches!(error, DecodeError::NotFinite { .. }),
                    "{name} at {at}: {error}"
                );
            }
        }
    }
}

#[test]
fn positions_of_players_end_at_20_km_inclusive() {
    let over = f32::from_bits(POSITION_LIMIT.to_bits() + 1);
    for axis in 0..3 {
        for (value, allowed) in [
            (POSITION_LIMIT, true),
            (-POSITION_LIMIT, true),
            (over, false),
            (-over, false),
        ] {
            let bytes = value.to_le_bytes();
            let frame = patched("player_sync", 13 + 4 * axis, &bytes);
            assert_eq!(ClientPacket::decode(&frame).is_ok(), allowed, "{value}");
            let remote = patched("remote_player_sync", 14 + 4 * axis, &bytes);
            assert_eq!(ServerPacket::decode(&remote).is_ok(), allowed, "{value}");
        }
    }
    let frame = PlayerSync::decode(&patched("player_sync", 37, &1e30f32.to_le_bytes())).unwrap();
    assert_eq!(frame.heading, 1e30, "any finite heading is decoded");
}

#[test]
fn counts_outside_their_bounds_are_refused() {
    for (name, at, counts) in [
        ("remote_player_sync", 1, [0, 27, 255]),
        ("entity_sync", 1, [0, 34, 255]),
        ("set_weapons", 5, [14, 100, 255]),
        ("weapon_properties", 5, [0, 48, 255]),
    ] {
        for count in counts {
            let error = server_error(&patched(name, at, &[count]));
            assert!(
                matches!(error, DecodeError::BadLength { .. }),
                "{name} with the count {count}: {error}"
            );
        }
    }
    let error = server_error(&patched("player_join", 5, &[0]));
    assert!(matches!(error, DecodeError::BadLength { field: "players", .. }));
    let one_less = server_error(&patched("remote_player_sync", 1, &[1]));
    assert_eq!(one_less, DecodeError::Trailing { bytes: 46 });
    let one_more = server_error(&patched("remote_player_sync", 1, &[3]));
    assert_eq!(one_more, DecodeError::TooShort { field: "player_id" });
}

#[test]
fn padding_that_is_not_zero_is_refused() {
    assert_eq!(
        server_error(&patched("kick_notify", 64, b"x")),
        DecodeError::NonzeroPadding { field: "reason" }
    );
    assert_eq!(
        server_error(&patched("connect_reject_banned", 21, b"x")),
        DecodeError::NonzeroPadding { field: "text" }
    );
    assert_eq!(
        client_error(&patched("auth_assertion", 1038, b"x")),
        DecodeError::NonzeroPadding { field: "jwt" }
    );
}

#[test]
fn a_refusal_has_text_and_seconds_only_where_they_belong() {
    for reason in RejectReason::ALL {
        let byte = reason.byte();
        let mut with_text = patched("connect_reject_wrong_password", 2, b"no");
        with_text[1] = byte;
        let expected = Err(DecodeError::Misplaced { field: "text" });
        match ConnectReject::decode(&with_text) {
            Ok(_) => assert!(matches!(byte, 4 | 6), "{reason:?}"),
            error => assert_eq!((error, matches!(byte, 4 | 6)), (expected, false), "{reason:?}"),
        }
        let mut with_seconds = patched("connect_reject_wrong_password", 22, &[1]);
        with_seconds[1] = byte;
        let expected = Err(DecodeError::Misplaced { field: "ban_seconds" });
        match ConnectReject::decode(&with_seconds) {
            Ok(_) => assert!(matches!(byte, 6 | 8), "{reason:?}"),
            error => assert_eq!((error, matches!(byte, 6 | 8)), (expected, false), "{reason:?}"),
        }
    }
    for bad in ["a\nb", "a\u{200b}b", "\u{2066}"] {
        let error = server_error(&patched("connect_reject_gamemode", 2, bad.as_bytes()));
        assert_eq!(
            error,
            DecodeError::ForbiddenCharacter { field: "text" },
            "{bad:?}"
        );
    }
    let error = server_error(&patched("connect_reject_gamemode", 2, b"\xff"));
    assert_eq!(error, DecodeError::NotUtf8 { field: "text" });
}

/// A C>S lane packet of this id with this body.
fn lane(id: PacketId, body: &[u8]) -> Vec<u8> {
    [&[id.byte()], [7; 8].as_slice(), &[1, 0, 0, 0], body].concat()
}

#[test]
fn chat_lines_that_are_not_plain_text_are_refused() {
    let chat = |length: u8, text: &[u8]| lane(PacketId::ChatSend, &[&[length], text].concat());
    assert!(ClientPacket::decode(&chat(2, "я".as_bytes())).is_ok());
    assert!(
        ClientPacket::decode(&chat(3, "\u{200d}".as_bytes())).is_ok(),
        "format characters make up emoji"
    );
    for control in ["a\nb", "a\0b", "a\u{7f}b", "a\u{85}b", "\u{1b}[2J"] {
        let error = client_error(&chat(control.len() as u8, control.as_bytes()));
        assert_eq!(
            error,
            DecodeError::ForbiddenCharacter { field: "text" },
            "{control:?}"
        );
    }
    for broken in [
        b"a\xc0\xafb".as_slice(),
        b"a\xed\xa0\x80b",
        b"\xd0\xb0\xd0",
        b"\xf4\x90\x80\x80",
    ] {
        assert_eq!(
            client_error(&chat(broken.len() as u8, broken)),
            DecodeError::NotUtf8 { field: "text" },
            "{broken:02x?}"
        );
    }
    let bounds = |length| DecodeError::BadLength {
        field: "text",
        length,
        minimum: 1,
        maximum: 128,
    };
    assert_eq!(client_error(&chat(0, b"")), bounds(0));
    assert_eq!(client_error(&chat(129, &[b'a'; 129])), bounds(129));
    assert_eq!(
        client_error(&chat(4, b"abc")),
        DecodeError::TooShort { field: "text" }
    );
    assert_eq!(client_error(&chat(2, b"abc")), DecodeError::Trailing { bytes: 1 });
}

#[test]
fn events_need_a_name_and_exactly_one_value() {
    let event = |name: &[u8], data: &[u8]| {
        let length = (data.len() as u16).to_le_bytes();
        lane(
            PacketId::ClientEvent,
            &[&[name.len() as u8], name, &length, data].concat(),
        )
    };
    assert!(ClientPacket::decode(&event(b"e", b"\xc0")).is_ok());
    assert!(
        ClientPacket::decode(&event(
            &[b'n'; 64],
            &[&[0xC5, 3, 0xFD], [1; 1021].as_slice()].concat()
        ))
        .is_ok()
    );
    let bounds = |field, length, maximum| DecodeError::BadLength {
        field,
        length,
        minimum: 1,
        maximum,
    };
    assert_eq!(client_error(&event(b"", b"\xc0")), bounds("name", 0, 64));
    assert_eq!(client_error(&event(&[b'n'; 65], b"\xc0")), bounds("name", 65, 64));
    assert_eq!(
        client_error(&event(b"\xff", b"\xc0")),
        DecodeError::NotUtf8 { field: "name" }
    );
    assert_eq!(client_error(&event(b"e", b"")), bounds("data", 0, 1024));
    let long = [&[0xC5, 3, 0xFE], [1; 1022].as_slice()].concat();
    assert_eq!(client_error(&event(b"e", &long)), bounds("data", 1025, 1024));
    for (data, fault) in [
        (b"\x01\x02".as_slice(), MessagePackFault::SecondValue),
        (b"\x93\x01\x02", MessagePackFault::CutShort),
        (b"\xa5ab", MessagePackFault::CutShort),
        (b"\xc1", MessagePackFault::ForbiddenType),
        (b"\xd4\x00\x00", MessagePackFault::ForbiddenType),
        (b"\xdd\xff\xff\xff\xff\x01", MessagePackFault::CutShort),
        (b"\x81\x01\x02", MessagePackFault::KeyNotString),
        (b"\xa1\xff", MessagePackFault::NotUtf8),
    ] {
        assert_eq!(
            client_error(&event(b"e", data)),
            DecodeError::MessagePack { fault },
            "{data:02x?}"
        );
    }
}

#[test]
fn assertions_are_compact_tokens() {
    let assertion = |length: u16, text: &[u8]| {
        let mut field = [0; 1024];
        field[..text.len()].copy_from_slice(text);
        lane(
            PacketId::AuthAssertion,
            &[&length.to_le_bytes(), field.as_slice()].concat(),
        )
    };
    let whole = |text: &[u8]| assertion(text.len() as u16, text);
    assert!(ClientPacket::decode(&whole(b"a.b.c")).is_ok());
    assert!(ClientPacket::decode(&whole(&[b"a.b.".as_slice(), &[b'c'; 1020]].concat())).is_ok());
    for (length, text) in [(0, b"".as_slice()), (1025, b"a.b.c"), (65_535, b"a.b.c")] {
        let error = client_error(&assertion(length, text));
        assert!(
            matches!(error, DecodeError::BadLength { field: "len", .. }),
            "{error}"
        );
    }
    assert_eq!(
        client_error(&assertion(5, b"a.b.cc")),
        DecodeError::NonzeroPadding { field: "jwt" }
    );
    for text in ["abc.def", "a.b.c.d", "abc"] {
        assert_eq!(
            client_error(&whole(text.as_bytes())),
            out_of_range("jwt"),
            "{text}"
        );
    }
    for text in ["a+.b.c", "YQ==.b.c", "a .b.c", "a.b\0.c", "é.b.c"] {
        let error = client_error(&whole(text.as_bytes()));
        assert_eq!(
            error,
            DecodeError::ForbiddenCharacter { field: "jwt" },
            "{text:?}"
        );
    }
}

#[test]
fn ids_of_the_other_side_and_of_nobody_are_refused() {
    assert_eq!(client_error(&[]), DecodeError::Empty);
    assert_eq!(server_error(&[]), DecodeError::Empty);
    for id in 0..=u8::MAX {
        let known = PacketId::from_byte(id);
        if !known.is_some_and(PacketId::is_from_client) {
            assert_eq!(client_error(&[id; 46]), DecodeError::UnknownId { id });
        }
        if !known.is_some_and(PacketId::is_from_server) {
            assert_eq!(server_error(&[id; 46]), DecodeError::UnknownId { id });
        }
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let error = client_error(&patched("player_sync", 13, &f32::NAN.to_le_bytes()));
    assert_eq!(
        error.to_string(),
        "`position` is not finite: send a finite number"
    );
    let error = client_error(&Fixture::load("player_sync").datagram[..20]);
    assert_eq!(
        error.to_string(),
        "the packet ends inside `position`: send the whole layout"
    );
}
