//! The real-time driver between real endpoints of this machine.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod accuracy;
mod common;
mod emulate;
mod emulate_speed;
mod fetch;
mod interop;
mod ipv6;
mod router;
mod serve;
