//! Where a number of players stand and who is in whose view. Knows neither packets nor a server, so that the renet
//! server of benches/peers shows the same scene.

use std::{fmt, fmt::Write, ops::Range};

/// How the players stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// In clusters a kilometre apart, 32 in everybody's view.
    Spread,
    /// All within ten metres, walking in step; 64 in everybody's view.
    Crowd,
    /// The same, but everybody walks another way, so that neighbours change all the time.
    Mill,
}

impl fmt::Display for Form {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Spread => "spread",
            Self::Crowd => "crowd",
            Self::Mill => "milling crowd",
        })
    }
}

/// So many players, standing so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) players: usize,
    pub(crate) form: Form,
}

/// Players of a cluster: one more than are in view, and in some one more again.
const CLUSTER: usize = 33;
/// Metres from cluster to cluster, more than three times what anybody sees.
const BETWEEN_CLUSTERS: f32 = 1_000.0;
/// Metres from player to player in a cluster.
const BETWEEN_PLAYERS: f32 = 12.0;
const CROWD_RADIUS: f32 = 10.0;
/// Turns of a sunflower: points that fill a disc evenly.
const GOLDEN_ANGLE: f32 = 2.399_963;

/// When in the time between two frames a player sends its own, as a part of it: evenly spread, and neighbours at
/// other times, so that the order in which a server serves them does not show in the latency.
pub(crate) fn moment(number: usize) -> f64 {
    (number as f64 * 0.618_033_988_75).fract()
}

impl Scene {
    /// The value of `streaming.limit`.
    pub(crate) fn limit(self) -> usize {
        match self.form {
            Form::Spread => CLUSTER - 1,
            Form::Crowd | Form::Mill => 64,
        }
    }

    /// Players in everybody's view.
    pub(crate) fn view(self) -> usize {
        self.limit().min(self.players - 1)
    }

    /// Where on its circle a player begins, in radians.
    pub(crate) fn phase(self, number: usize) -> f32 {
        match self.form {
            Form::Spread | Form::Crowd => 0.0,
            Form::Mill => (GOLDEN_ANGLE * number as f32) % std::f32::consts::TAU,
        }
    }

    fn clusters(self) -> usize {
        match self.form {
            Form::Spread => (self.players / CLUSTER).max(1),
            Form::Crowd | Form::Mill => 1,
        }
    }

    fn cluster(self, number: usize) -> usize {
        number * self.clusters() / self.players
    }

    fn members(self, cluster: usize) -> Range<usize> {
        let first = |cluster: usize| (cluster * self.players).div_ceil(self.clusters());
        first(cluster)..first(cluster + 1)
    }

    /// Whom the `number`th player sees where nobody looks for the nearest: those that come next in its cluster. So
    /// everybody is seen by as many as it sees.
    pub(crate) fn in_view(self, number: usize) -> impl Iterator<Item = usize> {
        let members = self.members(self.cluster(number));
        let (start, length) = (members.start, members.len());
        let own = number - start;
        (1..=self.view().min(length - 1)).map(move |step| start + (own + step) % length)
    }

    /// The `number`th spawn point in metres.
    pub(crate) fn spawn(self, number: usize) -> [f32; 3] {
        let (x, y) = match self.form {
            Form::Spread => {
                let cluster = self.cluster(number);
                let own = number - self.members(cluster).start;
                let on_grid = |cluster: usize, own: usize| {
                    (cluster as f32 - 2.5) * BETWEEN_CLUSTERS + own as f32 * BETWEEN_PLAYERS
                };
                (on_grid(cluster % 6, own % 6), on_grid(cluster / 6, own / 6))
            }
            Form::Crowd | Form::Mill => {
                let radius = CROWD_RADIUS * ((number as f32 + 0.5) / self.players as f32).sqrt();
                let (sin, cos) = (GOLDEN_ANGLE * number as f32).sin_cos();
                (radius * cos, radius * sin)
            }
        };
        [x, y, 3.0]
    }

    /// The text of assets/spawns.ron.
    pub(crate) fn spawns_ron(self) -> String {
        let mut text = String::from("[\n");
        for number in 0..self.players {
            let [x, y, z] = self.spawn(number);
            writeln!(text, "    (position: ({x:.3}, {y:.3}, {z:.3})),").unwrap();
        }
        text.push_str("]\n");
        text
    }
}
