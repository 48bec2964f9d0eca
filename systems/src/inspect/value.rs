//! Reflected values become what a console shows, within a budget.

use std::{net::SocketAddr, time::Duration};

use bevy_ecs::entity::Entity;
use bevy_reflect::{
    PartialReflect, ReflectRef,
    enums::{Enum, VariantType},
};
use decitick_components::console::Shown;

use super::path::is_option;

/// How large an answer may become: about so many bytes of JSON.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Self::ANSWER }
    }
}

impl Budget {
    /// Bytes of one answer: less than 1 MiB with what stands around the values.
    pub const ANSWER: usize = 900 * 1024;

    /// About so many bytes.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Takes some; false when they are used up.
    fn take(&mut self, bytes: usize) -> bool {
        let enough = self.left >= bytes;
        self.left = if enough { self.left - bytes } else { 0 };
        enough
    }
}

/// Bytes of a text as JSON, with its quotes and a comma.
fn text_cost(text: &str) -> usize {
    let character = |character: char| match character {
        '"' | '\\' => 2,
        character if character.is_control() => 6,
        character => character.len_utf8(),
    };
    4 + text.chars().map(character).sum::<usize>()
}

/// Everything a value holds, until the budget is used up.
pub fn shown(value: &dyn PartialReflect, budget: &mut Budget) -> Shown {
    if budget.left == 0 {
        return Shown::Cut;
    }
    match value.reflect_ref() {
        ReflectRef::Struct(value) => {
            let names =
                (0..value.field_len()).map(|index| value.name_at(index).unwrap_or_default().to_owned());
            fields(names.zip(value.iter_fields().map(|(_, field)| field)), budget)
        }
        ReflectRef::TupleStruct(value) => match value.field(0) {
            Some(only) if value.field_len() == 1 => shown(only, budget),
            _ => list(value.iter_fields(), budget),
        },
        ReflectRef::Tuple(value) => list(value.iter_fields(), budget),
        ReflectRef::List(value) => list(value.iter(), budget),
        ReflectRef::Array(value) => list(value.iter(), budget),
        ReflectRef::Set(value) => list(value.iter(), budget),
        ReflectRef::Map(value) => {
            let entries: Vec<(String, &dyn PartialReflect)> =
                value.iter().map(|(key, value)| (key_text(key), value)).collect();
            fields(entries.into_iter(), budget)
        }
        ReflectRef::Enum(variant) => enumeration(value, variant, budget),
        ReflectRef::Opaque(value) => {
            let leaf = leaf(value);
            let cost = match &leaf {
                Shown::Text(text) | Shown::Word(text) => text_cost(text),
                _ => 26,
            };
            if budget.take(cost) { leaf } else { Shown::Cut }
        }
    }
}

fn fields<'a>(parts: impl Iterator<Item = (String, &'a dyn PartialReflect)>, budget: &mut Budget) -> Shown {
    let mut fields = Vec::new();
    for (name, value) in parts {
        if !budget.take(text_cost(&name)) {
            fields.push(("...".to_owned(), Shown::Cut));
            break;
        }
        fields.push((name, shown(value, budget)));
    }
    Shown::Fields(fields)
}

fn list<'a>(items: impl Iterator<Item = &'a dyn PartialReflect>, budget: &mut Budget) -> Shown {
    let mut shown_items = Vec::new();
    for item in items {
        let item = shown(item, budget);
        let cut = item == Shown::Cut;
        shown_items.push(item);
        if cut {
            break;
        }
    }
    Shown::List(shown_items)
}

fn enumeration(value: &dyn PartialReflect, variant: &dyn Enum, budget: &mut Budget) -> Shown {
    if is_option(value.reflect_type_path()) {
        return variant
            .field_at(0)
            .map_or(Shown::Nothing, |inside| shown(inside, budget));
    }
    let name = variant.variant_name().to_owned();
    if !budget.take(text_cost(&name)) {
        return Shown::Cut;
    }
    let parts = variant.iter_fields();
    let inside = match variant.variant_type() {
        VariantType::Unit => return Shown::Word(name),
        VariantType::Tuple => match variant.field_at(0) {
            Some(only) if variant.field_len() == 1 => shown(only, budget),
            _ => list(parts.map(|field| field.value()), budget),
        },
        VariantType::Struct => {
            let named = parts.map(|field| (field.name().unwrap_or_default().to_owned(), field.value()));
            fields(named, budget)
        }
    };
    Shown::Variant(name, Box::new(inside))
}

/// A key of a map, as a path names it.
pub(super) fn key_text(key: &dyn PartialReflect) -> String {
    match leaf(key) {
        Shown::Text(text) => text,
        other => other.line(),
    }
}

macro_rules! leaf_of {
    ($value:ident: $($kind:ty => $make:expr),* $(,)?) => {
        $(if let Some(found) = $value.try_downcast_ref::<$kind>() {
            return $make(found);
        })*
    };
}

fn leaf(value: &dyn PartialReflect) -> Shown {
    leaf_of!(value:
        bool => |&value: &bool| Shown::Flag(value),
        u8 => |&value: &u8| Shown::Unsigned(value.into()),
        u16 => |&value: &u16| Shown::Unsigned(value.into()),
        u32 => |&value: &u32| Shown::Unsigned(value.into()),
        u64 => |&value: &u64| Shown::Unsigned(value),
        usize => |&value: &usize| Shown::Unsigned(value as u64),
        i8 => |&value: &i8| signed(value.into()),
        i16 => |&value: &i16| signed(value.into()),
        i32 => |&value: &i32| signed(value.into()),
        i64 => |&value: &i64| signed(value),
        isize => |&value: &isize| signed(value as i64),
        f32 => |&value: &f32| Shown::Single(value),
        f64 => |&value: &f64| Shown::Double(value),
        Duration => |&value: &Duration| Shown::Span(value),
        Entity => |value: &Entity| Shown::Word(value.to_string()),
        SocketAddr => |value: &SocketAddr| Shown::Word(value.to_string()),
        String => |value: &String| Shown::Text(value.clone()),
        &'static str => |value: &&str| Shown::Text((*value).to_owned()),
        char => |value: &char| Shown::Text(value.to_string()),
    );
    // Its `Debug` is not asked: it might say more than it should.
    let path = value.reflect_type_path();
    Shown::Word(format!("({})", path.rsplit("::").next().unwrap_or(path)))
}

fn signed(value: i64) -> Shown {
    u64::try_from(value).map_or(Shown::Signed(value), Shown::Unsigned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bevy_reflect::Reflect;

    use super::*;

    #[derive(Reflect)]
    struct Wrapper(u8);

    #[derive(Reflect)]
    struct Everything {
        whole: i64,
        wrapper: Wrapper,
        text: String,
        option: Option<Duration>,
        none: Option<u8>,
        map: BTreeMap<u16, bool>,
        tuple: (u8, f32),
    }

    #[test]
    fn every_kind_of_value_is_shown() {
        let value = Everything {
            whole: -1,
            wrapper: Wrapper(2),
            text: "a\"b".to_owned(),
            option: Some(Duration::from_millis(1_500)),
            none: None,
            map: BTreeMap::from([(7, true)]),
            tuple: (1, 0.1),
        };
        let shown = shown(&value, &mut Budget::default());
        assert_eq!(
            serde_json::to_string(&shown).unwrap(),
            r#"{"whole":-1,"wrapper":2,"text":"a\"b","option":1.5,"none":null,"map":{"7":true},"tuple":[1,0.1]}"#
        );
    }

    #[test]
    fn a_large_value_is_cut_within_the_budget() {
        let value = vec!["\u{1}".repeat(1_000); 10_000];
        let text = serde_json::to_string(&shown(&value, &mut Budget::default())).unwrap();
        assert!(
            text.len() < 1024 * 1024 && text.ends_with("\"(left out)\"]"),
            "{} bytes",
            text.len()
        );
    }
}
