//! What is wrong with settings whose types are right: bounds, and keys that contradict each other.

use std::{collections::BTreeSet, fmt::Display, net::SocketAddr, ops::RangeInclusive};

use decitick_protocol::{MAX_PLAYERS, text::is_control_or_format};

use super::{AuthSettings, ClockSetting, Settings};

/// One thing that is wrong, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFault {
    /// The key from the outermost on, dotted, list elements by number: `auth.providers.0.id`.
    pub key: String,
    /// What is wrong and what would be right. Never holds a secret.
    pub problem: String,
}

impl Settings {
    /// Everything that is wrong with these settings, in the order of the keys; empty when they may be used.
    pub fn faults(&self) -> Vec<SettingFault> {
        let mut faults = Faults(Vec::new());
        self.check_top_level(&mut faults);
        self.check_world(&mut faults);
        self.check_limits(&mut faults);
        self.check_scripts(&mut faults);
        self.check_edges(&mut faults);
        faults.0
    }

    fn check_top_level(&self, faults: &mut Faults) {
        faults.text("name", &self.name, 1..=64);
        check_listen(faults, &self.listen);
        faults.range("max_players", self.max_players, 1..=MAX_PLAYERS);
        if let Some(password) = &self.password {
            check_password(faults, password.expose());
        }
        let version = &self.minimum_client_version;
        if !version.is_empty() && (version.len() > 32 || semver::Version::parse(version).is_err()) {
            faults.add(
                "minimum_client_version",
                format!("{version:?} is no semantic version of at most 32 bytes; write one like \"1.4.0\", or \"\" for none"),
            );
        }
        check_resources(faults, &self.resources);
        if self.client_files.listen.port() == 0 {
            faults.add(
                "client_files.listen",
                "the port must be 1 to 65535, since clients are told it".into(),
            );
        }
        if self.client_files.public_port == Some(0) {
            faults.add(
                "client_files.public_port",
                "the port must be 1 to 65535; leave it None to announce the listener's".into(),
            );
        }
        if let Some(auth) = &self.auth {
            check_auth(faults, auth);
        }
    }

    fn check_world(&self, faults: &mut Faults) {
        let (hours, minutes) = self.world.time;
        if hours > 23 || minutes > 59 {
            faults.add(
                "world.time",
                format!("({hours}, {minutes}) is no time of day; hours are 0 to 23, minutes 0 to 59"),
            );
        }
        if self.world.clock == ClockSetting::Running(0) {
            faults.add(
                "world.clock",
                "a minute lasts at least 1 ms; write Running(1000), or Frozen".into(),
            );
        }
        faults.positive("world.bounds", self.world.bounds, 20_000.0);
        if !self.world.max_speed.is_finite() || self.world.max_speed < 0.0 {
            faults.add(
                "world.max_speed",
                format!(
                    "{} is no speed; write metres per second, or 0.0 for no check",
                    self.world.max_speed
                ),
            );
        }
        faults.range("world.settle_ms", self.world.settle_ms, 0..=60_000);
        faults.positive("streaming.radius", self.streaming.radius, 40_000.0);
        faults.range("streaming.limit", self.streaming.limit, 1..=MAX_PLAYERS);
        faults.range("streaming.entity_limit", self.streaming.entity_limit, 1..=10_000);
    }

    fn check_limits(&self, faults: &mut Faults) {
        let limits = &self.limits;
        faults.range(
            "limits.connections_per_ip",
            limits.connections_per_ip,
            1..=1_000_000,
        );
        faults.range("limits.ipv6_prefix", limits.ipv6_prefix, 1..=128);
        faults.range("limits.resends_per_tick", limits.resends_per_tick, 1..=1_000_000);
        faults.range(
            "limits.packets_per_second",
            limits.packets_per_second,
            1..=1_000_000,
        );
        faults.range("limits.packet_burst", limits.packet_burst, 1..=1_000_000);
    }

    fn check_scripts(&self, faults: &mut Faults) {
        let scripts = &self.scripts;
        faults.range(
            "scripts.operations_per_call",
            scripts.operations_per_call,
            1..=1_000_000_000_000,
        );
        faults.range(
            "scripts.milliseconds_per_call",
            scripts.milliseconds_per_call,
            1..=60_000,
        );
        faults.range(
            "scripts.milliseconds_per_tick",
            scripts.milliseconds_per_tick,
            1..=100,
        );
        faults.range("scripts.memory_mib", scripts.memory_mib, 1..=65_536);
    }

    fn check_edges(&self, faults: &mut Faults) {
        if let Some(remote) = self.remote
            && !remote.ip().to_canonical().is_loopback()
        {
            faults.add("remote", format!("{remote} can be reached from outside; only loopback addresses are taken, like 127.0.0.1:15702"));
        }
        if self.log.filter.trim().is_empty() {
            faults.add(
                "log.filter",
                "an empty filter shows nothing; write \"info\", or \"off\" to mean it".into(),
            );
        }
    }
}

fn check_listen(faults: &mut Faults, listen: &[SocketAddr]) {
    if listen.is_empty() {
        faults.add(
            "listen",
            "nothing to listen on; name at least one address, like [\"0.0.0.0:7777\"]".into(),
        );
    }
    let mut seen = BTreeSet::new();
    for (index, &address) in listen.iter().enumerate() {
        // The system gives two listeners with port 0 two ports.
        if address.port() != 0 && !seen.insert(address) {
            faults.add(
                &format!("listen.{index}"),
                format!("{address} is listed twice; take one out"),
            );
        }
    }
}

fn check_password(faults: &mut Faults, password: &str) {
    if password.len() > 64 {
        faults.add(
            "password",
            format!("the password has {} bytes; at most 64 are taken", password.len()),
        );
    }
    if password.chars().any(char::is_control) {
        faults.add(
            "password",
            "the password has a control character; take it out".into(),
        );
    }
}

fn check_resources(faults: &mut Faults, resources: &[String]) {
    let mut seen = BTreeSet::new();
    for (index, resource) in resources.iter().enumerate() {
        let key = format!("resources.{index}");
        if faults.resource_name(&key, resource) && !seen.insert(resource) {
            faults.add(&key, format!("{resource:?} is listed twice; take one out"));
        }
    }
}

fn check_auth(faults: &mut Faults, auth: &AuthSettings) {
    faults.resource_name("auth.resource", &auth.resource);
    faults.range("auth.timeout_seconds", auth.timeout_seconds, 1..=86_400);
    let mut seen = BTreeSet::new();
    for (index, provider) in auth.providers.iter().enumerate() {
        let key = format!("auth.providers.{index}.id");
        faults.text(&key, &provider.id, 1..=128);
        if !seen.insert(&provider.id) {
            faults.add(
                &key,
                format!("{:?} is listed twice; ids of providers must differ", provider.id),
            );
        }
    }
}

struct Faults(Vec<SettingFault>);

impl Faults {
    fn add(&mut self, key: &str, problem: String) {
        self.0.push(SettingFault {
            key: key.to_owned(),
            problem,
        });
    }

    fn range<T: PartialOrd + Display>(&mut self, key: &str, value: T, range: RangeInclusive<T>) {
        if !range.contains(&value) {
            self.add(
                key,
                format!(
                    "{value} is out of range; {} to {} is taken",
                    range.start(),
                    range.end()
                ),
            );
        }
    }

    /// A finite number above 0 and at most `most`.
    fn positive(&mut self, key: &str, value: f32, most: f32) {
        if !(value > 0.0 && value <= most) {
            self.add(
                key,
                format!("{value} is out of range; above 0 and at most {most} is taken"),
            );
        }
    }

    fn text(&mut self, key: &str, value: &str, bytes: RangeInclusive<usize>) {
        if !bytes.contains(&value.len()) {
            self.add(
                key,
                format!(
                    "the text has {} bytes; {} to {} are taken",
                    value.len(),
                    bytes.start(),
                    bytes.end()
                ),
            );
        }
        if let Some(character) = value.chars().find(|&character| is_control_or_format(character)) {
            self.add(
                key,
                format!(
                    "the text has the control or format character U+{:04X}; take it out",
                    u32::from(character)
                ),
            );
        }
    }

    /// Whether the text may name a resource; adds a fault if not.
    fn resource_name(&mut self, key: &str, name: &str) -> bool {
        let allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
        let good = (1..=64).contains(&name.len()) && name.bytes().all(allowed);
        if !good {
            self.add(
                key,
                format!(
                    "{name:?} is no resource name; it is 1 to 64 lower-case letters, digits, '_' and '-'"
                ),
            );
        }
        good
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            faulty(|settings| settings.client_files.listen.set_port(0)),
            ["client_files.listen"]
        );
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
    fn only_loopback_addresses_serve_the_remote_protocol() {
        for (address, sound) in [
            ("127.0.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("192.0.2.1:1", false),
        ] {
            let keys = faulty(|settings| settings.remote = Some(address.parse().unwrap()));
            assert_eq!(keys.is_empty(), sound, "{address}");
        }
    }
}
