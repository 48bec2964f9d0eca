//! What a run found out, put together at its end.

use std::time::Duration;

use super::Fleet;
use crate::bots::login::Login;
use crate::bots::report::{BotCounts, BotsReport, Lane, Percentiles, Relay, ThingCounts, Traffic};
use crate::bots::totals::{Totals, share};
use crate::client::hex;
use crate::driver::Answered;

impl Fleet<'_> {
    /// What the run found out, `seconds` after the window opened.
    pub(super) fn report(
        &self,
        answered: &Answered,
        stayed: u64,
        seconds: Duration,
        end: Duration,
        interrupted: bool,
    ) -> BotsReport {
        let measured = &self.measured;
        let seconds = seconds.as_secs_f64();
        let totals = Totals::of(&self.bots);
        BotsReport {
            address: answered.address.to_string(),
            server_key: hex(&answered.info.server_key),
            server_name: answered.info.name.clone(),
            walk: self.options.walk.name(),
            rate_hz: self.options.rate_hz,
            shots_per_second: self.options.shots_per_second,
            seconds,
            interrupted,
            login: self.options.login.map(Login::name),
            bots: BotCounts {
                asked: self.options.count as u64,
                started: self.bots.len() as u64,
                joined: measured.join.count(),
                spawned: self.bots.iter().filter(|bot| bot.was_spawned()).count() as u64,
                stayed,
            },
            join_ms: Percentiles::of(&measured.join),
            logins: measured.logins,
            login_ms: Percentiles::of(&measured.login),
            spawn_ms: Percentiles::of(&measured.spawn),
            rtt_ms: Percentiles::of(&measured.rtt),
            frame_ms: Percentiles::of(&measured.frame_relay),
            chat_ms: Percentiles::of(&measured.chat_relay),
            loop_late_ms: Percentiles::of(&measured.lateness),
            relay: Relay {
                frames_received: measured.frames_received,
                frames_expected: measured.frames_expected,
                received_per_s: share(measured.frames_received as f64, seconds),
                expected_per_s: share(measured.frames_expected, seconds),
                received_share: share(measured.frames_received as f64, measured.frames_expected),
            },
            loss: totals.loss,
            lane: Lane {
                chat_sent: measured.chat_sent,
                chat_returned: measured.chat_returned,
                chat_received: measured.chat_received,
                chat_repeated: measured.chat_repeated,
                chat_out_of_order: measured.chat_out_of_order,
                chat_missed: measured.chat_missed,
                ..totals.lane
            },
            combat: measured.combat,
            things: ThingCounts {
                seen: measured.entities(),
                streamed_in: measured.entities_streamed_in,
                data_changes: measured.entity_data,
                frames: totals.entity_frames,
            },
            world_clock: self.world_clock.clone(),
            traffic: Traffic {
                run_s: end.as_secs_f64(),
                ..totals.traffic
            },
            drops: totals.drops,
            record_drops: totals.record_drops,
            breaches: measured.breaches.clone(),
            breach_examples: measured.breach_examples.clone(),
            failures: measured.failures.clone(),
            failure_notes: measured.failure_notes.clone(),
        }
    }
}
