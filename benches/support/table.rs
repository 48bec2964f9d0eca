//! The table at the end: what is to be reached and what was measured.

/// Rows of measured figures.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; 4]>);

impl Table {
    /// Adds a row: what, the target, what was measured, and whether it holds.
    pub(crate) fn row(
        &mut self,
        what: &str,
        target: impl Into<String>,
        measured: String,
        holds: Option<bool>,
    ) {
        let verdict = match holds {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        };
        println!("{what}: {measured} {verdict}");
        self.0
            .push([what.to_owned(), target.into(), measured, verdict.to_owned()]);
    }

    /// Adds a row about a ratio.
    pub(crate) fn ratio(&mut self, what: &str, most: f64, ours: f64, bare: f64, unit: &str) {
        let ratio = ours / bare;
        let measured = format!("{ours:.2} / {bare:.2} {unit} = {ratio:.2}");
        self.row(
            what,
            format!("at most {most} x bare"),
            measured,
            Some(ratio <= most),
        );
    }

    /// Writes it as Markdown.
    pub(crate) fn print(&self) {
        println!("| what | to reach | measured | reached |\n| --- | --- | --- | --- |");
        for row in &self.0 {
            println!("| {} |", row.join(" | "));
        }
    }
}

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// So many hundredths of the values, which are in order, are at most this; not a number when there are none.
pub(crate) fn percentile(sorted: &[f64], hundredth: usize) -> f64 {
    let index = sorted.len().saturating_sub(1) * hundredth / 100;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
