//! The Prometheus text format, version 0.0.4: samples as lines.

use std::fmt::Write as _;

use decitick_components::anatomy::Histogram;

/// Samples of one family.
pub(super) struct Samples<'t> {
    text: &'t mut String,
    name: &'static str,
}

impl<'t> Samples<'t> {
    pub(super) const fn new(text: &'t mut String, name: &'static str) -> Self {
        Self { text, name }
    }

    /// One value without labels.
    pub(super) fn value(&mut self, value: f64) {
        self.line("", &[], value);
    }

    /// One value with labels.
    pub(super) fn labelled(&mut self, labels: &[(&str, &str)], value: f64) {
        self.line("", labels, value);
    }

    /// A whole histogram.
    pub(super) fn histogram(&mut self, histogram: &Histogram) {
        for (bound, count) in histogram.cumulative() {
            self.line("_bucket", &[("le", &number(bound))], count as f64);
        }
        self.line("_sum", &[], histogram.sum());
        self.line("_count", &[], histogram.count() as f64);
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        for (index, (name, value)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            let _ = write!(self.text, "{name}=\"{}\"", escaped(value));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {}", number(value));
    }
}

fn number(value: f64) -> String {
    if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}

/// A label's value: backslash, quote and line feed are escaped, as the format says.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_lines_with_escaped_labels() {
        let mut text = String::new();
        let mut samples = Samples::new(&mut text, "a");
        samples.value(1.0);
        samples.labelled(&[("b", "c\\\"\n"), ("d", "é")], 0.25);
        samples.value(f64::INFINITY);
        assert_eq!(text, "a 1\na{b=\"c\\\\\\\"\\n\",d=\"é\"} 0.25\na +Inf\n");
    }

    #[test]
    fn a_histogram_ends_in_infinity_its_sum_and_its_count() {
        let mut histogram = Histogram::new(&[0.5, 2.0]);
        histogram.observe(1.0);
        histogram.observe(9.5);
        let mut text = String::new();
        Samples::new(&mut text, "h").histogram(&histogram);
        assert_eq!(
            text,
            "h_bucket{le=\"0.5\"} 0\nh_bucket{le=\"2\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 10.5\nh_count 2\n"
        );
    }
}
