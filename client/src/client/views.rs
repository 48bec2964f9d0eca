//! The pages that the server told the client to show (docs/protocol.md 2.3): which are open, and which of them are
//! shown. How a page is loaded and drawn is the program's business.

use std::collections::BTreeMap;

use decitick_protocol::{ServerLaneEvent, ViewOpen, is_control_or_format};

use super::breach::Fault;

/// Most views a client keeps track of at once.
pub(super) const CAPACITY: usize = 64;

/// Whether `page` is a path that can only lie inside a resource's client files, and so may be appended to their URL: it is
/// relative, and none of its parts is empty or starts with a dot; it holds no backslash, no colon, no `%` (which may
/// stand for any of them) and no control or format character.
///
/// A program does not show a ViewOpen with any other page, and answers it with ViewStatus `Failed`.
#[must_use]
pub fn is_safe_page(page: &str) -> bool {
    let is_safe_character =
        |character: char| !matches!(character, '\\' | ':' | '%') && !is_control_or_format(character);
    page.chars().all(is_safe_character)
        && page
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// A view that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenView {
    /// The resource the page belongs to: one part of a path, safe as [`is_safe_page`] says.
    pub resource: String,
    /// The page, a safe path inside the resource's client files.
    pub page: String,
}

/// What a view's event meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ViewVerdict {
    /// Whether the program is told of it.
    pub(super) counts: bool,
    /// What it shows the server to have done, and with which view.
    pub(super) fault: Option<(Fault, u16)>,
}

/// The views that the server has open, at most 64.
#[derive(Debug, Default)]
pub(super) struct Views {
    /// `None`: open by the server's word, but not shown.
    open: BTreeMap<u16, Option<OpenView>>,
    /// A view found no room, so of an unknown one nothing can be said.
    overflowed: bool,
}

impl Views {
    /// The views that are shown, by rising number.
    pub(super) fn shown(&self) -> impl Iterator<Item = (u16, &OpenView)> {
        self.open
            .iter()
            .filter_map(|(view_id, view)| Some((*view_id, view.as_ref()?)))
    }

    /// Whether the server has this view open.
    pub(super) fn is_open(&self, view_id: u16) -> bool {
        self.open.contains_key(&view_id)
    }

    /// Whether this view is shown.
    pub(super) fn is_shown(&self, view_id: u16) -> bool {
        self.open.get(&view_id).is_some_and(Option::is_some)
    }

    /// The view failed or was closed on this side. It is remembered until the server closes it or opens another of its
    /// number, since what is on its way to it is no fault.
    pub(super) fn hide(&mut self, view_id: u16) {
        if let Some(view) = self.open.get_mut(&view_id) {
            *view = None;
        }
    }

    /// Takes an event in its turn; one that is about no view counts and changes nothing.
    pub(super) fn take(&mut self, event: &ServerLaneEvent) -> ViewVerdict {
        match event {
            ServerLaneEvent::ViewOpen(event) => self.take_open(event),
            ServerLaneEvent::ViewData(event) => match self.open.get(&event.view_id) {
                Some(view) => counts(view.is_some(), None),
                None => counts(false, self.unseen(Fault::ViewDataUnseen, event.view_id)),
            },
            ServerLaneEvent::ViewClose(event) => match self.open.remove(&event.view_id) {
                Some(view) => counts(view.is_some(), None),
                None => counts(false, self.unseen(Fault::ViewCloseUnseen, event.view_id)),
            },
            _ => counts(true, None),
        }
    }

    /// An open view is replaced by one of its number. The program is told of a page that is not safe too, since it is the
    /// one to answer.
    fn take_open(&mut self, event: &ViewOpen) -> ViewVerdict {
        let twice = self.is_shown(event.view_id);
        if !self.is_open(event.view_id) && self.open.len() >= CAPACITY {
            self.overflowed = true;
            return counts(false, None);
        }
        let (resource, page) = (event.resource.as_str(), event.page.as_str());
        let is_safe = is_safe_page(resource) && !resource.contains('/') && is_safe_page(page);
        let view = is_safe.then(|| OpenView {
            resource: resource.to_owned(),
            page: page.to_owned(),
        });
        self.open.insert(event.view_id, view);
        counts(true, twice.then_some((Fault::ViewOpenTwice, event.view_id)))
    }

    fn unseen(&self, fault: Fault, view_id: u16) -> Option<(Fault, u16)> {
        (!self.overflowed).then_some((fault, view_id))
    }
}

const fn counts(counts: bool, fault: Option<(Fault, u16)>) -> ViewVerdict {
    ViewVerdict { counts, fault }
}

#[cfg(test)]
mod tests {
    use decitick_protocol::{EventData, Text, ViewClose, ViewData};

    use super::*;

    const FINE: ViewVerdict = counts(true, None);
    const IGNORED: ViewVerdict = counts(false, None);

    fn open(view_id: u16, page: &str) -> ServerLaneEvent {
        ViewOpen {
            view_id,
            resource: Text::parse("login").unwrap(),
            page: Text::parse(page).unwrap(),
        }
        .into()
    }

    fn data(view_id: u16) -> ServerLaneEvent {
        let data = EventData::nil();
        ViewData { view_id, data }.into()
    }

    fn close(view_id: u16) -> ServerLaneEvent {
        ViewClose { view_id }.into()
    }

    fn shown(views: &Views) -> Vec<u16> {
        views.shown().map(|(view_id, _)| view_id).collect()
    }

    #[test]
    fn only_a_path_that_stays_inside_is_safe() {
        for page in ["login.html", "a/b/c.html", "page", "a..b/c", "имя.html"] {
            assert!(is_safe_page(page), "{page}");
        }
        let bad = [
            "",
            "/login.html",
            "//host/x",
            "a//b",
            "a/",
            "..",
            "../x",
            "a/../x",
            "./x",
            ".env",
            "a/.git/x",
            "a\\b",
            "C:/x",
            "javascript:x",
            "%2e%2e/x",
            "a\nb",
            "a\u{202e}b",
        ];
        for page in bad {
            assert!(!is_safe_page(page), "{page:?}");
        }
    }

    #[test]
    fn a_view_is_open_from_its_open_to_its_close() {
        let mut views = Views::default();
        assert_eq!(views.take(&open(3, "a.html")), FINE);
        assert_eq!(views.take(&open(1, "b/c.html")), FINE);
        assert_eq!(shown(&views), [1, 3]);
        assert_eq!(views.take(&data(3)), FINE);
        assert_eq!(views.take(&close(3)), FINE);
        assert_eq!(shown(&views), [1]);
        let (_, left) = views.shown().next().unwrap();
        assert_eq!(
            (left.resource.as_str(), left.page.as_str()),
            ("login", "b/c.html")
        );
    }

    #[test]
    fn what_is_about_no_open_view_is_a_breach() {
        let mut views = Views::default();
        let breach = |fault| counts(false, Some((fault, 3)));
        assert_eq!(views.take(&data(3)), breach(Fault::ViewDataUnseen));
        assert_eq!(views.take(&close(3)), breach(Fault::ViewCloseUnseen));
        views.take(&open(3, "a.html"));
        let twice = counts(true, Some((Fault::ViewOpenTwice, 3)));
        assert_eq!(views.take(&open(3, "b.html")), twice);
        views.take(&close(3));
        assert_eq!(views.take(&data(3)), breach(Fault::ViewDataUnseen));
    }

    #[test]
    fn an_unsafe_page_is_told_of_but_not_shown() {
        let mut views = Views::default();
        assert_eq!(views.take(&open(3, "../secret")), FINE);
        assert!(views.is_open(3) && !views.is_shown(3) && shown(&views).is_empty());
        assert_eq!(views.take(&data(3)), IGNORED);
        assert_eq!(views.take(&close(3)), IGNORED);
    }

    #[test]
    fn what_is_on_its_way_to_a_view_that_was_closed_here_is_no_breach() {
        let mut views = Views::default();
        views.take(&open(3, "a.html"));
        views.hide(3);
        assert!(shown(&views).is_empty());
        assert_eq!(views.take(&data(3)), IGNORED);
        assert_eq!(views.take(&open(3, "a.html")), FINE, "the number is free again");
        views.hide(3);
        assert_eq!(views.take(&close(3)), IGNORED);
    }

    #[test]
    fn views_past_the_capacity_are_not_shown_and_blamed_on_nobody() {
        let mut views = Views::default();
        for view_id in 0..CAPACITY as u16 {
            assert_eq!(views.take(&open(view_id, "a.html")), FINE);
        }
        assert_eq!(views.take(&open(999, "a.html")), IGNORED);
        assert_eq!(views.take(&data(999)), IGNORED);
        assert_eq!(views.take(&close(999)), IGNORED);
        assert_eq!(shown(&views).len(), CAPACITY);
    }
}
