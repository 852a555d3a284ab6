//! Counts of whole numbers in buckets whose width grows with the number: a log-linear histogram.
//!
//! The buckets are those of HdrHistogram with a lowest value of one; recording is all that happens per
//! packet, so that it is done here, in a shift and an addition.

use ackord_units::count;

/// How often numbers came, by bucket.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    /// By bucket, as many as the largest number so far needs.
    counts: Vec<u64>,
    /// Numbers of up to one bit more have a bucket each; longer ones share one with those that begin with the same
    /// bits.
    bits: u32,
}

impl Buckets {
    /// Numbers are told apart to this many digits.
    pub(crate) fn with_digits(digits: u32) -> Buckets {
        // Twice the power of ten, so that half a step of the last digit is told apart.
        let told_apart = 2 * 10_u64.pow(digits);
        Buckets { counts: Vec::new(), bits: told_apart.next_power_of_two().ilog2() - 1 }
    }

    /// Takes one more.
    #[inline(always)]
    pub(crate) fn add(&mut self, number: u64) {
        let bucket = self.bucket(number);
        match self.counts.get_mut(bucket) {
            Some(of_bucket) => count(of_bucket),
            None => self.add_first(bucket),
        }
    }

    #[cold]
    fn add_first(&mut self, bucket: usize) {
        self.counts.resize((bucket + 1).next_multiple_of(1 << self.bits), 0);
        self.counts[bucket] += 1;
    }

    /// The bucket of a number: those before it of shorter numbers, and what is left of it when it is cut to the length
    /// that is told apart.
    #[inline]
    fn bucket(&self, number: u64) -> usize {
        let cut = (number | 1).ilog2().saturating_sub(self.bits);
        ((cut as usize) << self.bits).wrapping_add((number >> cut) as usize)
    }

    /// The largest number of a bucket.
    fn largest_in(&self, bucket: usize) -> u64 {
        let bucket = bucket as u64;
        let cut = (bucket >> self.bits).saturating_sub(1);
        ((bucket - (cut << self.bits)) << cut) + ((1 << cut) - 1)
    }

    /// How many numbers there are.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The number of this rank, counted from one, or a larger one of its bucket. Nothing if there are
    /// not so many.
    pub(crate) fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut up_to = 0;
        let bucket = self.counts.iter().position(|count| {
            up_to += count;
            up_to >= rank
        });
        bucket.map(|bucket| self.largest_in(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_buckets_are_those_of_hdr_histogram(
            // The end of its last bucket, of numbers from 2^63 on, is one too low there.
            numbers in prop::collection::vec((any::<u64>(), 1_u32..64), 1..100),
            digits in 1_u32..=4,
        ) {
            let numbers: Vec<u64> = numbers.iter().map(|(number, cut)| number >> cut).collect();
            let mut buckets = Buckets::with_digits(digits);
            let mut theirs = Histogram::<u64>::new(digits as u8).expect("up to five are allowed");
            for number in &numbers {
                buckets.add(*number);
                theirs.record(*number).expect("it resizes itself");
            }
            prop_assert_eq!(buckets.total(), theirs.len());
            for rank in 1..=buckets.total() {
                // Half a rank less, so that rounding does not matter.
                let quantile = (rank as f64 - 0.5) / numbers.len() as f64;
                prop_assert_eq!(buckets.at_rank(rank), Some(theirs.value_at_quantile(quantile)));
            }
            prop_assert_eq!(buckets.at_rank(buckets.total() + 1), None);
        }
    }
}
