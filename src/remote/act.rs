//! `decitick.act`: the few things that can be done from the live page where the operator allows it. Each is a line of the
//! console, put together from checked parts, read back and compared, so that no text can make it another.

use std::{net::IpAddr, sync::Arc, time::Duration};

use decitick_components::{
    console::{ConsoleCommand, EntityWord, ResourceAction, parse},
    remote::{RemoteError, RemoteResult, codes},
    script::ResourceName,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::rpc;
use crate::console::ConsoleHandle;

/// Actions at once: each waits on a thread for its answer.
const AT_ONCE: usize = 2;
/// How long an action may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// Ends a session.
    Kick {
        /// The connection, as `12v3`.
        entity: String,
        /// What the player is told; may be empty.
        #[serde(default)]
        reason: String,
    },
    /// Bans one address.
    Ban {
        /// The address, without a port.
        address: String,
        /// For how long; null, which must be written: for good.
        #[serde(deserialize_with = "Option::deserialize")]
        seconds: Option<u32>,
        /// What the banned are told; may be empty.
        #[serde(default)]
        reason: String,
    },
    /// Starts a gamemode.
    Start {
        /// Its name.
        resource: String,
    },
    /// Stops a gamemode.
    Stop {
        /// Its name.
        resource: String,
    },
    /// Starts a gamemode anew.
    Restart {
        /// Its name.
        resource: String,
    },
}

impl Action {
    /// The console line that does this and nothing else.
    fn line(&self) -> Result<String, RemoteError> {
        let line = match self {
            Self::Kick { entity, reason } => {
                let session = EntityWord::parse(entity).ok();
                let session = session.filter(|word| matches!(word, EntityWord::Entity { .. }));
                let session = session.ok_or_else(|| wrong("`entity` names a connection, as 12v3"))?;
                format!("kick {session} {}", reason.trim())
            }
            Self::Ban {
                address,
                seconds,
                reason,
            } => {
                let address: IpAddr = address
                    .parse()
                    .map_err(|_| wrong("`address` is an IP address without a port"))?;
                if *seconds == Some(0) {
                    return Err(wrong("`seconds` is at least 1, or null for good"));
                }
                format!(
                    "ban {} {} {}",
                    address.to_canonical(),
                    seconds.unwrap_or(0),
                    reason.trim()
                )
            }
            Self::Start { resource } => format!("resource start {}", name(resource)?),
            Self::Stop { resource } => format!("resource stop {}", name(resource)?),
            Self::Restart { resource } => format!("resource restart {}", name(resource)?),
        };
        let read = parse(&line).map_err(|error| wrong(&error.to_string()))?;
        if read.json || !self.is(&read.command) {
            return Err(wrong(
                "the reason cannot be said: it must not end in a word that begins with two dashes",
            ));
        }
        Ok(line)
    }

    /// Whether a command is exactly this.
    fn is(&self, command: &ConsoleCommand) -> bool {
        match (self, command) {
            (
                Self::Kick { entity, reason },
                ConsoleCommand::Kick {
                    session,
                    reason: read,
                },
            ) => session.to_string() == *entity && read.as_str() == reason.trim(),
            (
                Self::Ban { seconds, reason, .. },
                ConsoleCommand::Ban {
                    seconds: read_seconds,
                    reason: read,
                    ..
                },
            ) => read_seconds.map(u32::from) == *seconds && read.as_str() == reason.trim(),
            (Self::Start { resource }, ConsoleCommand::Resource(ResourceAction::Start(read)))
            | (Self::Stop { resource }, ConsoleCommand::Resource(ResourceAction::Stop(read)))
            | (Self::Restart { resource }, ConsoleCommand::Resource(ResourceAction::Restart(read))) => {
                read.as_str() == resource
            }
            _ => false,
        }
    }
}

fn name(resource: &str) -> Result<ResourceName, RemoteError> {
    ResourceName::parse(resource).ok_or_else(|| wrong("`resource` is the name of a folder in scripts/"))
}

fn wrong(message: &str) -> RemoteError {
    RemoteError::new(codes::INVALID_PARAMS, message)
}

/// Whether whoever asks may act.
#[derive(Clone, Debug)]
pub(crate) enum Acting {
    /// The endpoint is for reading.
    Never,
    /// The operator did not allow it.
    NotAllowed,
    /// What is to be acted on was seen of another run of the server: its names mean something else by now.
    OtherRun,
    /// The operator did.
    Allowed(Actor),
}

/// Somebody who may act.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    console: ConsoleHandle,
    seats: Arc<Semaphore>,
    /// Whom the log names: no secret.
    session: Arc<str>,
}

impl Actor {
    /// Nobody yet; [`Actor::named`] says who it is.
    pub(crate) fn new(console: ConsoleHandle) -> Self {
        Self {
            console,
            seats: Arc::new(Semaphore::new(AT_ONCE)),
            session: Arc::from(""),
        }
    }

    /// The same for one session.
    pub(crate) fn named(&self, session: &str) -> Self {
        Self {
            session: Arc::from(session),
            ..self.clone()
        }
    }
}

impl Acting {
    /// Does it, or says why not.
    pub(super) async fn act(&self, action: Action) -> RemoteResult {
        let actor = match self {
            Self::Never => return Err(rpc::read_only(rpc::ACT)),
            Self::NotAllowed => {
                return Err(RemoteError::new(
                    codes::METHOD_NOT_FOUND,
                    "acting is not allowed: set `allow_actions: true` in `page` of assets/server.ron and restart",
                ));
            }
            Self::OtherRun => {
                return Err(RemoteError::new(
                    codes::COMMAND_ERROR,
                    "nothing was done: the server was started anew since you looked; look again",
                ));
            }
            Self::Allowed(actor) => actor,
        };
        let line = action.line()?;
        let Ok(seat) = Arc::clone(&actor.seats).try_acquire_owned() else {
            return Err(RemoteError::new(
                codes::BUSY,
                "busy: other actions are under way; try again",
            ));
        };
        let (console, command) = (actor.console.clone(), format!("{line} --json"));
        let asked = tokio::task::spawn_blocking(move || {
            let answer = console.ask(command, PATIENCE);
            drop(seat);
            answer
        });
        let failed = |message: String| RemoteError::new(codes::COMMAND_ERROR, message);
        let asked = asked.await;
        let done = matches!(&asked, Ok(Ok(answer)) if answer.ok);
        tracing::info!(session = %actor.session, command = line, done, "the live page acted");
        match asked {
            Ok(Ok(answer)) if answer.ok => Ok(answer.text),
            Ok(Ok(answer)) => Err(failed(words(&answer.text))),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed("the server stops".to_owned())),
        }
    }
}

/// The words of a failure, which come as JSON.
fn words(answer: &str) -> String {
    let told: Option<Value> = serde_json::from_str(answer).ok();
    told.as_ref()
        .and_then(|told| told.get("error")?.as_str())
        .unwrap_or(answer)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(params: Value) -> Result<String, String> {
        let action: Action = serde_json::from_value(params).map_err(|error| error.to_string())?;
        action.line().map_err(|error| error.message)
    }

    #[test]
    fn each_action_is_one_line_of_the_console() {
        let kick = json!({"action": "kick", "entity": "12v3", "reason": " be  gone "});
        assert_eq!(line(kick), Ok("kick 12v3 be  gone".to_owned()));
        assert_eq!(
            line(json!({"action": "kick", "entity": "12v3"})),
            Ok("kick 12v3 ".to_owned())
        );
        let ban = json!({"action": "ban", "address": "::ffff:192.0.2.1", "seconds": 60, "reason": "5 times"});
        assert_eq!(line(ban), Ok("ban 192.0.2.1 60 5 times".to_owned()));
        let ban = json!({"action": "ban", "address": "2001:db8::1", "seconds": null, "reason": "5 times"});
        assert_eq!(line(ban), Ok("ban 2001:db8::1 0 5 times".to_owned()));
        for verb in ["start", "stop", "restart"] {
            let action = json!({"action": verb, "resource": "race"});
            assert_eq!(line(action), Ok(format!("resource {verb} race")));
        }
    }

    #[test]
    fn nothing_that_is_written_into_an_action_makes_it_another() {
        let kick = |reason: &str| line(json!({"action": "kick", "entity": "12v3", "reason": reason}));
        for reason in [
            "--json",
            "bye --json",
            "--width 40",
            "bye --width 40",
            "a\nshutdown",
            "a\rb",
            "\u{202e}",
            "\u{1b}[2J",
        ] {
            assert!(kick(reason).is_err(), "{reason:?}");
        }
        assert!(kick(&"x".repeat(65)).is_err() && kick(&"x".repeat(64)).is_ok());
        for entity in [
            "5",
            "player:5",
            "12v3 x",
            "12v3\nshutdown",
            "",
            "thing:1",
            "012v3",
            "12v3 ",
        ] {
            assert!(
                line(json!({"action": "kick", "entity": entity})).is_err(),
                "{entity:?}"
            );
        }
        for address in ["192.0.2.0/24", "192.0.2.1:5", "host", "192.0.2.1 0 x", ""] {
            assert!(
                line(json!({"action": "ban", "address": address, "seconds": null})).is_err(),
                "{address:?}"
            );
        }
        for resource in ["", "a b", "../x", "race --json", "race\n"] {
            assert!(
                line(json!({"action": "restart", "resource": resource})).is_err(),
                "{resource:?}"
            );
        }
        for other in [
            json!({"action": "shutdown"}),
            json!({"action": "kick"}),
            json!({"action": "kick", "entity": "12v3", "force": true}),
            json!({"action": "ban", "address": "192.0.2.1"}),
            json!({"action": "ban", "address": "192.0.2.1", "seconds": 0}),
            json!({"action": "ban", "address": "192.0.2.1", "seconds": -1}),
            json!("kick"),
        ] {
            assert!(line(other.clone()).is_err(), "{other}");
        }
    }
}
