//! Captures made here, read.
