//! The shell of Decitick.
