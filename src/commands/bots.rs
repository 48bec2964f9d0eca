//! `decitick bots HOST:PORT`: runs many real clients against a server and prints what they measured.
//!
//! The bots are the client's; here are the progress bar, the signals, the printing and the exit code.

use std::{
    io::{self, IsTerminal, Write},
    ops::ControlFlow,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use decitick_client::bots::{BotsError, BotsOptions, BotsPhase, BotsReport, BotsState, Progress, run_bots};
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Runs the bots and prints their report on standard output, for people or as one JSON value; a progress bar stands on
/// standard error when that is a terminal.
///
/// SIGINT and SIGTERM end the run early: the bots say goodbye and the report is printed. A second signal ends at once.
/// Exit code 0; 1 when a bot failed or saw the server break a rule of the protocol, the run was cut short or could not be
/// made; 2 for an option out of its range.
pub fn run(options: &BotsOptions, json: bool) -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(error) = stop_on_signals(&stop) {
        complain(&format!("signals cannot be caught: {error}"));
        return ExitCode::FAILURE;
    }
    let with_bar = !json && io::stderr().is_terminal();
    let mut watcher = Watcher {
        stop,
        bar: with_bar.then(|| Bar::new(options)),
    };
    let outcome = run_bots(options, &mut watcher);
    watcher.clear();
    match outcome {
        Ok(report) => match print(&report, json, &mut io::stdout().lock()) {
            Ok(()) if report.is_success() && !report.interrupted => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        },
        Err(error) => {
            complain(&error.to_string());
            if matches!(error, BotsError::Options(_)) {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn complain(problem: &str) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "decitick bots: {problem}");
}

fn stop_on_signals(stop: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order the first signal finds the flag down and only raises it.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(stop))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

fn print(report: &BotsReport, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, report)?;
        return writeln!(out);
    }
    write!(out, "{report}")?;
    let failed = report.failures.values().sum::<u64>();
    let bots = report.bots;
    if failed > 0 {
        writeln!(
            out,
            "{failed} failures: not every bot joined, stayed and saw the server keep its rules"
        )
    } else if report.interrupted {
        writeln!(
            out,
            "interrupted: {} of {} bots had joined",
            bots.joined, bots.asked
        )
    } else {
        writeln!(out, "all {} bots joined and stayed", bots.joined)
    }
}

/// Watches a run: for signals, and for who looks at the bar.
struct Watcher {
    stop: Arc<AtomicBool>,
    bar: Option<Bar>,
}

impl Watcher {
    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.bar.finish_and_clear();
        }
    }
}

impl Progress for Watcher {
    fn update(&mut self, state: &BotsState) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            bar.show(state);
        }
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The bar: bots joined at first, then time played.
struct Bar {
    bar: ProgressBar,
    duration: Duration,
}

impl Bar {
    fn new(options: &BotsOptions) -> Self {
        let bar = ProgressBar::new(options.count as u64);
        // The template is a constant; a plain bar is good enough should it ever be wrong.
        let style = ProgressStyle::with_template("{prefix:>8} [{bar:32}] {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        bar.set_style(style);
        Self {
            bar,
            duration: options.duration,
        }
    }

    fn show(&self, state: &BotsState) {
        let (prefix, at, of) = match state.phase {
            BotsPhase::Joining => ("joining", state.joined + state.gone, state.asked),
            BotsPhase::Playing => ("playing", millis(state.playing), millis(self.duration)),
            BotsPhase::Leaving => ("leaving", 1, 1),
        };
        let mut message = format!("{} of {} joined", state.joined, state.asked);
        if state.gone > 0 {
            message.push_str(&format!(", {} gone", state.gone));
        }
        if state.phase == BotsPhase::Playing {
            message.push_str(&format!(
                ", {:.0} of {:.0} s, rtt {:.0} ms, frames {:.0} ms",
                state.playing.as_secs_f64(),
                self.duration.as_secs_f64(),
                state.rtt_p50_ms,
                state.frame_p50_ms
            ));
        }
        self.bar.set_prefix(prefix);
        self.bar.set_length(of);
        self.bar.set_position(at.min(of));
        self.bar.set_message(message);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_are_a_matter_of_usage_and_a_missing_server_is_a_failure() {
        let none = BotsOptions::new("127.0.0.1:9", 0);
        assert_eq!(run(&none, true), ExitCode::from(2));
        assert_eq!(run(&BotsOptions::new("no port", 1), true), ExitCode::FAILURE);
    }

    #[test]
    fn a_raised_flag_ends_the_run() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut watcher = Watcher {
            stop: Arc::clone(&stop),
            bar: None,
        };
        let state = BotsState {
            phase: BotsPhase::Playing,
            asked: 1,
            joined: 1,
            gone: 0,
            playing: Duration::ZERO,
            frame_p50_ms: 0.0,
            rtt_p50_ms: 0.0,
        };
        assert_eq!(watcher.update(&state), ControlFlow::Continue(()));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(watcher.update(&state), ControlFlow::Break(()));
    }
}
