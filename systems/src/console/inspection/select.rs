//! `entities`: which entities fit a question, within a bounded amount of work.

use std::cmp::Ordering;

use bevy_ecs::{
    component::ComponentId,
    world::{EntityRef, World},
};
use bevy_reflect::PartialReflect;
use decitick_components::console::{
    Comparison, DEFAULT_ENTITIES, EntitiesAnswer, EntitiesQuery, EntityRow, FieldCondition, Shown,
};

use super::{
    super::{Answer, failed, rendered},
    Found, seen_for,
};
use crate::inspect::{
    Budget, Kind, Seen, components_of, field_at, find, is_shown_as_entity, label, rank, shown, value_at,
};

/// Entities looked at and conditions weighed in one question.
const WORK: usize = 20_000;

pub(in super::super) fn entities(world: &mut World, query: &EntitiesQuery) -> Answer {
    match selected(world, query, WORK) {
        Ok(answer) => rendered(answer),
        Err(error) => failed(error),
    }
}

struct Condition<'q> {
    component: ComponentId,
    seen: Seen,
    asked: &'q FieldCondition,
}

fn selected(world: &World, query: &EntitiesQuery, mut work: usize) -> Found<EntitiesAnswer> {
    let with = ids(world, &query.with)?;
    let without = ids(world, &query.without)?;
    let conditions = query
        .conditions
        .iter()
        .map(|asked| condition(world, asked))
        .collect::<Found<Vec<_>>>()?;
    let mut answer = EntitiesAnswer::default();
    let mut matched = Vec::new();
    for entity in world.iter_entities() {
        // What a summary costs to make is counted too: it is not one field.
        let cost = 1 + conditions.len() * 4;
        if work < cost {
            answer.cut = true;
            break;
        }
        work -= 1;
        let fits = is_shown_as_entity(entity)
            && with.iter().all(|&id| entity.contains_id(id))
            && !without.iter().any(|&id| entity.contains_id(id))
            && conditions
                .iter()
                .all(|condition| entity.contains_id(condition.component));
        if !fits {
            continue;
        }
        work -= cost - 1;
        let mut holds = true;
        for condition in &conditions {
            holds = holds && condition.holds(entity)?;
        }
        if holds {
            matched.push((rank(entity), entity));
        }
    }
    matched.sort_unstable_by_key(|&(rank, _)| rank);
    let limit = query.limit.unwrap_or(DEFAULT_ENTITIES);
    answer.matched = matched.len() as u64;
    answer.more = matched.len().saturating_sub(limit) as u64;
    answer.entities = matched
        .into_iter()
        .take(limit)
        .map(|(_, entity)| row(world, entity))
        .collect();
    Ok(answer)
}

fn row(world: &World, entity: EntityRef<'_>) -> EntityRow {
    EntityRow {
        entity: entity.id().to_string(),
        is: label(world, entity),
        components: components_of(world, entity)
            .into_iter()
            .map(|named| named.short)
            .collect(),
    }
}

fn ids(world: &World, names: &[String]) -> Found<Vec<ComponentId>> {
    let id = |name: &String| find(world, name, Kind::Component).map(|named| named.id);
    names
        .iter()
        .map(id)
        .collect::<Result<_, _>>()
        .map_err(|fault| fault.to_string())
}

fn condition<'q>(world: &World, asked: &'q FieldCondition) -> Found<Condition<'q>> {
    let named = find(world, &asked.field.component, Kind::Component).map_err(|fault| fault.to_string())?;
    let seen = seen_for(world, &named, "`where`")?;
    field_at(seen.form(), &asked.field.path).map_err(|fault| format!("{}: {fault}", named.short))?;
    Ok(Condition {
        component: named.id,
        seen,
        asked,
    })
}

impl Condition<'_> {
    fn holds(&self, entity: EntityRef<'_>) -> Found<bool> {
        let Some(view) = self.seen.view(entity) else {
            return Ok(false);
        };
        let Some(value) = value_at(view.value(), &self.asked.field.path) else {
            return Ok(false);
        };
        self.compare(value)
    }

    fn compare(&self, value: &dyn PartialReflect) -> Found<bool> {
        let FieldCondition {
            field,
            comparison,
            value: wanted,
        } = self.asked;
        let field = format!("{}.{}", field.component, field.path);
        // A text is compared as far as a line can be long; what is longer is another text anyway.
        let held = match shown(value, &mut Budget::default()) {
            Shown::Variant(name, _) => Shown::Word(name),
            held => held,
        };
        let order = match &held {
            Shown::Unsigned(number) => order_numbers(*number as f64, wanted, || {
                wanted.parse().ok().map(|wanted: u64| number.cmp(&wanted))
            }),
            Shown::Signed(number) => order_numbers(*number as f64, wanted, || {
                wanted.parse().ok().map(|wanted: i64| number.cmp(&wanted))
            }),
            Shown::Single(number) => order_numbers(f64::from(*number), wanted, || {
                wanted
                    .parse()
                    .ok()
                    .and_then(|wanted: f32| number.partial_cmp(&wanted))
            }),
            Shown::Double(number) => order_numbers(*number, wanted, || None),
            Shown::Span(span) => order_numbers(span.as_secs_f64(), wanted, || None),
            Shown::Flag(flag) => {
                let wanted = wanted
                    .parse::<bool>()
                    .map_err(|_| format!("{field} is true or false, not {wanted:?}"))?;
                return by_sign(&field, *comparison, *flag == wanted);
            }
            Shown::Word(word) => return by_sign(&field, *comparison, word.eq_ignore_ascii_case(wanted)),
            Shown::Nothing => return by_sign_or_false(*comparison, wanted == "none"),
            Shown::Text(text) => Ok(Some(text.as_str().cmp(wanted))),
            Shown::List(_) | Shown::Fields(_) | Shown::Variant(..) | Shown::Cut => {
                return Err(format!("{field} has parts; name one of them, as in {field}.0"));
            }
        };
        let order = order.map_err(|()| format!("{field} is a number, {wanted:?} is none"))?;
        Ok(order.is_some_and(|order| fits(*comparison, order)))
    }
}

/// What is not a number of the same kind is compared as a number with a fraction.
fn order_numbers(
    held: f64,
    wanted: &str,
    exact: impl FnOnce() -> Option<Ordering>,
) -> Result<Option<Ordering>, ()> {
    if let Some(order) = exact() {
        return Ok(Some(order));
    }
    let wanted: f64 = match wanted {
        "none" => return Ok(None),
        wanted => wanted.parse().map_err(|_| ())?,
    };
    Ok(held.partial_cmp(&wanted))
}

const fn fits(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// For values without an order.
fn by_sign(field: &str, comparison: Comparison, equal: bool) -> Found<bool> {
    match comparison {
        Comparison::Equal => Ok(equal),
        Comparison::NotEqual => Ok(!equal),
        _ => Err(format!("{field} has no order; compare it with = or !=")),
    }
}

fn by_sign_or_false(comparison: Comparison, equal: bool) -> Found<bool> {
    Ok(match comparison {
        Comparison::Equal => equal,
        Comparison::NotEqual => !equal,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use bevy_app::App;
    use decitick_components::{
        ComponentsPlugin,
        body::{Motion, Vitals},
        connection::Connection,
        console::{ConsoleCommand, parse},
        phase::Phase,
        profile::DisplayName,
        session::SessionToken,
        thing::{Placement, ThingId},
    };

    use super::*;
    use crate::inspect::InspectPlugin;

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins((ComponentsPlugin::default(), InspectPlugin));
        // In a server its systems make these known by asking for them.
        app.world_mut().register_component::<DisplayName>();
        app.world_mut().register_component::<SessionToken>();
        for (health, x) in [(10, 0.1), (20, 5.0), (30, -5.0)] {
            let mut motion = Motion::default();
            motion.position.x = x;
            let phase = if health == 30 {
                Phase::PreSpawn
            } else {
                Phase::Spawned
            };
            app.world_mut()
                .spawn((Connection, phase, Vitals { health, armour: 0 }, motion));
        }
        app.world_mut().spawn(ThingId(4));
        app
    }

    fn ask(app: &App, line: &str, work: usize) -> Found<EntitiesAnswer> {
        let ConsoleCommand::Entities(query) = parse(line).unwrap().command else {
            panic!("{line}");
        };
        selected(app.world(), &query, work)
    }

    #[test]
    fn entities_are_chosen_by_what_they_have_and_hold() {
        let app = app();
        for (line, matched) in [
            ("entities", 4),
            ("entities Vitals", 3),
            ("entities Dimension without Vitals", 1),
            ("entities where Vitals.health <= 20", 2),
            ("entities where Vitals.health > 10 where Motion.position.x < 0", 1),
            ("entities where Motion.position.x = 0.1", 1),
            ("entities where Phase.0 = spawned", 2),
            ("entities where Phase.0 = x", 0),
            ("entities where SmoothedRtt.0 = none", 3),
            ("entities where ThingId.0 = 4", 1),
            ("entities where Login.has_ticket = false", 3),
            ("entities where DisplayName.name = Bob", 0),
        ] {
            assert_eq!(ask(&app, line, WORK).unwrap().matched, matched, "{line}");
        }
        assert!(ask(&app, "entities limit 1", WORK).unwrap().more == 3);
    }

    #[test]
    fn a_question_that_cannot_be_says_why() {
        let app = app();
        for (line, wanted) in [
            ("entities Vitls", "the nearest is `Vitals`"),
            (
                "entities where Vitals.helth = 1",
                "the nearest is `health`; the fields are health, armour",
            ),
            (
                "entities where Vitals.health = much",
                "Vitals.health is a number, \"much\" is none",
            ),
            ("entities where Login.has_ticket < true", "has no order"),
            ("entities where Motion.position = 1", "name one of them"),
            ("entities where SessionToken.0 = 1", "secret"),
            ("entities where Clock.tick = 1", "no component"),
        ] {
            let error = ask(&app, line, WORK).unwrap_err();
            assert!(error.contains(wanted), "{line}: {error}");
        }
    }

    #[test]
    fn work_is_bounded_and_the_answer_says_so() {
        let mut app = app();
        app.world_mut()
            .spawn_batch((0..100).map(|_| Placement::default()));
        assert!(!ask(&app, "entities", WORK).unwrap().cut);
        let answer = ask(&app, "entities where Placement.heading = 0", 300).unwrap();
        assert!(answer.cut && answer.matched < 100, "{}", answer.matched);
    }
}
