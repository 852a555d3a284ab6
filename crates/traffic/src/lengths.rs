//! The lengths of transfers, and which of them is due.

use crate::{Draw, Transfer};
use ackord_units::Bytes;

/// The lengths of transfers, in order.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    /// These in turn, from the front again after the last.
    Listed { lengths: Vec<Bytes>, next: usize },
    /// Drawn; at least one byte.
    Drawn(Draw),
}

impl Lengths {
    pub(crate) fn listed(lengths: Vec<Bytes>) -> Lengths {
        Lengths::Listed { lengths, next: 0 }
    }

    pub(crate) fn next(&mut self) -> Bytes {
        match self {
            Lengths::Listed { lengths, next } => {
                let length = lengths[*next % lengths.len()];
                *next += 1;
                length
            }
            Lengths::Drawn(draw) => Bytes(draw.draw().max(1)),
        }
    }

    /// What the next `count` of them come to.
    pub(crate) fn total(&self, count: u64) -> Bytes {
        let mut ahead = self.clone();
        (0..count).map(|_| ahead.next()).sum()
    }
}

/// Which transfer is due, and how many there are.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    lengths: Lengths,
    count: Option<u64>,
    index: u64,
}

impl Script {
    pub(crate) fn new(lengths: Lengths, count: Option<u64>) -> Script {
        Script { lengths, count, index: 0 }
    }

    /// The next transfer, if there is one more.
    pub(crate) fn next(&mut self) -> Option<Transfer> {
        if self.is_over() {
            return None;
        }
        let transfer = Transfer { index: self.index, bytes: self.lengths.next() };
        self.index += 1;
        Some(transfer)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.count == Some(self.index)
    }

    /// How many there are in all, if they end.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count
    }

    /// What all transfers from here on come to, if they end.
    pub(crate) fn size(&self) -> Option<Bytes> {
        self.count.map(|count| self.lengths.total(count - self.index))
    }
}
