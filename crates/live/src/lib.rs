//! Real-time driver between real endpoints.
