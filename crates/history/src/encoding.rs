//! A history as bytes: what the store keeps per application.
//!
//! Numbers are little-endian, floating-point numbers as IEEE 754 bits, so that what is read equals
//! what was written. What does not make sense is refused as a whole.

use crate::bucket::Bucket;
use crate::histogram::{Class, Histogram};
use crate::record::History;
use crate::verdict::Verdict;
use ackord_units::Time;
use std::collections::BTreeMap;

/// Bytes are not those of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// There are too few or too many of them.
    #[error("its length is wrong")]
    Length,
    /// A number is impossible.
    #[error("{0} is impossible")]
    Number(&'static str),
}

impl History {
    /// The history as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let verdict = match self.verdict {
            Verdict::Unknown => 0,
            Verdict::Short => 1,
            Verdict::Bulk => 2,
        };
        let mut bytes = vec![verdict];
        let whole = [
            self.transfers,
            self.bytes,
            self.first_at.map_or(0, Time::as_nanos),
            self.histogram.as_of().as_nanos(),
        ];
        bytes.extend(whole.into_iter().flat_map(u64::to_le_bytes));
        let decayed = [self.recent, self.timed, self.timed_secs];
        bytes.extend(decayed.into_iter().flat_map(f64::to_le_bytes));
        for (bucket, class) in self.histogram.classes() {
            bytes.extend(bucket.index().to_le_bytes());
            bytes.extend(class.weight.to_le_bytes());
            bytes.extend(class.bytes.to_le_bytes());
        }
        bytes
    }

    /// The history of these bytes.
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn decode(bytes: &[u8]) -> Result<History, Damaged> {
        let mut fields = Fields(bytes);
        let [verdict] = fields.take()?;
        let verdict = match verdict {
            0 => Verdict::Unknown,
            1 => Verdict::Short,
            2 => Verdict::Bulk,
            _ => return Err(Damaged::Number("the verdict")),
        };
        let transfers = fields.whole()?;
        let total = fields.whole()?;
        let (first_at, as_of) =
            (Time::from_nanos(fields.whole()?), Time::from_nanos(fields.whole()?));
        let recent = fields.amount("the frequency")?;
        let (timed, timed_secs) = (fields.amount("a duration")?, fields.amount("a duration")?);
        let mut classes = BTreeMap::new();
        while !fields.0.is_empty() {
            let index = u16::from_le_bytes(fields.take()?);
            let bucket = Bucket::new(index).ok_or(Damaged::Number("a size"))?;
            let (weight, bytes) = (fields.amount("a weight")?, fields.amount("a sum")?);
            if weight == 0.0 || classes.last_key_value().is_some_and(|(last, _)| *last >= bucket) {
                return Err(Damaged::Number("a size"));
            }
            classes.insert(bucket, Class { weight, bytes });
        }
        if (transfers == 0) != classes.is_empty() || first_at > as_of {
            return Err(Damaged::Number("the count"));
        }
        Ok(History {
            histogram: Histogram::from_parts(as_of, classes),
            transfers,
            bytes: total,
            first_at: (transfers > 0).then_some(first_at),
            recent,
            timed,
            timed_secs,
            verdict,
        })
    }
}

/// What is left to read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Damaged::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn whole(&mut self) -> Result<u64, Damaged> {
        self.take().map(u64::from_le_bytes)
    }

    /// A number that is none less than zero.
    fn amount(&mut self, what: &'static str) -> Result<f64, Damaged> {
        let value = self.take().map(f64::from_le_bytes)?;
        if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(Damaged::Number(what)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transfer;
    use ackord_units::{Bytes, Span};
    use proptest::prelude::*;

    fn history(told: &[(u64, u64)]) -> History {
        let mut history = History::default();
        for (size, secs) in told {
            history.record(Transfer {
                size: Bytes(*size),
                ended_at: Time::ZERO + Span::from_secs(*secs),
                took: (secs % 2 == 0).then_some(Span::from_millis(*secs)),
            });
        }
        history
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(
            told in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 33), 0..40),
        ) {
            let history = history(&told);
            prop_assert_eq!(History::decode(&history.encode()), Ok(history));
        }

        #[test]
        fn no_bytes_at_all_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = History::decode(&bytes);
        }

        #[test]
        fn a_history_cut_off_within_its_numbers_is_refused(cut in 1_usize..75) {
            let bytes = history(&[(2_000, 5), (300_000, 9)]).encode();
            let kept = bytes.len() - cut;
            // Whole classes may be missing without anyone noticing; the store sums its pages.
            prop_assume!(kept < 57 || !(kept - 57).is_multiple_of(18));
            prop_assert_eq!(History::decode(&bytes[..kept]), Err(Damaged::Length));
        }
    }
}
