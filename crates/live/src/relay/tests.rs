//! The gateway between our own endpoint as the client and real sockets of this machine.

mod bench;
mod flows;
mod kernel;
mod streams;
