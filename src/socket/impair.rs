//! What goes out goes through a bad network last, when one is simulated: datagrams are lost, held back or doubled here,
//! between the tick and the kernel, to the millisecond. Answers of the door do not come this way.

use std::time::Duration;

use decitick_components::{
    mailbox::{Outbox, Route, SentReport},
    netsim::{Dice, HeldBack, Impairment},
};

use super::transmit::Sent;

/// The simulated network of a transmit thread.
#[derive(Debug)]
pub(super) struct OutboundNetwork {
    dice: Dice,
    held: HeldBack<Route>,
    due: Outbox,
}

impl OutboundNetwork {
    /// One that loses datagrams by this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            held: HeldBack::default(),
            due: Outbox::default(),
        }
    }

    /// Whether nothing is on its way in it.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// When something is to come out of it next.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.held.next_due()
    }

    /// Takes a whole outbox, signed as it is sent. What was stamped counts as handed over now: what follows is the network's
    /// doing, and belongs to round trips.
    pub(super) fn take(&mut self, outbox: &Outbox, impairment: Impairment, now: Duration, sent: &mut Sent) {
        for packet in outbox.packets() {
            sent.reports
                .extend(packet.stamp.map(|stamp| SentReport { stamp, at: now }));
            let [first, second] = impairment.fate(&mut self.dice);
            let mut lost = first.is_none();
            for delay in [first, second].into_iter().flatten() {
                lost |= !self.held.push(now + delay, packet.route, outbox.bytes(packet));
            }
            sent.tally.simulated_lost += u64::from(lost);
        }
    }

    /// What is to be sent by `now`.
    pub(super) fn due(&mut self, now: Duration) -> &Outbox {
        self.due.clear();
        while let Some((_, route, bytes)) = self.held.pop_due(now) {
            self.due.push(route, &bytes);
        }
        &self.due
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use decitick_components::{
        mailbox::{Stamp, Stamped},
        session::{PlayerId, PlayerToken},
    };

    use super::*;

    const fn ms(amount: u64) -> Duration {
        Duration::from_millis(amount)
    }

    fn outbox(count: u8) -> Outbox {
        let mut outbox = Outbox::default();
        let route = Route {
            peer: SocketAddr::from(([127, 0, 0, 1], 9)),
            listener: 0,
            local: None,
        };
        for number in 0..count {
            let stamp = Stamp {
                player: PlayerId(0),
                generation: PlayerToken(1),
                what: Stamped::Keepalive(u32::from(number)),
            };
            outbox.push_with(route, None, Some(stamp), |out| out.push(number));
        }
        outbox
    }

    fn bytes(outbox: &Outbox) -> Vec<u8> {
        outbox
            .packets()
            .iter()
            .flat_map(|packet| outbox.bytes(packet))
            .copied()
            .collect()
    }

    #[test]
    fn what_is_held_back_comes_out_when_it_is_due_and_was_reported_when_it_went_in() {
        let mut network = OutboundNetwork::new(1);
        let mut sent = Sent::default();
        let slow = Impairment {
            delay_ms: 40,
            ..Impairment::default()
        };
        network.take(&outbox(3), slow, ms(100), &mut sent);
        assert_eq!(network.next_due(), Some(ms(140)));
        assert!(sent.reports.len() == 3 && sent.reports.iter().all(|report| report.at == ms(100)));
        assert!(network.due(ms(139)).is_empty() && !network.is_empty());
        assert_eq!(bytes(network.due(ms(140))), [0, 1, 2]);
        assert!(network.due(ms(999)).is_empty() && network.is_empty());
    }

    #[test]
    fn what_is_lost_is_counted_and_what_is_doubled_comes_twice() {
        let mut network = OutboundNetwork::new(1);
        let mut sent = Sent::default();
        let lossy = Impairment {
            loss_percent: 100,
            ..Impairment::default()
        };
        network.take(&outbox(3), lossy, ms(0), &mut sent);
        assert_eq!((sent.tally.simulated_lost, network.is_empty()), (3, true));
        let double = Impairment {
            duplicate_percent: 100,
            ..Impairment::default()
        };
        network.take(&outbox(2), double, ms(0), &mut sent);
        let mut out = bytes(network.due(ms(0)));
        out.sort_unstable();
        assert_eq!(out, [0, 0, 1, 1]);
        assert_eq!(sent.tally.simulated_lost, 3);
    }
}
