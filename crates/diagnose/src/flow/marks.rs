//! Packets that are known again in a capture taken at another place.
//!
//! A packet is known by what the way does not change of it: its numbers, its length, its timestamps. Of a
//! connection with many, those are kept whose fingerprints end in enough zeros: two captures keep the
//! same ones.

use super::folding::Folding;
use crate::Seen;
use ackord_units::Time;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// Packets kept of a connection.
const MOST: usize = 4096;

/// A packet kept: from which side, when it passed, and whether another looked like it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    side: usize,
    at: Time,
    twice: bool,
}

/// The packets of a connection that are kept to be known again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    kept: BTreeMap<u64, Mark>,
    /// Fingerprints end in so many zeros.
    zeros: u32,
}

fn fingerprint(seen: &Seen, side: usize) -> u64 {
    let mut fold = Folding::default();
    fold.write_u64(u64::from(seen.seq) << 32 | u64::from(seen.ack));
    fold.write_u64(u64::from(seen.payload_len) << 1 | side as u64);
    let (value, echo) = seen.timestamps.unwrap_or_default();
    fold.write_u64(u64::from(value) << 32 | u64::from(echo));
    fold.finish()
}

impl Marks {
    pub(crate) fn take(&mut self, seen: &Seen, side: usize, at: Time) {
        let print = fingerprint(seen, side);
        if print.trailing_zeros() < self.zeros {
            return;
        }
        let fresh = Mark { side, at, twice: false };
        self.kept.entry(print).and_modify(|mark| mark.twice = true).or_insert(fresh);
        if self.kept.len() > MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.kept.retain(|print, _| print.trailing_zeros() >= zeros);
        }
    }

    /// How long packets of `side` took from here to `there`, ns, with whatever the clocks differ by: of
    /// all that are known in both captures.
    pub(crate) fn delays(&self, there: &Marks, side: usize) -> Vec<i64> {
        let here = self.kept.iter().filter(|(_, mark)| mark.side == side && !mark.twice);
        let both = here.filter_map(|(print, mark)| {
            let other = there.kept.get(print).filter(|other| !other.twice)?;
            Some((other.at.as_nanos() as i64).saturating_sub(mark.at.as_nanos() as i64))
        });
        both.collect()
    }
}
