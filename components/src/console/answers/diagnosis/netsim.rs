//! The answer of `netsim`, and its line in `status`: how bad the network is made.

use serde::Serialize;

use super::super::{AnswerText, Layout};
use crate::{
    console::text_table::counted,
    netsim::{Impairment, Netsim},
};

/// How bad the network is made, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NetsimAnswer {
    /// Whether anything is simulated.
    pub active: bool,
    /// Datagrams of 100 that are lost.
    pub loss_percent: u16,
    /// How long each datagram is held back.
    pub delay_ms: u16,
    /// Up to how much longer.
    pub jitter_ms: u16,
    /// Datagrams of 100 that come twice.
    pub duplicate_percent: u16,
    /// Datagrams that are held back on their way in.
    pub held_back: u64,
}

impl NetsimAnswer {
    /// Of what is asked for, and how many datagrams are held back.
    #[must_use]
    pub fn new(netsim: Netsim, held_back: u64) -> Self {
        let Impairment {
            loss_percent,
            delay_ms,
            jitter_ms,
            duplicate_percent,
        } = netsim.0.unwrap_or_default();
        Self {
            active: netsim.0.is_some(),
            loss_percent,
            delay_ms,
            jitter_ms,
            duplicate_percent,
            held_back,
        }
    }
}

impl AnswerText for NetsimAnswer {
    fn text(&self, _: Layout) -> String {
        if !self.active {
            return "nothing is simulated: the network is as it is".to_owned();
        }
        format!(
            "SIMULATED, each way: {} % lost, {} ms delay, up to {} ms jitter, {} % twice; {} held back; \
             `netsim off` ends it",
            self.loss_percent,
            self.delay_ms,
            self.jitter_ms,
            self.duplicate_percent,
            counted(self.held_back, "datagram")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_is_made_bad_says_so_and_how_to_end_it() {
        let bad = Netsim(Some(Impairment {
            loss_percent: 5,
            delay_ms: 80,
            ..Impairment::default()
        }));
        let answer = NetsimAnswer::new(bad, 1);
        assert_eq!(
            answer.text(Layout::WIDE),
            "SIMULATED, each way: 5 % lost, 80 ms delay, up to 0 ms jitter, 0 % twice; 1 datagram held back; \
             `netsim off` ends it"
        );
        let json = serde_json::to_value(answer).unwrap();
        assert_eq!(
            (json["active"].as_bool(), json["delay_ms"].as_u64()),
            (Some(true), Some(80))
        );
        let off = NetsimAnswer::new(Netsim::default(), 0);
        assert!(!off.active && off.text(Layout::WIDE).starts_with("nothing is simulated"));
    }
}
