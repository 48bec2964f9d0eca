//! Arbitrary values of fields.

use decitick_protocol::*;
use proptest::collection::vec;
use proptest::num::f32 as floats;
use proptest::prelude::*;

pub(crate) fn player_sync() -> impl Strategy<Value = PlayerSync> {
    (
        any::<u32>(),
        place(),
        vector(),
        float(),
        any::<(u8, u16, u8, u8)>(),
    )
        .prop_map(
            |(seq, position, velocity, heading, (area, keys, weapon, stance))| PlayerSync {
                seq,
                position,
                velocity,
                heading,
                area,
                keys,
                weapon,
                stance,
            },
        )
}

pub(crate) fn player_id() -> impl Strategy<Value = u32> {
    0..u32::from(MAX_PLAYERS)
}

pub(crate) fn float() -> impl Strategy<Value = f32> {
    floats::POSITIVE | floats::NEGATIVE | floats::NORMAL | floats::SUBNORMAL | floats::ZERO
}

pub(crate) fn vector() -> impl Strategy<Value = Vec3> {
    [float(), float(), float()].prop_map(Vec3::from)
}

pub(crate) fn place() -> impl Strategy<Value = Vec3> {
    let axis = || -POSITION_LIMIT..=POSITION_LIMIT;
    [axis(), axis(), axis()].prop_map(Vec3::from)
}

/// Short texts of any characters, and long ones of one byte a character.
pub(crate) fn characters<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(any::<char>(), MIN..=MAX / 4).prop_map(String::from_iter),
        vec(prop::char::range(' ', '~'), MIN..=MAX).prop_map(String::from_iter),
    ]
}

pub(crate) fn text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = Text<MIN, MAX>> {
    characters::<MIN, MAX>().prop_map(|text| Text::parse(&text).unwrap())
}

pub(crate) fn plain_text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = PlainText<MIN, MAX>> {
    characters::<MIN, MAX>().prop_map(|text| PlainText::parse(&text.replace(char::is_control, "x")).unwrap())
}

pub(crate) fn shown_text<const MIN: usize, const MAX: usize>() -> impl Strategy<Value = ShownText<MIN, MAX>> {
    characters::<MIN, MAX>()
        .prop_map(|text| ShownText::parse(&text.replace(is_control_or_format, "x")).unwrap())
}

pub(crate) fn data<const MAX: usize>() -> impl Strategy<Value = MessagePack<MAX>> {
    message_pack().prop_map(|bytes| MessagePack::parse(bytes).unwrap_or_else(|_| MessagePack::nil()))
}

/// The bytes of an arbitrary MessagePack value.
pub(crate) fn message_pack() -> impl Strategy<Value = Vec<u8>> {
    let string = || "[a-zщ]{0,12}".prop_map(|text| [&[0xD9, text.len() as u8], text.as_bytes()].concat());
    let leaf = prop_oneof![
        prop::sample::select(vec![
            vec![0xC0],
            vec![0xC2],
            vec![0xC3],
            vec![0x7F],
            vec![0xE0],
            vec![0xA0]
        ]),
        any::<u64>().prop_map(|value| [&[0xCF], value.to_be_bytes().as_slice()].concat()),
        any::<i16>().prop_map(|value| [&[0xD1], value.to_be_bytes().as_slice()].concat()),
        any::<f32>().prop_map(|value| [&[0xCA], value.to_be_bytes().as_slice()].concat()),
        any::<f64>().prop_map(|value| [&[0xCB], value.to_be_bytes().as_slice()].concat()),
        vec(any::<u8>(), 0..40).prop_map(|bytes| [&[0xC4, bytes.len() as u8], bytes.as_slice()].concat()),
        string(),
    ];
    leaf.prop_recursive(6, 48, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8)
                .prop_map(|items| [vec![0x90 | items.len() as u8], items.concat()].concat()),
            vec(inner.clone(), 0..8)
                .prop_map(|items| [vec![0xDC, 0, items.len() as u8], items.concat()].concat()),
            vec((string(), inner), 0..8).prop_map(|items| {
                let items: Vec<u8> = std::iter::once(0x80 | items.len() as u8)
                    .chain(items.into_iter().flat_map(|(key, value)| [key, value].concat()))
                    .collect();
                items
            }),
        ]
    })
}
