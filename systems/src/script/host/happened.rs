//! What resources are told: the handler each piece of news calls, and with which arguments.

use bevy_ecs::entity::Entity as Connection;
use decitick_components::{
    auth::AssertionOutcome, pages::ViewReport, script::ResourceName, thing::ThingId, zone::ZoneId,
};
use rhai::{Array, Dynamic, Map};

use crate::script::{
    data,
    types::{Entity, Newcomer, Player, Zone},
};

/// Something that resources are told.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    Connected(Player),
    Disconnected(Player, &'static str),
    Spawned(Player),
    Died {
        player: Player,
        killer: Option<Player>,
        weapon: u8,
    },
    /// A line of chat or a command.
    Said {
        player: Player,
        connection: Connection,
        text: String,
    },
    ClientEvent {
        player: Player,
        name: String,
        data: Vec<u8>,
    },
    ZoneEntered(Player, ZoneId),
    ZoneLeft(Player, ZoneId),
    Triggered(Player, ThingId),
    /// A page of this resource on a player's client.
    ViewReported {
        player: Player,
        of: ResourceName,
        view: u16,
        report: ViewReport,
    },
    LoginBegan(Newcomer),
    /// A page of the login.
    LoginViewReported {
        newcomer: Newcomer,
        view: u16,
        report: ViewReport,
    },
    AssertionJudged(Newcomer, AssertionOutcome),
}

impl Happened {
    pub(super) const fn handler(&self) -> &'static str {
        match self {
            Self::Connected(_) => "player_connected",
            Self::Disconnected(..) => "player_disconnected",
            Self::Spawned(_) => "player_spawned",
            Self::Died { .. } => "player_death",
            Self::Said { .. } => "player_chat",
            Self::ClientEvent { .. } => "client_event",
            Self::ZoneEntered(..) => "zone_entered",
            Self::ZoneLeft(..) => "zone_left",
            Self::Triggered(..) => "pickup_taken",
            Self::ViewReported { report, .. } => match report {
                ViewReport::Action(_) => "player_view_action",
                ViewReport::State(_) => "player_view_status",
            },
            Self::LoginBegan(_) => "pending_connected",
            Self::LoginViewReported { report, .. } => match report {
                ViewReport::Action(_) => "pending_view_action",
                ViewReport::State(_) => "pending_view_status",
            },
            Self::AssertionJudged(..) => "pending_assertion",
        }
    }

    /// Whose login it is about.
    pub(super) const fn newcomer(&self) -> Option<Newcomer> {
        match self {
            Self::LoginBegan(newcomer)
            | Self::LoginViewReported { newcomer, .. }
            | Self::AssertionJudged(newcomer, _) => Some(*newcomer),
            _ => None,
        }
    }
}

/// The arguments of a handler. Data of a client that cannot be read, which its decoding rules out, is `()`.
pub(super) fn arguments_of(happened: &Happened) -> Vec<Dynamic> {
    let player = |player: Player| Dynamic::from(player);
    match happened {
        Happened::Connected(who) | Happened::Spawned(who) => vec![player(*who)],
        Happened::Disconnected(who, reason) => vec![player(*who), (*reason).into()],
        Happened::Died {
            player: who,
            killer,
            weapon,
        } => vec![
            player(*who),
            killer.map_or(Dynamic::UNIT, player),
            i64::from(*weapon).into(),
        ],
        Happened::Said {
            player: who, text, ..
        } => match text.strip_prefix('/') {
            None => vec![player(*who), text.clone().into()],
            Some(command) => {
                let mut words = command.split_whitespace();
                let first = words.next().unwrap_or_default().to_owned();
                let rest: Array = words.map(|word| word.to_owned().into()).collect();
                vec![player(*who), first.into(), rest.into()]
            }
        },
        Happened::ClientEvent {
            player: who,
            name,
            data,
        } => vec![
            player(*who),
            name.clone().into(),
            data::from_message_pack(data).unwrap_or_default(),
        ],
        Happened::ZoneEntered(who, zone) | Happened::ZoneLeft(who, zone) => {
            vec![player(*who), Dynamic::from(Zone { id: zone.0 })]
        }
        Happened::Triggered(who, thing) => vec![player(*who), Dynamic::from(Entity { id: thing.0 })],
        Happened::ViewReported {
            player: who,
            view,
            report,
            ..
        } => vec![player(*who), i64::from(*view).into(), reported(report)],
        Happened::LoginBegan(newcomer) => vec![Dynamic::from(*newcomer)],
        Happened::LoginViewReported {
            newcomer,
            view,
            report,
        } => vec![
            Dynamic::from(*newcomer),
            i64::from(*view).into(),
            reported(report),
        ],
        Happened::AssertionJudged(newcomer, outcome) => {
            vec![Dynamic::from(*newcomer), outcome_map(outcome).into()]
        }
    }
}

/// What a page said, or what became of it.
fn reported(report: &ViewReport) -> Dynamic {
    match report {
        ViewReport::Action(data) => data::from_message_pack(data.as_bytes()).unwrap_or_default(),
        ViewReport::State(state) => state.name().into(),
    }
}

fn outcome_map(outcome: &AssertionOutcome) -> Map {
    let (provider, subject) = match outcome {
        AssertionOutcome::Accepted { provider, subject } => (provider.clone().into(), subject.clone().into()),
        _ => (Dynamic::UNIT, Dynamic::UNIT),
    };
    Map::from_iter([
        ("result".into(), outcome.name().into()),
        ("provider".into(), provider),
        ("subject".into(), subject),
    ])
}
