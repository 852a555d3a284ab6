//! A transfer as fast as TCP takes it.

use crate::Step;
use crate::knobs::{LEAST, SET_BY_SCENARIO};
use crate::{Workload, WorkloadKnobs, Workloads};
use ackord_units::{Bytes, Knobs, RandomStream};

/// Writes whatever the send buffer takes, for ever or up to a size.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    size: Option<Bytes>,
    left: Bytes,
}

impl Bulk {
    /// A transfer of `size`, or one without end.
    pub fn new(size: Option<Bytes>) -> Bulk {
        Bulk { size, left: size.unwrap_or(Bytes::MAX) }
    }

    pub(crate) fn size(&self) -> Option<Bytes> {
        self.size
    }

    /// Whether there is anything left to write.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.left > Bytes::ZERO
    }

    #[inline]
    pub(crate) fn next(&mut self, writable: Bytes) -> Step {
        if self.left == Bytes::ZERO {
            return Step::Close;
        }
        let bytes = self.left.min(writable);
        if bytes == Bytes::ZERO {
            return Step::Wait;
        }
        if self.size.is_some() {
            self.left -= bytes;
        }
        Step::Write(bytes)
    }
}

/// Sends as fast as TCP takes it, for ever or up to a size, then closes
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "traffic", name = "bulk", source = "the FTP source of ns-2")]
pub struct BulkKnobs {
    /// How much to send; no end when absent
    #[knob(min = LEAST, max = Bytes(1_000_000_000_000), source = SET_BY_SCENARIO)]
    pub size: Option<Bytes>,
}

impl WorkloadKnobs for BulkKnobs {
    fn build(&self, _stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        Workloads::one_way(Workload::Bulk(Bulk::new(self.size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sized_transfer_writes_exactly_its_size_and_closes() {
        let mut bulk = Bulk::new(Some(Bytes(2_500)));
        assert_eq!(bulk.next(Bytes(1_000)), Step::Write(Bytes(1_000)));
        assert_eq!(bulk.next(Bytes::ZERO), Step::Wait);
        assert_eq!(bulk.next(Bytes(9_000)), Step::Write(Bytes(1_500)));
        assert_eq!(bulk.next(Bytes(9_000)), Step::Close);
    }

    #[test]
    fn an_endless_transfer_never_closes() {
        let mut bulk = Bulk::new(None);
        for _ in 0..10 {
            assert_eq!(bulk.next(Bytes(1 << 40)), Step::Write(Bytes(1 << 40)));
        }
    }
}
