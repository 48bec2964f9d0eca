//! What can be looked at while the server runs: every component and resource shows itself whole by reflection, or a
//! summary of itself, or is hidden for a reason that can be told.
//!
//! A type that derives `Reflect` with `#[reflect(Component)]` and is registered is shown whole. One whose inside is long,
//! changes with every packet or holds what nobody may read implements [`Summarise`]. A secret does neither. Who looks, and
//! how answers are laid out, is for others.

mod list;

use std::{any::TypeId, collections::BTreeMap, fmt::Write};

use bevy_app::App;
use bevy_ecs::{component::Component, resource::Resource, world::EntityRef};
use bevy_reflect::{MaybeTyped, Reflect, TypeInfo, reflect_remote, structs::DynamicStruct};
use decitick_protocol::Vec3;

pub use list::register_types;

/// Shows a summary of itself instead of everything it holds. [`InspectApp::summarise`] makes it known.
pub trait Summarise: Component {
    /// The fields of a summary.
    fn fields() -> &'static [SummaryField];

    /// The summary of this value.
    fn summary(&self) -> DynamicStruct;
}

/// One field of a summary.
#[derive(Clone, Copy, Debug)]
pub struct SummaryField {
    /// Its name.
    pub name: &'static str,
    /// What its values consist of, as far as that is known from their type.
    pub info: fn() -> Option<&'static TypeInfo>,
}

impl SummaryField {
    /// A field whose values are of a type.
    #[must_use]
    pub const fn of<T: MaybeTyped>(name: &'static str) -> Self {
        Self {
            name,
            info: T::maybe_type_info,
        }
    }
}

/// Writes [`Summarise`] for a type: each field of the summary with its type and its value.
///
/// A summary is a plain list and no type that derives `Reflect`: each of those would cost as much to compile as a module.
macro_rules! summary {
    (|$it:ident: $of:ty| { $($field:ident: $kind:ty = $value:expr),* $(,)? }) => {
        impl $crate::inspection::Summarise for $of {
            fn fields() -> &'static [$crate::inspection::SummaryField] {
                const { &[$($crate::inspection::SummaryField::of::<$kind>(stringify!($field))),*] }
            }

            fn summary(&self) -> bevy_reflect::structs::DynamicStruct {
                let $it = self;
                let mut summary = bevy_reflect::structs::DynamicStruct::default();
                $(summary.insert::<$kind>(stringify!($field), $value);)*
                summary
            }
        }
    };
}
pub(crate) use summary;

/// Marks a field that the console may set, and what it takes: `#[reflect(@Settable::Between { least: 0.0, most: 9.0 })]`.
/// Only for fields whose change nobody has to be told of, and that keep every invariant of their type.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub enum Settable {
    /// Whatever its type holds.
    Any,
    /// A number, or seconds, between these two, both included.
    Between {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A text of at most this many bytes, without control characters.
    Text {
        /// Bytes.
        most_bytes: usize,
    },
}

/// Why a component or resource is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// It must not be read by anybody.
    Secret(&'static str),
    /// It says nothing to people.
    Internal(&'static str),
}

impl Hidden {
    /// Whether nobody may read it.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::Secret(_))
    }

    /// The reason.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Secret(why) | Self::Internal(why) => why,
        }
    }
}

/// How to get the summary of a component.
#[derive(Clone, Copy, Debug)]
pub struct SummaryOf {
    /// The fields of the summary.
    pub fields: &'static [SummaryField],
    /// The summary of what an entity holds; none when it lacks the component.
    pub of: fn(EntityRef<'_>) -> Option<DynamicStruct>,
}

/// How a type is shown, if not whole.
#[derive(Clone, Copy, Debug)]
pub enum Sight {
    /// By a summary.
    Summary(SummaryOf),
    /// Not at all.
    Hidden(Hidden),
}

/// How the types are shown that are not shown whole.
#[derive(Resource, Clone, Debug, Default)]
pub struct Sights {
    by_type: BTreeMap<TypeId, Sight>,
}

impl Sights {
    /// How a type is shown; none: whole, if it is registered.
    #[must_use]
    pub fn of(&self, id: TypeId) -> Option<Sight> {
        self.by_type.get(&id).copied()
    }
}

summary!(|sights: Sights| { types: usize = sights.by_type.len() });

/// Says of types how they are shown.
pub trait InspectApp {
    /// Shows a summary.
    fn summarise<T: Summarise>(&mut self) -> &mut Self;

    /// Shows nothing: nobody may read it. `why` says what to do instead, or why not.
    fn keep_secret<T: Component>(&mut self, why: &'static str) -> &mut Self;

    /// Shows nothing: it says nothing to people.
    fn keep_inside<T: Component>(&mut self, why: &'static str) -> &mut Self;
}

impl InspectApp for App {
    fn summarise<T: Summarise>(&mut self) -> &mut Self {
        let summary = SummaryOf {
            fields: T::fields(),
            of: |entity| entity.get::<T>().map(Summarise::summary),
        };
        show::<T>(self, Sight::Summary(summary))
    }

    fn keep_secret<T: Component>(&mut self, why: &'static str) -> &mut Self {
        show::<T>(self, Sight::Hidden(Hidden::Secret(why)))
    }

    fn keep_inside<T: Component>(&mut self, why: &'static str) -> &mut Self {
        show::<T>(self, Sight::Hidden(Hidden::Internal(why)))
    }
}

fn show<T: Component>(app: &mut App, sight: Sight) -> &mut App {
    let world = app.world_mut();
    let mut sights = world.get_resource_or_init::<Sights>();
    sights.by_type.insert(TypeId::of::<T>(), sight);
    app
}

/// Three components in metres, or metres per second, as the inspector shows a [`Vec3`].
#[reflect_remote(Vec3)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// East.
    pub x: f32,
    /// North.
    pub y: f32,
    /// Up.
    pub z: f32,
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use bevy_ecs::world::World;
    use bevy_reflect::structs::{GetField, Struct};

    use super::*;

    #[derive(Component)]
    struct Queue(Vec<u8>);
    summary!(|queue: Queue| { waiting: usize = queue.0.len() });

    #[test]
    fn a_summary_shows_what_it_says_and_nothing_else() {
        let mut app = App::new();
        app.summarise::<Queue>();
        let Some(Sight::Summary(summary)) = app.world().resource::<Sights>().of(TypeId::of::<Queue>()) else {
            panic!("no summary");
        };
        let mut world = World::new();
        let (full, none) = (world.spawn(Queue(vec![1, 2, 3])).id(), world.spawn_empty().id());
        let shown = (summary.of)(world.entity(full)).unwrap();
        assert_eq!(
            (shown.field_len(), shown.get_field::<usize>("waiting")),
            (1, Some(&3))
        );
        assert!((summary.of)(world.entity(none)).is_none());
        assert_eq!(
            summary.fields.iter().map(|field| field.name).collect::<Vec<_>>(),
            ["waiting"]
        );
    }

    #[test]
    fn a_hidden_type_says_why() {
        let mut app = App::new();
        app.keep_secret::<Queue>("nobody may");
        let sight = app.world().resource::<Sights>().of(TypeId::of::<Queue>());
        assert!(
            matches!(sight, Some(Sight::Hidden(hidden)) if hidden.is_secret() && hidden.why() == "nobody may")
        );
        assert_eq!(hex(&[0, 0xAB]), "00ab");
    }
}
