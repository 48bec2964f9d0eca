//! The `decitick` binary.
fn main() {}
