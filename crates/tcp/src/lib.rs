//! The TCP endpoint, sans-IO.
