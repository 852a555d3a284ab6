//! Workloads that drive endpoints.

pub mod registry;
