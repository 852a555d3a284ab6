//! The TCP endpoint, sans-IO.

pub mod registry;
