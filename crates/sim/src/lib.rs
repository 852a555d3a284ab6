//! The discrete-event driver: a scenario in, events out, in simulated time.
//!
//! | file | what |
//! | --- | --- |
//! | `topology.rs` | the path of a scenario as a [`Graph`](ackord_path::Graph), for every driver |
//! | `endpoints.rs` | the endpoints of a scenario's flows as connections, for every driver |
//! | `apps.rs` | the applications at both ends of a scenario's flows |
//! | `processing.rs` | hosts that take a time for what they send |
//! | `datagrams.rs` | flows that are no connections |
//! | `simulation.rs`, `simulation/` | [`Simulation`]: the event loop |
//!
//! # Order of events
//! What happens at the same nanosecond is ordered by (kind, node, sequence): packets that move on
//! the path first, in order of link and then of transmission; then packets that leave a host which
//! takes a time for them, in order of host; then timers of endpoints, in order of flow and side; then
//! applications, likewise. An endpoint that something happened to
//! sends at once, before the next event. Time never goes back: the loop asserts it.
//!
//! The order of links is that of the file, and it can decide who starves: of two packets that reach a
//! full queue at one instant, the link listed first has the place, every time it happens. Where access
//! links are as fast as the bottleneck it happens all the time (Floyd and Jacobson 1992). No order is
//! right there; a host's `processing` takes such instants away.
//!
//! # Determinism
//! Nothing here or above reads a clock, the environment or an iteration order of hashes. Random
//! numbers come from one stream per element, derived from the seed and the element's name.
//!
//! # Hosts that are not simulated
//! A driver may stand for some of the hosts ([`Simulation::with_foreign`]): it brings the packets they
//! send and takes what arrives there. Everything else is the same code and the same order; a packet
//! that a foreign host sends at an instant comes after everything else that happens at that instant.
//!
//! Not modelled: processing time of hosts before they take in what arrives; applications that read slowly.

mod apps;
mod datagrams;
mod endpoints;
mod processing;
mod simulation;
mod topology;

pub use apps::workloads_for;
pub use datagrams::one_way_delay as datagram_delay;
pub use endpoints::{initial_sequence, start_time};
pub use simulation::{Change, ChangeError, FOREIGN, RunError, Simulation};
pub use topology::{BuildError, Topology, build_topology};
