//! Chat: relayed to everybody who joined, bounded per connection (docs/protocol.md 2.1, 2.3).

use crate::sim::Sim;

#[test]
fn a_line_reaches_everybody_the_sender_too_in_the_order_it_was_said() {
    let mut sim = Sim::new();
    let players = sim.join_many(5);
    for line in ["first", "second", "third"] {
        sim.players[players[0]].client.send_chat(line).unwrap();
    }
    sim.ticks(3);
    for index in players {
        assert_eq!(
            sim.players[index].chat(),
            ["Bot 1000: first", "Bot 1000: second", "Bot 1000: third"]
        );
    }
}

#[test]
fn a_command_is_nobodys_business() {
    let mut sim = Sim::new();
    let players = sim.join_many(2);
    sim.players[players[0]]
        .client
        .send_chat("/login hunter2")
        .unwrap();
    sim.ticks(3);
    assert_eq!(sim.players[players[0]].chat(), ["unknown command: /login"]);
    assert!(sim.players[players[1]].chat().is_empty());
}

#[test]
fn ten_lines_at_once_and_two_a_second_count_the_rest_is_acknowledged_and_ignored() {
    let mut sim = Sim::new();
    let index = sim.join_from("203.0.113.1:5000".parse().unwrap(), "Talker");
    sim.expect_within(20, "a body", |sim| sim.players[index].client.is_spawned());
    for n in 0..15 {
        sim.players[index].client.send_chat(&format!("line {n}")).unwrap();
    }
    sim.ticks(4);
    assert_eq!(sim.players[index].chat().len(), 10);
    assert_eq!(sim.tally().lane_limited, 5);
    assert_eq!(
        sim.players[index].client.lane_progress(),
        Some((15, 0)),
        "all were acknowledged"
    );
    sim.ticks(10);
    for n in 0..5 {
        sim.players[index]
            .client
            .send_chat(&format!("later {n}"))
            .unwrap();
    }
    sim.ticks(3);
    let heard = sim.players[index].chat().len();
    assert!(
        (12..=13).contains(&heard),
        "two came back in the second between: {heard}"
    );
}

#[test]
fn loopback_may_talk_as_it_likes_unless_told_otherwise() {
    for (exempt, heard) in [(true, 30), (false, 10)] {
        let mut sim = Sim::with_settings(|settings| settings.limits.loopback_exempt = exempt);
        let index = sim.join_now("Talker");
        for n in 0..30 {
            sim.players[index].client.send_chat(&format!("line {n}")).unwrap();
        }
        sim.ticks(4);
        assert_eq!(sim.players[index].chat().len(), heard);
    }
}

#[test]
fn the_operator_can_speak_to_everybody() {
    let mut sim = Sim::new();
    let players = sim.join_many(3);
    let answer = sim.console("say maintenance at noon");
    assert!(answer.ok && answer.text.contains('3'), "{}", answer.text);
    sim.ticks(2);
    assert!(
        players
            .iter()
            .all(|&index| sim.players[index].chat() == ["maintenance at noon"])
    );
}

#[test]
fn a_longest_line_of_the_longest_name_fits() {
    let mut sim = Sim::new();
    let name = "ж".repeat(32);
    let index = sim.join_now(&name);
    let line = "ы".repeat(64);
    sim.players[index].client.send_chat(&line).unwrap();
    sim.ticks(3);
    assert_eq!(sim.players[index].chat(), [format!("{name}: {line}")]);
}
