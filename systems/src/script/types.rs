//! What scripts hold in their hands: numbers that name a player, an entity or a zone. What they name is looked up with
//! every use, so a handle may outlive what it names.

/// A player, by id and generation: another player with the same id later is somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Player {
    pub id: u16,
    pub token: u32,
}

/// Somebody who waits for a login, by the id and generation it will have as a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Newcomer {
    pub id: u16,
    pub token: u32,
}

/// A scripted entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entity {
    pub id: u32,
}

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Zone {
    pub id: u32,
}

/// What scripts call them.
pub(crate) const PLAYER: &str = "Player";
pub(crate) const PENDING: &str = "Pending";
pub(crate) const ENTITY: &str = "Entity";
pub(crate) const ZONE: &str = "Zone";
pub(crate) const STATE: &str = "State";
