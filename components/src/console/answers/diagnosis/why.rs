//! The answer of `why`: whether one player sees another, and what keeps it from it.

use serde::{Serialize, Serializer};

use super::super::{AnswerText, Layout};
use crate::{body::Space, reasons::named_reasons};

named_reasons! {
    /// Why a player sees another or does not.
    SightReason {
        /// It is in view.
        InView = "in_view",
        /// It is in view and leaves it when the view is next looked at.
        Leaving = "leaving",
        /// It is not in view and enters it when the view is next looked at.
        Entering = "entering",
        /// Nobody has one of the ids.
        NotConnected = "not_connected",
        /// Both ids are the same, and nobody sees itself.
        Itself = "itself",
        /// One of them has not joined yet: it authenticates.
        PreAuth = "pre_auth",
        /// One of them has not come into the world yet.
        NotSpawned = "not_spawned",
        /// The one who would be seen fell and has not come back.
        Dead = "dead",
        /// They are in different dimensions.
        Dimension = "dimension",
        /// They are in different areas.
        Area = "area",
        /// They are farther apart than `streaming.radius`.
        Radius = "radius",
        /// Others are nearer, and the view is full.
        Limit = "limit",
    }
}

impl Serialize for SightReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Whether one sees the other. What is not known or has no meaning here is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SightAnswer {
    /// Whether it is in view.
    pub sees: bool,
    /// Why, or why not.
    pub reason: SightReason,
    /// The player whom the reason is about, where it is about one of them.
    pub player: Option<u16>,
    /// How far apart they are, when they are in the same place at all.
    pub distance_m: Option<f64>,
    /// `streaming.radius`: how near one must come to enter the view; it leaves past a tenth more.
    pub radius_m: f64,
    /// How many players nearer than the other are within the radius, and one: its rank.
    pub rank: Option<u64>,
    /// How many players are in the view.
    pub in_view: Option<u64>,
    /// `streaming.limit`: how many can be.
    pub limit: u64,
    /// Who waits to enter the view before it, when it enters.
    pub before: Option<u64>,
    /// The area of the one who sees.
    pub viewer_area: Option<u8>,
    /// The area of the one who is seen.
    pub seen_area: Option<u8>,
    /// The dimension of the one who sees.
    pub viewer_dimension: Option<u32>,
    /// The dimension of the one who is seen.
    pub seen_dimension: Option<u32>,
}

impl SightAnswer {
    /// An answer with nothing but its reason.
    #[must_use]
    pub const fn bare(reason: SightReason, player: Option<u16>, radius_m: f64, limit: u64) -> Self {
        Self {
            sees: false,
            reason,
            player,
            distance_m: None,
            radius_m,
            rank: None,
            in_view: None,
            limit,
            before: None,
            viewer_area: None,
            seen_area: None,
            viewer_dimension: None,
            seen_dimension: None,
        }
    }

    /// Notes where the two are.
    pub const fn set_spaces(&mut self, viewer: Space, seen: Space) {
        self.viewer_area = Some(viewer.area);
        self.seen_area = Some(seen.area);
        self.viewer_dimension = Some(viewer.dimension);
        self.seen_dimension = Some(seen.dimension);
    }

    /// The reason in words.
    fn words(&self) -> String {
        let player = self.player.unwrap_or_default();
        let distance = self.distance_m.map_or_else(
            || "an unknown distance".to_owned(),
            |distance| format!("{distance:.1} m"),
        );
        let radius = self.radius_m;
        let pair = |a: Option<u32>, b: Option<u32>| {
            format!("{} and {}", a.unwrap_or_default(), b.unwrap_or_default())
        };
        match self.reason {
            SightReason::InView => format!(
                "it is in view, {distance} away, one of {} (at most {})",
                self.in_view.unwrap_or_default(),
                self.limit
            ),
            SightReason::Leaving => {
                format!("it is in view, {distance} away, and leaves it within half a second")
            }
            SightReason::Entering => format!(
                "it comes into view within half a second or so, {distance} away; {} before it",
                self.before.unwrap_or_default()
            ),
            SightReason::NotConnected => format!("nobody has the id {player}"),
            SightReason::Itself => "nobody sees itself".to_owned(),
            SightReason::PreAuth => format!("player {player} has not joined yet, it authenticates"),
            SightReason::NotSpawned => format!("player {player} has not come into the world yet"),
            SightReason::Dead => format!("player {player} fell and has not come back"),
            SightReason::Dimension => format!(
                "they are in different dimensions, {}",
                pair(self.viewer_dimension, self.seen_dimension)
            ),
            SightReason::Area => format!(
                "they are in different areas, {}",
                pair(self.viewer_area.map(u32::from), self.seen_area.map(u32::from))
            ),
            SightReason::Radius => format!("it is {distance} away, and streaming.radius is {radius:.1} m"),
            SightReason::Limit => format!(
                "it is {distance} away, number {} by distance; the view holds {} of at most {} \
                 (streaming.limit), and a full one gives way once four nearer ones wait",
                self.rank.unwrap_or_default(),
                self.in_view.unwrap_or_default(),
                self.limit
            ),
        }
    }
}

/// The answer of `why`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyAnswer {
    /// The one who sees or does not.
    pub viewer: u16,
    /// The one who is seen or not.
    pub seen: u16,
    /// Whether, and why.
    #[serde(flatten)]
    pub sight: SightAnswer,
    /// The same the other way round, in brief.
    pub reverse: ReverseAnswer,
}

/// Whether the other sees the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReverseAnswer {
    /// Whether it is in view.
    pub sees: bool,
    /// Why, or why not.
    pub reason: SightReason,
}

impl AnswerText for WhyAnswer {
    fn text(&self, _: Layout) -> String {
        let verb = |sees: bool| if sees { "sees" } else { "does not see" };
        format!(
            "player {} {} player {}: {}\nthe other way: player {} {} player {} ({})",
            self.viewer,
            verb(self.sight.sees),
            self.seen,
            self.sight.words(),
            self.seen,
            verb(self.reverse.sees),
            self.viewer,
            self.reverse.reason
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(reason: SightReason) -> WhyAnswer {
        let mut sight = SightAnswer::bare(reason, Some(4), 300.0, 64);
        sight.distance_m = Some(812.5);
        sight.rank = Some(70);
        sight.in_view = Some(64);
        sight.set_spaces(
            Space {
                dimension: 0,
                area: 1,
            },
            Space {
                dimension: 7,
                area: 5,
            },
        );
        WhyAnswer {
            viewer: 3,
            seen: 4,
            sight,
            reverse: ReverseAnswer {
                sees: true,
                reason: SightReason::InView,
            },
        }
    }

    #[test]
    fn every_reason_has_its_figures_in_words() {
        for (reason, part) in [
            (SightReason::Area, "different areas, 1 and 5"),
            (SightReason::Dimension, "different dimensions, 0 and 7"),
            (
                SightReason::Radius,
                "812.5 m away, and streaming.radius is 300.0 m",
            ),
            (
                SightReason::Limit,
                "number 70 by distance; the view holds 64 of at most 64",
            ),
            (SightReason::NotConnected, "nobody has the id 4"),
        ] {
            let text = why(reason).text(Layout::WIDE);
            assert!(text.starts_with("player 3 does not see player 4: "), "{text}");
            assert!(text.contains(part), "{text}");
            assert!(
                text.ends_with("\nthe other way: player 4 sees player 3 (in_view)"),
                "{text}"
            );
        }
    }

    #[test]
    fn json_is_flat_with_the_reason_by_its_name() {
        let json = serde_json::to_value(why(SightReason::Area)).unwrap();
        assert_eq!(
            (json["sees"].as_bool(), json["reason"].as_str()),
            (Some(false), Some("area"))
        );
        assert_eq!(
            (json["viewer_area"].as_u64(), json["seen_area"].as_u64()),
            (Some(1), Some(5))
        );
        assert_eq!(json["reverse"]["reason"], "in_view");
        assert_eq!(json["before"], serde_json::Value::Null);
    }
}
