//! Every value of one entity, and what somebody was told of them.

use std::collections::BTreeMap;

use bevy_ecs::{entity::Entity, world::World};
use decitick_components::console::InspectAnswer;

use super::super::json;
use crate::console::inspect_entity;

/// Values of one entity that are told.
const VALUES: usize = 1_000;
/// Characters of one value.
const CHARACTERS: usize = 300;

/// Component and path.
type Path = (String, String);

/// What somebody was told of an entity.
pub(super) struct Values {
    entity: Entity,
    told: BTreeMap<Path, String>,
    begun: bool,
    ended: bool,
}

impl Values {
    pub(super) const fn of(entity: Entity) -> Self {
        Self {
            entity,
            told: BTreeMap::new(),
            begun: false,
            ended: false,
        }
    }

    /// What is new, as JSON of about `room` bytes; nothing when nothing is.
    pub(super) fn news(&mut self, world: &World, room: usize) -> Option<String> {
        if self.ended {
            return None;
        }
        let Some(answer) = inspect_entity(world, self.entity) else {
            self.ended = true;
            return Some(format!(
                r#"{{"entity":"{}","ended":"it is not there, or no longer"}}"#,
                self.entity
            ));
        };
        let now = values(&answer);
        let mut bytes = 0;
        let (mut new, mut gone) = (Vec::new(), Vec::new());
        self.told.retain(|path, _| {
            let stays = now.contains_key(path) || bytes > room;
            if !stays {
                bytes += path.0.len() + path.1.len() + 8;
                gone.push(format!("[{},{}]", json::string(&path.0), json::string(&path.1)));
            }
            stays
        });
        for (path, text) in now {
            if self.told.get(&path) == Some(&text) {
                continue;
            }
            let row = format!(
                "[{},{},{}]",
                json::string(&path.0),
                json::string(&path.1),
                json::string(&text)
            );
            bytes += row.len();
            new.push(row);
            self.told.insert(path, text);
            if bytes > room {
                // The rest comes the next time.
                break;
            }
        }
        let begins = !std::mem::replace(&mut self.begun, true);
        if !begins && new.is_empty() && gone.is_empty() {
            return None;
        }
        let mut news = format!(
            r#"{{"entity":"{}","is":{},"values":[{}],"gone":[{}]"#,
            self.entity,
            json::string(&answer.is),
            new.join(","),
            gone.join(",")
        );
        if begins {
            let hidden: Vec<String> = answer
                .hidden
                .iter()
                .map(|row| {
                    format!(
                        "[{},{},{}]",
                        json::string(&row.name),
                        row.secret,
                        json::string(&row.why)
                    )
                })
                .collect();
            news.push_str(&format!(r#","reset":true,"hidden":[{}]"#, hidden.join(",")));
        }
        news.push('}');
        Some(news)
    }
}

fn values(answer: &InspectAnswer) -> BTreeMap<Path, String> {
    let mut values = BTreeMap::new();
    for (component, value) in &answer.components {
        let (leaves, _) = value.leaves(VALUES.saturating_sub(values.len()));
        if leaves.is_empty() {
            // A mark, or something that holds nothing now: that it is there is what can be told.
            values.insert((component.clone(), String::new()), String::new());
        }
        for (path, leaf) in leaves {
            let text = leaf.line().chars().take(CHARACTERS).collect();
            values.insert((component.clone(), path), text);
        }
    }
    values
}
