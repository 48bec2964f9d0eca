//! What players say is relayed to everybody who joined, on the lanes (docs/protocol.md 2.3).

use bevy_app::{App, Plugin};
use bevy_ecs::{
    message::MessageReader,
    schedule::IntoScheduleConfigs,
    system::{Query, Res},
};
use decitick_components::{
    lane::{LaneEvent, OutboundLane},
    messages::ChatPassed,
    phase::Phase,
    profile::DisplayName,
    session::SlotTable,
};
use decitick_protocol::{ChatMessage, ServerLaneEvent, Text, escape_for_display, is_control_or_format};

use crate::{
    lane::broadcast::encoded,
    tick::{Tick, TickSystems},
};

/// Colour of a line of chat, 0xRRGGBBAA: white.
const CHAT_COLOUR: u32 = 0xFFFF_FFFF;
/// Characters of an unknown command that its sender is shown.
const COMMAND_SHOWN: usize = 32;
/// Colour of what the server itself says.
const SERVER_COLOUR: u32 = 0xFFD0_40FF;

/// Relays chat.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChatPlugin;

impl Plugin for ChatPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, relay_chat.in_set(TickSystems::Simulate));
    }
}

/// Everyone sees "name: text"; a line that starts with `/` is a command, and without a gamemode that knows it
/// its sender alone is told so.
pub(crate) fn relay_chat(
    mut passed: MessageReader<'_, '_, ChatPassed>,
    slots: Res<'_, SlotTable>,
    names: Query<'_, '_, &DisplayName>,
    mut lanes: Query<'_, '_, (&Phase, &mut OutboundLane)>,
) {
    for ChatPassed { entity, text } in passed.read() {
        let Ok(name) = names.get(*entity) else { continue };
        if let Some(command) = text.strip_prefix('/') {
            let word = escape_for_display(
                command.split_whitespace().next().unwrap_or_default(),
                COMMAND_SHOWN,
            );
            if let (Some(event), Ok((_, mut lane))) = (
                chat_event(SERVER_COLOUR, &format!("unknown command: /{word}")),
                lanes.get_mut(*entity),
            ) {
                // A droppable event always finds room.
                let _ = lane.push(event);
            }
            continue;
        }
        // Clients show no format characters (docs/protocol.md 0); a line of nothing else says nothing.
        let shown: String = text
            .chars()
            .filter(|&character| !is_control_or_format(character))
            .collect();
        if shown.trim().is_empty() {
            continue;
        }
        if let Some(event) = chat_event(CHAT_COLOUR, &format!("{name}: {shown}")) {
            say_to_all(&slots, &mut lanes, &event);
        }
    }
}

fn say_to_all(slots: &SlotTable, lanes: &mut Query<'_, '_, (&Phase, &mut OutboundLane)>, event: &LaneEvent) {
    for (_, entity) in slots.iter() {
        if let Ok((phase, mut lane)) = lanes.get_mut(entity)
            && phase.joined()
        {
            let _ = lane.push(event.clone());
        }
    }
}

/// What the server says to everybody; `None` when the text does not fit a ChatMessage.
pub(crate) fn announcement(text: &str) -> Option<LaneEvent> {
    chat_event(SERVER_COLOUR, text)
}

fn chat_event(colour: u32, text: &str) -> Option<LaneEvent> {
    let text = Text::parse(text).ok()?;
    Some(encoded(
        &ServerLaneEvent::ChatMessage(ChatMessage { colour, text }),
        true,
    ))
}
