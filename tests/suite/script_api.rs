//! Handlers are called, functions do what docs/scripting.md says, and errors say what is wrong.

use crate::sim::Sim;

#[test]
fn a_gamemode_greets_moves_and_equips_who_joins() {
    let mut sim = Sim::with_weapons();
    sim.start_script(
        "greeter",
        r#"
        const WEAPON = 24;
        fn player_connected(player) {
            state.joined = state.get("joined", 0) + 1;
            chat::broadcast(`${player.name} is number ${state.joined}`);
        }
        fn player_request_spawn(player) { #{x: 50, y: 60, z: 10, heading: 1.5, skin: 7} }
        fn player_spawned(player) {
            player.give_weapon(global::WEAPON, 70);
            player.health = 150;
            player.money += 5;
            player.message(`${player.health} ${player.money} ${player.position.x}`);
        }
        fn player_command(player, command, args) {
            if command == "up" { let here = player.position; here.z += 5; player.teleport(here); return true; }
        }
        "#,
    );
    let player = sim.join_now("Ada");
    sim.expect_within(30, "the spawn", |sim| sim.vitals(player).0 == 150);
    sim.ticks(5);
    sim.expect_no_script_error();
    assert_eq!(sim.ammo(player, 24), 70);
    assert_eq!(sim.position(player).x, 50.0);
    assert_eq!(sim.players[player].chat(), ["Ada is number 1", "150 5 50.0"]);
    sim.players[player].client.send_chat("/up").unwrap();
    sim.ticks(5);
    assert_eq!(sim.position(player).z, 15.0);
}

#[test]
fn an_error_names_the_place_the_call_and_the_argument() {
    let mut sim = Sim::new();
    sim.start_script(
        "broken",
        "fn player_connected(player) {\n    greet(player);\n}\nfn greet(player) {\n    player.teleport(#{x: 1, y: 2});\n}\n",
    );
    sim.join_now("Ada");
    sim.ticks(3);
    assert_eq!(
        sim.script_error("broken"),
        "scripts/broken/main.rhai:5:12: player.teleport: z must be a number, got ()"
    );
}
