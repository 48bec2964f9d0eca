//! What happens to datagrams between the two ends: one direction of a network, decided by a seed.

use std::time::Duration;

use super::random::Random;

/// One direction of the network between the clients and the server. The default loses nothing and takes no time.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossyLink {
    /// Datagrams lost, in percent.
    pub(crate) loss: u8,
    /// Datagrams that arrive twice, in percent.
    pub(crate) duplicates: u8,
    /// Datagrams that take up to 300 ms longer than the others and so are overtaken, in percent.
    pub(crate) reorder: u8,
    /// Datagrams in which one byte is changed, in percent.
    pub(crate) corruption: u8,
    /// How long every datagram takes.
    pub(crate) delay: Duration,
    /// How much longer it may take, evenly spread.
    pub(crate) jitter: Duration,
}

/// How much later a datagram that is overtaken may come.
const OVERTAKEN_BY: Duration = Duration::from_millis(300);

impl LossyLink {
    /// A link that only takes time.
    pub(crate) const fn slow(delay: Duration) -> Self {
        Self {
            loss: 0,
            duplicates: 0,
            reorder: 0,
            corruption: 0,
            delay,
            jitter: Duration::ZERO,
        }
    }

    /// The copies of a datagram that arrive, each with the time it takes.
    pub(crate) fn carry(&self, random: &mut Random, datagram: &[u8]) -> Vec<(Duration, Vec<u8>)> {
        let copies = 1 + usize::from(random.chance(self.duplicates));
        let mut arriving = Vec::with_capacity(copies);
        for _ in 0..copies {
            if random.chance(self.loss) {
                continue;
            }
            let mut bytes = datagram.to_vec();
            if random.chance(self.corruption) && !bytes.is_empty() {
                let index = usize::try_from(random.below(bytes.len() as u64)).unwrap();
                bytes[index] ^= 1 << random.below(8);
            }
            arriving.push((self.travel_time(random), bytes));
        }
        arriving
    }

    fn travel_time(&self, random: &mut Random) -> Duration {
        let jitter = random_up_to(random, self.jitter);
        let extra = if random.chance(self.reorder) {
            random_up_to(random, OVERTAKEN_BY)
        } else {
            Duration::ZERO
        };
        self.delay + jitter + extra
    }
}

fn random_up_to(random: &mut Random, most: Duration) -> Duration {
    Duration::from_micros(random.below(u64::try_from(most.as_micros()).unwrap() + 1))
}
