//! Files that a program killed while it wrote them left behind.

use std::path::Path;

/// Removes the files of a directory whose names start so. Failing is harmless: nothing ever reads such a file.
pub(crate) fn remove(directory: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
