//! JSON-RPC 2.0: requests as bytes become questions, results become responses.

use decitick_components::remote::{Asked, RemoteError, RemoteQuestion, RemoteResult, RemoteWatch, codes};
use decitick_protocol::escape_for_display;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Acting, act::Action};

/// Requests of one batch.
pub(super) const MAX_BATCH: usize = 32;
/// Bytes of an id as JSON: it comes back with every event of a watch.
const MAX_ID_BYTES: usize = 256;
/// Characters of an error that came from reading parameters.
const MAX_MESSAGE: usize = 300;

/// What was sent.
#[derive(Debug, PartialEq)]
pub(super) enum Sent {
    Single(Call),
    Batch(Vec<Call>),
}

/// One request.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// Comes back with the response, whatever it is; null when there was none.
    pub id: Value,
    pub wanted: Result<Wanted, RemoteError>,
}

/// What a request wants.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    /// Something that the tick answers.
    Asked(Asked),
    /// `rpc.discover`.
    Methods,
    /// `decitick.act`, whatever the endpoint makes of it.
    Act(Action),
}

/// The method that acts, where that is allowed.
pub(super) const ACT: &str = "decitick.act";

/// A method that is answered.
struct Method {
    name: &'static str,
    summary: &'static str,
    read: fn(Option<Value>) -> Result<Wanted, RemoteError>,
}

const METHODS: &[Method] = &[
    Method {
        name: "world.get_components",
        summary: "values of components of an entity",
        read: |params| Ok(once(RemoteQuestion::GetComponents(required(params)?))),
    },
    Method {
        name: "world.query",
        summary: "entities that hold components, with their values",
        read: |params| {
            let query = match params {
                Some(params) => read(params)?,
                None => decitick_components::remote::RemoteQuery::default(),
            };
            Ok(once(RemoteQuestion::Query(query)))
        },
    },
    Method {
        name: "world.list_components",
        summary: "components of an entity, or all there are",
        read: |params| {
            Ok(once(RemoteQuestion::ListComponents(
                params.map(read).transpose()?,
            )))
        },
    },
    Method {
        name: "world.get_components+watch",
        summary: "values of components of an entity as they change, as an event stream",
        read: |params| Ok(watch(RemoteWatch::Components(required(params)?))),
    },
    Method {
        name: "world.list_components+watch",
        summary: "components that come to an entity and go, as an event stream",
        read: |params| Ok(watch(RemoteWatch::ListComponents(required(params)?))),
    },
    Method {
        name: "world.get_resources",
        summary: "the value of a resource",
        read: |params| Ok(once(RemoteQuestion::GetResource(required(params)?))),
    },
    Method {
        name: "world.list_resources",
        summary: "all resources there are",
        read: |_| Ok(once(RemoteQuestion::ListResources)),
    },
    Method {
        name: "registry.schema",
        summary: "what the registered types look like",
        read: |params| {
            Ok(once(RemoteQuestion::Schema(
                params.map(read).transpose()?.unwrap_or_default(),
            )))
        },
    },
    Method {
        name: "schedule.list",
        summary: "the schedules",
        read: |_| Ok(once(RemoteQuestion::ListSchedules)),
    },
    Method {
        name: "decitick.command",
        summary: "the JSON answer of a console command that only reads",
        read: |params| Ok(once(RemoteQuestion::Command(required(params)?))),
    },
    Method {
        name: "decitick.live+watch",
        summary: "the server as it goes on, twice a second, as an event stream",
        read: |params| {
            Ok(watch(RemoteWatch::Live(
                params.map(read).transpose()?.unwrap_or_default(),
            )))
        },
    },
    Method {
        name: ACT,
        summary: "kicks, bans, or starts, stops or restarts a gamemode",
        read: |params| Ok(Wanted::Act(required(params)?)),
    },
    Method {
        name: "rpc.discover",
        summary: "the methods of this endpoint",
        read: |_| Ok(Wanted::Methods),
    },
];

/// Methods of the protocol that write.
const WRITE_METHODS: &[&str] = &[
    "world.spawn_entity",
    "world.despawn_entity",
    "world.insert_components",
    "world.remove_components",
    "world.mutate_components",
    "world.reparent_entities",
    "world.insert_resources",
    "world.remove_resources",
    "world.mutate_resources",
    "world.trigger_event",
    "world.write_message",
    "world.observe+watch",
];

const fn once(question: RemoteQuestion) -> Wanted {
    Wanted::Asked(Asked::Once(question))
}

const fn watch(watch: RemoteWatch) -> Wanted {
    Wanted::Asked(Asked::Watch(watch))
}

fn required<T: DeserializeOwned>(params: Option<Value>) -> Result<T, RemoteError> {
    let none = || RemoteError::new(codes::INVALID_PARAMS, "Params not provided");
    read(params.ok_or_else(none)?)
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RemoteError> {
    serde_json::from_value(params).map_err(|error| {
        let message: String = error.to_string().chars().take(MAX_MESSAGE).collect();
        RemoteError::new(codes::INVALID_PARAMS, message)
    })
}

/// Reads the body of a request.
///
/// # Errors
/// It is no JSON, no request, or too many of them.
pub(super) fn sent(body: &[u8]) -> Result<Sent, RemoteError> {
    let value = serde_json::from_slice(body)
        .map_err(|error| RemoteError::new(codes::PARSE_ERROR, format!("this is no JSON: {error}")))?;
    match value {
        Value::Array(calls) if calls.is_empty() => Err(RemoteError::new(
            codes::INVALID_REQUEST,
            "a batch has at least one request",
        )),
        Value::Array(calls) if calls.len() > MAX_BATCH => Err(RemoteError::new(
            codes::INVALID_REQUEST,
            format!("a batch has at most {MAX_BATCH} requests"),
        )),
        Value::Array(calls) => Ok(Sent::Batch(calls.into_iter().map(call).collect())),
        single => Ok(Sent::Single(call(single))),
    }
}

fn call(value: Value) -> Call {
    let invalid = |message: &str| Err(RemoteError::new(codes::INVALID_REQUEST, message));
    let Value::Object(mut members) = value else {
        return Call {
            id: Value::Null,
            wanted: invalid("a request is a JSON object"),
        };
    };
    let id = members.remove("id").unwrap_or(Value::Null);
    if id.to_string().len() > MAX_ID_BYTES {
        return Call {
            id: Value::Null,
            wanted: invalid("the id is too long"),
        };
    }
    let params = members.remove("params").filter(|params| !params.is_null());
    let wanted = match (members.get("jsonrpc"), members.get("method")) {
        (Some(Value::String(version)), Some(Value::String(method))) if version == "2.0" => {
            wanted(method, params)
        }
        (Some(Value::String(version)), _) if version == "2.0" => invalid("`method` must be a string"),
        _ => invalid("`jsonrpc` must be \"2.0\""),
    };
    Call { id, wanted }
}

fn wanted(method: &str, params: Option<Value>) -> Result<Wanted, RemoteError> {
    if let Some(known) = METHODS.iter().find(|known| known.name == method) {
        return (known.read)(params);
    }
    if WRITE_METHODS.contains(&method) {
        return Err(read_only(method));
    }
    let shown = escape_for_display(method, MAX_MESSAGE);
    Err(RemoteError::new(
        codes::METHOD_NOT_FOUND,
        format!("Method `{shown}` not found; `rpc.discover` lists those there are"),
    ))
}

/// What whoever asks for a method that writes is told.
pub(super) fn read_only(method: &str) -> RemoteError {
    RemoteError::new(
        codes::METHOD_NOT_FOUND,
        format!("`{method}` changes the world, and this endpoint is read-only"),
    )
}

/// The answer of `rpc.discover`: an `OpenRPC` document.
pub(super) fn methods(address: &str, acting: &Acting) -> String {
    let methods: Vec<Value> = METHODS
        .iter()
        .filter(|method| method.name != ACT || matches!(acting, Acting::Allowed(_)))
        .map(|method| json!({"name": method.name, "summary": method.summary, "params": []}))
        .collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "Decitick, read-only Bevy Remote Protocol",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "methods": methods,
        "servers": [{"name": "Server", "url": address}],
    })
    .to_string()
}

/// A response as JSON text, one line.
pub(super) fn response(id: &Value, result: &RemoteResult) -> String {
    match result {
        Ok(text) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#),
        Err(error) => {
            let error = json!({"code": error.code, "message": error.message});
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &str) -> i32 {
        match sent(body.as_bytes()) {
            Err(error) => error.code,
            Ok(Sent::Single(call)) => call.wanted.map_or_else(|error| error.code, |_| 0),
            Ok(Sent::Batch(_)) => 1,
        }
    }

    #[test]
    fn what_is_no_request_is_an_error_of_its_kind() {
        let parse = ["", "{", "[1", "nul", "\u{1}", "{\"a\":\"\u{0}\"}", "{}{}"];
        for body in parse {
            assert_eq!(code(body), codes::PARSE_ERROR, "{body:?}");
        }
        assert_eq!(code(&"[".repeat(10_000)), codes::PARSE_ERROR, "nested too deep");
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":"{}","method":"rpc.discover"}}"#,
            "x".repeat(300)
        );
        for body in [
            "1",
            "null",
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"rpc.discover"}"#,
            r#"{"id":1,"method":"rpc.discover"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            &long,
            &format!("[{}]", ["1"; MAX_BATCH + 1].join(",")),
        ] {
            assert_eq!(code(body), codes::INVALID_REQUEST, "{body:?}");
        }
    }

    #[test]
    fn methods_are_known_by_their_exact_names_and_writing_ones_are_refused_as_such() {
        let of = |method: &str| wanted(method, None).map_err(|error| (error.code, error.message));
        assert_eq!(
            of("world.list_resources"),
            Ok(once(RemoteQuestion::ListResources))
        );
        assert_eq!(of("rpc.discover"), Ok(Wanted::Methods));
        assert_eq!(of("world.get_components").unwrap_err().0, codes::INVALID_PARAMS);
        for unknown in [
            "",
            "World.query",
            "world.query ",
            "world.query+watch",
            "schedule.graph",
        ] {
            assert_eq!(of(unknown).unwrap_err().0, codes::METHOD_NOT_FOUND, "{unknown}");
        }
        for writing in WRITE_METHODS {
            let (code, message) = of(writing).unwrap_err();
            assert!(
                code == codes::METHOD_NOT_FOUND && message.contains("read-only"),
                "{writing}"
            );
        }
        let long = of(&"x".repeat(60_000)).unwrap_err().1;
        assert!(long.len() < 500);
    }

    #[test]
    fn the_id_comes_back_as_it_is() {
        for id in ["1", "\"a\\\"b\"", "null", "1.5", "[1]"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"rpc.discover","params":null}}"#);
            let Ok(Sent::Single(call)) = sent(body.as_bytes()) else {
                panic!("{body}");
            };
            let text = response(&call.id, &Ok("[]".to_owned()));
            assert_eq!(text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[]}}"#));
        }
        let error = RemoteError::new(codes::BUSY, "a \"b\"\n");
        assert_eq!(
            response(&Value::Null, &Err(error)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"a \"b\"\n"}}"#
        );
    }
}
