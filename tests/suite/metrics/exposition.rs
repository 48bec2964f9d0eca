//! A strict reader of the Prometheus text format: what it does not understand fails the test.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    process::{Command, Stdio},
};

/// What a scrape told: values by name and labels.
pub(crate) struct Exposition<'t> {
    families: BTreeSet<&'t str>,
    values: BTreeMap<(&'t str, &'t str), f64>,
}

impl<'t> Exposition<'t> {
    pub(crate) fn parse(text: &'t str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let (mut families, mut values) = (BTreeSet::new(), BTreeMap::new());
        let (mut name, mut kind, mut helped) = ("", "", "");
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                helped = help.split_once(' ').expect("a help has words").0;
                assert!(!families.contains(helped), "{helped} comes twice");
                continue;
            }
            if let Some(named) = line.strip_prefix("# TYPE ") {
                (name, kind) = named.split_once(' ').expect("a type has a kind");
                assert_eq!(name, helped, "the help comes first");
                assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                families.insert(name);
                continue;
            }
            let (key, value) = line.rsplit_once(' ').expect("a sample has a value");
            let value: f64 = if value == "+Inf" {
                f64::INFINITY
            } else {
                value.parse().expect(line)
            };
            let (sample, labels) = match key.split_once('{') {
                Some((sample, labels)) => (sample, labels.strip_suffix('}').expect(line)),
                None => (key, ""),
            };
            let suffix = sample.strip_prefix(name).expect(line);
            let fits = match kind {
                "histogram" => matches!(suffix, "_bucket" | "_sum" | "_count"),
                _ => suffix.is_empty(),
            };
            assert!(fits, "{line}");
            assert!(!labels.contains(['\\', '\n']), "{line}");
            assert!(
                labels.is_empty() || (labels.contains("=\"") && labels.ends_with('"')),
                "{line}"
            );
            assert!(
                values.insert((sample, labels), value).is_none(),
                "{line} comes twice"
            );
        }
        let told = Self { families, values };
        told.check_histograms();
        told
    }

    /// Buckets rise, and the last one counts all.
    fn check_histograms(&self) {
        for name in &self.families {
            let counter = format!("{name}_count");
            let count = self.values.get(&(counter.as_str(), ""));
            let Some(&count) = count else { continue };
            let bucket = format!("{name}_bucket");
            let mut buckets: Vec<(f64, f64)> = self
                .values
                .iter()
                .filter(|((sample, _), _)| *sample == bucket)
                .map(|((_, labels), &count)| {
                    let bound = labels.strip_prefix("le=\"").unwrap().strip_suffix('"').unwrap();
                    let bound = if bound == "+Inf" {
                        f64::INFINITY
                    } else {
                        bound.parse().unwrap()
                    };
                    (bound, count)
                })
                .collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(buckets.is_sorted_by(|a, b| a.1 <= b.1), "{name}: {buckets:?}");
            assert_eq!(buckets.last(), Some(&(f64::INFINITY, count)), "{name}");
        }
    }

    pub(crate) fn families(&self) -> BTreeSet<&str> {
        self.families.clone()
    }

    pub(crate) fn value(&self, sample: &str, labels: &str) -> f64 {
        *self
            .values
            .get(&(sample, labels))
            .unwrap_or_else(|| panic!("no {sample}{{{labels}}}"))
    }

    pub(crate) fn sum(&self, sample: &str) -> f64 {
        self.values
            .iter()
            .filter(|((name, _), _)| *name == sample)
            .map(|(_, value)| value)
            .sum()
    }
}

/// The parser of the Prometheus client of Python reads it too, where it is installed.
#[expect(
    clippy::print_stdout,
    reason = "whoever reads the output learns what was left out"
)]
pub(crate) fn judged_by_python(text: &str) {
    let python = std::env::var("DECITICK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let there = Command::new(&python)
        .args(["-c", "import prometheus_client.parser"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !there {
        assert!(
            std::env::var_os("DECITICK_SKIP_NOTHING").is_none(),
            "{python} has no prometheus_client, and nothing is to be skipped"
        );
        println!("skipped: {python} has no prometheus_client (pip install prometheus_client)");
        return;
    }
    let script = "import sys\nfrom prometheus_client.parser import text_string_to_metric_families as read\n\
                  print(sum(len(family.samples) for family in read(sys.stdin.read())))";
    let mut child = Command::new(&python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let read: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert_eq!(read, text.lines().filter(|line| !line.starts_with('#')).count());
}
