//! What may stand next on a console line, as only the world knows it: who is on, what runs, what can be inspected.
//! Nothing is offered inside a password or an expression.

use bevy_ecs::world::World;
use decitick_components::{
    bans::BanList,
    clock::Clock,
    console::{COMMANDS, Candidate, Comparison, CompletionAnswer, may_hold_secret},
    profile::{DisplayName, Granted},
    session::{PlayerId, SlotTable},
    thing::ThingBook,
    zone::ZoneBook,
};

use super::{Answer, rendered, scripts};
use crate::inspect::{component_names, field_names, resource_names};

/// Candidates of an answer.
const MOST: usize = 256;
/// Things and zones that are offered, each.
const NUMBERED: usize = 64;

/// Answers `complete`. LINE may stand in double quotes, so that a blank at its end belongs to it.
pub(super) fn complete(world: &World, line: &str) -> Answer {
    let line = line
        .strip_prefix('"')
        .map_or(line, |line| line.strip_suffix('"').unwrap_or(line));
    let start = line.rfind([' ', '\t']).map_or(0, |blank| blank + 1);
    let (before, word) = line.split_at_checked(start).unwrap_or(("", line));
    let before: Vec<&str> = before.split_whitespace().collect();
    let mut candidates = candidates(world, &before, word);
    candidates.truncate(MOST);
    rendered(CompletionAnswer { start, candidates })
}

fn candidates(world: &World, before: &[&str], word: &str) -> Vec<Candidate> {
    let Some((&command, arguments)) = before.split_first() else {
        return words(COMMANDS.iter().map(|info| info.name), word);
    };
    let place = arguments.len();
    if may_hold_secret(command) {
        // Never inside a password or an expression.
        let first = command == "password" && place == 0;
        return if first {
            words(["set", "clear"], word)
        } else {
            Vec::new()
        };
    }
    let mut found = match (command, place) {
        ("help", 0) => words(COMMANDS.iter().map(|info| info.name), word),
        ("kick" | "spawn" | "trace" | "grant", 0) | ("why", 0 | 1) => players(world, word, false),
        ("revoke", 0) => players(world, word, true),
        ("revoke", 1) => granted(world, arguments, word),
        ("unban", 0) => bans(world, word),
        ("clock", 0) => words(["run", "freeze"], word),
        ("resource", 0) => words(["list", "start", "stop", "restart"], word),
        ("resource", 1) => resources(world, arguments, word),
        ("inspect" | "set" | "watch", 0) => entities(world, word),
        ("inspect" | "watch", 1) => words(component_names(world), word),
        ("set", 1) => fields(world, word),
        ("entities", _) => selection(world, arguments, word),
        ("resources", 0) => words(resource_names(world), word),
        ("netsim", _) => netsim(arguments, word),
        _ => Vec::new(),
    };
    if found.is_empty() && word.starts_with('-') {
        found = words(["--json"], word);
    }
    found
}

/// Words that begin with `word`.
fn words<Word: AsRef<str>>(all: impl IntoIterator<Item = Word>, word: &str) -> Vec<Candidate> {
    all.into_iter()
        .filter(|candidate| candidate.as_ref().starts_with(word))
        .take(MOST)
        .map(|candidate| Candidate::word(candidate.as_ref()))
        .collect()
}

/// Ids of players, by their beginning or by that of the name, upper and lower case alike.
fn players(world: &World, word: &str, with_grants: bool) -> Vec<Candidate> {
    let begins = |name: &str| {
        let mut name = name.chars().flat_map(char::to_lowercase);
        word.chars()
            .flat_map(char::to_lowercase)
            .all(|wanted| name.next() == Some(wanted))
    };
    let found = world
        .resource::<SlotTable>()
        .iter()
        .filter_map(|(PlayerId(id), entity)| {
            let name = world
                .get::<DisplayName>(entity)
                .map_or("", |name| name.0.as_str());
            let granted = world
                .get::<Granted>(entity)
                .is_some_and(|granted| !granted.0.is_empty());
            let fits = id.to_string().starts_with(word) || begins(name);
            (fits && (granted || !with_grants)).then(|| Candidate {
                text: format!("{id} "),
                shown: format!("{id} {name}").trim_end().to_owned(),
            })
        });
    found.take(MOST).collect()
}

fn granted(world: &World, arguments: &[&str], word: &str) -> Vec<Candidate> {
    let names = arguments
        .first()
        .and_then(|id| id.parse().ok())
        .and_then(|id| world.resource::<SlotTable>().holder(PlayerId(id)))
        .and_then(|entity| world.get::<Granted>(entity));
    names.map_or_else(Vec::new, |Granted(names)| words(names.iter(), word))
}

fn bans(world: &World, word: &str) -> Vec<Candidate> {
    let now = world.resource::<Clock>().unix_seconds();
    let in_force = world.resource::<BanList>().iter().filter(|ban| ban.holds(now));
    words(in_force.map(|ban| ban.range.to_string()), word)
}

/// Those of which the action makes sense: one that does not run is started, one that runs is stopped.
fn resources(world: &World, arguments: &[&str], word: &str) -> Vec<Candidate> {
    let action = arguments.first().copied().unwrap_or_default();
    let fits = |state: &str| match action {
        "start" => state == "faulty",
        "stop" => state != "faulty",
        "restart" => true,
        _ => false,
    };
    let rows = scripts::rows(world);
    words(
        rows.iter()
            .filter(|row| fits(row.state))
            .map(|row| row.name.as_str()),
        word,
    )
}

fn entities(world: &World, word: &str) -> Vec<Candidate> {
    let mut found = players(world, word, false);
    let things = world.resource::<ThingBook>().iter().map(|(id, _)| id.0);
    found.extend(numbered("thing", things, word));
    let zones = world.resource::<ZoneBook>().iter().map(|(id, _)| id.0);
    found.extend(numbered("zone", zones, word));
    found
}

fn numbered(kind: &str, numbers: impl Iterator<Item = u32>, word: &str) -> Vec<Candidate> {
    numbers
        .map(|number| format!("{kind}:{number}"))
        .filter(|name| name.starts_with(word))
        .take(NUMBERED)
        .map(|name| Candidate::word(&name))
        .collect()
}

/// `COMPONENT.field`: components until there is a dot, then what is inside.
fn fields(world: &World, word: &str) -> Vec<Candidate> {
    let begin = word.rfind("::").map_or(0, |colons| colons + 2);
    let dot = word
        .get(begin..)
        .and_then(|name| name.find('.'))
        .map(|dot| begin + dot);
    let open = |text: String| Candidate {
        shown: text.clone(),
        text,
    };
    let Some((component, _)) = dot.and_then(|dot| word.split_at_checked(dot)) else {
        return words(component_names(world), word)
            .into_iter()
            .map(|candidate| open(format!("{}.", candidate.shown)))
            .collect();
    };
    let paths = field_names(world, component)
        .into_iter()
        .map(|path| format!("{component}.{path}"));
    words(paths, word)
}

fn selection(world: &World, arguments: &[&str], word: &str) -> Vec<Candidate> {
    match arguments {
        [.., "where"] => fields(world, word),
        [.., "where", _] => words(Comparison::SIGNS, word),
        [.., "where", _, _] | [.., "limit"] => Vec::new(),
        _ => {
            let mut found = words(["without", "where", "limit"], word);
            found.extend(words(component_names(world), word));
            found
        }
    }
}

/// Words that were not said yet; the numbers between them are nobody's to guess.
fn netsim(arguments: &[&str], word: &str) -> Vec<Candidate> {
    const WORDS: [&str; 4] = ["loss", "delay", "jitter", "dup"];
    if arguments.last().is_some_and(|last| WORDS.contains(last)) {
        return Vec::new();
    }
    let left = WORDS.into_iter().filter(|wanted| !arguments.contains(wanted));
    let off = arguments.is_empty().then_some("off");
    words(left.chain(off), word)
}
