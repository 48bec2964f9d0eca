//! What the counters of all bots of a run add up to.

use std::collections::BTreeMap;

use super::bot::Bot;
use super::report::{Lane, Loss, Traffic};
use crate::client::{ClientCounters, DropReason};

/// What the counters of all bots add up to.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) loss: Loss,
    pub(super) lane: Lane,
    pub(super) traffic: Traffic,
    pub(super) entity_frames: u64,
    pub(super) drops: BTreeMap<&'static str, u64>,
    pub(super) record_drops: BTreeMap<&'static str, u64>,
}

impl Totals {
    pub(super) fn of(bots: &[Bot]) -> Self {
        let mut totals = Self::default();
        for bot in bots {
            totals.add(bot.client().counters());
            let (received, expected) = bot.keepalives();
            totals.loss.keepalives_received += received;
            totals.loss.keepalives_expected += expected;
            totals.loss.not_sent += bot.not_sent();
        }
        let loss = &mut totals.loss;
        let missing = loss.keepalives_expected.saturating_sub(loss.keepalives_received);
        loss.down_share = share(missing as f64, loss.keepalives_expected as f64);
        let resent = totals.lane.events_resent as f64;
        totals.loss.up_share = share(resent, resent + totals.lane.events_sent as f64);
        totals
    }

    fn add(&mut self, counters: &ClientCounters) {
        self.lane.events_delivered += counters.lane_delivered;
        self.lane.events_repeated += counters.dropped(DropReason::LaneDuplicate);
        self.lane.events_ahead += counters.lane_ahead;
        self.lane.events_sent += counters.lane_sent;
        self.lane.events_resent += counters.lane_resent;
        self.entity_frames += counters.entity_frames;
        self.traffic.datagrams_in += counters.datagrams_in;
        self.traffic.bytes_in += counters.bytes_in;
        self.traffic.datagrams_out += counters.datagrams_out;
        self.traffic.bytes_out += counters.bytes_out;
        for (reason, count) in counters.drops() {
            *self.drops.entry(reason.name()).or_default() += count;
        }
        for (reason, count) in counters.record_drops() {
            *self.record_drops.entry(reason.name()).or_default() += count;
        }
    }
}

/// `part` by `whole`; 0 when there is no whole.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
