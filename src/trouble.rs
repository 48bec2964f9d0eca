//! What happens to errors and panics of systems: they are logged with the system's name, and the server ends
//! gracefully instead of serving half-done state.

use std::sync::atomic::{AtomicBool, Ordering};

use bevy_ecs::error::{BevyError, ErrorContext, Severity};

static HAPPENED: AtomicBool = AtomicBool::new(false);

/// Whether our own code failed since the start.
#[must_use]
pub fn happened() -> bool {
    HAPPENED.load(Ordering::Relaxed)
}

/// Notes that our own code failed.
pub fn note() {
    HAPPENED.store(true, Ordering::Relaxed);
}

/// The error handler of the App: a panic or an error without a milder severity ends the server.
pub fn handle(error: BevyError, context: ErrorContext) {
    let milder = matches!(
        error.severity(),
        Severity::Ignore | Severity::Trace | Severity::Debug | Severity::Info | Severity::Warning
    );
    if milder {
        tracing::warn!(system = %context.name(), kind = context.kind(), %error, reason = "system", "a system reported an error");
    } else {
        tracing::error!(system = %context.name(), kind = context.kind(), %error, "a system failed; the server ends");
        note();
    }
}
