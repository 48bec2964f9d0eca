//! The bare side: an engine of the same crate with the same features, the standard packages and nothing bounded or
//! counted, and plain values in place of the server's.

use std::time::Instant;

use rhai::{AST, Array, Dynamic, Engine, Map, Scope};

use crate::support::table::median;

/// A player as a plain registered type.
#[derive(Clone, Copy)]
pub(crate) struct Somebody {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// An engine and its compiled script.
pub(crate) struct Bare {
    engine: Engine,
    ast: AST,
}

impl Bare {
    pub(crate) fn new(script: &str) -> Self {
        Self::with(Engine::new(), script)
    }

    pub(crate) fn with(mut engine: Engine, script: &str) -> Self {
        engine.set_optimization_level(rhai::OptimizationLevel::None);
        engine.set_max_expr_depths(0, 0);
        engine
            .register_type::<Somebody>()
            .register_get("position", |who: &mut Somebody| {
                let mut map = Map::new();
                for (key, value) in [("x", who.x), ("y", who.y), ("z", who.z)] {
                    map.insert(key.into(), Dynamic::from(f64::from(value)));
                }
                map
            });
        let ast = engine.compile(script).unwrap();
        Self { engine, ast }
    }

    /// Calls `player_damage` with two players, a weapon and an amount.
    pub(crate) fn ask(&self) -> Dynamic {
        let somebody = Somebody {
            x: 1.0,
            y: 2.0,
            z: 3.0,
        };
        let arguments: Array = vec![
            Dynamic::from(somebody),
            Dynamic::from(somebody),
            3_i64.into(),
            10_i64.into(),
        ];
        let mut scope = Scope::new();
        self.engine
            .call_fn(&mut scope, &self.ast, "player_damage", arguments)
            .unwrap()
    }
}

/// Nanoseconds of one of `times` calls in a row, the median of `rounds` rounds; `between` runs before each and is not
/// counted.
pub(crate) fn nanoseconds<S>(
    state: &mut S,
    rounds: usize,
    times: u32,
    mut between: impl FnMut(&mut S),
    mut call: impl FnMut(&mut S),
) -> f64 {
    let mut measured = Vec::new();
    for _ in 0..rounds {
        between(state);
        let started = Instant::now();
        for _ in 0..times {
            call(state);
        }
        measured.push(started.elapsed().as_secs_f64() * 1e9 / f64::from(times));
    }
    median(measured)
}
