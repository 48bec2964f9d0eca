//! The remote endpoint: what the world is asked and answers, on the App, and over real sockets.

mod http;

use bevy_ecs::{entity::Entity, reflect::ReflectResource, resource::Resource};
use bevy_reflect::Reflect;
use decitick_components::{
    body::{Money, Vitals},
    liveness::LastSeen,
    remote::{
        Asked, RemoteInbox, RemoteLeft, RemoteOutbox, RemoteQuestion, RemoteRequest, RemoteWatch, codes,
    },
};
use serde_json::{Value, json};

use crate::sim::Sim;

const LAST_SEEN: &str = "decitick_components::liveness::LastSeen";
const MONEY: &str = "decitick_components::body::Money";
const VITALS: &str = "decitick_components::body::Vitals";

#[derive(Resource, Reflect, Default)]
#[reflect(Resource)]
struct Weather {
    degrees: f32,
    owner: Option<Entity>,
}

/// A server with one player, some of whose components can be shown.
fn host() -> (Sim, Entity) {
    let mut sim = Sim::new();
    sim.app
        .register_type::<LastSeen>()
        .register_type::<Money>()
        .register_type::<Vitals>()
        .register_type::<Weather>();
    let player = sim.join_now("ada");
    let entity = sim.body(player);
    sim.app.world_mut().entity_mut(entity).insert(Money(5));
    (sim, entity)
}

/// Asks one question; its answer comes at the end of the next tick.
fn ask(sim: &mut Sim, method: fn(Value) -> RemoteQuestion, params: Value) -> Result<Value, i32> {
    sim.app
        .world_mut()
        .resource_mut::<RemoteInbox>()
        .0
        .push_back(RemoteRequest {
            id: 7,
            asked: Asked::Once(method(params)),
        });
    for _ in 0..50 {
        sim.tick();
        let answer = sim.app.world_mut().resource_mut::<RemoteOutbox>().0.pop();
        if let Some(answer) = answer {
            assert!(answer.id == 7 && !answer.more);
            return answer
                .result
                .map(|text| serde_json::from_str(&text).unwrap())
                .map_err(|error| error.code);
        }
    }
    panic!("no answer");
}

fn get_components(params: Value) -> RemoteQuestion {
    RemoteQuestion::GetComponents(serde_json::from_value(params).unwrap())
}

fn query(params: Value) -> RemoteQuestion {
    RemoteQuestion::Query(serde_json::from_value(params).unwrap())
}

fn list_components(params: Value) -> RemoteQuestion {
    RemoteQuestion::ListComponents(serde_json::from_value(params).unwrap())
}

fn get_resource(params: Value) -> RemoteQuestion {
    RemoteQuestion::GetResource(serde_json::from_value(params).unwrap())
}

#[test]
fn components_are_told_by_type_path_and_those_that_are_not_registered_do_not_exist() {
    let (mut sim, entity) = host();
    let token = "decitick_components::session::SessionToken";
    let params = json!({"entity": entity.to_bits(), "components": [MONEY, token, VITALS]});
    let told = ask(&mut sim, get_components, params).unwrap();
    assert_eq!(told["components"][MONEY], json!(5));
    assert_eq!(told["errors"][token]["code"], json!(codes::COMPONENT_ERROR));
    let strict = json!({"entity": entity.to_string(), "components": [MONEY, LAST_SEEN], "strict": true});
    let told = ask(&mut sim, get_components, strict).unwrap();
    assert!(
        told[MONEY] == json!(5) && told[LAST_SEEN]["secs"].is_u64(),
        "{told}"
    );
    let strict = json!({"entity": entity.to_bits(), "components": [MONEY, token], "strict": true});
    assert_eq!(ask(&mut sim, get_components, strict), Err(codes::COMPONENT_ERROR));
    let nobody = json!({"entity": "60000v9", "components": [MONEY]});
    assert_eq!(
        ask(&mut sim, get_components, nobody),
        Err(codes::ENTITY_NOT_FOUND)
    );
    let listed = ask(&mut sim, list_components, json!({"entity": entity.to_bits()})).unwrap();
    let listed = listed.as_array().unwrap();
    assert!(listed.contains(&json!(MONEY)) && listed.contains(&json!(LAST_SEEN)));
    assert!(
        !listed
            .iter()
            .any(|path| path.as_str().unwrap().contains("SessionToken"))
    );
}

fn command(params: Value) -> RemoteQuestion {
    RemoteQuestion::Command(serde_json::from_value(params).unwrap())
}

#[test]
fn a_console_command_is_answered_when_it_only_reads_and_refused_when_it_does_more() {
    let (mut sim, _) = host();
    let told = ask(&mut sim, command, json!({"command": "players"})).unwrap();
    assert_eq!(told["players"][0]["name"], "ada");
    for line in [
        "kick 0",
        "watch 0 Money",
        "set 0 Money.0 5",
        "password set x",
        "shutdown",
        "kcik 0",
        "",
    ] {
        let told = ask(&mut sim, command, json!({"command": line}));
        assert_eq!(told, Err(codes::COMMAND_ERROR), "{line}");
    }
    let told = ask(&mut sim, command, json!({"command": "players --json"})).unwrap();
    assert_eq!(
        told["players"].as_array().map(Vec::len),
        Some(1),
        "nobody was kicked"
    );
}

#[test]
fn a_query_tells_of_the_entities_that_match() {
    let (mut sim, entity) = host();
    let other = sim.app.world_mut().spawn(Vitals { health: 3, armour: 4 }).id();
    let rows = ask(
        &mut sim,
        query,
        json!({
            "data": {"components": [VITALS], "option": [LAST_SEEN], "has": [MONEY, "no::Such"]},
            "filter": {"without": [MONEY]},
        }),
    )
    .unwrap();
    assert_eq!(
        rows,
        json!([{
            "entity": other.to_bits(),
            "components": {VITALS: {"health": 3, "armour": 4}},
            "has": {MONEY: false, "no::Such": false},
        }])
    );
    let all = ask(
        &mut sim,
        query,
        json!({"data": {"option": "all"}, "filter": {"with": [MONEY]}}),
    )
    .unwrap();
    assert_eq!(all[0]["entity"], json!(entity.to_bits()));
    assert!(all[0]["components"][LAST_SEEN].is_object() && all[0].get("has").is_none());
    let unknown = json!({"data": {"components": ["no::Such"]}});
    assert_eq!(ask(&mut sim, query, unknown), Ok(json!([])));
    let strict = json!({"data": {"has": ["no::Such"]}, "strict": true});
    assert_eq!(ask(&mut sim, query, strict), Err(codes::COMPONENT_ERROR));
}

#[test]
fn a_resource_is_told_and_an_entity_in_it_is_its_bits() {
    let (mut sim, entity) = host();
    let path = "suite::remote::Weather";
    assert_eq!(
        ask(&mut sim, get_resource, json!({"resource": path})),
        Err(codes::RESOURCE_NOT_PRESENT)
    );
    sim.app.insert_resource(Weather {
        degrees: 1.5,
        owner: Some(entity),
    });
    let told = ask(&mut sim, get_resource, json!({"resource": path})).unwrap();
    assert_eq!(
        told,
        json!({"value": {"degrees": 1.5, "owner": entity.to_bits()}})
    );
    for unknown in [MONEY, "decitick_components::admission::ServerPassword", ""] {
        let asked = ask(&mut sim, get_resource, json!({"resource": unknown}));
        assert_eq!(asked, Err(codes::RESOURCE_ERROR), "{unknown}");
    }
    let listed = ask(&mut sim, |_| RemoteQuestion::ListResources, json!(null)).unwrap();
    assert!(listed.as_array().unwrap().contains(&json!(path)));
    let rows = ask(&mut sim, query, json!({"data": {"components": [path]}})).unwrap();
    assert_eq!(rows, json!([]), "a resource is no entity that a query tells of");
}

#[test]
fn schemas_and_schedules_have_the_shape_of_the_protocol() {
    let (mut sim, _) = host();
    let schema = |params: Value| RemoteQuestion::Schema(serde_json::from_value(params).unwrap());
    let told = ask(&mut sim, schema, json!({"type_limit": {"with": ["Component"]}})).unwrap();
    let vitals = &told[VITALS];
    assert_eq!(vitals["shortPath"], json!("Vitals"));
    assert_eq!(
        (&vitals["kind"], &vitals["type"]),
        (&json!("Struct"), &json!("object"))
    );
    assert_eq!(
        vitals["properties"]["health"],
        json!({"type": {"$ref": "#/$defs/u8"}})
    );
    assert_eq!(vitals["required"], json!(["health", "armour"]));
    assert_eq!(vitals["componentInfo"]["mutable"], json!(true));
    assert_eq!(
        told[MONEY]["prefixItems"],
        json!([{"type": {"$ref": "#/$defs/i64"}}])
    );
    assert!(told.get("u8").is_none());
    let schedules = ask(&mut sim, |_| RemoteQuestion::ListSchedules, json!(null)).unwrap();
    assert_eq!(schedules["unavailable_schedule_labels"], json!(["Main", "Tick"]));
    assert!(
        schedules["schedule_labels"]
            .as_array()
            .unwrap()
            .contains(&json!("Last"))
    );
}

#[test]
fn a_long_query_is_answered_over_several_ticks_and_leaves_out_who_is_gone() {
    let (mut sim, _) = host();
    let many: Vec<Entity> = (0..9_000)
        .map(|_| {
            sim.app
                .world_mut()
                .spawn((Vitals { health: 1, armour: 1 }, Money(1)))
                .id()
        })
        .collect();
    sim.app
        .world_mut()
        .resource_mut::<RemoteInbox>()
        .0
        .push_back(RemoteRequest {
            id: 1,
            asked: Asked::Once(query(
                json!({"data": {"components": [VITALS, MONEY]}, "filter": {"without": [LAST_SEEN]}}),
            )),
        });
    let mut ticks = 0;
    let answer = loop {
        sim.tick();
        ticks += 1;
        if ticks == 1 {
            sim.app.world_mut().despawn(many[8_999]);
        }
        if let Some(answer) = sim.app.world_mut().resource_mut::<RemoteOutbox>().0.pop() {
            break answer;
        }
        assert!(ticks < 50);
    };
    assert!(ticks >= 4, "18,000 values in {ticks} ticks");
    let rows: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 8_999);
}

#[test]
fn a_watch_tells_each_change_once_and_ends_with_its_entity() {
    let (mut sim, _) = host();
    let entity = sim.app.world_mut().spawn(Money(1)).id();
    let watch = |asked: RemoteWatch, id: u64| RemoteRequest {
        id,
        asked: Asked::Watch(asked),
    };
    let values = serde_json::from_value(json!({"entity": entity.to_bits(), "components": [MONEY, VITALS]}));
    let list = serde_json::from_value(json!({"entity": entity.to_bits()}));
    sim.app.world_mut().resource_mut::<RemoteInbox>().0.extend([
        watch(RemoteWatch::Components(values.unwrap()), 1),
        watch(RemoteWatch::ListComponents(list.unwrap()), 2),
    ]);
    let mut next = |change: &dyn Fn(&mut bevy_ecs::world::World)| {
        change(sim.app.world_mut());
        sim.tick();
        let answers = std::mem::take(&mut sim.app.world_mut().resource_mut::<RemoteOutbox>().0);
        answers
            .into_iter()
            .map(|answer| {
                let told = answer
                    .result
                    .map(|text| serde_json::from_str::<Value>(&text).unwrap());
                (answer.id, answer.more, told.map_err(|error| error.code))
            })
            .collect::<Vec<_>>()
    };
    assert!(next(&|_| {}).is_empty());
    assert!(next(&|_| {}).is_empty(), "nothing changed");
    let told = next(&|world| world.get_mut::<Money>(entity).unwrap().0 = 2);
    assert_eq!(
        told,
        [(
            1,
            true,
            Ok(json!({"components": {MONEY: 2}, "removed": [], "errors": {}}))
        )]
    );
    assert!(next(&|_| {}).is_empty());
    let told = next(&|world| {
        world
            .entity_mut(entity)
            .remove::<Money>()
            .insert(Vitals { health: 9, armour: 0 });
    });
    let vitals = json!({"health": 9, "armour": 0});
    assert_eq!(
        told,
        [
            (
                1,
                true,
                Ok(json!({"components": {VITALS: vitals}, "removed": [MONEY], "errors": {}}))
            ),
            (2, true, Ok(json!({"added": [VITALS], "removed": [MONEY]}))),
        ]
    );
    let told = next(&|world| {
        world.despawn(entity);
    });
    let gone = Err(codes::ENTITY_NOT_FOUND);
    assert_eq!(told, [(1, false, gone.clone()), (2, false, gone)]);
    assert!(next(&|_| {}).is_empty());
}

#[test]
fn sixteen_watches_go_on_at_once_and_one_that_is_left_makes_room() {
    let (mut sim, entity) = host();
    let watch = |id: u64| RemoteRequest {
        id,
        asked: Asked::Watch(RemoteWatch::ListComponents(
            serde_json::from_value(json!({"entity": entity.to_bits()})).unwrap(),
        )),
    };
    sim.app
        .world_mut()
        .resource_mut::<RemoteInbox>()
        .0
        .extend((1..=17).map(watch));
    let mut refused = |left: Vec<u64>| {
        sim.app.world_mut().resource_mut::<RemoteLeft>().0 = left;
        sim.tick();
        let answers = std::mem::take(&mut sim.app.world_mut().resource_mut::<RemoteOutbox>().0);
        sim.app
            .world_mut()
            .resource_mut::<RemoteInbox>()
            .0
            .push_back(watch(18));
        answers.into_iter().map(|answer| answer.id).collect::<Vec<_>>()
    };
    assert_eq!(refused(vec![]), [17]);
    assert_eq!(refused(vec![]), [18]);
    assert_eq!(refused(vec![3]), [0u64; 0]);
    assert_eq!(refused(vec![]), [18]);
}
