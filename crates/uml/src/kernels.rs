//! Kernels: built from source, kept in the user's cache, found again.
