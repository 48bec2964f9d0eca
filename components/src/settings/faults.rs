//! What is wrong with settings whose types are right: bounds, and keys that contradict each other.

use std::{collections::BTreeSet, fmt::Display, net::SocketAddr, ops::RangeInclusive};

use decitick_protocol::{MAX_PLAYERS, is_usable_key, text::is_control_or_format};

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
        if let Some(page) = &self.page
            && !page.listen.ip().to_canonical().is_loopback()
        {
            let listen = page.listen;
            faults.add("page.listen", format!("{listen} can be reached from outside, and what is said there is not encrypted; only loopback addresses are taken, like 127.0.0.1:7780, and a tunnel from elsewhere"));
        }
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

/// Addresses that a server listens on: each has a thread of its own.
const LISTENERS_MAX: usize = 64;

fn check_listen(faults: &mut Faults, listen: &[SocketAddr]) {
    if listen.is_empty() {
        faults.add(
            "listen",
            "nothing to listen on; name at least one address, like [\"0.0.0.0:7777\"]".into(),
        );
    }
    if listen.len() > LISTENERS_MAX {
        faults.add(
            "listen",
            format!(
                "{} addresses; at most {LISTENERS_MAX} are listened on",
                listen.len()
            ),
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
        if !is_usable_key(&provider.key.0) {
            faults.add(
                &format!("auth.providers.{index}.key"),
                "this is no Ed25519 public key that anything can be verified with; copy the key that the provider shows".into(),
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
mod tests;
