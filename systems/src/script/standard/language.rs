//! What every script can call: leaving a call early, and words for what is not there.

use rhai::{Dynamic, EvalAltResult, Module, Position};

use super::{Answer, function, refuse};

pub(super) fn add(module: &mut Module) {
    let exit = |value: Dynamic| -> Answer<Dynamic> { Err(EvalAltResult::Exit(value, Position::NONE).into()) };
    rhai::FuncRegistration::new("exit")
        .in_global_namespace()
        .with_volatility(true)
        .with_params_info(["value", "Dynamic"])
        .set_into_module(module, exit);
    rhai::FuncRegistration::new("exit")
        .in_global_namespace()
        .with_volatility(true)
        .with_params_info(["Dynamic"])
        .set_into_module(module, move || exit(Dynamic::UNIT));
    function!(
        module,
        "sleep",
        ["seconds", ""],
        |_seconds: Dynamic| -> Answer<()> {
            refuse("sleep would stop the server for everybody: use timers::after(ms, fn)")
        }
    );
    function!(module, "timestamp", [""], || -> Answer<()> {
        refuse("there is no timestamp(): use timers::after(ms, fn), or count time in tick(dt)")
    });
}
