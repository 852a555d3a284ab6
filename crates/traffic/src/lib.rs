//! Workloads that drive endpoints.
