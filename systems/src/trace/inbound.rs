//! What is shown of a packet that a client sent: the fields that are named here, and no others. What opens a session, proves
//! something, or is between a page or script of the client and a gamemode is shown as its length.

use decitick_components::console::{TraceFields, TraceValue};
use decitick_protocol::{
    ClientHello, ClientLaneEvent, ClientPacket, HitReport, LaneHead, PacketId, PlayerSync, SessionPacket,
    ViewState,
};

use super::outbound::{number, place};

type Field = (&'static str, TraceValue);

/// The packet's name and what is shown of it.
pub(super) fn fields(datagram: &[u8]) -> (&'static str, TraceFields) {
    let id = datagram.first().copied().and_then(PacketId::from_byte);
    let name = id.map_or("unknown", PacketId::name);
    let fields =
        ClientPacket::decode(datagram).map_or_else(|_| undecoded(datagram), |packet| decoded(&packet));
    (name, TraceFields(fields))
}

/// Of what does not decode, where it would stand in the lane at most.
fn undecoded(datagram: &[u8]) -> Vec<Field> {
    LaneHead::read(datagram).map_or_else(
        |_| vec![("content", TraceValue::hidden(datagram.len().saturating_sub(1)))],
        |head| vec![("event_id", number(head.event_id))],
    )
}

fn decoded(packet: &ClientPacket) -> Vec<Field> {
    match packet {
        ClientPacket::Hello(hello) => of_hello(hello),
        ClientPacket::Query(query) => vec![
            ("query_version", number(query.query_version)),
            ("nonce", TraceValue::hidden(query.nonce.len())),
        ],
        ClientPacket::Session { packet, .. } => {
            let mut fields = vec![token()];
            fields.extend(of_session(packet));
            fields
        }
        ClientPacket::Lane { event_id, event, .. } => {
            let mut fields = vec![token(), ("event_id", number(*event_id))];
            fields.extend(of_event(event));
            fields
        }
    }
}

fn token() -> Field {
    ("session_token", TraceValue::hidden(8))
}

fn of_hello(hello: &ClientHello) -> Vec<Field> {
    let end = hello.name.iter().position(|&byte| byte == 0);
    let name = hello
        .name
        .get(..end.unwrap_or(hello.name.len()))
        .unwrap_or_default();
    vec![
        ("protocol_version", number(hello.protocol_version)),
        ("name", TraceValue::text(String::from_utf8_lossy(name))),
        ("cookie", TraceValue::hidden(8)),
        ("nonce", TraceValue::hidden(hello.nonce.len())),
        ("password_proof", TraceValue::hidden(hello.password_proof.len())),
        ("credential_key", TraceValue::hidden(hello.credential_key.len())),
        (
            "credential_proof",
            TraceValue::hidden(hello.credential_proof.len()),
        ),
    ]
}

fn of_session(packet: &SessionPacket) -> Vec<Field> {
    match packet {
        SessionPacket::PlayerSync(frame) => of_frame(frame),
        SessionPacket::Ack(ack) => vec![("ack", number(ack.ack))],
        SessionPacket::Pong(pong) => vec![("nonce", number(pong.nonce))],
        SessionPacket::Bye(_) | SessionPacket::RequestSpawn(_) => Vec::new(),
    }
}

fn of_frame(frame: &PlayerSync) -> Vec<Field> {
    vec![
        ("seq", number(frame.seq)),
        ("position", place(frame.position)),
        ("velocity", place(frame.velocity)),
        ("heading", TraceValue::Real(frame.heading)),
        ("area", number(frame.area)),
        ("keys", number(frame.keys)),
        ("weapon", number(frame.weapon)),
        ("stance", number(frame.stance)),
    ]
}

fn of_event(event: &ClientLaneEvent) -> Vec<Field> {
    match event {
        ClientLaneEvent::ChatSend(chat) => said(chat.text.as_str()),
        ClientLaneEvent::ClientEvent(event) => vec![
            ("name", TraceValue::text(event.name.as_str())),
            ("data", TraceValue::hidden(event.data.as_bytes().len())),
        ],
        ClientLaneEvent::HitReport(report) => of_hit(report),
        ClientLaneEvent::AuthAssertion(assertion) => {
            vec![("jwt", TraceValue::hidden(assertion.jwt.as_str().len()))]
        }
        ClientLaneEvent::ViewStatus(status) => {
            let word = match status.status {
                ViewState::Loaded => "loaded",
                ViewState::Failed => "failed",
                ViewState::Closed => "closed",
            };
            vec![
                ("view_id", number(status.view_id)),
                ("status", TraceValue::text(word)),
            ]
        }
        ClientLaneEvent::ViewAction(action) => vec![
            ("view_id", number(action.view_id)),
            ("data", TraceValue::hidden(action.data.as_bytes().len())),
        ],
    }
}

/// A line of chat. What follows a command may be a password of the gamemode's own.
fn said(text: &str) -> Vec<Field> {
    if !text.starts_with('/') {
        return vec![("text", TraceValue::text(text))];
    }
    let (command, arguments) = text.split_once(' ').unwrap_or((text, ""));
    vec![
        ("command", TraceValue::text(command)),
        ("arguments", TraceValue::hidden(arguments.len())),
    ]
}

fn of_hit(report: &HitReport) -> Vec<Field> {
    vec![
        ("target_id", number(report.target_id)),
        ("target_token", number(report.target_token)),
        ("weapon", number(report.weapon)),
        ("body_part", number(report.body_part)),
        ("origin", place(report.origin)),
        ("hit", place(report.hit)),
    ]
}
