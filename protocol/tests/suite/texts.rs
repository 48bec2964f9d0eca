//! Names, bounded texts, and what is shown of hostile ones.

use decitick_protocol::*;

fn key(name: &str) -> String {
    PlayerName::parse(name)
        .unwrap_or_else(|fault| panic!("{name:?}: {fault}"))
        .fold_key()
}

#[test]
fn names_that_keep_the_rules_are_taken_as_they_are() {
    for name in [
        "Ann",
        "Иван Петров",
        "Ann_B",
        "a b c",
        "___",
        "名前です",
        "𝒜𝒷𝒸",
        &"n".repeat(32),
        &"щ".repeat(32),
        &"😀".repeat(16),
        "e\u{301}e\u{301}e",
    ] {
        let parsed = PlayerName::parse(name).unwrap_or_else(|fault| panic!("{name:?}: {fault}"));
        assert_eq!(parsed.as_str(), name);
        assert_eq!(PlayerName::from_field(&parsed.to_field()), Ok(parsed));
    }
}

#[test]
fn each_rule_for_names_has_its_own_fault() {
    use NameFault::*;
    for (name, fault) in [
        ("", TooFewCharacters { count: 0 }),
        ("ab", TooFewCharacters { count: 2 }),
        ("щщ", TooFewCharacters { count: 2 }),
        (&"n".repeat(33), TooManyCharacters { count: 33 }),
        (&"😀".repeat(17), TooManyBytes { length: 68 }),
        (&"名".repeat(22), TooManyBytes { length: 66 }),
        ("a\nb", ControlOrFormat { character: '\n' }),
        ("a\tb", ControlOrFormat { character: '\t' }),
        ("ab\u{7f}", ControlOrFormat { character: '\u{7f}' }),
        ("a\u{85}b", ControlOrFormat { character: '\u{85}' }),
        (
            "a\u{200b}b",
            ControlOrFormat {
                character: '\u{200b}',
            },
        ),
        (
            "a\u{200d}b",
            ControlOrFormat {
                character: '\u{200d}',
            },
        ),
        (
            "a\u{202e}b",
            ControlOrFormat {
                character: '\u{202e}',
            },
        ),
        (
            "a\u{2066}b",
            ControlOrFormat {
                character: '\u{2066}',
            },
        ),
        (
            "a\u{feff}b",
            ControlOrFormat {
                character: '\u{feff}',
            },
        ),
        ("a\u{ad}b", ControlOrFormat { character: '\u{ad}' }),
        ("a\u{61c}b", ControlOrFormat { character: '\u{61c}' }),
        (
            "a\u{e0041}b",
            ControlOrFormat {
                character: '\u{e0041}',
            },
        ),
        ("a\u{a0}b", WhiteSpace { character: '\u{a0}' }),
        (
            "a\u{3000}b",
            WhiteSpace {
                character: '\u{3000}',
            },
        ),
        (
            "a\u{2003}b",
            WhiteSpace {
                character: '\u{2003}',
            },
        ),
        (
            "a\u{2028}b",
            WhiteSpace {
                character: '\u{2028}',
            },
        ),
        (
            "a\u{2029}b",
            WhiteSpace {
                character: '\u{2029}',
            },
        ),
        (" ab", Spacing),
        ("ab ", Spacing),
        ("a  b", Spacing),
        ("   ", Spacing),
    ] {
        assert_eq!(PlayerName::parse(name), Err(fault), "{name:?}");
    }
}

#[test]
fn the_name_field_is_utf8_with_zeros_after_the_first_zero() {
    let field = |bytes: &[u8]| {
        let mut field = [0; NAME_LEN];
        field[..bytes.len()].copy_from_slice(bytes);
        field
    };
    assert_eq!(
        PlayerName::from_field(&field(b"Ann")).map(|name| name.to_string()),
        Ok("Ann".to_owned())
    );
    assert_eq!(
        PlayerName::from_field(&field(b"Ann\0x")),
        Err(NameFault::NonzeroPadding)
    );
    assert_eq!(
        PlayerName::from_field(&field(b"Ann\xff")),
        Err(NameFault::NotUtf8)
    );
    assert_eq!(
        PlayerName::from_field(&field(b"An\xed\xa0\x80")),
        Err(NameFault::NotUtf8)
    );
    assert_eq!(
        PlayerName::from_field(&field(b"Ann\xc0\x80")),
        Err(NameFault::NotUtf8)
    );
    assert_eq!(
        PlayerName::from_field(&field(b"\0Ann")),
        Err(NameFault::NonzeroPadding)
    );
    assert_eq!(
        PlayerName::from_field(&[0; 64]),
        Err(NameFault::TooFewCharacters { count: 0 })
    );
    assert_eq!(
        PlayerName::from_field(&[b'a'; 64]),
        Err(NameFault::TooManyCharacters { count: 64 })
    );
    let full = "щ".repeat(32);
    assert_eq!(
        PlayerName::from_field(&field(full.as_bytes())).map(|name| name.to_string()),
        Ok(full)
    );
}

#[test]
fn names_are_compared_by_full_case_folding_with_underscore_as_space() {
    for (one, other) in [
        ("Ann", "aNN"),
        ("ИВАН", "иван"),
        ("Ann_B", "ann b"),
        ("Straße", "STRASSE"),
        ("Straße", "STRAẞE"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("σοφοσ", "σοφος"),
        ("ﬁnn", "FINN"),
        ("\u{390}xx", "\u{399}\u{308}\u{301}xx"),
        ("Kelvin", "\u{212A}elvin"),
        ("ſam", "SAM"),
        ("ŉxx", "ʼNXX"),
        ("ᏸᏹᏺ", "ᏰᏱᏲ"),
        ("𐐀𐐁𐐂", "𐐨𐐩𐐪"),
    ] {
        assert_eq!(key(one), key(other), "{one} and {other}");
    }
    assert_eq!(key("İii"), "i\u{307}ii", "full folding of the dotted capital I");
    for (one, other) in [
        ("Ann", "Anna"),
        ("Ann B", "AnnB"),
        ("Ann-B", "Ann B"),
        ("éee", "e\u{301}ee"),
        ("Åke", "A\u{30a}ke"),
        ("ıii", "iii"),
        ("Αnn", "Ann"),
        ("２２２", "222"),
    ] {
        assert_ne!(key(one), key(other), "{one} and {other} are not normalised");
    }
}

#[test]
fn bounded_texts_keep_their_bounds_and_their_rule() {
    assert_eq!(
        Text::<1, 4>::parse(""),
        Err(TextFault::TooShort {
            length: 0,
            minimum: 1
        })
    );
    assert_eq!(
        Text::<1, 4>::parse("щщщ"),
        Err(TextFault::TooLong {
            length: 6,
            maximum: 4
        })
    );
    assert_eq!(
        Text::<1, 4>::parse("щщ").map(Text::into_string),
        Ok("щщ".to_owned())
    );
    assert!(Text::<1, 4>::parse("\n").is_ok());
    assert_eq!(
        PlainText::<1, 4>::parse("a\n"),
        Err(TextFault::Forbidden { character: '\n' })
    );
    assert!(
        PlainText::<1, 4>::parse("\u{200d}").is_ok(),
        "a format character is no control character"
    );
    assert_eq!(
        ShownText::<1, 4>::parse("\u{200d}"),
        Err(TextFault::Forbidden {
            character: '\u{200d}'
        })
    );
    assert_eq!(ShownText::<0, 4>::default().as_str(), "");
    assert!(Text::<1, 4>::try_from("abcde".to_owned()).is_err());
}

#[test]
fn a_kick_reason_is_never_cut_and_a_broken_one_is_still_shown() {
    assert!(KickReason::parse(&"щ".repeat(32)).is_ok());
    assert_eq!(
        KickReason::parse(&"x".repeat(65)),
        Err(TextFault::TooLong {
            length: 65,
            maximum: 64
        })
    );
    assert_eq!(
        KickReason::parse("a\u{1b}[2J"),
        Err(TextFault::Forbidden { character: '\u{1b}' })
    );

    let mut datagram = Fixture::reason(b"bad \xff\xfe \x1b[2J \xe2\x81\xa6end");
    let kick = KickNotify::decode(&datagram).expect("a broken text is no reason to miss a kick");
    assert_eq!(
        kick.reason.to_text(),
        "bad \u{FFFD}\u{FFFD} \u{FFFD}[2J \u{FFFD}end"
    );
    let mut again = Vec::new();
    kick.encode(&mut again);
    assert_eq!(again, datagram);
    datagram[64] = 1;
    assert_eq!(
        KickNotify::decode(&datagram),
        Err(DecodeError::NonzeroPadding { field: "reason" })
    );
}

struct Fixture;

impl Fixture {
    fn reason(text: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0; 65];
        datagram[0] = PacketId::KickNotify.byte();
        datagram[1..=text.len()].copy_from_slice(text);
        datagram
    }
}

#[test]
fn what_a_terminal_would_obey_is_shown_escaped_and_capped() {
    assert_eq!(escape_for_display("Привет, all", 40), "Привет, all");
    assert_eq!(escape_for_display("\u{1b}[2J", 40), "\\u{1b}[2J");
    assert_eq!(escape_for_display("a\r\nb", 40), "a\\u{d}\\u{a}b");
    assert_eq!(escape_for_display("\u{2066}x\u{202e}", 40), "\\u{2066}x\\u{202e}");
    assert_eq!(escape_for_display("a\u{2028}b\u{85}", 40), "a\\u{2028}b\\u{85}");
    assert_eq!(escape_for_display("abcde", 5), "abcde");
    assert_eq!(escape_for_display("abcdef", 5), "abcd…");
    assert_eq!(
        escape_for_display("ab\u{1b}c", 5),
        "ab…",
        "an escape is never cut in two"
    );
    assert_eq!(escape_for_display("abc", 0), "");
    let long = "\u{2066}".repeat(10_240);
    assert!(escape_for_display(&long, 200).chars().count() <= 200);
}

#[test]
fn control_and_format_characters_are_exactly_cc_and_cf() {
    for character in [
        '\0', '\u{1f}', '\u{7f}', '\u{9f}', '\u{ad}', '\u{600}', '\u{6dd}', '\u{180e}', '\u{200f}',
    ] {
        assert!(is_control_or_format(character), "{character:?}");
    }
    for character in [
        '\u{2064}',
        '\u{2069}',
        '\u{206f}',
        '\u{fff9}',
        '\u{110bd}',
        '\u{1bca0}',
        '\u{e0001}',
        '\u{e007f}',
    ] {
        assert!(is_control_or_format(character), "{character:?}");
    }
    for character in [
        ' ',
        'a',
        '\u{a0}',
        '\u{301}',
        '\u{2028}',
        '\u{fe0f}',
        '\u{fffd}',
        '\u{e000}',
        '\u{10ffff}',
    ] {
        assert!(!is_control_or_format(character), "{character:?}");
    }
}
