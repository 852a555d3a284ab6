//! Emulation: a scenario in real time, between hosts that are stock kernels and hosts that are ours.
//!
//! ```text
//! programs ── stock kernel ── device ═╗                       ╔═ device ── stock kernel ── programs
//!                                   ╠═ one Simulation ══════╣
//!                      our TCP ═════╝ (path, our endpoints) ╚═════ our TCP
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `emulate/run.rs`, `options.rs` | [`emulate`]: one run, from its namespaces to its report |
//! | `emulate/hosts.rs`, `servers.rs`, `observe.rs` | kernel hosts: their namespaces, what is seen of them |
//! | `emulate/router.rs` | [`KernelRouter`]: the path cut at a router that is a stock kernel |
//! | `emulate/emulator.rs`, `emulator/passing.rs` | [`Emulator`](emulator::Emulator): the loop; packets in and out |
//! | `emulate/device.rs` | [`Device`]: what stands at a foreign host's node |
//! | `emulate/timeline.rs` | real time, and for tests one that jumps |
//! | `emulate/classify.rs`, `directory.rs` | which packet is whose |
//! | `emulate/bytes.rs`, `store.rs`, `streams.rs` | the real bytes of what is under way |
//! | `emulate/watching.rs` | what is learnt from events; taps |
//!
//! One body, two drivers: the path and our endpoints are the simulator's own
//! [`Simulation`](ackord_sim::Simulation); here it is fed the wall clock and the packets of foreign
//! hosts. With every host ours and a clock that jumps, what happens is what the simulator says.
//!
//! Not modelled: the time a packet spends between a kernel's stack and the read from the device.

mod bytes;
mod classify;
mod device;
mod directory;
mod emulator;
mod hosts;
mod in_simulated_time;
mod kernel_hosts;
mod observe;
mod options;
mod router;
mod run;
mod servers;
mod store;
mod streams;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod timeline;
mod watching;

use ackord_events::Sink;
use ackord_units::Time;
use ackord_wire::Packet;

pub use emulator::EmulationCounts;
pub(crate) use in_simulated_time::{MEMORY_MIB, archive};
pub use in_simulated_time::{SimulatedKernels, emulate_in_simulated_time};
pub use options::{
    EmulationNotice, EmulationOptions, EmulationReport, Forwarded, HostCommand, HostReport,
    KernelRouter, RouterReport, TcpSample,
};
pub use router::{LAN_DEVICE, WAN_DEVICE};
pub use run::emulate;
pub use watching::{TapObserver, Tapped};

pub(crate) use device::{Device, TunDevice};
pub(crate) use directory::Directory;
pub(crate) use emulator::{Devices, Emulator, Parts, Remains};
pub(crate) use kernel_hosts::KernelHosts;
pub(crate) use options::{HostNews, Hosts};
#[cfg(any(test, feature = "trials"))]
pub(crate) use timeline::VirtualTime;
pub(crate) use timeline::{LONGEST_RUN, RealTime};

/// Looks at what passes at the devices of foreign hosts.
pub(crate) trait PacketObserver {
    /// A foreign host has sent a packet: it enters the path.
    fn entered<S: Sink>(&mut self, _at: Time, _packet: &Packet, _sink: &mut S) {}

    /// A packet leaves the path at a foreign host, at its theoretical instant.
    fn left<S: Sink>(&mut self, _at: Time, _packet: &Packet, _sink: &mut S) {}
}

/// Nobody.
impl PacketObserver for () {}
