//! What a run of the `server_step` target does, as the fuzzer draws it.

use arbitrary::Arbitrary;
use decitick_components::settings::{ClockSetting, NamePolicy, Settings};

use crate::{
    HelloPlan, SessionPlan, address,
    bounded::{All, Bytes, Line},
    thing_plan::{ThingPlan, ZonePlan},
    world_plan::{HitPlan, SharedPlan, WishPlan},
};

#[derive(Arbitrary, Debug)]
pub enum Step {
    Tick,
    Ticks(u8),
    /// The server stood still.
    Jump {
        seconds: u8,
    },
    /// The wall clock moved, maybe backwards.
    Wall {
        seconds: i32,
    },
    Join {
        peer: u8,
        credential: u8,
    },
    Hello {
        peer: u8,
        plan: HelloPlan,
    },
    Session {
        peer: u8,
        plan: SessionPlan,
    },
    /// The same plan from every peer.
    All {
        plan: SessionPlan,
    },
    Many {
        peer: u8,
        plan: SessionPlan,
        count: u8,
    },
    Raw {
        peer: u8,
        bytes: Bytes,
    },
    Console {
        line: Line,
    },
    Command(Command),
    Workers {
        fail: bool,
    },
    /// Reports of sent packets that are old or about nothing.
    ForgedReports {
        player: u16,
        event: u32,
    },
    /// No random bytes in the next tick.
    EmptyPool,
    /// Everybody takes a step.
    Scatter([[i8; 2]; 5]),
    /// Five peers are there, have a body and take a step.
    Regroup([[i8; 2]; 5]),
    /// They stand close and shoot well: shooter, target, weapon, part of the body.
    Brawl([[u8; 4]; 6]),
    /// That many shots at once.
    Hit {
        peer: u8,
        ahead: i8,
        shots: u8,
        plan: HitPlan,
    },
    /// Of a connection that there is or was.
    Wish {
        player: u8,
        wish: WishPlan,
    },
    /// The same wish for everybody.
    WishAll {
        wish: WishPlan,
    },
    Shared(SharedPlan),
    Thing(ThingPlan),
    Zone(ZonePlan),
}

#[derive(Arbitrary, Debug)]
pub enum Command {
    Kick(u8),
    BanPeer(u8),
    BanRange(u32, u8),
    Unban(u8),
    Say(Line),
    Mode(Line),
    Password(bool),
    Show(u8),
    Limits(u8),
    Shutdown(u8),
    Time(u8, u8),
    Weather(u8),
    Clock(u16),
    Spawn(u8),
}

#[derive(Arbitrary, Debug)]
pub struct Plan {
    pub strict_names: bool,
    pub loopback_exempt: bool,
    pub resends_per_tick: u8,
    pub max_speed: u8,
    /// How far players see, and how many players and things.
    pub streaming: (u8, u8, u8),
    /// Whether there is a window after a spawn.
    pub settles: bool,
    /// Whether the world is small.
    pub bounded: bool,
    /// Milliseconds of a minute of the world, 0 for a frozen clock.
    pub minute: u16,
    /// Who answers for the gamemode.
    pub mood: u8,
    /// Whether peers acknowledge whatever they receive.
    pub attentive: bool,
    /// Peers that join and spawn before the steps.
    pub crowd: u8,
    /// Things that are there from the start.
    pub placed: u8,
    pub steps: All<Step>,
}

impl Command {
    /// The console line of a command.
    pub fn line(&self) -> String {
        match self {
            Self::Kick(id) => format!("kick {} because", id % 8),
            Self::BanPeer(peer) => format!("ban {} 60 out", address(*peer).ip()),
            Self::BanRange(bits, prefix) => {
                format!("ban {}/{} 1", std::net::Ipv4Addr::from(*bits), prefix % 33)
            }
            Self::Unban(peer) => format!("unban {}", address(*peer).ip()),
            Self::Say(text) => format!("say {}", text.0),
            Self::Mode(text) => format!("mode {}", text.0),
            Self::Password(set) => if *set {
                "password set open sesame"
            } else {
                "password clear"
            }
            .to_owned(),
            Self::Show(which) => {
                let shown = [
                    "status",
                    "players --json",
                    "bans",
                    "drops --json",
                    "limits",
                    "help",
                    "identity",
                    "password",
                    "time",
                    "status --json",
                ];
                shown[usize::from(*which) % shown.len()].to_owned()
            }
            Self::Limits(peer) => format!("limits {} --json", address(*peer).ip()),
            Self::Shutdown(seconds) => format!("shutdown {seconds} bye"),
            Self::Time(hours, minutes) => format!("time {}:{:02}", hours % 26, minutes % 62),
            Self::Weather(weather) => format!("weather {weather}"),
            Self::Clock(0) => "clock freeze".to_owned(),
            Self::Clock(minute) => format!("clock run {minute}"),
            Self::Spawn(id) => format!("spawn {}", id % 7),
        }
    }
}

impl Plan {
    /// The settings of the run.
    pub fn settings(&self, max_players: u16) -> Settings {
        let mut settings = Settings {
            max_players,
            ..Settings::default()
        };
        settings.limits.loopback_exempt = self.loopback_exempt;
        settings.limits.resends_per_tick = u32::from(self.resends_per_tick).max(1);
        settings.names.policy = if self.strict_names {
            NamePolicy::Strict
        } else {
            NamePolicy::Core
        };
        let world = &mut settings.world;
        world.max_speed = f32::from(self.max_speed);
        world.settle_ms = if self.settles { 2_000 } else { 0 };
        world.bounds = if self.bounded { 100.0 } else { 20_000.0 };
        if self.minute > 0 {
            world.clock = ClockSetting::Running(self.minute);
        }
        let (radius, players, things) = self.streaming;
        settings.streaming.radius = [3.0, 12.0, 40.0, 300.0][usize::from(radius % 4)];
        settings.streaming.limit = u16::from(players % 4) + 1;
        settings.streaming.entity_limit = u16::from(things % 16) + 1;
        settings
    }
}
