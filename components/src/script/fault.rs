//! What is wrong with a script, and where.

use std::fmt;

/// One thing that is wrong in the files of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptFault {
    /// The file, from the server directory on: `scripts/freeroam/main.rhai`.
    pub file: String,
    /// Line, from 1; 0 when the file as a whole is meant.
    pub line: u32,
    /// Column in characters, from 1; 0 when the line as a whole is meant.
    pub column: u32,
    /// What is wrong and what mends it.
    pub problem: String,
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for ScriptFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_place_as_far_as_it_has_one() {
        let fault = |line, column| {
            ScriptFault {
                file: "scripts/a/main.rhai".to_owned(),
                line,
                column,
                problem: "no".to_owned(),
            }
            .to_string()
        };
        assert_eq!(fault(0, 0), "scripts/a/main.rhai: no");
        assert_eq!(fault(3, 0), "scripts/a/main.rhai:3: no");
        assert_eq!(fault(3, 9), "scripts/a/main.rhai:3:9: no");
    }
}
