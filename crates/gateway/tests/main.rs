//! The gateway on this machine's kernel.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "sockets, threads and clocks of the hosts around a gateway"
)]

mod daemon;
mod hosts;
mod in_path;
