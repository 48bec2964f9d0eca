//! The bookkeeping of answers that go on, for whoever produces their parts: askers who left are forgotten before,
//! streams whose time is over get their last word after. It knows no component and no packet.

use bevy_app::App;
use bevy_ecs::{
    schedule::{IntoScheduleConfigs, SystemSet},
    system::{Res, ResMut},
};
use decitick_components::{
    clock::Clock,
    console::{
        ConsoleAnswer, ConsoleLeft, ConsoleOutbox, ConsoleStream, ConsoleStreams, DoneAnswer, StreamSubject,
    },
};

use super::{inspection, show};
use crate::tick::{Tick, TickSystems};

/// The steps of answers that go on, in order, within [`TickSystems::Inspect`]. A producer stands in `Tell`, ordered
/// against the other producers: they all write the outbox.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StreamSystems {
    /// Streams whose askers are gone end without a word.
    Forget,
    /// Producers tell what happened.
    Tell,
    /// Streams whose time is over get their last word.
    End,
}

/// Adds the bookkeeping and its order.
pub(super) fn add_stream_systems(app: &mut App) {
    app.configure_sets(
        Tick,
        (StreamSystems::Forget, StreamSystems::Tell, StreamSystems::End)
            .chain()
            .in_set(TickSystems::Inspect),
    )
    .add_systems(
        Tick,
        (
            forget_left.in_set(StreamSystems::Forget),
            end_streams.in_set(StreamSystems::End),
        ),
    );
}

/// Ends the streams of those who left, and empties the list of them: nothing else reads it.
pub(crate) fn forget_left(mut left: ResMut<'_, ConsoleLeft>, mut streams: ResMut<'_, ConsoleStreams>) {
    if left.0.is_empty() {
        return;
    }
    streams.forget(&left.0);
    left.0.clear();
}

/// Says the last word of every stream whose time is over.
pub(crate) fn end_streams(
    clock: Res<'_, Clock>,
    mut streams: ResMut<'_, ConsoleStreams>,
    mut outbox: ResMut<'_, ConsoleOutbox>,
) {
    if streams.0.is_empty() {
        return;
    }
    for stream in streams.take_ended(clock.since_start) {
        outbox.0.push(last_word(&stream, &clock));
    }
}

fn last_word(stream: &ConsoleStream, clock: &Clock) -> ConsoleAnswer {
    let text = match &stream.subject {
        StreamSubject::Watch(watch) => {
            let answer = inspection::watch_is_over(watch, clock.since_start, "time");
            show(&answer, stream.json, stream.layout)
        }
        StreamSubject::Trace { .. } => {
            let answer = DoneAnswer {
                message: "the trace is over".to_owned(),
            };
            show(&answer, stream.json, stream.layout)
        }
    };
    ConsoleAnswer::last(stream.id, true, text)
}
