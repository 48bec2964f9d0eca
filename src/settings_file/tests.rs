//! Reading the configuration, its faults and their places, and the command line over it.

use decitick_components::settings::{ClockSetting, LogFormat, NamePolicy};

use super::*;

fn directory_with(text: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("assets")).unwrap();
    std::fs::write(settings_path(directory.path()), text).unwrap();
    directory
}

fn load_text(text: &str) -> Result<Settings, ConfigurationError> {
    load(directory_with(text).path(), &Overrides::default())
}

fn load_with(text: &str, options: &[(&str, &str)]) -> Result<Settings, ConfigurationError> {
    let set = options
        .iter()
        .map(|&(key, value)| SetOption {
            key: key.into(),
            value: value.into(),
        })
        .collect();
    load(
        directory_with(text).path(),
        &Overrides {
            set,
            listen: Vec::new(),
        },
    )
}

fn faults(result: Result<Settings, ConfigurationError>) -> Vec<String> {
    result
        .unwrap_err()
        .to_string()
        .lines()
        .map(|line| line.rsplit("/assets/").next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_directory_without_a_file_has_the_defaults_and_a_missing_directory_is_a_fault() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        load(directory.path(), &Overrides::default()).unwrap(),
        Settings::default()
    );
    let missing = directory.path().join("nowhere");
    let error = load(&missing, &Overrides::default()).unwrap_err().to_string();
    assert!(
        error.contains("nowhere: ") && error.contains("decitick init"),
        "{error}"
    );
}

#[test]
fn the_default_file_of_the_repository_is_the_defaults() {
    let settings = load_text(include_str!("../../assets/server.ron")).unwrap();
    assert_eq!(settings, Settings::default());
}

#[test]
fn every_key_can_be_written() {
    let settings = load_text(
        r#"(
            name: "Сервер", listen: ["127.0.0.1:1", "[::1]:1"], max_players: 7, password: "p",
            minimum_client_version: "1.2.3-rc.1", resources: ["a", "b"],
            client_files: (listen: "[::]:80", public_port: Some(8080)),
            auth: Some((resource: "login", timeout_seconds: 5, providers: [(id: "x", key: "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F")])),
            world: (time: (23, 59), clock: Running(1000), weather: 3, garage_doors: 18446744073709551615,
                driveby_intervals: [1,2,3,4,5,6,7,8,9,10,11,12], bounds: 100, max_speed: 0.0, settle_ms: 0),
            streaming: (radius: 10.5, limit: 1, entity_limit: 1),
            limits: (loopback_exempt: false, connections_per_ip: 1, ipv6_prefix: 56, resends_per_tick: 1, packets_per_second: 1, packet_burst: 1),
            names: (policy: Strict),
            scripts: (operations_per_call: 1, milliseconds_per_call: 1, milliseconds_per_tick: 1, memory_mib: 1, hot_reload: false),
            console: (socket: false), remote: Some("127.0.0.1:15702"),
            page: Some((listen: "127.0.0.1:1", allow_actions: true)),
            voxel: Some((host: (listen_port: 16384, motd: "x"), world: (generator: Flat, spawn: (1, 2.5, -3)))), gateway: None,
            metrics: Some("127.0.0.1:9100"), log: (format: Json, filter: "info,decitick=debug"),
        )"#,
    )
    .unwrap();
    assert_eq!(settings.password.unwrap().expose(), "p");
    assert_eq!(settings.client_files.announced_port(), 8080);
    let auth = settings.auth.unwrap();
    assert_eq!((auth.providers[0].key.0[0], auth.providers[0].key.0[31]), (0, 31));
    assert_eq!(settings.world.clock, ClockSetting::Running(1000));
    assert_eq!(settings.names.policy, NamePolicy::Strict);
    assert_eq!(settings.log.format, LogFormat::Json);
    assert!(settings.voxel.is_some() && settings.gateway.is_none());
}

#[test]
fn every_fault_is_told_with_its_place() {
    let lines = faults(load_text(
        "(\n  name: \"\",\n  limits: (\n    ipv6_prefix: 0,\n  ),\n  log: (filter: \"a=b=c\"),\n)",
    ));
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("server.ron:2:3: name: "), "{}", lines[0]);
    assert!(
        lines[1].starts_with("server.ron:4:5: limits.ipv6_prefix: "),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].starts_with("server.ron:6:9: log.filter: "),
        "{}",
        lines[2]
    );
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_known_one() {
    let lines = faults(load_text("(\n  max_player: 5,\n)"));
    assert!(
        lines[0].starts_with("server.ron:2:3: ")
            && lines[0].contains("\"max_player\"")
            && lines[0].contains("\"max_players\""),
        "{lines:?}"
    );
    let lines = faults(load_with("()", &[("limits.burst", "5")]));
    assert!(
        lines[0].starts_with("--set limits.burst: ") && lines[0].contains("\"packet_burst\""),
        "{lines:?}"
    );
}

#[test]
fn values_of_the_command_line_win_over_the_file() {
    let text =
        "( // comment (\n  max_players: 5, limits: (ipv6_prefix: 56), auth: Some((resource: \"login\")) )";
    let settings = load_with(
        text,
        &[
            ("max_players", "6"),
            ("max_players", "7"),
            ("limits.packet_burst", "9"),
            ("name", "\"x, (y\""),
            ("world.time", "(1, 2)"),
            ("auth.timeout_seconds", "3"),
            ("streaming.radius", "5"),
            ("streaming.limit", "6"),
        ],
    )
    .unwrap();
    assert_eq!((settings.max_players, settings.name.as_str()), (7, "x, (y"));
    assert_eq!(
        (settings.limits.packet_burst, settings.limits.ipv6_prefix),
        (9, 56)
    );
    assert_eq!(
        (settings.world.time, settings.auth.unwrap().timeout_seconds),
        ((1, 2), 3)
    );
    assert_eq!((settings.streaming.radius, settings.streaming.limit), (5.0, 6));
    let overrides = Overrides {
        listen: vec!["127.0.0.1:5".parse().unwrap()],
        set: Vec::new(),
    };
    let settings = load(directory_with("(listen: [\"127.0.0.1:1\"])").path(), &overrides).unwrap();
    assert_eq!(settings.listen, overrides.listen);
}

#[test]
fn a_faulty_override_is_told_as_that_option_and_without_its_value() {
    for (key, value, wanted) in [
        ("name", "My server", "quotes"),
        ("name", "\"a\"), (name: \"b\"", "quotes"),
        ("Name", "1", "no key"),
        ("name..x", "1", "no key"),
        ("auth.timeout_seconds", "1", "Some(...)"),
        ("max_players.x", "1", "single value"),
        ("max_players", "2000", "1 to 1000"),
        ("world.driveby_intervals", "[1, 2]", "12 are wanted"),
        ("password", "12345", "double quotes"),
    ] {
        let lines = faults(load_with("(max_players: 5)", &[(key, value)]));
        assert!(
            lines[0].starts_with(&format!("--set {key}: ")) && lines[0].contains(wanted),
            "{key}={value} -> {lines:?}"
        );
        assert!(!lines[0].contains("12345"));
    }
    let twice = "127.0.0.1:5".parse().unwrap();
    let overrides = Overrides {
        listen: vec![twice, twice],
        set: Vec::new(),
    };
    let lines = faults(load(directory_with("()").path(), &overrides));
    assert!(lines[0].starts_with("--listen: "), "{lines:?}");
}
