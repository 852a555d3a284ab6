//! The door for packetdrill: the endpoint of this project behind the socket calls, in virtual time.
//!
//! The public packetdrill tool runs a script against a shared library instead of the kernel
//! (`--so_filename=libackord_packetdrill.so --so_flags=profile=linux,cc=reno`). The library exports
//! `packetdrill_interface_init`, see `include/ackord_packetdrill.h`, and two system calls for those
//! who load it first (`abi/preload.rs`); how to use it is in `docs/packetdrill.md`.
//!
//! | file | what |
//! | --- | --- |
//! | `abi/` | what C calls; the only `unsafe` of the crate |
//! | `door.rs` | threads: who waits, who moves virtual time |
//! | `virtual_time.rs` | the calls that wait, and time that moves from event to event |
//! | `calls.rs` | calls that may have to wait, as values |
//! | `threads.rs` | which threads know the door, and whether they rest |
//! | `world/` | sockets, pipes, epoll, connections and packets at one moment of virtual time |
//! | `setup.rs`, `flags.rs` | what endpoints are made of, and what the flags say of it |
//! | `sysctl.rs` | what a kernel's sysctls mean here |
//! | `descriptor.rs` | numbers that no other descriptor of the process has |
//!
//! Not modelled: anything but TCP, ICMP, urgent data, TCP Fast Open, ancillary data but TCP_INQ's,
//! signals (a write to a connection that is over fails with EPIPE and raises nothing).

#![deny(unsafe_op_in_unsafe_fn)]

pub mod abi;
mod calls;
mod descriptor;
mod door;
mod flags;
mod setup;
mod sysctl;
mod threads;
mod virtual_time;
mod world;
