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
