//! The scenario file: strict, versioned, with units.
