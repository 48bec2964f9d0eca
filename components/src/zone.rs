//! Zones: regions that nobody sees, and that notice who comes and goes.

use crate::inspection::Place;
use bevy_ecs::component::Component;
use bevy_ecs::reflect::ReflectComponent;
use bevy_reflect::Reflect;
use decitick_protocol::Vec3;

use crate::{
    body::{Space, distance_squared},
    book::{Book, Numbered, enter, strike},
    thing::Inside,
};

/// A zone's number, 1 and up; none is used twice in the life of the process. Immutable, and its hooks keep the
/// [`ZoneBook`].
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Component)]
#[component(immutable, on_insert = enter::<ZoneId>, on_discard = strike::<ZoneId>)]
#[require(Inside)]
pub struct ZoneId(pub u32);

/// Which region it is. Immutable: a zone that is elsewhere is another zone.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[component(immutable)]
pub struct Zone {
    /// Where it counts.
    pub space: Space,
    /// Its form.
    pub shape: ZoneShape,
}

/// The form of a zone, borders included.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub enum ZoneShape {
    /// All within a distance.
    Sphere {
        /// The middle.
        #[reflect(remote = Place)]
        centre: Vec3,
        /// Metres.
        radius: f32,
    },
    /// All between two corners.
    Box {
        /// The corner with the least coordinates.
        #[reflect(remote = Place)]
        least: Vec3,
        /// The corner with the greatest.
        #[reflect(remote = Place)]
        most: Vec3,
    },
}

impl ZoneShape {
    /// A box between any two opposite corners.
    #[must_use]
    pub const fn between(one: Vec3, other: Vec3) -> Self {
        Self::Box {
            least: Vec3::new(one.x.min(other.x), one.y.min(other.y), one.z.min(other.z)),
            most: Vec3::new(one.x.max(other.x), one.y.max(other.y), one.z.max(other.z)),
        }
    }

    /// Whether a place lies in it.
    #[must_use]
    pub fn contains(&self, place: Vec3) -> bool {
        match self {
            Self::Sphere { centre, radius } => distance_squared(*centre, place) <= radius * radius,
            Self::Box { least, most } => {
                (least.x..=most.x).contains(&place.x)
                    && (least.y..=most.y).contains(&place.y)
                    && (least.z..=most.z).contains(&place.z)
            }
        }
    }
}

impl Numbered for ZoneId {
    const MOST: usize = 10_000;

    fn numbered(number: u32) -> Self {
        Self(number)
    }

    fn number(self) -> u32 {
        self.0
    }
}

/// Every zone by its number.
pub type ZoneBook = Book<ZoneId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_belong_to_a_zone_and_corners_come_in_any_order() {
        let sphere = ZoneShape::Sphere {
            centre: Vec3::ZERO,
            radius: 5.0,
        };
        assert!(sphere.contains(Vec3::new(3.0, 4.0, 0.0)) && !sphere.contains(Vec3::new(3.0, 4.0, 1.0)));
        let corners = (Vec3::new(1.0, -1.0, 5.0), Vec3::new(-1.0, 1.0, 0.0));
        let shape = ZoneShape::between(corners.0, corners.1);
        assert!(shape.contains(corners.0) && shape.contains(corners.1) && shape.contains(Vec3::ZERO));
        assert!(!shape.contains(Vec3::new(0.0, 0.0, 5.1)));
    }
}
