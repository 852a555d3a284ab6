//! What the tests of the gateway run around it.

pub(crate) mod traffic;
pub(crate) mod world;
