//! `chat`: what everybody is told.

use decitick_protocol::{ChatMessage, ServerLaneEvent, Text};
use rhai::Dynamic;

use super::{Call, Native, Outcome, Owner, param};
use crate::{lane::broadcast::encoded, script::desk::Told};

/// Colour of a line whose script names none: white.
const WHITE: i64 = 0xFFFF_FFFF;

pub(super) const NATIVES: &[Native] = &[Native {
    owner: Owner::Module("chat"),
    name: "broadcast",
    params: &[param("text", "string"), param("colour", "int")],
    optional: 1,
    returns: "",
    doc: "Shows a line of chat to everybody: 1 to 512 bytes. The colour is 0xRRGGBBAA, white when left out.",
    example: "chat::broadcast(\"The race begins in ten seconds\");\nchat::broadcast(\"Go!\", 0x00FF00FF);",
    run: broadcast,
}];

/// A line of chat out of the arguments `text` and `colour` from `first` on.
pub(super) fn line(
    call: &Call<'_, '_>,
    first: usize,
) -> Result<decitick_components::lane::LaneEvent, String> {
    let text = call.parsed(first, Text::parse)?;
    let colour = if call.count() > first.saturating_add(1) {
        call.fitting::<u32>(first.saturating_add(1), 0..=i64::from(u32::MAX))?
    } else {
        u32::try_from(WHITE).unwrap_or(u32::MAX)
    };
    let packet = ServerLaneEvent::ChatMessage(ChatMessage { colour, text });
    Ok(encoded(&packet, true))
}

fn broadcast(call: &mut Call<'_, '_>) -> Outcome {
    let event = line(call, 0)?;
    let receivers = call.desk.mirror.players.len();
    call.desk.spend_messages(receivers.max(1))?;
    call.desk.wishes.told.push(Told::Everybody(event));
    Ok(Dynamic::UNIT)
}
