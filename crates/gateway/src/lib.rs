//! Middle boxes on a real router: the code that the simulator runs, beside the packets that a kernel
//! forwards.
//!
//! ```text
//! wan ══════════════ kernel forwards ══════════════ lan (the mobile hosts)
//!                                            │ copies of what leaves to them and comes from them
//!                        Engine ◄── frame ◄──┘
//!                          │  connections, their octets, a box of `path`
//!                          └─► injections: frames for either interface
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `frame.rs` | what stands before an IP packet, and where that begins |
//! | `connections.rs` | [`Connections`]: who talks to whom, the oldest forgotten first |
//! | `ring.rs` | [`Ring`]: what passes an interface, and sending there |
//! | `store.rs` | [`Store`]: the octets of segments that a mobile host has not acknowledged |
//! | `budget.rs` | [`Budget`]: how much may be injected |
//! | `control.rs` | [`is_control()`]: who is left alone, to be compared with |
//! | `drive.rs` | [`Drive`]: an engine between two interfaces, in real time |
//! | `engine.rs` | [`Engine`]: frames in, frames out, and a box between them |
//!
//! No clock, no socket: whoever drives it tells the time and carries frames.
//!
//! Not there: tunnels, fragments (both pass unobserved), IPv6 extension headers.

mod budget;
mod connections;
mod control;
mod drive;
mod engine;
mod frame;
mod ring;
mod store;

pub use budget::Budget;
pub use connections::{Connection, Connections, Counters, Key, Limits};
pub use control::is_control;
pub use drive::Drive;
pub use engine::{Engine, EngineConfig, EngineStats, Injection};
pub use frame::{Interface, LinkHeader, LinkKind, Sighting, VlanTag, Way};
pub use ring::{Ring, RingStats};
pub use store::Store;
