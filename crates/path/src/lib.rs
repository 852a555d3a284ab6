//! The elements between endpoints, sans-IO, and the graph that wires them.

pub mod registry;
