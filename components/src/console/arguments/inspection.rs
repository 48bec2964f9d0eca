//! Arguments of the commands that look into entities and resources.

use super::{
    Parsed,
    words::{nothing_in, required, seconds, whole_number},
};
use crate::console::{
    command::ConsoleCommand,
    error::ArgumentFault,
    grammar::first_word,
    selection::{
        Comparison, EntitiesQuery, EntityWord, FieldCondition, FieldWord, MAX_ENTITIES, MAX_SELECTED,
        MAX_TYPE_NAME,
    },
};

pub(in super::super) fn entities(arguments: &str) -> Parsed {
    let mut query = EntitiesQuery::default();
    let mut without = false;
    let mut rest = arguments;
    loop {
        let (word, after) = first_word(rest);
        rest = after;
        match word {
            "" => return Ok(ConsoleCommand::Entities(query)),
            "without" => {
                required("COMPONENT", rest)?;
                without = true;
            }
            "where" => {
                let (condition, after) = condition(rest)?;
                query.conditions.push(condition);
                rest = after;
            }
            "limit" => {
                let (word, after) = required("N", rest)?;
                let most = u32::try_from(MAX_ENTITIES).unwrap_or(u32::MAX);
                query.limit = Some(whole_number("N", word, 1..=most)? as usize);
                rest = after;
            }
            name if without => query.without.push(type_name("COMPONENT", name)?),
            name => query.with.push(type_name("COMPONENT", name)?),
        }
        if query.with.len() + query.without.len() + query.conditions.len() > MAX_SELECTED {
            return Err(ArgumentFault::TooManySelected);
        }
    }
}

/// `COMPONENT.field OP VALUE`, and what follows. A VALUE with blanks stands in double quotes.
fn condition(arguments: &str) -> Result<(FieldCondition, &str), ArgumentFault> {
    let (word, rest) = required("COMPONENT.field", arguments)?;
    let field = field(word)?;
    if field.path.is_empty() {
        return Err(ArgumentFault::Field);
    }
    let (sign, rest) = required("OP", rest)?;
    let comparison = Comparison::parse(sign).ok_or(ArgumentFault::NoneOf {
        words: Comparison::SIGNS,
    })?;
    required("VALUE", rest)?;
    let (value, rest) = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        Some((text, after)) => (text, after.trim_start()),
        None => first_word(rest),
    };
    let condition = FieldCondition {
        field,
        comparison,
        value: value.to_owned(),
    };
    Ok((condition, rest))
}

pub(in super::super) fn inspect(arguments: &str) -> Parsed {
    let (entity, rest) = required("ENTITY", arguments)?;
    let entity = EntityWord::parse(entity)?;
    let (component, rest) = first_word(rest);
    nothing_in(rest)?;
    let component = (!component.is_empty())
        .then(|| type_name("COMPONENT", component))
        .transpose()?;
    Ok(ConsoleCommand::Inspect { entity, component })
}

pub(in super::super) fn set(arguments: &str) -> Parsed {
    let (entity, rest) = required("ENTITY", arguments)?;
    let entity = EntityWord::parse(entity)?;
    let (word, value) = required("COMPONENT.field", rest)?;
    let field = field(word)?;
    required("VALUE", value)?;
    Ok(ConsoleCommand::Set {
        entity,
        field,
        value: value.to_owned(),
    })
}

pub(in super::super) fn watch(arguments: &str) -> Parsed {
    let (entity, rest) = required("ENTITY", arguments)?;
    let entity = EntityWord::parse(entity)?;
    let (component, rest) = required("COMPONENT", rest)?;
    let component = type_name("COMPONENT", component)?;
    let seconds = seconds(rest)?;
    Ok(ConsoleCommand::Watch {
        entity,
        component,
        seconds,
    })
}

pub(in super::super) fn resources(arguments: &str) -> Parsed {
    let (name, rest) = first_word(arguments);
    nothing_in(rest)?;
    let name = (!name.is_empty()).then(|| type_name("NAME", name)).transpose()?;
    Ok(ConsoleCommand::Resources { name })
}

/// `Component.field.inner`. A whole type path has colons: the dot that counts is the first after the last of them.
fn field(word: &str) -> Result<FieldWord, ArgumentFault> {
    let begin = word.rfind("::").map_or(0, |colons| colons + 2);
    let dot = word
        .get(begin..)
        .and_then(|name| name.find('.'))
        .map(|dot| begin + dot);
    let (component, path) = match dot {
        Some(dot) => (
            word.get(..dot).unwrap_or_default(),
            word.get(dot + 1..).unwrap_or_default(),
        ),
        None => (word, ""),
    };
    Ok(FieldWord {
        component: type_name("COMPONENT.field", component)?,
        path: path.to_owned(),
    })
}

fn type_name(argument: &'static str, word: &str) -> Result<String, ArgumentFault> {
    let fits = !word.is_empty()
        && word.len() <= MAX_TYPE_NAME
        && word.chars().all(|character| {
            character.is_ascii_alphanumeric() || matches!(character, '_' | ':' | '<' | '>' | ',' | '(' | ')')
        });
    if fits {
        Ok(word.to_owned())
    } else {
        Err(ArgumentFault::TypeName { argument })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{read, refused},
        *,
    };

    #[test]
    fn entities_are_chosen_by_components_conditions_and_a_limit() {
        let ConsoleCommand::Entities(query) = read(
            "entities Phase Motion without Login where Vitals.health <= 20 where DisplayName.0 = \"two words\" limit 5",
        ) else {
            panic!()
        };
        assert_eq!(
            (query.with, query.without),
            (
                vec!["Phase".to_owned(), "Motion".to_owned()],
                vec!["Login".to_owned()]
            )
        );
        assert_eq!(query.limit, Some(5));
        let [health, name] = query.conditions.as_slice() else {
            panic!()
        };
        assert_eq!(
            (health.comparison, health.value.as_str()),
            (Comparison::LessOrEqual, "20")
        );
        assert_eq!(
            (name.field.path.as_str(), name.value.as_str()),
            ("0", "two words")
        );
        assert!(
            matches!(read("entities"), ConsoleCommand::Entities(query) if query == EntitiesQuery::default())
        );
        for bad in [
            "entities limit 0",
            "entities limit 1001",
            "entities limit",
            "entities without",
            "entities where Vitals.health",
            "entities where Vitals = 1",
            "entities where Vitals.health ~ 1",
            "entities where Vitals.health =",
            "entities Ph\u{202e}ase",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
        assert!(refused(&format!("entities {}", "A ".repeat(17))).contains("16"));
    }

    #[test]
    fn a_field_is_what_follows_the_first_dot_of_a_component_even_of_a_whole_path() {
        let table = [
            ("set 12v3 Vitals.health 5", "Vitals", "health", "5"),
            ("set 5 Motion.position.x  -1.5 ", "Motion", "position.x", "-1.5"),
            ("set 5 a::b::C.d (x: 1, y: 2)", "a::b::C", "d", "(x: 1, y: 2)"),
            ("set 5 Money 7", "Money", "", "7"),
        ];
        for (line, component, path, wanted) in table {
            let ConsoleCommand::Set { field, value, .. } = read(line) else {
                panic!("{line}")
            };
            assert_eq!(
                (field.component.as_str(), field.path.as_str(), value.as_str()),
                (component, path, wanted),
                "{line}"
            );
        }
        for bad in [
            "set",
            "set 5",
            "set 5 Vitals.health",
            "set Bob Vitals.health 1",
            "set 5 .health 1",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
    }

    #[test]
    fn a_watch_ends_by_itself() {
        assert!(matches!(
            read("watch 5 Motion"),
            ConsoleCommand::Watch { seconds: 10, .. }
        ));
        assert!(matches!(
            read("watch thing:1 Motion 3600"),
            ConsoleCommand::Watch { seconds: 3600, .. }
        ));
        for bad in [
            "watch 5",
            "watch 5 Motion 0",
            "watch 5 Motion 3601",
            "watch 5 Motion 1 x",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
    }
}
