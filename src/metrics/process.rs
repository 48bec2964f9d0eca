//! What the process costs, as the system says. Read beside the tick.

use std::time::Duration;

/// What the process costs. What the system does not tell is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessFigures {
    /// Bytes in memory.
    pub resident_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Time on processors, of all threads, the kernel's work for them included.
    pub cpu: Option<Duration>,
}

impl ProcessFigures {
    /// As of now.
    #[must_use]
    pub fn read() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self {
            cpu: cpu(),
            ..Self::of_status(&status)
        }
    }

    fn of_status(status: &str) -> Self {
        let number = |key: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Self {
            resident_bytes: number("VmRSS:").map(|kib| kib.saturating_mul(1024)),
            threads: number("Threads:"),
            cpu: None,
        }
    }
}

fn cpu() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_lines_of_their_names() {
        let status = "Name:\tVmRSS: 7\nVmHWM:\t   99 kB\nVmRSS:\t   12 kB\nThreads:\t5\n";
        let figures = ProcessFigures::of_status(status);
        assert_eq!(
            (figures.resident_bytes, figures.threads),
            (Some(12 * 1024), Some(5))
        );
        assert_eq!(
            ProcessFigures::of_status("VmRSS: many\n"),
            ProcessFigures::default()
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_them_all() {
        let figures = ProcessFigures::read();
        assert!(figures.resident_bytes.unwrap() > 1024 * 1024);
        assert!(figures.threads.unwrap() >= 1 && figures.cpu.unwrap() > Duration::ZERO);
    }
}
