//! Errors as JSON-RPC 2.0 and the Bevy Remote Protocol number them.

use std::fmt;

use bevy_ecs::entity::Entity;
use serde::Serialize;

/// The numbers of errors: those of JSON-RPC 2.0, and those of the Bevy Remote Protocol.
pub mod codes {
    /// What was sent is no JSON.
    pub const PARSE_ERROR: i32 = -32_700;
    /// It is JSON and no request.
    pub const INVALID_REQUEST: i32 = -32_600;
    /// There is no such method, or not here.
    pub const METHOD_NOT_FOUND: i32 = -32_601;
    /// The parameters are not those of the method.
    pub const INVALID_PARAMS: i32 = -32_602;
    /// The server could not make the answer.
    pub const INTERNAL_ERROR: i32 = -32_603;
    /// Too many ask at once; of the range that JSON-RPC leaves to servers.
    pub const BUSY: i32 = -32_000;
    /// A watch ended because its reader was too slow; of the same range.
    pub const CUT_OFF: i32 = -32_001;
    /// A console command failed, or may not be run here; of the same range.
    pub const COMMAND_ERROR: i32 = -32_002;
    /// There is no such entity.
    pub const ENTITY_NOT_FOUND: i32 = -23_401;
    /// A component is not known, or cannot be shown.
    pub const COMPONENT_ERROR: i32 = -23_402;
    /// The entity does not have the component.
    pub const COMPONENT_NOT_PRESENT: i32 = -23_403;
    /// A resource is not known, or cannot be shown.
    pub const RESOURCE_ERROR: i32 = -23_501;
    /// The world does not have the resource.
    pub const RESOURCE_NOT_PRESENT: i32 = -23_502;
}

/// Why a question has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteError {
    /// One of [`codes`].
    pub code: i32,
    /// One sentence for people.
    pub message: String,
}

impl RemoteError {
    /// Of this number, in these words.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// There is no such entity.
    #[must_use]
    pub fn entity_not_found(entity: Entity) -> Self {
        Self::new(codes::ENTITY_NOT_FOUND, format!("Entity {entity} not found"))
    }

    /// No component of this type path is registered for reflection.
    #[must_use]
    pub fn unknown_component(path: &str) -> Self {
        Self::new(
            codes::COMPONENT_ERROR,
            format!("Unknown component type: `{path}`; `world.list_components` lists those there are"),
        )
    }

    /// The entity does not have this component.
    #[must_use]
    pub fn component_not_present(path: &str, entity: Entity) -> Self {
        Self::new(
            codes::COMPONENT_NOT_PRESENT,
            format!("Component `{path}` not present in Entity {entity}"),
        )
    }

    /// The value of this component or resource cannot be shown.
    #[must_use]
    pub fn unshowable(code: i32, path: &str, why: impl fmt::Display) -> Self {
        Self::new(code, format!("`{path}` could not be serialized: {why}"))
    }

    /// No resource of this type path is registered for reflection.
    #[must_use]
    pub fn unknown_resource(path: &str) -> Self {
        Self::new(
            codes::RESOURCE_ERROR,
            format!("Unknown resource type: `{path}`; `world.list_resources` lists those there are"),
        )
    }

    /// The world does not have this resource.
    #[must_use]
    pub fn resource_not_present(path: &str) -> Self {
        Self::new(
            codes::RESOURCE_NOT_PRESENT,
            format!("Resource `{path}` not present in the world"),
        )
    }

    /// The answer would have more bytes than answers may have.
    #[must_use]
    pub fn too_large(most: usize) -> Self {
        Self::new(
            codes::INTERNAL_ERROR,
            format!("the answer would have more than {most} bytes; ask for fewer components or entities"),
        )
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RemoteError {}
