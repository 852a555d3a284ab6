//! Interoperation: the same cases between our TCP and the kernel's, both ways and over both IPs.
//!
//! ```text
//! peer.py ── stock kernel ── TUN device ═══ path of the case ═══ our host ── actor.rs
//!    └──────── result.json, /proc/PID/net ────────┐                  │
//!                                              verdict.rs ←── tallies, reports, tshark
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `interop/case.rs`, `interop/expect.rs` | [`Case`]: what both ends do, over which path, what is expected |
//! | `interop/cases.rs` | [`CASES`]: all of them |
//! | `interop/program.rs` | the steps of an application |
//! | `interop/actor.rs`, `interop/peer.rs`, `interop/peer.py` | those steps done at our end, and at the kernel's |
//! | `interop/stream.rs` | what is sent, and its checksums |
//! | `interop/row.rs`, `interop/outcome.rs` | one case run once, and [`Row`]: what came of it |
//! | `interop/counters.rs` | [`KernelCounters`]: what the kernel counted |
//! | `interop/verdict.rs` | whether it went as expected |
//!
//! Every row has a namespace of its own, so that all of the kernel's counters begin at zero.
//! Not modelled: kernels other than the one that runs, other peers than plain sockets.

mod actor;
mod case;
mod cases;
mod counters;
mod expect;
mod outcome;
mod peer;
mod program;
mod row;
mod stream;
mod verdict;

use crate::error::LiveError;
use ackord_sys::StopHandle;
use ackord_wire::{IpVersion, Side};
use std::path::PathBuf;

pub use case::{Case, Sizes};
pub use cases::CASES;
pub use counters::KernelCounters;
pub use outcome::Row;

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct InteropOptions {
    /// Which cases, in the order of [`CASES`].
    pub cases: Vec<&'static Case>,
    /// Which versions of IP.
    pub families: Vec<IpVersion>,
    /// How much is moved.
    pub sizes: Sizes,
    /// What the path's random streams and the bytes derive from.
    pub seed: u64,
    /// Whether every packet is captured and looked at by tshark, where that is installed.
    pub looks_at_packets: bool,
    /// Where captures of both ends of the path are kept, a folder for each row; nothing to throw
    /// them away.
    pub captures: Option<PathBuf>,
    /// Ends everything from elsewhere.
    pub stop: StopHandle,
}

impl InteropOptions {
    /// Every case over both IPs.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new(sizes: Sizes) -> std::io::Result<InteropOptions> {
        Ok(InteropOptions {
            cases: CASES.iter().collect(),
            families: vec![IpVersion::V4, IpVersion::V6],
            sizes,
            seed: 1,
            looks_at_packets: true,
            captures: None,
            stop: StopHandle::new()?,
        })
    }

    /// The rows there will be, in order: for each case we are the client, then the server.
    pub fn rows(&self) -> Vec<(&'static Case, Side, IpVersion)> {
        let mut rows = Vec::new();
        for case in &self.cases {
            for ip in &self.families {
                for side in [Side::Client, Side::Server] {
                    rows.push((*case, side, *ip));
                }
            }
        }
        rows
    }
}

/// Runs one of [`InteropOptions::rows`].
///
/// The calling thread drives everything; the namespace and all that runs in it end with the row.
///
/// # Errors
/// [`LiveError`] where the row could not be run; one that went wrong is not an error but has
/// [`Row::failures`].
pub fn interop(
    row: (&'static Case, Side, IpVersion),
    options: &InteropOptions,
) -> Result<Row, LiveError> {
    row::run(row, options)
}
