//! Scripts played against a stock kernel in simulated time: the kernel as a yardstick.
//!
//! ```text
//! script ── runner (ackord-script) ── KernelEndpoint ─┬─ segments at their instants ─► card ─┐
//!             compares                                └─ calls, as orders ─► application ────┴─ kernel
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `scripted/machine.rs` | one kernel: orders and their answers, packets with their instants |
//! | `scripted/endpoint.rs` | the kernel's end of a connection as what a script is played against |
//! | `scripted/facts.rs` | what `assert` can ask a kernel |
//! | `scripted/play.rs` | [`play_on_kernel`]: many scripts, one after the other |
//! | `scripted/as_linux.rs` | a script of any profile for the profile `linux` |
//! | `scripted/causes.rs`, `scripted/page.rs` | why kernels differ, and the page that tells it |
//! | `scripted/verdict.rs` | what has come of each, for people and programs |
//!
//! **Time.** A script's time zero is an instant of the kernel's, a tick whose number is a multiple of
//! [4096](machine::ALIGNED): the slots of the kernel's timer wheel then lie where they do in the
//! simulator. What happens at an instant of the script happens at that instant of the kernel's, in the
//! script's order. A kernel that computes needs no time, but 256 ns for each look at the clock outside
//! of interrupts; so what a call or an arrival lets it send may leave up to [a microsecond](SLACK)
//! later. Nothing else is allowed: a timer that strikes at another time is a difference.
//!
//! **Numbers.** Initial sequence numbers and the clock of timestamps are the kernel's own; they are
//! translated into the script's when its SYN or SYN-ACK says them. Ports are new ones for each script.
//!
//! **One kernel for all scripts.** A kernel takes as long to start as twenty scripts take to be played, so
//! they are played one after the other on one: each with sockets and ports of its own, sysctls that were
//! changed put back and set anew, a new default route, no metrics of earlier connections
//! (`net.ipv4.tcp_no_metrics_save`), and every socket reset at the end. Where a kernel ends or does not go
//! on, the script it played is told so, and a new one goes on with the next.
//!
//! Not modelled: the time that the application takes, raw numbers of the kernel's own.

mod as_linux;
mod causes;
mod endpoint;
mod facts;
mod machine;
mod page;
mod play;
mod verdict;

pub use page::kernel_page;
pub use play::{Expected, KernelUnderScripts, play_on_kernel};
pub use verdict::{Difference, ScriptVerdict, ScriptsTally};

use ackord_script::Script;
use ackord_units::Span;
use ackord_wire::{FlowAddresses, FlowId, FlowNodes, NodeId, Side};

/// By how much the instant of a segment may differ: four looks at the clock.
pub const SLACK: Span = Span::from_nanos(4 * 256);

/// Which host the kernel is, and which the injected peer.
const KERNEL: NodeId = NodeId(1);
const PEER: NodeId = NodeId(2);

/// The addresses and ports of a script of this number.
pub(crate) fn addresses_of(number: usize, script: &Script) -> FlowAddresses {
    let nodes = match script.side() {
        Side::Client => FlowNodes { client: KERNEL, server: PEER },
        Side::Server => FlowNodes { client: PEER, server: KERNEL },
    };
    FlowAddresses::of(FlowId(number as u32), nodes, script.ip)
}
