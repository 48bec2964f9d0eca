//! The answers of the commands that look into entities and resources (docs/console.md).

use serde::{Serialize, Serializer};

use super::{
    super::text_table::{Layout, TextTable, counted},
    AnswerText, SHOWN_CHARACTERS,
    shown::{Shown, serialize_fields},
    tenths,
};
use decitick_protocol::escape_for_display;

/// Names of components that a row of a text shows; JSON has them all.
const NAMED: usize = 6;
/// Changes of one tick that a text shows; JSON has them all.
const TOLD: usize = 20;

/// The answer of `entities`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EntitiesAnswer {
    /// One row an entity: players by id, things and zones by number, then the rest.
    pub entities: Vec<EntityRow>,
    /// How many fit the question.
    pub matched: u64,
    /// How many of them are not shown.
    pub more: u64,
    /// Whether the question was given up before every entity was looked at: `matched` is then only a part.
    pub cut: bool,
}

/// One entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntityRow {
    /// `12v3`.
    pub entity: String,
    /// `player 5 "Bob"`, `thing 7 vehicle 411`; empty when it is nothing that people have a name for.
    pub is: String,
    /// The short names of its components, by alphabet.
    pub components: Vec<String>,
}

impl AnswerText for EntitiesAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["entity", "what", "components"].map(str::to_owned));
        for row in &self.entities {
            let mut names: Vec<&str> = row.components.iter().take(NAMED).map(String::as_str).collect();
            let rest = format!("{} more", row.components.len().saturating_sub(NAMED));
            if row.components.len() > NAMED {
                names.push(&rest);
            }
            table.row([row.entity.clone(), row.is.clone(), names.join(", ")]);
        }
        let mut last = match self.matched {
            0 => "no entities".to_owned(),
            1 => "1 entity".to_owned(),
            matched => format!("{matched} entities"),
        };
        if self.more > 0 {
            last.push_str(&format!(", {} more than shown; `limit N` shows more", self.more));
        }
        if self.cut {
            last.push_str(
                "\nnot every entity was looked at: the question costs too much; name components or fewer conditions",
            );
        }
        if self.entities.is_empty() {
            last
        } else {
            format!("{}\n{last}", table.text(layout))
        }
    }
}

/// The answer of `inspect`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InspectAnswer {
    /// `12v3`.
    pub entity: String,
    /// What people call it; may be empty.
    pub is: String,
    /// Each component that can be shown with its value, by alphabet.
    #[serde(serialize_with = "named")]
    pub components: Vec<(String, Shown)>,
    /// Those that are not shown.
    pub hidden: Vec<HiddenRow>,
}

fn named<S: Serializer>(fields: &[(String, Shown)], serializer: S) -> Result<S::Ok, S::Error> {
    serialize_fields(fields, serializer)
}

/// A component or resource that is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenRow {
    /// Its short name.
    pub name: String,
    /// Whether nobody may read it.
    pub secret: bool,
    /// Why it is not shown.
    pub why: String,
}

impl AnswerText for InspectAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut rows = Vec::new();
        for (name, value) in &self.components {
            value.add_rows(name, 0, &mut rows);
        }
        for hidden in &self.hidden {
            let word = if hidden.secret { "secret" } else { "not shown" };
            rows.push([hidden.name.clone(), format!("({word}) {}", hidden.why)]);
        }
        let head = format!("{} {}", self.entity, self.is);
        format!("{}\n{}", head.trim_end(), table(rows, layout))
    }
}

fn table(rows: Vec<[String; 2]>, layout: Layout) -> String {
    let mut table = TextTable::default();
    for row in rows {
        table.row(row);
    }
    table.text(layout)
}

/// The answer of `resources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EcsResourcesAnswer {
    /// By alphabet.
    pub resources: Vec<EcsResourceRow>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EcsResourceRow {
    /// Its short name.
    pub name: String,
    /// The entity that holds it: `inspect` and `set` take it.
    pub entity: String,
    /// `whole`, `summary`, `secret` or `internal`.
    pub shown: &'static str,
}

impl AnswerText for EcsResourcesAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut table = TextTable::default();
        table.row(["resource", "entity", ""].map(str::to_owned));
        for row in &self.resources {
            let mark = match row.shown {
                "whole" => String::new(),
                "internal" => "(not shown)".to_owned(),
                shown => format!("({shown})"),
            };
            table.row([row.name.clone(), row.entity.clone(), mark]);
        }
        format!(
            "{}\n{}",
            table.text(layout),
            counted(self.resources.len() as u64, "resource")
        )
    }
}

/// The answer of `resources NAME`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EcsResourceAnswer {
    /// Its short name.
    pub resource: String,
    /// The entity that holds it.
    pub entity: String,
    /// What it holds.
    pub value: Shown,
}

impl AnswerText for EcsResourceAnswer {
    fn text(&self, layout: Layout) -> String {
        let mut rows = Vec::new();
        self.value.add_rows(&self.resource, 0, &mut rows);
        table(rows, layout)
    }
}

/// A part of what `watch` says: the changes of one tick.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangesAnswer {
    /// Since the watch began.
    #[serde(serialize_with = "tenths")]
    pub after_s: f64,
    /// What changed, in the order of the fields.
    pub changes: Vec<ChangeRow>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRow {
    /// The field, as `where` and `set` name it; empty for a component that is one value.
    pub path: String,
    /// What it was; null: it was not there.
    pub from: Option<Shown>,
    /// What it is; null: it is not there any more.
    pub to: Option<Shown>,
}

impl AnswerText for ChangesAnswer {
    fn text(&self, _: Layout) -> String {
        let side = |value: &Option<Shown>| value.as_ref().map_or_else(|| "-".to_owned(), Shown::line);
        let mut lines: Vec<String> = self
            .changes
            .iter()
            .take(TOLD)
            .map(|change| {
                let path = escape_for_display(&change.path, SHOWN_CHARACTERS);
                let blank = if path.is_empty() { "" } else { " " };
                format!(
                    "+{:.1} s  {path}{blank}{} -> {}",
                    self.after_s,
                    side(&change.from),
                    side(&change.to)
                )
            })
            .collect();
        if self.changes.len() > TOLD {
            lines.push(format!(
                "+{:.1} s  and {} changes more",
                self.after_s,
                self.changes.len() - TOLD
            ));
        }
        lines.join("\n")
    }
}

/// The last word of `watch`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WatchEndAnswer {
    /// How long it was watched.
    #[serde(serialize_with = "tenths")]
    pub watched_s: f64,
    /// Changes there were.
    pub changes: u64,
    /// `time`, `despawned` or `removed`.
    pub end: &'static str,
}

impl AnswerText for WatchEndAnswer {
    fn text(&self, _: Layout) -> String {
        let why = match self.end {
            "despawned" => "; the entity is gone",
            "removed" => "; the entity has no such component any more",
            _ => "",
        };
        let seconds = (self.watched_s * 10.0).round() / 10.0;
        format!("watched {seconds} s, {}{why}", counted(self.changes, "change"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_rows_and_a_count_with_what_is_not_shown() {
        let row = |entity: &str, components: usize| EntityRow {
            entity: entity.to_owned(),
            is: "thing 7 vehicle 411".to_owned(),
            components: (0..components).map(|n| format!("C{n}")).collect(),
        };
        let answer = EntitiesAnswer {
            entities: vec![row("12v3", 8), row("1v0", 1)],
            matched: 5,
            more: 3,
            cut: false,
        };
        let text = answer.text(Layout::WIDE);
        assert!(
            text.contains("12v3    thing 7 vehicle 411  C0, C1, C2, C3, C4, C5, 2 more\n"),
            "{text}"
        );
        assert!(
            text.ends_with("5 entities, 3 more than shown; `limit N` shows more"),
            "{text}"
        );
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["entities"][0]["components"].as_array().unwrap().len(), 8);
        assert_eq!(EntitiesAnswer::default().text(Layout::WIDE), "no entities");
    }

    #[test]
    fn an_entity_shows_its_components_and_says_which_are_secret() {
        let answer = InspectAnswer {
            entity: "12v3".to_owned(),
            is: "player 5 \"Bob\"".to_owned(),
            components: vec![
                ("Money".to_owned(), Shown::Unsigned(7)),
                (
                    "Vitals".to_owned(),
                    Shown::Fields(vec![("health".to_owned(), Shown::Unsigned(80))]),
                ),
            ],
            hidden: vec![HiddenRow {
                name: "SessionToken".to_owned(),
                secret: true,
                why: "no".to_owned(),
            }],
        };
        let wanted =
            "12v3 player 5 \"Bob\"\nMoney         7\nVitals\n  health      80\nSessionToken  (secret) no";
        assert_eq!(answer.text(Layout::WIDE), wanted);
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["components"]["Vitals"]["health"], 80);
        assert_eq!(json["hidden"][0]["name"], "SessionToken");
    }

    #[test]
    fn changes_are_lines_with_both_values() {
        let change = |path: &str, from, to| ChangeRow {
            path: path.to_owned(),
            from,
            to,
        };
        let answer = ChangesAnswer {
            after_s: 0.3,
            changes: vec![
                change("health", Some(Shown::Unsigned(100)), Some(Shown::Unsigned(80))),
                change("", None, Some(Shown::Flag(true))),
            ],
        };
        assert_eq!(
            answer.text(Layout::WIDE),
            "+0.3 s  health 100 -> 80\n+0.3 s  - -> true"
        );
        let end = WatchEndAnswer {
            watched_s: 10.0,
            changes: 4,
            end: "despawned",
        };
        assert_eq!(
            end.text(Layout::WIDE),
            "watched 10 s, 4 changes; the entity is gone"
        );
    }
}
