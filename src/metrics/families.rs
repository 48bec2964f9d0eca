//! Every metric family: its name, its kind, what it tells and where its samples come from. docs/metrics.md and the
//! dashboard are held equal to this table by tests.

use std::{fmt::Write as _, time::Duration};

use decitick_components::{
    anatomy::SystemTimes,
    combat::HitRefusal,
    metrics::{MetricsSnapshot, ResourceFigures},
    reasons::DropReason,
    tally::DoorTable,
};

use super::{ProcessFigures, text::Samples};

/// What a family's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows while the process lives.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size, with `_bucket`, `_sum` and `_count`.
    Histogram,
}

impl Kind {
    /// As the format writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One family.
#[derive(Debug)]
pub struct Family {
    /// Its name, with its base unit.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Its labels, `le` left out.
    pub labels: &'static [&'static str],
    /// One sentence for people.
    pub help: &'static str,
    samples: fn(&MetricsSnapshot, &ProcessFigures, &mut Samples<'_>),
}

/// Everything in the Prometheus text format, version 0.0.4.
#[must_use]
pub fn render(snapshot: &MetricsSnapshot, process: &ProcessFigures) -> String {
    let mut text = String::with_capacity(32 * 1024);
    for family in FAMILIES {
        let (name, help, kind) = (family.name, family.help, family.kind.name());
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        (family.samples)(snapshot, process, &mut Samples::new(&mut text, name));
    }
    text
}

macro_rules! families {
    ($($kind:ident $name:ident [$($label:literal)*] $help:literal => $samples:expr;)*) => {
        /// Every family, in the order in which they are written.
        pub const FAMILIES: &[Family] = &[$(Family {
            name: stringify!($name),
            kind: Kind::$kind,
            labels: &[$($label),*],
            help: $help,
            samples: $samples,
        },)*];
    };
}

families! {
    Gauge decitick_build_info ["version" "protocol"] "Always 1; the labels tell the version of the program and of the wire protocol." => |now, _, out| {
        let protocol = decitick_protocol::PROTOCOL_VERSION.to_string();
        out.labelled(&[("version", &now.version), ("protocol", &protocol)], 1.0);
    };
    Gauge decitick_uptime_seconds [] "Time since the server started." => |now, _, out| out.value(now.uptime.as_secs_f64());
    Gauge decitick_players ["phase"] "Sessions by phase." => |now, _, out| {
        for (phase, count) in &now.players {
            out.labelled(&[("phase", phase)], *count as f64);
        }
    };
    Gauge decitick_players_max [] "Sessions that are possible." => |now, _, out| out.value(now.max_players as f64);

    Histogram decitick_tick_duration_seconds [] "How long ticks took." => |now, _, out| out.histogram(&now.ticks);
    Counter decitick_tick_overruns_total [] "Ticks that took longer than the 0.1 s a tick lasts." => |now, _, out| out.value(now.overruns as f64);
    Counter decitick_ticks_skipped_total [] "Ticks that were skipped because the server was late." => |now, _, out| out.value(now.skipped as f64);
    Counter decitick_tick_step_seconds_total ["step"] "Time that each step of the tick took." => |now, _, out| {
        for (step, time) in &now.steps {
            out.labelled(&[("step", step)], time.as_secs_f64());
        }
    };
    Counter decitick_system_seconds_total ["step" "system"] "Time that each system of the tick took." => |now, _, out| {
        systems(now, out, |system| system.total.as_secs_f64());
    };
    Counter decitick_system_runs_total ["step" "system"] "How often each system of the tick ran." => |now, _, out| {
        systems(now, out, |system| system.runs as f64);
    };

    Counter decitick_received_datagrams_total [] "Datagrams read from the sockets." => |now, _, out| out.value(now.tally.door.received as f64);
    Counter decitick_received_bytes_total [] "Bytes of datagrams read from the sockets." => |now, _, out| out.value(now.tally.door.received_bytes as f64);
    Counter decitick_handled_datagrams_total ["at"] "Datagrams that had their effect, answered at the door or taken by the tick." => |now, _, out| {
        out.labelled(&[("at", "door")], now.tally.door.handled as f64);
        out.labelled(&[("at", "tick")], now.tally.handled as f64);
    };
    Gauge decitick_queued_datagrams [] "Datagrams between the door and the tick." => |now, _, out| out.value(now.tally.queued() as f64);
    Counter decitick_dropped_datagrams_total ["reason"] "Datagrams that were discarded, each for exactly one reason." => |now, _, out| {
        let drops = now.tally.all_drops();
        for &reason in DropReason::ALL {
            out.labelled(&[("reason", reason.name())], drops.count(reason) as f64);
        }
    };
    Counter decitick_kernel_lost_datagrams_total [] "Datagrams that the kernel discarded because a receive buffer was full." => |now, _, out| out.value(now.tally.door.kernel_lost as f64);
    Counter decitick_sent_datagrams_total [] "Datagrams of the tick that were handed to the kernel." => |now, _, out| out.value(now.tally.sent.datagrams as f64);
    Counter decitick_sent_bytes_total ["at"] "Bytes that were sent, by the door or by the tick." => |now, _, out| {
        out.labelled(&[("at", "door")], now.tally.door.answered_bytes as f64);
        out.labelled(&[("at", "tick")], now.tally.sent.bytes as f64);
    };
    Counter decitick_send_errors_total ["kind"] "Datagrams that the kernel did not take, by why; door: answers of the door, whatever the reason." => |now, _, out| {
        let sent = &now.tally.sent;
        for (kind, count) in [
            ("unreachable", sent.unreachable),
            ("buffer_full", sent.buffer_full),
            ("other", sent.other_errors),
            ("door", now.tally.door.send_errors),
        ] {
            out.labelled(&[("kind", kind)], count as f64);
        }
    };
    Counter decitick_dropped_outboxes_total [] "Whole outboxes that were dropped because the transmit thread fell behind." => |now, _, out| out.value(now.tally.sent.outboxes_dropped as f64);

    Histogram decitick_connection_rtt_seconds [] "Smoothed round trips of the connections there are now; not to be used with rate()." => |now, _, out| out.histogram(&now.rtt);
    Histogram decitick_connection_loss_ratio [] "Share of unanswered keepalives of the connections there are now; not to be used with rate()." => |now, _, out| out.histogram(&now.loss);
    Histogram decitick_lane_depth_events [] "Reliable events that wait or are unacknowledged, by connection there is now; not to be used with rate()." => |now, _, out| out.histogram(&now.lane_depth);
    Gauge decitick_lane_depth_max_events [] "The deepest lane of the connections there are now." => |now, _, out| out.value(now.lane_depth_max as f64);
    Counter decitick_lane_resends_total [] "Lane events that were sent again." => |now, _, out| out.value(now.tally.resends as f64);
    Counter decitick_lane_limited_events_total [] "Lane events that were acknowledged and ignored because they came too often." => |now, _, out| out.value(now.tally.lane_limited as f64);
    Counter decitick_lane_discarded_events_total [] "Droppable lane events that were discarded from a full backlog." => |now, _, out| out.value(now.tally.lane_discarded as f64);

    Gauge decitick_limiter_entries ["table"] "Addresses that a limit table holds." => |now, _, out| {
        tables(now, out, |table| table.entries as f64);
    };
    Gauge decitick_limiter_capacity ["table"] "Addresses that a limit table can hold." => |now, _, out| {
        tables(now, out, |table| table.capacity as f64);
    };
    Counter decitick_limiter_refused_total ["table"] "How often a limit table refused." => |now, _, out| {
        tables(now, out, |table| table.refused as f64);
    };

    Gauge decitick_script_running ["resource"] "Whether a gamemode runs; 0: it is paused, waits or is faulty." => |now, _, out| {
        resources(now, out, |resource| if resource.running { 1.0 } else { 0.0 });
    };
    Counter decitick_script_seconds_total ["resource"] "Time of all calls of a gamemode since it was started or reloaded." => |now, _, out| {
        resources(now, out, |resource| resource.time.as_secs_f64());
    };
    Counter decitick_script_calls_total ["resource"] "Calls of a gamemode since it was started or reloaded." => |now, _, out| {
        resources(now, out, |resource| resource.calls as f64);
    };
    Counter decitick_script_errors_total ["resource"] "Calls of a gamemode that failed since it was started or reloaded." => |now, _, out| {
        resources(now, out, |resource| resource.errors as f64);
    };
    Gauge decitick_script_memory_bytes ["resource"] "Bytes that the values of a gamemode hold." => |now, _, out| {
        resources(now, out, |resource| resource.memory_bytes as f64);
    };

    Gauge decitick_bans [] "Bans there are." => |now, _, out| out.value(now.bans as f64);
    Gauge decitick_things [] "Things in the world." => |now, _, out| out.value(now.things as f64);
    Gauge decitick_zones [] "Zones in the world." => |now, _, out| out.value(now.zones as f64);
    Counter decitick_hits_total ["outcome"] "Claimed hits: counted, or the reason for which they were refused." => |now, _, out| {
        out.labelled(&[("outcome", "counted")], now.hits.counted as f64);
        for &refusal in HitRefusal::ALL {
            out.labelled(&[("outcome", refusal.name())], now.hits.refused(refusal) as f64);
        }
    };
    Gauge decitick_console_streams [] "Console answers that go on, such as watch." => |now, _, out| out.value(now.console_streams as f64);

    Gauge decitick_process_resident_memory_bytes [] "Memory of the process." => |_, process, out| {
        if let Some(bytes) = process.resident_bytes {
            out.value(bytes as f64);
        }
    };
    Counter decitick_process_cpu_seconds_total [] "Time of the process on processors, of all threads." => |_, process, out| {
        if let Some(time) = process.cpu {
            out.value(Duration::as_secs_f64(&time));
        }
    };
    Gauge decitick_process_threads [] "Threads of the process." => |_, process, out| {
        if let Some(threads) = process.threads {
            out.value(threads as f64);
        }
    };
}

fn systems(now: &MetricsSnapshot, out: &mut Samples<'_>, value: fn(&SystemTimes) -> f64) {
    for system in &now.systems {
        out.labelled(&[("step", system.step), ("system", &system.name)], value(system));
    }
}

fn tables(now: &MetricsSnapshot, out: &mut Samples<'_>, value: fn(&DoorTable) -> f64) {
    for table in &now.tables {
        out.labelled(&[("table", table.name)], value(table));
    }
}

fn resources(now: &MetricsSnapshot, out: &mut Samples<'_>, value: fn(&ResourceFigures) -> f64) {
    for resource in &now.resources {
        out.labelled(&[("resource", &resource.name)], value(resource));
    }
}
