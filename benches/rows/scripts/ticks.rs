//! Whole ticks: with timers that are due, and with nothing to do but to keep the scripts' copy of the world.

use super::stage::Stage;
use crate::support::table::{Table, median};

/// A thousand timers, all due in every tick, against a thousand plain calls of a closure.
pub(crate) fn timers(table: &mut Table) {
    let mut without = Stage::with_script(2, 5.0, "fn resource_stop() {}");
    let mut with = Stage::with_script(
        2,
        5.0,
        "fn resource_start() { for number in 0..1000 { timers::every(100, || {}); } }",
    );
    let calls = with.report().figures.calls;
    let (mut quiet, mut busy) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        quiet.push(milliseconds(without.tick()));
        busy.push(milliseconds(with.tick()));
    }
    with.expect_no_error();
    assert_eq!(
        with.report().figures.calls - calls,
        100_000,
        "all are called in every tick"
    );
    let (engine, closure) = bare_closure();
    let mut bare = Vec::new();
    for _ in 0..100 {
        let started = std::time::Instant::now();
        for _ in 0..1_000 {
            let _: () = closure.call(&engine, &rhai::AST::empty(), ()).unwrap();
        }
        bare.push(milliseconds(started.elapsed()));
    }
    let (busy, quiet, bare) = (median(busy), median(quiet), median(bare));
    table.row(
        "1,000 timers due in a tick / 1,000 bare calls of a closure",
        "",
        format!(
            "{:.2} / {bare:.2} ms = {:.2}",
            busy - quiet,
            (busy - quiet) / bare
        ),
        None,
    );
}

fn bare_closure() -> (rhai::Engine, rhai::FnPtr) {
    let mut engine = rhai::Engine::new();
    let ast = engine.compile("fn make() { || {} }").unwrap();
    let closure = engine.call_fn(&mut rhai::Scope::new(), &ast, "make", ()).unwrap();
    let module = rhai::Module::eval_ast_as_new(rhai::Scope::new(), &ast, &engine).unwrap();
    engine.register_global_module(module.into());
    (engine, closure)
}

/// A tick with 1,000 on, without resources, with one that has nothing to do, and with the sample `freeroam`.
pub(crate) fn mirror(table: &mut Table) {
    for (how, moving) in [("standing", false), ("walking", true)] {
        let mut stages = [
            ("no resource", Stage::new(1_000, 30.0)),
            (
                "an empty resource",
                Stage::with_script(1_000, 30.0, "fn resource_stop() {}"),
            ),
            ("freeroam", {
                let mut stage = Stage::new(1_000, 30.0);
                stage.start_sample("freeroam");
                stage
            }),
        ];
        let mut times = [const { Vec::new() }; 3];
        for round in 0..300 {
            for (times, (_, stage)) in times.iter_mut().zip(&mut stages) {
                if moving {
                    stage.step_all();
                }
                let took = milliseconds(stage.tick());
                // The first ticks settle what a start began.
                if round >= 20 {
                    times.push(took);
                }
            }
        }
        let medians = times.map(median);
        for ((name, stage), time) in stages.iter().zip(medians) {
            stage.expect_no_error();
            let more = (time - medians[0]) * 1e3;
            table.row(
                &format!("a tick with 1,000 {how}, {name}"),
                "",
                format!("{time:.3} ms, {more:.0} us more than without"),
                None,
            );
        }
    }
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
