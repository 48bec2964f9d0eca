//! Paths into values, `position.x`: whether a type has such a field at all, and what a value has there.
//!
//! Options and wrappers around one value are stepped through without a name of their own.

use std::fmt;

use bevy_reflect::{
    NamedField, PartialReflect, ReflectRef, TypeInfo, UnnamedField,
    attributes::CustomAttributes,
    enums::{EnumInfo, VariantInfo},
};
use decitick_components::inspection::{Settable, SummaryField};

use super::names::nearest;

/// What values consist of, known without a value.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// The parts of a type.
    Type(&'static TypeInfo),
    /// The fields of a summary.
    Summary(&'static [SummaryField]),
}

/// A path that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault {
    /// The part that is not there.
    pub part: String,
    /// What is there instead.
    pub fields: Vec<String>,
}

impl fmt::Display for PathFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return write!(f, "there is no field {:?}: this is one value", self.part);
        }
        write!(f, "there is no field {:?}", self.part)?;
        if let Some(nearest) = nearest(&self.part, self.fields.iter().cloned()) {
            write!(f, "; the nearest is `{nearest}`")?;
        }
        write!(f, "; the fields are {}", self.fields.join(", "))
    }
}

/// The names of the fields of a type or a summary, as a path may go on.
#[must_use]
pub fn fields_of(form: Form) -> Vec<String> {
    match form {
        Form::Type(info) => fields_of_type(info),
        Form::Summary(fields) => fields.iter().map(|field| field.name.to_owned()).collect(),
    }
}

fn fields_of_type(info: &'static TypeInfo) -> Vec<String> {
    match inner(info) {
        TypeInfo::Struct(info) => info.field_names().iter().map(|&name| name.to_owned()).collect(),
        TypeInfo::TupleStruct(info) => (0..info.field_len()).map(|index| index.to_string()).collect(),
        TypeInfo::Tuple(info) => (0..info.field_len()).map(|index| index.to_string()).collect(),
        TypeInfo::Enum(info) => {
            let mut names: Vec<String> = Vec::new();
            for name in info.iter().flat_map(variant_fields) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        }
        _ => Vec::new(),
    }
}

fn variant_fields(variant: &VariantInfo) -> Vec<String> {
    match variant {
        VariantInfo::Struct(variant) => variant
            .field_names()
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        VariantInfo::Tuple(variant) => (0..variant.field_len()).map(|index| index.to_string()).collect(),
        VariantInfo::Unit(_) => Vec::new(),
    }
}

/// The type at the end of a path.
///
/// # Errors
/// The first part that no value of the type can have.
pub fn field_at(form: Form, path: &str) -> Result<Option<&'static TypeInfo>, PathFault> {
    walk(form, path).map(|(info, _)| info)
}

/// What may be set at the end of a path: the mark of the innermost marked field on the way.
///
/// # Errors
/// The first part that no value of the type can have.
pub fn settable_at(form: Form, path: &str) -> Result<Option<Settable>, PathFault> {
    walk(form, path).map(|(_, settable)| settable)
}

type Step = (Option<&'static TypeInfo>, Option<Settable>);

fn walk(form: Form, path: &str) -> Result<Step, PathFault> {
    let fields = match form {
        Form::Type(info) => return walk_type(Some(info), path),
        Form::Summary(fields) => fields,
    };
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    if name.is_empty() {
        return Ok((None, None));
    }
    match fields.iter().find(|field| field.name == name) {
        Some(field) => walk_type((field.info)(), rest),
        None => Err(fault(name, fields_of(form))),
    }
}

fn fault(part: &str, fields: Vec<String>) -> PathFault {
    PathFault {
        part: part.chars().take(64).collect(),
        fields,
    }
}

fn walk_type(info: Option<&'static TypeInfo>, path: &str) -> Result<Step, PathFault> {
    let is_wrapped = info.and_then(wrapped).is_some();
    let mut here: Step = step_in(info, None);
    for (number, part) in parts(path).enumerate() {
        let (info, settable) = here;
        let Some(info) = info else { break };
        let next = match info {
            TypeInfo::Struct(info) => info.field(part).map(named),
            TypeInfo::TupleStruct(info) => part
                .parse()
                .ok()
                .and_then(|index| info.field_at(index))
                .map(unnamed),
            TypeInfo::Tuple(info) => part
                .parse()
                .ok()
                .and_then(|index| info.field_at(index))
                .map(unnamed),
            TypeInfo::Enum(info) => in_variants(info, part),
            TypeInfo::List(info) => index(part).map(|()| (info.item_info(), None)),
            TypeInfo::Array(info) => index(part).map(|()| (info.item_info(), None)),
            TypeInfo::Map(info) => Some((info.value_info(), None)),
            TypeInfo::Set(_) | TypeInfo::Opaque(_) => None,
        };
        here = match next {
            Some((next, mark)) => step_in(next, mark.or(settable)),
            // `Money.0` is `Money`: the wrapper was stepped through already. `Phase.0` is the variant.
            None if number == 0 && part == "0" && (is_wrapped || is_variant(info)) => here,
            None => {
                return Err(fault(part, fields_of_type(info)));
            }
        };
    }
    Ok(here)
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|part| !part.is_empty())
}

fn index(part: &str) -> Option<()> {
    part.parse::<u32>().ok().map(|_| ())
}

fn named(field: &'static NamedField) -> Step {
    (field.type_info(), mark(field.custom_attributes()))
}

fn unnamed(field: &'static UnnamedField) -> Step {
    (field.type_info(), mark(field.custom_attributes()))
}

fn mark(attributes: &CustomAttributes) -> Option<Settable> {
    attributes.get::<Settable>().copied()
}

fn in_variants(info: &'static EnumInfo, part: &str) -> Option<Step> {
    info.iter().find_map(|variant| match variant {
        VariantInfo::Struct(variant) => variant.field(part).map(named),
        VariantInfo::Tuple(variant) => part
            .parse()
            .ok()
            .and_then(|index| variant.field_at(index))
            .map(unnamed),
        VariantInfo::Unit(_) => None,
    })
}

/// Steps through options and wrappers.
fn step_in(mut info: Option<&'static TypeInfo>, mut settable: Option<Settable>) -> Step {
    while let Some(within) = info.and_then(wrapped) {
        let (next, mark) = within;
        settable = mark.or(settable);
        info = next;
    }
    (info, settable)
}

fn inner(info: &'static TypeInfo) -> &'static TypeInfo {
    step_in(Some(info), None).0.unwrap_or(info)
}

fn wrapped(info: &'static TypeInfo) -> Option<Step> {
    match info {
        TypeInfo::TupleStruct(info) if info.field_len() == 1 => info.field_at(0).map(unnamed),
        TypeInfo::Enum(info) if is_option(info.type_path()) => match info.variant("Some") {
            Some(VariantInfo::Tuple(some)) => some.field_at(0).map(unnamed),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn is_option(type_path: &str) -> bool {
    type_path.starts_with("core::option::Option<")
}

/// What a value has at the end of a path; none when this value has nothing there.
#[must_use]
pub fn value_at<'a>(value: &'a dyn PartialReflect, path: &str) -> Option<&'a dyn PartialReflect> {
    let is_wrapped = matches!(value.reflect_ref(), ReflectRef::TupleStruct(value) if value.field_len() == 1);
    let mut here = value_in(value);
    for (place, part) in parts(path).enumerate() {
        let number = part.parse::<usize>().ok();
        let next = match here.reflect_ref() {
            ReflectRef::Struct(value) => value.field(part),
            ReflectRef::TupleStruct(value) => number.and_then(|number| value.field(number)),
            ReflectRef::Tuple(value) => number.and_then(|number| value.field(number)),
            ReflectRef::List(value) => number.and_then(|number| value.get(number)),
            ReflectRef::Array(value) => number.and_then(|number| value.get(number)),
            ReflectRef::Enum(value) => value.field(part).or_else(|| value.field_at(number?)),
            ReflectRef::Map(value) => value
                .iter()
                .find(|(key, _)| super::value::key_text(*key) == part)
                .map(|(_, value)| value),
            _ => None,
        };
        here = match next {
            Some(next) => value_in(next),
            // The wrapper was stepped through already.
            None if place == 0 && part == "0" && (is_wrapped || is_enum(here)) && is_whole(here) => here,
            None => return None,
        };
    }
    Some(here)
}

const fn is_variant(info: &TypeInfo) -> bool {
    matches!(info, TypeInfo::Enum(_))
}

/// Whether it has no items that a number could name.
fn is_whole(value: &dyn PartialReflect) -> bool {
    !matches!(
        value.reflect_ref(),
        ReflectRef::List(_) | ReflectRef::Array(_) | ReflectRef::Tuple(_) | ReflectRef::TupleStruct(_)
    )
}

fn is_enum(value: &dyn PartialReflect) -> bool {
    matches!(value.reflect_ref(), ReflectRef::Enum(_))
}

/// Steps through options that hold something and wrappers.
pub(super) fn value_in(mut value: &dyn PartialReflect) -> &dyn PartialReflect {
    loop {
        let within = match value.reflect_ref() {
            ReflectRef::TupleStruct(wrapper) if wrapper.field_len() == 1 => wrapper.field(0),
            ReflectRef::Enum(option)
                if option.variant_name() == "Some" && is_option(value.reflect_type_path()) =>
            {
                option.field_at(0)
            }
            _ => None,
        };
        match within {
            Some(within) => value = within,
            None => return value,
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_reflect::{Reflect, Typed};

    use super::*;

    #[derive(Reflect)]
    struct Wrapper(#[reflect(@Settable::Any)] Option<u32>);

    #[derive(Reflect)]
    enum Shape {
        Point,
        Ball { radius: f32 },
    }

    #[derive(Reflect)]
    struct Whole {
        wrapper: Wrapper,
        shape: Shape,
        list: Vec<(u8, Wrapper)>,
    }

    fn whole() -> Whole {
        Whole {
            wrapper: Wrapper(Some(7)),
            shape: Shape::Ball { radius: 2.0 },
            list: vec![(1, Wrapper(None)), (2, Wrapper(Some(3)))],
        }
    }

    #[test]
    fn a_path_is_known_from_the_type_alone() {
        let info = Form::Type(Whole::type_info());
        for path in ["wrapper", "shape.radius", "list.5.0", "list.0.1"] {
            assert!(field_at(info, path).is_ok(), "{path}");
        }
        let fault = field_at(info, "wraper").unwrap_err().to_string();
        assert_eq!(
            fault,
            "there is no field \"wraper\"; the nearest is `wrapper`; the fields are wrapper, shape, list"
        );
        for path in ["shape.size", "list.x", "wrapper.x", "list.0.2"] {
            assert!(field_at(info, path).is_err(), "{path}");
        }
        assert!(
            field_at(Form::Type(Wrapper::type_info()), "0").is_ok()
                && field_at(Form::Type(Shape::type_info()), "0").is_ok()
        );
    }

    #[test]
    fn a_value_is_found_at_its_path_or_is_not_there() {
        let value = whole();
        let number =
            |path: &str| value_at(&value, path).and_then(|value| value.try_downcast_ref::<u32>().copied());
        assert_eq!((number("wrapper"), number("list.1.1")), (Some(7), Some(3)));
        assert!(value_at(&value, "list.2.1").is_none());
        assert!(value_at(&value, "shape.radius").is_some());
        let point = Whole {
            shape: Shape::Point,
            ..whole()
        };
        assert!(value_at(&point, "shape.radius").is_none());
        assert!(value_at(&Wrapper(Some(1)), "0").is_some() && value_at(&Shape::Point, "0").is_some());
    }

    #[test]
    fn the_mark_of_a_field_is_found_through_wrappers() {
        assert_eq!(
            settable_at(Form::Type(Whole::type_info()), "wrapper"),
            Ok(Some(Settable::Any))
        );
        assert_eq!(
            settable_at(Form::Type(Wrapper::type_info()), ""),
            Ok(Some(Settable::Any))
        );
        assert_eq!(settable_at(Form::Type(Whole::type_info()), "shape"), Ok(None));
    }
}
