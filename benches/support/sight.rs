//! What many players see of each other: which frames came to whom, which did not, and how long they took. Knows no
//! socket, so that the clients of benches/peers count the same way.

use std::time::Duration;

/// Sequence numbers whose sending is remembered.
const REMEMBERED: u32 = 64;
/// Buckets of the histogram and their width in microseconds; the last one holds what took longer.
const BUCKETS: usize = 20_000;
const BUCKET: u32 = 50;

/// Who saw which frame of whom. Players are numbered from 0; sequence numbers of frames begin with 1.
pub(crate) struct Sight {
    players: usize,
    /// The number of the player with this id.
    numbers: Vec<usize>,
    /// Viewer times players plus subject: 0 not in view, else 1 more than the newest frame seen.
    pairs: Vec<u32>,
    /// How many have this one in view.
    viewers: Vec<u32>,
    /// The newest frame anybody saw of this one.
    newest: Vec<u32>,
    /// When the last frames were sent, in microseconds of a clock that wraps.
    sent_at: Vec<[u32; REMEMBERED as usize]>,
    last_sent: Vec<u32>,
    /// The frames that count: after the first, up to the second.
    counted: Vec<(u32, u32)>,
    seen: Seen,
    latencies: Vec<u32>,
}

/// What was seen between [`Sight::open`] and [`Sight::close`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Frames sent.
    pub(crate) frames: u64,
    /// Those that were relayed to anybody; of two in one tick only the newer is.
    pub(crate) relayed: u64,
    /// Each relayed frame times those who had its sender in view.
    pub(crate) expected: u64,
    /// Records that came, each frame once for each viewer.
    pub(crate) delivered: u64,
    /// Records of somebody not in view.
    pub(crate) unasked: u64,
    /// From a client through the server to the socket of another, in milliseconds.
    pub(crate) latency_p50_ms: f64,
    pub(crate) latency_p99_ms: f64,
}

impl Sight {
    pub(crate) fn new(players: usize) -> Self {
        Self {
            players,
            numbers: Vec::new(),
            pairs: vec![0; players * players],
            viewers: vec![0; players],
            newest: vec![0; players],
            sent_at: vec![[0; REMEMBERED as usize]; players],
            last_sent: vec![0; players],
            counted: vec![(u32::MAX, u32::MAX); players],
            seen: Seen::default(),
            latencies: vec![0; BUCKETS],
        }
    }

    /// The player of this number has that id.
    pub(crate) fn know(&mut self, number: usize, id: u32) {
        let id = id as usize;
        if self.numbers.len() <= id {
            self.numbers.resize(id + 1, usize::MAX);
        }
        self.numbers[id] = number;
    }

    fn pair(&mut self, viewer: usize, subject: usize) -> &mut u32 {
        &mut self.pairs[viewer * self.players + subject]
    }

    /// Somebody comes into view.
    pub(crate) fn enter(&mut self, viewer: usize, id: u32) {
        let subject = self.numbers[id as usize];
        if *self.pair(viewer, subject) == 0 {
            *self.pair(viewer, subject) = 1;
            self.viewers[subject] += 1;
        }
    }

    /// Somebody leaves the view.
    pub(crate) fn leave(&mut self, viewer: usize, id: u32) {
        let subject = self.numbers[id as usize];
        if std::mem::take(self.pair(viewer, subject)) != 0 {
            self.viewers[subject] -= 1;
        }
    }

    /// How many pairs of viewer and seen there are.
    pub(crate) fn pairs_in_view(&self) -> usize {
        self.viewers.iter().map(|&viewers| viewers as usize).sum()
    }

    /// A frame goes out. `now` is of any clock, but of the same one as in [`Sight::frames`].
    pub(crate) fn sent(&mut self, number: usize, seq: u32, now: Duration) {
        self.sent_at[number][(seq % REMEMBERED) as usize] = now.as_micros() as u32;
        self.last_sent[number] = seq;
    }

    /// Frames came: `records` of 46 bytes each begin with id, generation and sequence number.
    pub(crate) fn frames(&mut self, viewer: usize, records: &[u8], now: Duration) {
        let now = now.as_micros() as u32;
        for record in records.chunks_exact(46) {
            let number_at = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
            self.frame(viewer, number_at(0), number_at(8), now);
        }
    }

    fn frame(&mut self, viewer: usize, id: u32, seq: u32, now: u32) {
        let subject = self.numbers[id as usize];
        let (first, last) = self.counted[subject];
        let counts = first < seq && seq <= last;
        let pair = self.pair(viewer, subject);
        if *pair == 0 {
            self.seen.unasked += u64::from(counts);
            return;
        }
        if seq < *pair {
            // Who stands still is repeated; that is no further frame.
            return;
        }
        *pair = seq + 1;
        if self.newest[subject] < seq {
            self.newest[subject] = seq;
            if counts {
                self.seen.relayed += 1;
                self.seen.expected += u64::from(self.viewers[subject]);
            }
        }
        if counts {
            self.seen.delivered += 1;
            let took = now.wrapping_sub(self.sent_at[subject][(seq % REMEMBERED) as usize]);
            self.latencies[((took / BUCKET) as usize).min(BUCKETS - 1)] += 1;
        }
    }

    /// Frames sent from now on count.
    pub(crate) fn open(&mut self) {
        self.seen = Seen::default();
        self.latencies.fill(0);
        for (counted, &last) in self.counted.iter_mut().zip(&self.last_sent) {
            *counted = (last, u32::MAX);
        }
    }

    /// Frames sent from now on do not count; those on their way still do.
    pub(crate) fn close(&mut self) {
        for (counted, &last) in self.counted.iter_mut().zip(&self.last_sent) {
            counted.1 = last;
        }
    }

    /// What was seen of the frames that count.
    pub(crate) fn seen(&self) -> Seen {
        Seen {
            frames: self
                .counted
                .iter()
                .map(|&(first, last)| u64::from(last - first))
                .sum(),
            latency_p50_ms: self.latency(50),
            latency_p99_ms: self.latency(99),
            ..self.seen
        }
    }

    fn latency(&self, hundredth: u64) -> f64 {
        let wanted = self.seen.delivered * hundredth / 100;
        let mut passed = 0;
        let bucket = self.latencies.iter().position(|&count| {
            passed += u64::from(count);
            passed > wanted
        });
        bucket.map_or(f64::NAN, |bucket| (bucket as f64 + 0.5) * f64::from(BUCKET) / 1e3)
    }
}

impl Seen {
    /// Of what ought to have come, in hundredths.
    pub(crate) fn delivered_percent(&self) -> f64 {
        100.0 * self.delivered as f64 / self.expected as f64
    }

    /// Frames that a newer one of the same tick replaced, in hundredths.
    pub(crate) fn superseded_percent(&self) -> f64 {
        100.0 * (self.frames - self.relayed) as f64 / self.frames as f64
    }
}
