//! The programs of this directory: rows are run in order, and a table ends it.

use super::{cores, table::Table};

/// A row: its name on the command line, and what it does.
pub(crate) type Row = (&'static str, fn(&mut Table));

/// Runs the rows that the command line names, or all.
pub(crate) fn run(rows: &[Row]) {
    // Cargo passes `--bench`; what is left names rows.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    cores::stay_on_load_core();
    let mut table = Table::default();
    for (name, run) in rows {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            println!("# {name} (load of the machine before: {})", cores::machine_load());
            run(&mut table);
        }
    }
    println!();
    table.print();
}
