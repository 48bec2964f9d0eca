//! The one place where the order of a tick is written.
//!
//! The schedule runs on one thread, and two systems of one set whose order matters are an error when the
//! schedule is built. docs/tick.md shows the order; a test holds the two together.

use bevy_app::{App, First, Last, MainScheduleOrder, Plugin};
use bevy_ecs::schedule::{
    IntoScheduleConfigs, LogLevel, Schedule, ScheduleBuildSettings, ScheduleLabel, SingleThreadedExecutor,
    SystemSet,
};

/// The schedule of a tick, run between `First` (where messages rotate) and `Last`.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tick;

/// The steps of a tick, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TickSystems {
    /// Reports of the shell come in: when datagrams were sent, who floods, what workers answer.
    Receive,
    /// Session datagrams are decoded and sorted.
    Decode,
    /// Acknowledgements and pongs take effect.
    Acknowledge,
    /// Hellos are judged, newcomers get their slots.
    Admit,
    /// The auth resource decides about those who wait.
    Authenticate,
    /// Gamemode handlers run.
    Script,
    /// Wishes of console and scripts take effect.
    Apply,
    /// The world moves on.
    Simulate,
    /// Sessions end.
    Expire,
    /// Lane events get their ids and leave, or leave again.
    Deliver,
    /// Packets outside the lane are written.
    Encode,
    /// The outbox is complete and is handed out.
    Transmit,
    /// Questions about the world are answered.
    Inspect,
}

/// Adds the [`Tick`] schedule and the order of [`TickSystems`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TickPlugin {
    /// Reruns the same constraints in another order where they leave one open; only tests set it.
    pub shuffle_seed: Option<u64>,
}

impl TickSystems {
    /// Every step in order, with its name.
    pub const ALL: [(Self, &str); 13] = [
        (Self::Receive, "Receive"),
        (Self::Decode, "Decode"),
        (Self::Acknowledge, "Acknowledge"),
        (Self::Admit, "Admit"),
        (Self::Authenticate, "Authenticate"),
        (Self::Script, "Script"),
        (Self::Apply, "Apply"),
        (Self::Simulate, "Simulate"),
        (Self::Expire, "Expire"),
        (Self::Deliver, "Deliver"),
        (Self::Encode, "Encode"),
        (Self::Transmit, "Transmit"),
        (Self::Inspect, "Inspect"),
    ];
}

impl Plugin for TickPlugin {
    fn build(&self, app: &mut App) {
        let mut tick = Schedule::new(Tick);
        tick.set_executor(SingleThreadedExecutor::new());
        tick.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            shuffle_seed: self.shuffle_seed,
            ..Default::default()
        });
        app.add_schedule(tick).configure_sets(
            Tick,
            (
                TickSystems::Receive,
                TickSystems::Decode,
                TickSystems::Acknowledge,
                TickSystems::Admit,
                TickSystems::Authenticate,
                TickSystems::Script,
                TickSystems::Apply,
                TickSystems::Simulate,
                TickSystems::Expire,
                TickSystems::Deliver,
                TickSystems::Encode,
                TickSystems::Transmit,
                TickSystems::Inspect,
            )
                .chain(),
        );
        let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
        order.insert_after(First, Tick);
        // The frame schedules between are never used; without them a tick is what runs, and nothing else.
        let kept = [First.intern(), Tick.intern(), Last.intern()];
        order.labels.retain(|label| kept.contains(label));
    }
}
