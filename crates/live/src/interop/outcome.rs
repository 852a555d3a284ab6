//! What came of a row, and what its verdict looks at.

use super::case::Case;
use super::counters::KernelCounters;
use super::peer::PeerResult;
use super::program::Step;
use super::stream::Checksum;
use crate::host::ConnectionReport;
use crate::options::DeviceCounts;
use crate::watch::EventCounts;
use ackord_path::DropCounts;
use ackord_units::Span;
use ackord_wire::{IpVersion, Side};

/// What came of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done.
    pub case: &'static Case,
    /// Which side we were.
    pub side: Side,
    /// Over which IP.
    pub ip: IpVersion,
    /// Connections.
    pub connections: u32,
    /// Bytes that arrived at either end.
    pub bytes: u64,
    /// From the first connection to the end of the kernel's application.
    pub took: Span,
    /// SHA-256 of what we received, those of several connections joined by exclusive or.
    pub received_sha256: String,
    /// Whether the checksums that both ends worked out agree, in both directions.
    pub checksums_equal: bool,
    /// Segments our endpoints retransmitted.
    pub our_retransmissions: u64,
    /// What else happened at our endpoints.
    pub events: EventCounts,
    /// What happened at the device.
    pub device: DeviceCounts,
    /// Packets that died on the path.
    pub drops: DropCounts,
    /// Everything the kernel counted.
    pub kernel: KernelCounters,
    /// Packets that tshark calls malformed or of a wrong checksum; nothing where it was not asked.
    pub malformed: Option<u64>,
    /// Which congestion control the kernel's end used: cubic, if it was allowed.
    pub kernel_congestion: String,
    /// What ss said of the kernel's connection before it was closed, if it was asked.
    pub ss: String,
    /// What went otherwise than the case says; empty where all went well.
    pub failures: Vec<String>,
}

/// Our end's sums over all connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OurSums {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) sent_checksum: Checksum,
    pub(super) received_checksum: Checksum,
}

/// What the verdict looks at beside the row.
pub(super) struct Evidence<'a> {
    pub(super) connections: u32,
    pub(super) our_steps: &'a [Step],
    pub(super) kernel_steps: &'a [Step],
    pub(super) ours: OurSums,
    pub(super) peer: Option<&'a PeerResult>,
    pub(super) reports: &'a [ConnectionReport],
    pub(super) seed: u64,
    pub(super) pause: Span,
    /// Why it ended before both were done.
    pub(super) broken_off: Option<String>,
}
