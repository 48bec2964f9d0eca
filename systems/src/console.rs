//! Console commands are executed: one executor, whatever edge a line came from. Answers are text for people or one
//! JSON value.

mod answers;
mod complete;
mod diagnosis;
mod inspection;
mod scripts;
mod streams;
mod world;

pub(crate) use answers::player;
pub(crate) use inspection::{inspect_entity, tell_watches};
pub(crate) use streams::StreamSystems;

use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::{
    query::With,
    schedule::IntoScheduleConfigs,
    system::{Res, ResMut},
    world::World,
};
use decitick_components::{
    admission::ServerPassword,
    ban_changes::{BanChange, BanChanges, Settled},
    bans::{Ban, BanList, BanRange},
    clock::Clock,
    connection::Connection,
    console::{
        AnswerText, BansAnswer, ConsoleAnswer, ConsoleCommand, ConsoleInbox, ConsoleOutbox, DoneAnswer,
        EntityWord, ErrorAnswer, HelpAnswer, IdentityAnswer, Layout, PasswordAction, PasswordAnswer,
        asks_for_json, parse,
    },
    lane::OutboundLane,
    messages::{EndSessionRequest, KickReason},
    phase::Phase,
    reasons::CloseReason,
    script::Stopwatch,
    server::{Lifecycle, PublicFace, ServerKey},
    session::PlayerId,
    tally::{SettledTally, Tally},
};
use serde::Serialize;

use crate::{
    chat::announcement,
    handshake::request_password,
    inspect::entity_named,
    script::SCRIPT_ASKER,
    tick::{Tick, TickSystems},
};

/// Executes console commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsolePlugin;

impl Plugin for ConsolePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Tick, execute_commands.in_set(TickSystems::Apply))
            .add_systems(Tick, settle_tally.in_set(TickSystems::Inspect));
        streams::add_stream_systems(app);
        inspection::add_watch_system(app);
    }
}

/// Lines that are executed in one tick; the rest wait.
const LINES_PER_TICK: usize = 64;
/// After so much time in one tick no further line is begun; the rest wait.
const TIME_PER_TICK: Duration = Duration::from_millis(8);
/// Notice of a stop without a reason of its own.
const STOP_NOTICE: &str = "server shutting down";

/// Executes what came in, and answers what was settled since.
pub(crate) fn execute_commands(world: &mut World) {
    let settled = world.resource_mut::<BanChanges>().take_settled();
    for Settled {
        asker,
        change,
        result,
    } in settled
    {
        if asker == SCRIPT_ASKER {
            if let Err(error) = result {
                tracing::error!(error, "a gamemode's ban or unban was not written");
            }
            continue;
        }
        let answer = ban_settled(&change, result);
        put_answer(world, Asked::later(asker), &answer);
    }
    scripts::answer_settled(world);
    let deadline = world.resource::<Stopwatch>().deadline(TIME_PER_TICK);
    for _ in 0..LINES_PER_TICK {
        let Some(request) = world.resource_mut::<ConsoleInbox>().0.pop_front() else {
            return;
        };
        match parse(&request.line) {
            Ok(line) => {
                let asked = Asked {
                    id: request.id,
                    json: line.json,
                    layout: line.layout,
                };
                if let Some(answer) = execute(world, line.command, asked) {
                    put_answer(world, asked, &answer);
                }
            }
            Err(error) => {
                let asked = Asked {
                    id: request.id,
                    json: asks_for_json(&request.line),
                    layout: Layout::WIDE,
                };
                put_answer(world, asked, &Err(ErrorAnswer::from(&error)));
            }
        }
        if deadline.passed() {
            return;
        }
    }
}

/// Runs a line for an edge that is for reading: the JSON of its answer, or what is wrong.
///
/// # Errors
/// The line is no command, changes something, goes on, or failed; in words for people.
pub(crate) fn run_reading(world: &mut World, line: &str) -> Result<String, String> {
    let line = parse(line).map_err(|error| error.to_string())?;
    if !line.command.only_reads() {
        return Err("this endpoint only reads, and answers once; use the console for this".to_owned());
    }
    let asked = Asked {
        id: 0,
        json: true,
        layout: Layout::WIDE,
    };
    match execute(world, line.command, asked) {
        Some(Ok(answer)) => Ok(show(&*answer, true, Layout::WIDE)),
        Some(Err(error)) => Err(error.error),
        // Nothing that only reads is answered later.
        None => Err("it is answered at the console only".to_owned()),
    }
}

/// Who asked, and how the answer is to look.
#[derive(Clone, Copy, Debug)]
struct Asked {
    id: u64,
    json: bool,
    layout: Layout,
}

impl Asked {
    /// By its number alone, for answers that come later: whether JSON was asked for travels in the lowest bit.
    const fn later(asker: u64) -> Self {
        Self {
            id: asker >> 1,
            json: asker & 1 == 1,
            layout: Layout::WIDE,
        }
    }

    fn asker(self) -> u64 {
        (self.id << 1) | u64::from(self.json)
    }
}

/// An answer that can show itself in both its forms.
pub(crate) trait Render {
    fn text(&self, layout: Layout) -> String;
    fn json(&self) -> Result<String, serde_json::Error>;
}

impl<T: Serialize + AnswerText> Render for T {
    fn text(&self, layout: Layout) -> String {
        AnswerText::text(self, layout)
    }

    fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

type Answer = Result<Box<dyn Render>, ErrorAnswer>;

fn rendered(answer: impl Serialize + AnswerText + 'static) -> Answer {
    Ok(Box::new(answer))
}

fn done(message: impl Into<String>) -> Answer {
    rendered(DoneAnswer {
        message: message.into(),
    })
}

fn failed(error: impl Into<String>) -> Answer {
    Err(ErrorAnswer { error: error.into() })
}

fn nobody_has(id: PlayerId) -> Answer {
    failed(format!(
        "nobody has the id {}; `players` lists who is connected",
        id.0
    ))
}

fn put_answer(world: &mut World, asked: Asked, answer: &Answer) {
    let (ok, answer): (bool, &dyn Render) = match answer {
        Ok(answer) => (true, &**answer),
        Err(error) => (false, error),
    };
    let text = show(answer, asked.json, asked.layout);
    let answer = ConsoleAnswer::last(asked.id, ok, text);
    world.resource_mut::<ConsoleOutbox>().0.push(answer);
}

pub(crate) fn show(answer: &dyn Render, json: bool, layout: Layout) -> String {
    if !json {
        return answer.text(layout);
    }
    // Plain values always become JSON; should one ever not, its text is better than nothing.
    answer.json().unwrap_or_else(|_| answer.text(layout))
}

/// Executes one command; `None` when the answer comes later.
fn execute(world: &mut World, command: ConsoleCommand, asked: Asked) -> Option<Answer> {
    Some(match command {
        ConsoleCommand::Help(about) => rendered(HelpAnswer::new(about)),
        ConsoleCommand::Status => rendered(answers::status(world)),
        ConsoleCommand::Players => rendered(answers::players(world)),
        ConsoleCommand::Kick { session, reason } => kick(world, session, reason),
        ConsoleCommand::Ban {
            range,
            seconds,
            reason,
        } => {
            let expiry = seconds.map(|seconds| {
                world
                    .resource::<Clock>()
                    .unix_seconds()
                    .saturating_add(u64::from(seconds.get()))
            });
            let change = BanChange::Ban(Ban {
                range,
                reason,
                expiry,
            });
            world.resource_mut::<BanChanges>().request(asked.asker(), change);
            return None;
        }
        ConsoleCommand::Unban { range } => return unban(world, range, asked.asker()),
        ConsoleCommand::Bans => bans(world),
        ConsoleCommand::Password(action) => password(world, action),
        ConsoleCommand::Say(text) => say(world, text.as_str()),
        ConsoleCommand::Mode(text) => {
            text.as_str()
                .clone_into(&mut world.resource_mut::<PublicFace>().mode);
            done("the mode text is set")
        }
        ConsoleCommand::Time(action) => world::time(world, action),
        ConsoleCommand::Weather(weather) => world::weather(world, weather),
        ConsoleCommand::Clock(action) => world::clock(world, action),
        ConsoleCommand::Spawn { id } => world::spawn(world, PlayerId(id)),
        ConsoleCommand::Identity => rendered(IdentityAnswer::new(&world.resource::<ServerKey>().0)),
        ConsoleCommand::Drops => rendered(answers::drops(world)),
        ConsoleCommand::Limits { ip } => rendered(answers::limits(world, ip)),
        ConsoleCommand::Resource(action) => return scripts::resource(world, &action, asked.asker()),
        ConsoleCommand::Eval(text) => scripts::eval(world, &text),
        ConsoleCommand::Grant { id, name } => scripts::grant(world, PlayerId(id), &name),
        ConsoleCommand::Revoke { id, name } => scripts::revoke(world, PlayerId(id), &name),
        ConsoleCommand::Entities(query) => inspection::entities(world, &query),
        ConsoleCommand::Inspect { entity, component } => {
            inspection::inspect(world, entity, component.as_deref())
        }
        ConsoleCommand::Set { entity, field, value } => inspection::set(world, entity, &field, &value),
        ConsoleCommand::Watch {
            entity,
            component,
            seconds,
        } => return inspection::watch(world, entity, &component, seconds, asked),
        ConsoleCommand::Resources { name } => inspection::resources(world, name.as_deref()),
        ConsoleCommand::Systems => diagnosis::systems(world),
        ConsoleCommand::Slow => diagnosis::slow(world),
        ConsoleCommand::Why { viewer, seen } => diagnosis::why(world, PlayerId(viewer), PlayerId(seen)),
        ConsoleCommand::Trace { id, seconds } => {
            return diagnosis::trace(world, PlayerId(id), seconds, asked);
        }
        ConsoleCommand::Netsim(action) => diagnosis::netsim(world, action),
        ConsoleCommand::Complete(line) => complete::complete(world, &line),
        ConsoleCommand::Shutdown { seconds, reason } => shutdown(world, seconds, &reason),
    })
}

fn kick(world: &mut World, session: EntityWord, reason: KickReason) -> Answer {
    let entity = match entity_named(world, session) {
        Ok(entity) => entity,
        Err(fault) => return failed(fault.to_string()),
    };
    let Some(&PlayerId(id)) = world.get::<PlayerId>(entity) else {
        return failed(format!(
            "{session} is no session; `players` lists who is connected"
        ));
    };
    world.write_message(EndSessionRequest {
        entity,
        reason: CloseReason::Kick,
        notice: Some(reason),
    });
    done(format!("player {id} was kicked"))
}

fn unban(world: &mut World, range: BanRange, asker: u64) -> Option<Answer> {
    let held = world
        .resource::<BanChanges>()
        .will_hold(range, world.resource::<BanList>());
    if !held {
        return Some(failed(format!(
            "{range} is not banned; `bans` lists the bans as they were made"
        )));
    }
    world
        .resource_mut::<BanChanges>()
        .request(asker, BanChange::Unban(range));
    None
}

fn ban_settled(change: &BanChange, result: Result<(), String>) -> Answer {
    match (change, result) {
        (BanChange::Ban(ban), Ok(())) => done(format!("{} is banned", ban.range)),
        (BanChange::Unban(range), Ok(())) => done(format!("{range} is not banned any more")),
        (_, Err(error)) => failed(format!(
            "nothing was changed, the ban list could not be written: {error}"
        )),
    }
}

fn bans(world: &World) -> Answer {
    let now = world.resource::<Clock>().unix_seconds();
    let in_force = world.resource::<BanList>().iter().filter(|ban| ban.holds(now));
    let answer = BansAnswer {
        bans: in_force
            .map(|ban| decitick_components::console::BanRow::new(ban, now))
            .collect(),
    };
    rendered(answer)
}

fn password(world: &mut World, action: PasswordAction) -> Answer {
    match action {
        PasswordAction::Show => {
            let answer = PasswordAnswer {
                set: world.resource::<ServerPassword>().required(),
            };
            rendered(answer)
        }
        PasswordAction::Set(password) => {
            request_password(world, Some(password));
            done("the password is set; newcomers are answered again once its key is derived")
        }
        PasswordAction::Clear => {
            request_password(world, None);
            done("no password is needed any more")
        }
    }
}

fn say(world: &mut World, text: &str) -> Answer {
    let Some(event) = announcement(text) else {
        return failed("the text does not fit a chat message; it may have 1 to 512 bytes");
    };
    let mut lanes = world.query_filtered::<(&Phase, &mut OutboundLane), With<Connection>>();
    let mut count = 0u32;
    for (phase, mut lane) in lanes.iter_mut(world) {
        if phase.joined() {
            // A droppable event always finds room.
            let _ = lane.push(event.clone());
            count += 1;
        }
    }
    done(format!("said to {count} players"))
}

fn shutdown(world: &mut World, seconds: u32, reason: &KickReason) -> Answer {
    let now = world.resource::<Clock>().since_start;
    let text = if reason.as_str().is_empty() {
        STOP_NOTICE
    } else {
        reason.as_str()
    };
    if seconds > 0
        && let Some(event) = announcement(&format!("the server stops in {seconds} s: {text}"))
    {
        let mut lanes = world.query_filtered::<&mut OutboundLane, With<Connection>>();
        for mut lane in lanes.iter_mut(world) {
            let _ = lane.push(event.clone());
        }
    }
    let mut lifecycle = world.resource_mut::<Lifecycle>();
    lifecycle.stop_at = Some(now + Duration::from_secs(u64::from(seconds)));
    lifecycle.notice = KickReason::parse(text).ok();
    done(if seconds == 0 {
        "the server stops".to_owned()
    } else {
        format!("the server stops in {seconds} s")
    })
}

/// Settles the counts of the tick and what they say of the traffic.
pub(crate) fn settle_tally(
    clock: Res<'_, Clock>,
    mut tally: ResMut<'_, Tally>,
    mut settled: ResMut<'_, SettledTally>,
) {
    let counts = [
        tally.door.received,
        tally.sent.datagrams,
        tally.door.received_bytes,
        tally.sent.bytes,
    ];
    tally.rates.observe(clock.since_start, counts);
    settled.0.clone_from(&tally);
}

/// Asks for a stop now, as a signal does.
pub fn request_stop(world: &mut World) {
    let now = world.resource::<Clock>().since_start;
    let mut lifecycle = world.resource_mut::<Lifecycle>();
    lifecycle.stop_at = Some(now);
    lifecycle.notice = KickReason::parse(STOP_NOTICE).ok();
}
