//! Every bound of the settings, at its edge and beyond.

use super::*;
use crate::{
    secret::Secret,
    settings::{AuthProvider, ProviderKey},
};

/// The keys at fault after one change to sound settings.
fn faulty(change: impl FnOnce(&mut Settings)) -> Vec<String> {
    let mut settings = Settings::default();
    change(&mut settings);
    settings.faults().into_iter().map(|fault| fault.key).collect()
}

#[test]
fn the_defaults_are_sound() {
    assert_eq!(Settings::default().faults(), []);
}

#[test]
fn every_bound_holds_at_its_edge_and_not_beyond() {
    assert!(faulty(|settings| settings.name = "N".repeat(64)).is_empty());
    assert_eq!(faulty(|settings| settings.name = "N".repeat(65)), ["name"]);
    assert_eq!(faulty(|settings| settings.name = String::new()), ["name"]);
    assert_eq!(faulty(|settings| settings.name = "a\u{202e}b".into()), ["name"]);
    assert_eq!(faulty(|settings| settings.listen.clear()), ["listen"]);
    assert_eq!(faulty(|settings| settings.max_players = 0), ["max_players"]);
    assert_eq!(faulty(|settings| settings.max_players = 1001), ["max_players"]);
    assert!(faulty(|settings| settings.max_players = 1000).is_empty());
    assert!(faulty(|settings| settings.client_files.listen.set_port(0)).is_empty());
    assert_eq!(
        faulty(|settings| settings.client_files.public_port = Some(0)),
        ["client_files.public_port"]
    );
    assert_eq!(faulty(|settings| settings.world.time = (24, 0)), ["world.time"]);
    assert_eq!(faulty(|settings| settings.world.time = (0, 60)), ["world.time"]);
    assert_eq!(
        faulty(|settings| settings.world.clock = ClockSetting::Running(0)),
        ["world.clock"]
    );
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 20_000.1] {
        assert_eq!(
            faulty(|settings| settings.world.bounds = bad),
            ["world.bounds"],
            "{bad}"
        );
    }
    assert_eq!(
        faulty(|settings| settings.world.max_speed = f32::NAN),
        ["world.max_speed"]
    );
    assert!(faulty(|settings| settings.world.max_speed = 0.0).is_empty());
    assert_eq!(
        faulty(|settings| settings.streaming.radius = 0.0),
        ["streaming.radius"]
    );
    assert_eq!(
        faulty(|settings| settings.streaming.limit = 0),
        ["streaming.limit"]
    );
    assert_eq!(
        faulty(|settings| settings.streaming.entity_limit = 0),
        ["streaming.entity_limit"]
    );
    assert_eq!(
        faulty(|settings| settings.limits.packets_per_second = 0),
        ["limits.packets_per_second"]
    );
    assert_eq!(
        faulty(|settings| settings.limits.packet_burst = 0),
        ["limits.packet_burst"]
    );
    assert_eq!(
        faulty(|settings| settings.limits.ipv6_prefix = 129),
        ["limits.ipv6_prefix"]
    );
    assert_eq!(
        faulty(|settings| settings.limits.connections_per_ip = 0),
        ["limits.connections_per_ip"]
    );
    assert_eq!(
        faulty(|settings| settings.scripts.milliseconds_per_tick = 101),
        ["scripts.milliseconds_per_tick"]
    );
}

#[test]
fn every_fault_is_reported_at_once() {
    let keys = faulty(|settings| {
        settings.name = String::new();
        settings.max_players = 0;
        settings.remote = Some("0.0.0.0:15702".parse().unwrap());
    });
    assert_eq!(keys, ["name", "max_players", "remote"]);
}

#[test]
fn listeners_differ_unless_the_system_chooses_the_port() {
    let twice = |text: &str| {
        let address: SocketAddr = text.parse().unwrap();
        faulty(|settings| settings.listen = vec![address, address])
    };
    assert_eq!(twice("127.0.0.1:7777"), ["listen.1"]);
    assert!(twice("127.0.0.1:0").is_empty());
}

#[test]
fn a_password_fault_does_not_show_the_password() {
    let mut settings = Settings {
        password: Some(Secret::new("tulip\u{7}".repeat(20))),
        ..Settings::default()
    };
    let faults = settings.faults();
    assert_eq!(faults.len(), 2, "too long, and a control character");
    assert!(!format!("{faults:?}").contains("tulip"));
    settings.password = Some(Secret::new("p".repeat(64)));
    assert_eq!(settings.faults(), []);
}

#[test]
fn versions_are_semantic_and_short() {
    let version = |text: &str| faulty(|settings| settings.minimum_client_version = text.into());
    assert!(version("").is_empty());
    assert!(version("1.2.3").is_empty());
    assert!(version(&format!("1.2.3-{}", "a".repeat(26))).is_empty());
    assert_eq!(
        version(&format!("1.2.3-{}", "a".repeat(27))),
        ["minimum_client_version"]
    );
    assert_eq!(version("1.2"), ["minimum_client_version"]);
    assert_eq!(version("v1.2.3"), ["minimum_client_version"]);
}

#[test]
fn resource_names_cannot_leave_their_folder() {
    for bad in ["", "Freeroam", "../x", "a/b", "a b", ".hidden"] {
        assert_eq!(
            faulty(|settings| settings.resources = vec![bad.into()]),
            ["resources.0"],
            "{bad}"
        );
    }
    assert_eq!(
        faulty(|settings| settings.resources = vec!["a-1_b".into(), "a-1_b".into()]),
        ["resources.1"]
    );
}

#[test]
fn providers_differ_and_an_auth_resource_is_named() {
    let provider = AuthProvider {
        id: "example".into(),
        key: ProviderKey([1; 32]),
    };
    let auth = AuthSettings {
        resource: "Login".into(),
        timeout_seconds: 0,
        providers: vec![provider.clone(), provider],
    };
    assert_eq!(
        faulty(|settings| settings.auth = Some(auth)),
        ["auth.resource", "auth.timeout_seconds", "auth.providers.1.id"]
    );
}

#[test]
fn a_providers_key_can_verify_something() {
    let of_small_order = [0; 32];
    let mut no_point = [0; 32];
    no_point[0] = 2;
    let mut not_canonical = [0xFF; 32];
    (not_canonical[0], not_canonical[31]) = (0xF0, 0x7F);
    let keys = [[1; 32], of_small_order, no_point, not_canonical];
    let providers = keys.iter().enumerate().map(|(index, &key)| AuthProvider {
        id: format!("provider {index}"),
        key: ProviderKey(key),
    });
    let auth = AuthSettings {
        resource: "login".into(),
        timeout_seconds: 1,
        providers: providers.collect(),
    };
    assert_eq!(
        faulty(|settings| settings.auth = Some(auth)),
        [
            "auth.providers.1.key",
            "auth.providers.2.key",
            "auth.providers.3.key"
        ]
    );
}

#[test]
fn only_loopback_addresses_serve_the_remote_protocol_and_the_page() {
    for (address, sound) in [
        ("127.0.0.1:1", true),
        ("[::1]:1", true),
        ("[::ffff:127.0.0.1]:1", true),
        ("0.0.0.0:1", false),
        ("192.0.2.1:1", false),
    ] {
        let keys = faulty(|settings| settings.remote = Some(address.parse().unwrap()));
        assert_eq!(keys.is_empty(), sound, "{address}");
        let keys = faulty(|settings| {
            settings.page = Some(crate::settings::PageSettings {
                listen: address.parse().unwrap(),
                ..crate::settings::PageSettings::default()
            });
        });
        assert_eq!(keys.is_empty(), sound, "{address}");
    }
}
