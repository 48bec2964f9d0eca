//! The API of gamemodes as a table: every function and property with its parameters, its documentation and an example,
//! next to what it does. The table is registered with engines, listed in docs/scripting.md and in the definitions for
//! editors, and known to the checks of `decitick check`.

mod call;
mod chat;
mod console;
mod db;
mod entities;
mod entity;
mod handlers;
mod json;
mod log;
mod password;
mod pending;
mod places;
mod player;
mod player_words;
mod players;
mod random;
mod register;
mod server;
mod store;
mod timers;
mod views;
mod world;
mod zones;

pub(crate) use call::{Call, Outcome, type_word};
pub(crate) use console::OF_SCRIPTS;
pub(crate) use handlers::HANDLERS;
pub(crate) use places::position_map;
pub(crate) use player::spawn_point;
pub(crate) use register::{SharedDesk, Toolkit};

/// What a function is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// Nothing: `distance(a, b)`.
    Global,
    /// A module: `chat::broadcast(text)`.
    Module(&'static str),
    /// A player: `player.kick(reason)`.
    Player,
    /// Somebody who waits for a login: `pending.accept()`.
    Pending,
    /// An entity: `entity.destroy()`.
    Entity,
    /// A zone: `zone.destroy()`.
    Zone,
}

impl Owner {
    /// How scripts write one of its functions.
    pub(crate) fn path(self, name: &str) -> String {
        match self {
            Self::Global => name.to_owned(),
            Self::Module(module) => format!("{module}::{name}"),
            Self::Player => format!("player.{name}"),
            Self::Pending => format!("pending.{name}"),
            Self::Entity => format!("entity.{name}"),
            Self::Zone => format!("zone.{name}"),
        }
    }

    /// Whether the first argument is the object before the dot.
    pub(crate) const fn is_object(self) -> bool {
        matches!(self, Self::Player | Self::Pending | Self::Entity | Self::Zone)
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub name: &'static str,
    /// Its type in the words of docs/scripting.md.
    pub kind: &'static str,
}

/// A parameter of the table.
pub(crate) const fn param(name: &'static str, kind: &'static str) -> Param {
    Param { name, kind }
}

/// A function.
pub(crate) struct Native {
    pub owner: Owner,
    pub name: &'static str,
    /// The object before the dot is not among them.
    pub params: &'static [Param],
    /// How many parameters at the end may be left out.
    pub optional: usize,
    /// Type of the result; empty for none.
    pub returns: &'static str,
    pub doc: &'static str,
    /// A script that uses it; a test runs it.
    pub example: &'static str,
    pub run: fn(&mut Call<'_, '_>) -> Outcome,
}

/// A property.
pub(crate) struct Property {
    pub owner: Owner,
    pub name: &'static str,
    pub kind: &'static str,
    pub doc: &'static str,
    pub example: &'static str,
    pub read: fn(&mut Call<'_, '_>) -> Outcome,
    pub write: Option<fn(&mut Call<'_, '_>) -> Outcome>,
}

/// A property of the table.
const fn property(
    owner: Owner,
    name: &'static str,
    kind: &'static str,
    doc: &'static str,
    example: &'static str,
    read: fn(&mut Call<'_, '_>) -> Outcome,
    write: Option<fn(&mut Call<'_, '_>) -> Outcome>,
) -> Property {
    Property {
        owner,
        name,
        kind,
        doc,
        example,
        read,
        write,
    }
}

/// A function of a module.
const fn of_module(
    module: &'static str,
    name: &'static str,
    params: (&'static [Param], usize),
    returns: &'static str,
    doc: &'static str,
    example: &'static str,
    run: fn(&mut Call<'_, '_>) -> Outcome,
) -> Native {
    native(Owner::Module(module), name, params, returns, doc, example, run)
}

/// A function, `optional` of whose last parameters may be left out.
const fn native(
    owner: Owner,
    name: &'static str,
    (params, optional): (&'static [Param], usize),
    returns: &'static str,
    doc: &'static str,
    example: &'static str,
    run: fn(&mut Call<'_, '_>) -> Outcome,
) -> Native {
    Native {
        owner,
        name,
        params,
        optional,
        returns,
        doc,
        example,
        run,
    }
}

/// Every function.
pub(crate) fn natives() -> impl Iterator<Item = &'static Native> {
    [
        player::NATIVES,
        player::VIEWS,
        pending::NATIVES,
        pending::VIEWS,
        entity::NATIVES,
        zones::NATIVES,
        players::NATIVES,
        chat::NATIVES,
        entities::NATIVES,
        timers::NATIVES,
        world::NATIVES,
        server::NATIVES,
        store::NATIVES,
        db::NATIVES,
        password::NATIVES,
        console::NATIVES,
        log::NATIVES,
        random::NATIVES,
        json::NATIVES,
        places::NATIVES,
    ]
    .into_iter()
    .flatten()
}

/// Every property.
pub(crate) fn properties() -> impl Iterator<Item = &'static Property> {
    [
        player_words::PROPERTIES,
        pending::PROPERTIES,
        entity::PROPERTIES,
        zones::PROPERTIES,
    ]
    .into_iter()
    .flatten()
}

/// A function that the server calls when something happens.
pub(crate) struct Handler {
    pub name: &'static str,
    pub params: &'static [Param],
    /// What its answer means; empty when it means nothing.
    pub returns: &'static str,
    pub doc: &'static str,
    pub example: &'static str,
}
