//! What is counted of a direction, and where what is amiss was seen first.

/// How much of something was seen, and in which frame first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    pub(crate) count: u64,
    pub(crate) frame: u64,
}

impl Noted {
    pub(crate) fn add(&mut self, more: u64, frame: u64) {
        if self.count == 0 && more > 0 {
            self.frame = frame;
        }
        self.count += more;
    }
}

/// Faults of the capture in one connection. Most connections have none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CaptureFaults {
    /// Packets that the capture contains twice.
    pub(crate) copies: Noted,
    /// Packets that are earlier than the packet before them.
    pub(crate) backwards: Noted,
    /// Times at which the capture's clock was set.
    pub(crate) clock_set: Noted,
    /// Packets whose options the snap length cut off.
    pub(crate) options_cut: Noted,
    /// Segments longer than the MSS.
    pub(crate) long_segments: Noted,
}

/// What is counted of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) segments: u64,
    /// Bytes of payload, each once.
    pub(crate) bytes: u64,
    pub(crate) retransmitted: u64,
    /// ACKs for bytes that the capture does not have, and these bytes.
    pub(crate) missing: Noted,
    pub(crate) missing_bytes: u64,
    pub(crate) reordered: u64,
}
