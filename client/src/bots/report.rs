//! What a run of bots found out, for people and as one JSON object with stable keys.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::times::Times;

/// The result of a run. Every key of the JSON form has its unit in its name; shares are 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BotsReport {
    /// Address that was joined.
    pub address: String,
    /// The server's public key in hex.
    pub server_key: String,
    /// The server's name, as its query answer gave it.
    pub server_name: String,
    /// How the bots walked.
    pub walk: &'static str,
    /// Frames a second that each bot meant to send.
    pub rate_hz: f64,
    /// Shots a second that each bot meant to report; 0: none.
    pub shots_per_second: f64,
    /// Length of the measured window, after the last bot's join was decided.
    pub seconds: f64,
    /// Whether the run was ended before its time.
    pub interrupted: bool,
    /// How the bots were to log in: `password`, `credential` or `web`; `None`: not at all.
    pub login: Option<&'static str>,
    /// How many bots came how far.
    pub bots: BotCounts,
    /// From the first ClientHello to the accepted ServerHello.
    pub join_ms: Percentiles,
    /// The logins.
    pub logins: Logins,
    /// From ServerHello to AuthAccepted, of the sessions that are measured.
    pub login_ms: Percentiles,
    /// From ServerHello, or AuthAccepted where there was a login, to the first SpawnPlayer.
    pub spawn_ms: Percentiles,
    /// Round trip as the server measures it.
    pub rtt_ms: Percentiles,
    /// From the sending of a bot's frame to its arrival at another bot.
    pub frame_ms: Percentiles,
    /// From the sending of a bot's chat line to its own delivery back to it.
    pub chat_ms: Percentiles,
    /// How late the bots' own loop was. When its p99 nears the latencies above, the bots are the bottleneck.
    pub loop_late_ms: Percentiles,
    /// Frames that arrived against those to be expected.
    pub relay: Relay,
    /// Estimates of lost datagrams.
    pub loss: Loss,
    /// The lanes.
    pub lane: Lane,
    /// Shots and what came of them.
    pub combat: Combat,
    /// The entities that the server showed.
    pub things: ThingCounts,
    /// The time of day in the world, as one of the bots knew it.
    pub world_clock: WorldClockSeen,
    /// All that went over the sockets.
    pub traffic: Traffic,
    /// Datagrams that were dropped, by reason (docs/protocol.md 2.6).
    pub drops: BTreeMap<&'static str, u64>,
    /// Records of accepted packets that did not count, by reason.
    pub record_drops: BTreeMap<&'static str, u64>,
    /// How often the server was seen to break a rule of docs/protocol.md 2.4 or 2.6, by rule.
    pub breaches: BTreeMap<&'static str, u64>,
    /// The first of these breaches, at most 8: which rule, about whom, seen by which bot and when.
    pub breach_examples: Vec<String>,
    /// Bots that did not join, did not stay or saw the server break a rule, by reason. Empty: the run is a success.
    pub failures: BTreeMap<String, u64>,
    /// What the first bot of a reason met, in words; not every reason has some.
    pub failure_notes: BTreeMap<String, String>,
}

/// How many bots came how far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BotCounts {
    /// Bots that were to join.
    pub asked: u64,
    /// Bots that started their attempt.
    pub started: u64,
    /// Bots that joined.
    pub joined: u64,
    /// Bots that got a body at least once.
    pub spawned: u64,
    /// Bots that were still there at the end.
    pub stayed: u64,
}

/// The logins of all bots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Logins {
    /// AuthAccepted of the sessions that are measured: with a credential, the second of each bot.
    pub done: u64,
    /// Accounts that were made on the way.
    pub registered: u64,
}

/// A distribution of times in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// How many times were taken; all others are 0 when none was.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// Frames of other players, within the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Relay {
    /// Frames that arrived.
    pub frames_received: u64,
    /// Frames to be expected: players in view times the rate at which they send, at most ten a second; one a second of a
    /// player that stands still.
    pub frames_expected: f64,
    /// Arrived, per second of the window.
    pub received_per_s: f64,
    /// Expected, per second of the window.
    pub expected_per_s: f64,
    /// `frames_received` by `frames_expected`; 0 when none was expected.
    pub received_share: f64,
}

/// Estimates of lost datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Loss {
    /// Keepalives that came.
    pub keepalives_received: u64,
    /// Keepalives that were due, one a second.
    pub keepalives_expected: u64,
    /// Share of the keepalives that did not come: an estimate for the way down.
    pub down_share: f64,
    /// Share of the sendings on the client's lane that were repeats: an upper estimate for the way up.
    pub up_share: f64,
    /// Datagrams the kernel did not take for sending.
    pub not_sent: u64,
}

/// The two reliable lanes, over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Events of the server delivered, each once and in order.
    pub events_delivered: u64,
    /// Events of the server that came again.
    pub events_repeated: u64,
    /// Events of the server that came ahead of their turn.
    pub events_ahead: u64,
    /// Events of the bots sent.
    pub events_sent: u64,
    /// Events of the bots sent again.
    pub events_resent: u64,
    /// Lines of chat sent.
    pub chat_sent: u64,
    /// Lines of chat that came back to who sent them.
    pub chat_returned: u64,
    /// Lines of chat delivered to any bot.
    pub chat_received: u64,
    /// Lines of chat delivered twice.
    pub chat_repeated: u64,
    /// Lines of chat delivered after a later one of the same bot.
    pub chat_out_of_order: u64,
    /// Lines of chat that never came between two that did. Chat may be discarded when a lane is full.
    pub chat_missed: u64,
}

/// Shots and what came of them, of all bots together over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Combat {
    /// Hits reported to the server.
    pub shots_reported: u64,
    /// SetVitals that left a bot with less health and armour than before.
    pub times_hurt: u64,
    /// PlayerDeath of a bot, delivered to it.
    pub deaths: u64,
    /// SpawnPlayer after a death.
    pub respawns: u64,
}

/// The entities that the server showed the bots, over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ThingCounts {
    /// Different entities that any bot was told of.
    pub seen: u64,
    /// EntitySpawn delivered, to all bots together.
    pub streamed_in: u64,
    /// EntityData delivered, to all bots together.
    pub data_changes: u64,
    /// Frames of entities that counted, at all bots together.
    pub frames: u64,
}

/// The time of day in the world, as HH:MM; `None` while no bot was joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WorldClockSeen {
    /// When the measured window opened.
    pub start: Option<String>,
    /// When the run ended.
    pub end: Option<String>,
}

/// All that went over the bots' sockets, over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Their bytes, without headers.
    pub bytes_in: u64,
    /// Datagrams sent.
    pub datagrams_out: u64,
    /// Their bytes, without headers.
    pub bytes_out: u64,
    /// Length of the whole run.
    pub run_s: f64,
}

impl BotsReport {
    /// Whether every bot joined, stayed and saw what it had to.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Percentiles {
    pub(super) fn of(times: &Times) -> Self {
        Self {
            count: times.count(),
            p50: times.quantile_ms(0.5),
            p90: times.quantile_ms(0.9),
            p99: times.quantile_ms(0.99),
            max: times.max_ms(),
        }
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count == 0 {
            return out.write_str("none measured");
        }
        let Self {
            count,
            p50,
            p90,
            p99,
            max,
        } = self;
        write!(
            out,
            "p50 {p50:.1}  p90 {p90:.1}  p99 {p99:.1}  max {max:.1} ms  ({count})"
        )
    }
}

impl fmt::Display for BotsReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bots,
            relay,
            loss,
            lane,
            traffic,
            ..
        } = self;
        let name = decitick_protocol::escape_for_display(&self.server_name, 64);
        writeln!(out, "server      {} \"{name}\"", self.address)?;
        writeln!(out, "key         {}", self.server_key)?;
        writeln!(
            out,
            "bots        {} asked, {} joined, {} spawned, {} stayed",
            bots.asked, bots.joined, bots.spawned, bots.stayed
        )?;
        writeln!(out, "join        {}", self.join_ms)?;
        if let Some(login) = self.login {
            let Logins { done, registered } = self.logins;
            writeln!(
                out,
                "logins      {done} by {login}, {registered} accounts made; {}",
                self.login_ms
            )?;
        }
        writeln!(out, "spawn       {}", self.spawn_ms)?;
        writeln!(out, "rtt         {}", self.rtt_ms)?;
        writeln!(out, "frame relay {}", self.frame_ms)?;
        writeln!(out, "chat relay  {}", self.chat_ms)?;
        writeln!(
            out,
            "frames      {:.0} a second of {:.0} expected ({:.1} %)",
            relay.received_per_s,
            relay.expected_per_s,
            relay.received_share * 100.0
        )?;
        writeln!(
            out,
            "loss        down {:.2} %, up at most {:.2} %, {} not sent",
            loss.down_share * 100.0,
            loss.up_share * 100.0,
            loss.not_sent
        )?;
        writeln!(
            out,
            "lane        {} events in order, {} repeated, {} ahead; chat {} sent, {} back, {} missed",
            lane.events_delivered,
            lane.events_repeated,
            lane.events_ahead,
            lane.chat_sent,
            lane.chat_returned,
            lane.chat_missed
        )?;
        let combat = &self.combat;
        writeln!(
            out,
            "combat      {} shots reported, {} times hurt, {} deaths, {} respawns",
            combat.shots_reported, combat.times_hurt, combat.deaths, combat.respawns
        )?;
        let things = &self.things;
        writeln!(
            out,
            "things      {} seen, {} streamed in, {} data changes, {} frames",
            things.seen, things.streamed_in, things.data_changes, things.frames
        )?;
        if let WorldClockSeen {
            start: Some(start),
            end: Some(end),
        } = &self.world_clock
        {
            writeln!(out, "world clock {start} to {end}")?;
        }
        writeln!(
            out,
            "traffic     {:.0} datagrams a second in, {:.0} out",
            traffic.datagrams_in as f64 / traffic.run_s.max(0.001),
            traffic.datagrams_out as f64 / traffic.run_s.max(0.001)
        )?;
        if self.loop_late_ms.p99 > 20.0 {
            writeln!(
                out,
                "            the bots themselves were late: {}",
                self.loop_late_ms
            )?;
        }
        for (reason, count) in self.drops.iter().chain(&self.record_drops) {
            writeln!(out, "dropped     {count} {reason}")?;
        }
        for (rule, count) in &self.breaches {
            writeln!(out, "breach      {count} {rule}")?;
        }
        for example in &self.breach_examples {
            writeln!(out, "            {example}")?;
        }
        for (reason, count) in &self.failures {
            match self.failure_notes.get(reason) {
                Some(note) => writeln!(out, "failed      {count} {reason}: {note}")?,
                None => writeln!(out, "failed      {count} {reason}")?,
            }
        }
        Ok(())
    }
}
