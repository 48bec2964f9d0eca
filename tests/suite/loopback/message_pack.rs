//! Values of pages: JSON on the browser's side, MessagePack on the wire. What pages say is small, so this knows the small
//! forms.

use serde_json::{Map, Value};

/// A JSON value as one MessagePack value.
pub(crate) fn pack(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xC0),
        Value::Bool(value) => out.push(0xC2 + u8::from(*value)),
        Value::Number(number) => {
            out.push(0xD3);
            out.extend(number.as_i64().expect("a whole number").to_be_bytes());
        }
        Value::String(text) => {
            out.push(0xDA);
            out.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            out.extend(text.bytes());
        }
        Value::Array(items) => {
            out.push(0xDC);
            out.extend(u16::try_from(items.len()).unwrap().to_be_bytes());
            items.iter().for_each(|item| write(item, out));
        }
        Value::Object(members) => {
            out.push(0xDE);
            out.extend(u16::try_from(members.len()).unwrap().to_be_bytes());
            for (key, value) in members {
                write(&Value::String(key.clone()), out);
                write(value, out);
            }
        }
    }
}

/// One MessagePack value as JSON.
pub(crate) fn unpack(bytes: &[u8]) -> Value {
    let mut rest = bytes;
    let value = read(&mut rest);
    assert!(rest.is_empty(), "one value");
    value
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn number(rest: &mut &[u8], bytes: usize) -> usize {
    take(rest, bytes)
        .iter()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn text(rest: &mut &[u8], length: usize) -> Value {
    String::from_utf8(take(rest, length).to_vec()).unwrap().into()
}

fn read(rest: &mut &[u8]) -> Value {
    let kind = take(rest, 1)[0];
    match kind {
        0x00..=0x7F => kind.into(),
        0xE0..=0xFF => i64::from(kind.cast_signed()).into(),
        0x80..=0x8F => object(rest, usize::from(kind & 0x0F)),
        0x90..=0x9F => array(rest, usize::from(kind & 0x0F)),
        0xA0..=0xBF => text(rest, usize::from(kind & 0x1F)),
        0xC0 => Value::Null,
        0xC2 | 0xC3 => (kind == 0xC3).into(),
        0xCC..=0xCF => number(rest, 1 << (kind - 0xCC)).into(),
        0xD3 => i64::from_be_bytes(take(rest, 8).try_into().unwrap()).into(),
        0xD9 | 0xDA => {
            let length = number(rest, usize::from(kind - 0xD8));
            text(rest, length)
        }
        0xDC => {
            let count = number(rest, 2);
            array(rest, count)
        }
        0xDE => {
            let count = number(rest, 2);
            object(rest, count)
        }
        other => panic!("a value of kind {other:#x} is not among the small ones"),
    }
}

fn array(rest: &mut &[u8], count: usize) -> Value {
    (0..count).map(|_| read(rest)).collect::<Vec<_>>().into()
}

fn object(rest: &mut &[u8], count: usize) -> Value {
    let members: Map<String, Value> = (0..count)
        .map(|_| {
            let key = read(rest);
            (key.as_str().expect("keys are strings").to_owned(), read(rest))
        })
        .collect();
    members.into()
}
