//! `registry.schema`: what registered types look like, as the protocol writes JSON Schema.

use bevy_ecs::{
    component::StorageType,
    reflect::{ReflectComponent, ReflectResource},
    world::World,
};
use bevy_reflect::{
    ReflectDeserialize, ReflectSerialize, TypeInfo, TypeRegistration, TypeRegistry, UnnamedField,
    enums::VariantInfo, prelude::ReflectDefault,
};
use decitick_components::remote::{RemoteResult, SchemaFilter};
use serde_json::{Map, Value, json};

use super::{ANSWER_BYTES, json::JsonText};

/// The schemas of all registered types that the filter lets through, by type path.
pub(super) fn schema(filter: &SchemaFilter, world: &World, registry: &TypeRegistry) -> RemoteResult {
    let mut registrations: Vec<_> = registry
        .iter()
        .filter(|registration| passes(filter, registration))
        .collect();
    registrations.sort_unstable_by_key(|registration| registration.type_info().type_path());
    let mut schemas = JsonText::map(ANSWER_BYTES);
    for registration in registrations {
        let schema = schema_of(registration, world, registry);
        schemas.entry(registration.type_info().type_path(), &schema.to_string())?;
    }
    Ok(schemas.end())
}

fn passes(filter: &SchemaFilter, registration: &TypeRegistration) -> bool {
    if let Some(of) = registration.type_info().type_path_table().crate_name() {
        let named = |crates: &[String]| crates.iter().any(|name| name == of);
        if (!filter.with_crates.is_empty() && !named(&filter.with_crates)) || named(&filter.without_crates) {
            return false;
        }
    }
    let kinds = reflect_types(registration);
    let any = |names: &[String]| names.iter().any(|name| kinds.contains(&name.as_str()));
    let limit = &filter.type_limit;
    (limit.with.is_empty() || any(&limit.with)) && !any(&limit.without)
}

/// What a type is registered as.
fn reflect_types(registration: &TypeRegistration) -> Vec<&'static str> {
    let kinds = [
        ("Component", registration.data::<ReflectComponent>().is_some()),
        ("Resource", registration.data::<ReflectResource>().is_some()),
        ("Default", registration.data::<ReflectDefault>().is_some()),
        ("Serialize", registration.data::<ReflectSerialize>().is_some()),
        ("Deserialize", registration.data::<ReflectDeserialize>().is_some()),
    ];
    kinds
        .into_iter()
        .filter_map(|(name, is)| is.then_some(name))
        .collect()
}

fn schema_of(registration: &TypeRegistration, world: &World, registry: &TypeRegistry) -> Value {
    let info = registration.type_info();
    let path = info.type_path_table();
    let mut schema = Map::new();
    let mut set = |key: &str, value: Value| {
        schema.insert(key.to_owned(), value);
    };
    set("shortPath", path.short_path().into());
    set("typePath", path.path().into());
    if let Some(module) = path.module_path() {
        set("modulePath", module.into());
    }
    if let Some(name) = path.crate_name() {
        set("crateName", name.into());
    }
    let kinds = reflect_types(registration);
    if !kinds.is_empty() {
        set("reflectTypes", kinds.into());
    }
    if let Some(component) = component_info(registration, world, registry) {
        set("componentInfo", component);
    }
    for (key, value) in shape(info) {
        set(key, value);
    }
    Value::Object(schema)
}

fn component_info(registration: &TypeRegistration, world: &World, registry: &TypeRegistry) -> Option<Value> {
    let components = world.components();
    let info = components.get_info(components.get_valid_id(registration.type_id())?)?;
    let mut required: Vec<&str> = info
        .required_components()
        .iter_ids()
        .filter_map(|id| components.get_info(id)?.type_id())
        // Types that are not registered stay unnamed here too.
        .filter_map(|type_id| Some(registry.get(type_id)?.type_info().type_path()))
        .collect();
    required.sort_unstable();
    let mut told = Map::new();
    told.insert("mutable".to_owned(), info.mutable().into());
    let storage = match info.storage_type() {
        StorageType::Table => "Table",
        StorageType::SparseSet => "SparseSet",
    };
    told.insert("storageType".to_owned(), storage.into());
    told.insert("isSendAndSync".to_owned(), info.is_send_and_sync().into());
    if !required.is_empty() {
        told.insert("requiredComponentTypes".to_owned(), required.into());
    }
    Some(Value::Object(told))
}

/// Kind, type and what each kind has beside.
fn shape(info: &TypeInfo) -> Vec<(&'static str, Value)> {
    let of = |kind: &str, kind_type: &str| vec![("kind", Value::from(kind)), ("type", kind_type.into())];
    match info {
        TypeInfo::Struct(info) => {
            let fields = info.iter().map(|field| (field.name(), field.type_path()));
            let mut shape = of("Struct", "object");
            shape.extend(object(fields, false));
            shape
        }
        TypeInfo::TupleStruct(info) => {
            let mut shape = of("TupleStruct", "array");
            shape.extend(tuple(info.iter().map(UnnamedField::type_path)));
            shape
        }
        TypeInfo::Tuple(info) => {
            let mut shape = of("Tuple", "array");
            shape.extend(tuple(info.iter().map(UnnamedField::type_path)));
            shape.retain(|(key, _)| *key != "items");
            shape
        }
        TypeInfo::List(info) => {
            let mut shape = of("List", "array");
            shape.push(("items", reference(info.item_ty().path())));
            shape
        }
        TypeInfo::Array(info) => {
            let mut shape = of("Array", "array");
            shape.push(("items", reference(info.item_ty().path())));
            shape
        }
        TypeInfo::Set(info) => {
            let mut shape = of("Set", "set");
            shape.push(("items", reference(info.value_ty().path())));
            shape
        }
        TypeInfo::Map(info) => {
            let mut shape = of("Map", "object");
            shape.push(("keyType", reference(info.key_ty().path())));
            shape.push(("valueType", reference(info.value_ty().path())));
            shape
        }
        TypeInfo::Enum(info) => {
            let plain = info.iter().all(|variant| matches!(variant, VariantInfo::Unit(_)));
            let variants: Vec<Value> = if plain {
                info.iter().map(|variant| variant.name().into()).collect()
            } else {
                info.iter()
                    .map(|one| variant(info.type_path_table().path(), one))
                    .collect()
            };
            let mut shape = of("Enum", if plain { "string" } else { "object" });
            if !variants.is_empty() {
                shape.push(("oneOf", variants.into()));
            }
            shape
        }
        TypeInfo::Opaque(info) => of("Value", opaque(info.type_path_table().path())),
    }
}

/// A variant of an enum whose variants carry something.
fn variant(path: &str, variant: &VariantInfo) -> Value {
    let name = variant.name();
    let mut told = Map::new();
    match variant {
        VariantInfo::Struct(info) => {
            told.insert("type".to_owned(), "object".into());
            told.insert("kind".to_owned(), "Struct".into());
            let fields = info.iter().map(|field| (field.name(), field.type_path()));
            told.extend(object(fields, true).into_iter().map(owned));
        }
        VariantInfo::Tuple(info) => {
            told.insert("type".to_owned(), "array".into());
            told.insert("kind".to_owned(), "Tuple".into());
            let fields = info.iter().map(UnnamedField::type_path);
            told.extend(tuple(fields).into_iter().map(owned));
        }
        VariantInfo::Unit(_) => {}
    }
    told.insert("typePath".to_owned(), format!("{path}::{name}").into());
    told.insert("shortPath".to_owned(), name.into());
    Value::Object(told)
}

fn owned((key, value): (&str, Value)) -> (String, Value) {
    (key.to_owned(), value)
}

/// Named fields. In variants the lists stand there even when they are empty.
fn object<'i>(fields: impl Iterator<Item = (&'i str, &'i str)>, always: bool) -> Vec<(&'static str, Value)> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, path) in fields {
        properties.insert(name.to_owned(), reference(path));
        if !path.starts_with("core::option::Option") {
            required.push(name);
        }
    }
    let mut told = vec![("additionalProperties", Value::from(false))];
    if always || !properties.is_empty() {
        told.push(("properties", Value::Object(properties)));
    }
    if always || !required.is_empty() {
        told.push(("required", required.into()));
    }
    told
}

fn tuple<'i>(fields: impl Iterator<Item = &'i str>) -> Vec<(&'static str, Value)> {
    let items: Vec<Value> = fields.map(reference).collect();
    vec![("prefixItems", items.into()), ("items", false.into())]
}

fn reference(path: &str) -> Value {
    json!({"type": {"$ref": format!("#/$defs/{path}")}})
}

fn opaque(path: &str) -> &'static str {
    match path {
        "bool" => "boolean",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "uint",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "int",
        "f32" | "f64" => "float",
        "char" | "str" | "alloc::string::String" => "string",
        _ => "object",
    }
}
