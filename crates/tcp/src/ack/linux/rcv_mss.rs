//! What a Linux receiver takes for the peer's segment size (`rcv_mss`).

use super::super::Arrival;
use ackord_units::Bytes;

/// The least a segment may measure to change the estimate twice in a row: TCP_MIN_MSS, and the
/// 536 bytes from which the PSH flag no longer matters (`tcp_measure_rcv_mss`).
const LEAST: Bytes = Bytes(88);
const LEAST_WITH_PUSH: Bytes = Bytes(536);

/// The estimate: the largest segment, or the size of two like segments in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RcvMss {
    size: Bytes,
    last: Option<Bytes>,
}

/// What a segment is by the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measured {
    /// As large as they come.
    Full,
    /// As small as the one before: this is how large they come now.
    LikeTheLast,
    /// Smaller: it may end a write.
    Small,
}

impl RcvMss {
    pub(super) fn new() -> RcvMss {
        // tcp_initialize_rcv_mss: at most TCP_MSS_DEFAULT before anything has come.
        RcvMss { size: Bytes(536), last: None }
    }

    pub(super) fn get(&self) -> Bytes {
        self.size
    }

    pub(super) fn measure(&mut self, arrival: &Arrival<'_>) -> Measured {
        let last = self.last.take();
        let size = arrival.payload;
        if size >= self.size {
            self.size = size;
            return Measured::Full;
        }
        let counts = size >= LEAST_WITH_PUSH || (size >= LEAST && !arrival.push);
        if counts {
            self.last = Some(size);
            if last == Some(size) {
                self.size = size;
                return Measured::LikeTheLast;
            }
        }
        Measured::Small
    }
}
