//! Pages that a client shows: the views of a connection, and what is wished for and heard of them (docs/protocol.md 2.3).
//!
//! The content of pages and of what they say is the resources' business.

use crate::inspection::summary;
use std::{collections::BTreeMap, sync::Arc};

use bevy_ecs::{component::Component, entity::Entity, message::Message};
use decitick_protocol::{EventData, Text, ViewState};

use crate::script::ResourceName;

/// The views that are open on a connection, and which resource each belongs to.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenViews {
    open: BTreeMap<u16, ResourceName>,
    last: u16,
}

impl OpenViews {
    /// Views that a connection may have open at once.
    pub const MOST: usize = 16;

    /// Opens a view and gives its number, from 1; no number is used again before all others were. `None` when too many
    /// are open.
    pub fn open(&mut self, resource: ResourceName) -> Option<u16> {
        if self.open.len() >= Self::MOST {
            return None;
        }
        loop {
            self.last = self.last.checked_add(1).unwrap_or(1);
            if !self.open.contains_key(&self.last) {
                self.open.insert(self.last, resource);
                return Some(self.last);
            }
        }
    }

    /// Closes a view; false when it was not open.
    pub fn close(&mut self, view: u16) -> bool {
        self.open.remove(&view).is_some()
    }

    /// Whose view this is; `None` when it is not open.
    #[must_use]
    pub fn owner(&self, view: u16) -> Option<&ResourceName> {
        self.open.get(&view)
    }

    /// The views of a resource, lowest number first.
    pub fn of<'a>(&'a self, resource: &'a ResourceName) -> impl Iterator<Item = u16> + 'a {
        self.open
            .iter()
            .filter(move |(_, owner)| *owner == resource)
            .map(|(&view, _)| view)
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// What a page said or what became of it; the view was open on this connection.
#[derive(Message, Clone, Debug)]
pub struct ViewReported {
    /// The connection.
    pub entity: Entity,
    /// The view.
    pub view: u16,
    /// Whose view it is.
    pub resource: ResourceName,
    /// What there is to report.
    pub report: ViewReport,
}

/// What a client reports of a view.
#[derive(Clone, Debug)]
pub enum ViewReport {
    /// The page did something.
    Action(EventData),
    /// It was loaded, failed or was closed; after the last two the view is not open any more.
    State(ViewState),
}

/// A wish about a page on a client, in PreAuth or later. It has no effect when the session is gone.
#[derive(Message, Clone, Debug)]
pub struct ViewRequest {
    /// The connection.
    pub entity: Entity,
    /// Who wishes.
    pub resource: ResourceName,
    /// What is to happen.
    pub wish: ViewWish,
}

/// What can be done with pages.
#[derive(Clone, Debug)]
pub enum ViewWish {
    /// Show a page of the resource; its view gets the next number of [`OpenViews`].
    Open(Text<1, 255>),
    /// Tell a page something.
    Tell(u16, Arc<EventData>),
    /// Close it.
    Close(u16),
}

impl ViewWish {
    /// Does to the numbers what the wish does; whether it means anything to the client. A resource reaches its own views
    /// only.
    pub fn play(&self, views: &mut OpenViews, resource: &ResourceName) -> Option<u16> {
        match self {
            Self::Open(_) => views.open(resource.clone()),
            Self::Tell(view, _) => (views.owner(*view) == Some(resource)).then_some(*view),
            Self::Close(view) => {
                let own = views.owner(*view) == Some(resource);
                (own && views.close(*view)).then_some(*view)
            }
        }
    }
}

summary!(|views: OpenViews| {
    open: BTreeMap<u16, String> = views
        .open
        .iter()
        .map(|(&view, owner)| (view, owner.to_string()))
        .collect(),
    last: u16 = views.last,
});

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> ResourceName {
        ResourceName::parse(name).unwrap()
    }

    #[test]
    fn a_view_belongs_to_the_resource_that_opened_it() {
        let mut views = OpenViews::default();
        let view = views.open(name("login")).unwrap();
        assert_eq!(view, 1);
        assert_eq!(ViewWish::Close(view).play(&mut views, &name("other")), None);
        assert_eq!(views.owner(view), Some(&name("login")));
        assert_eq!(ViewWish::Close(view).play(&mut views, &name("login")), Some(view));
        assert_eq!(ViewWish::Close(view).play(&mut views, &name("login")), None);
    }

    #[test]
    fn numbers_come_again_only_after_all_others_and_never_while_they_are_open() {
        let mut views = OpenViews::default();
        let kept = views.open(name("a")).unwrap();
        for _ in 0..usize::from(u16::MAX) - 1 {
            let view = views.open(name("b")).unwrap();
            assert_ne!(view, kept);
            assert!(views.close(view));
        }
        assert_eq!(views.open(name("b")), Some(2), "1 is open and 0 is no number");
    }

    #[test]
    fn a_connection_has_sixteen_views_at_most() {
        let mut views = OpenViews::default();
        for _ in 0..OpenViews::MOST {
            assert!(views.open(name("a")).is_some());
        }
        assert_eq!(views.open(name("a")), None);
        assert_eq!(views.of(&name("a")).count(), OpenViews::MOST);
    }
}
