//! Commands about the world: they check what can be told at once, and ask for the rest. What was asked for takes
//! effect later in the same tick.

use bevy_ecs::world::World;
use decitick_components::{
    console::{ClockAction, TimeAction, WorldAnswer},
    phase::Phase,
    requests::{PlayerRequest, PlayerWish, WorldRequest},
    session::{PlayerId, SlotTable},
    world::WorldState,
};

use super::{Answer, done, failed, nobody_has, rendered};

pub(super) fn time(world: &mut World, action: TimeAction) -> Answer {
    match action {
        TimeAction::Show => {
            let answer = WorldAnswer::from(world.resource::<WorldState>());
            rendered(answer)
        }
        TimeAction::Set { hours, minutes } => {
            world.write_message(WorldRequest::Time { hours, minutes });
            done(format!("it is {hours:02}:{minutes:02} now"))
        }
    }
}

pub(super) fn weather(world: &mut World, weather: u8) -> Answer {
    world.write_message(WorldRequest::Weather(weather));
    done(format!("the weather is {weather} now"))
}

pub(super) fn clock(world: &mut World, action: ClockAction) -> Answer {
    match action {
        ClockAction::Run(minute) => {
            world.write_message(WorldRequest::RunClock(minute.get()));
            done(format!("the clock runs, a minute lasts {minute} ms"))
        }
        ClockAction::Freeze => {
            world.write_message(WorldRequest::FreezeClock);
            done("the clock is frozen")
        }
    }
}

pub(super) fn spawn(world: &mut World, id: PlayerId) -> Answer {
    let Some(entity) = world.resource::<SlotTable>().holder(id) else {
        return nobody_has(id);
    };
    if !world.get::<Phase>(entity).is_some_and(|phase| phase.joined()) {
        return failed(format!(
            "player {} has not joined yet; `players` shows the phase of each",
            id.0
        ));
    }
    world.write_message(PlayerRequest {
        entity,
        wish: PlayerWish::Spawn(None),
    });
    done(format!("player {} spawns at the next spawn point", id.0))
}

#[cfg(test)]
mod tests {
    use bevy_app::App;
    use bevy_ecs::{entity::Entity, message::Messages};
    use decitick_components::{
        ComponentsPlugin,
        console::{ConsoleInbox, ConsoleOutbox, ConsoleRequest},
    };

    use super::{super::execute_commands, *};

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins(ComponentsPlugin::default());
        app
    }

    fn run(app: &mut App, line: &str) -> (bool, String) {
        let world = app.world_mut();
        world.resource_mut::<ConsoleInbox>().0.push_back(ConsoleRequest {
            id: 1,
            line: line.to_owned(),
        });
        execute_commands(world);
        let answer = world.resource_mut::<ConsoleOutbox>().0.remove(0);
        (answer.ok, answer.text)
    }

    fn player(app: &mut App, id: u16, phase: Phase) -> Entity {
        let world = app.world_mut();
        let entity = world.spawn(phase).id();
        world.resource_mut::<SlotTable>().occupy(PlayerId(id), entity);
        entity
    }

    fn wishes(app: &mut App) -> Vec<WorldRequest> {
        app.world_mut()
            .resource_mut::<Messages<WorldRequest>>()
            .drain()
            .collect()
    }

    #[test]
    fn commands_about_the_world_ask_for_what_they_say() {
        let mut app = app();
        for (line, wish) in [
            (
                "time 06:30",
                WorldRequest::Time {
                    hours: 6,
                    minutes: 30,
                },
            ),
            ("weather 8", WorldRequest::Weather(8)),
            ("clock run 1000", WorldRequest::RunClock(1_000)),
            ("clock freeze", WorldRequest::FreezeClock),
        ] {
            let (ok, text) = run(&mut app, line);
            assert!(ok, "{line}: {text}");
            assert_eq!(wishes(&mut app), [wish], "{line}");
        }
        let (ok, _) = run(&mut app, "time 24:00");
        assert!(!ok && wishes(&mut app).is_empty());
    }

    #[test]
    fn the_time_is_told_with_clock_and_weather_and_nothing_is_asked_for() {
        let mut app = app();
        assert_eq!(
            run(&mut app, "time"),
            (true, "12:00, the clock is frozen, weather 1".to_owned())
        );
        assert!(wishes(&mut app).is_empty());
    }

    #[test]
    fn a_player_who_joined_is_spawned_and_nobody_else() {
        let mut app = app();
        let joined = player(&mut app, 0, Phase::PreSpawn);
        player(&mut app, 1, Phase::PreAuth);
        assert!(run(&mut app, "spawn 0").0);
        for (line, wanted) in [("spawn 1", "not joined"), ("spawn 2", "nobody has the id 2")] {
            let (ok, text) = run(&mut app, line);
            assert!(!ok && text.contains(wanted), "{line}: {text}");
        }
        let asked: Vec<(Entity, PlayerWish)> = app
            .world_mut()
            .resource_mut::<Messages<PlayerRequest>>()
            .drain()
            .map(|request| (request.entity, request.wish))
            .collect();
        assert_eq!(asked, [(joined, PlayerWish::Spawn(None))]);
    }

    #[test]
    fn status_counts_who_is_in_the_world() {
        let mut app = app();
        player(&mut app, 0, Phase::Spawned);
        player(&mut app, 1, Phase::PreSpawn);
        let (_, text) = run(&mut app, "status --json");
        let status: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (status["players"].as_u64(), status["players_spawned"].as_u64()),
            (Some(2), Some(1))
        );
        assert_eq!(
            (status["things"].as_u64(), status["zones"].as_u64()),
            (Some(0), Some(0))
        );
        assert_eq!(status["world"]["time"], "12:00");
        assert_eq!(status["hits"]["refused"]["no_credit"], 0);
    }
}
