//! How often which size was transferred, with the past fading.
//!
//! A transfer counts 1 when it happens. It counts half as much once [`Histogram::HALF_COUNT`] more
//! have come, and half as much [`Histogram::HALF_AGE`] later; both fade at once. So the histogram
//! of a busy application follows what it does now, and one of an idle application is forgotten in
//! months and not at the first transfer of another size.

use crate::bucket::Bucket;
use ackord_units::{Bytes, Span, Time};
use std::collections::BTreeMap;

/// Decayed counts by size class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Weights as of `as_of`.
    classes: BTreeMap<Bucket, Class>,
    as_of: Time,
}

/// What is known of one size class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Class {
    /// Decayed count of transfers.
    pub weight: f64,
    /// Decayed sum of their sizes in bytes.
    pub bytes: f64,
}

/// A class that counts less than this is forgotten.
const NEGLIGIBLE: f64 = 1e-6;

/// What is left of a weight that was halved so many times.
#[expect(clippy::disallowed_methods, reason = "no seed's run depends on what a machine remembers")]
pub(crate) fn halved(times: f64) -> f64 {
    (-times).exp2()
}

/// What is left of a weight after `passed` at this half-life.
pub(crate) fn fade(passed: Span, half_life: Span) -> f64 {
    halved(passed.as_secs_f64() / half_life.as_secs_f64())
}

impl Histogram {
    /// After so many more transfers one counts half.
    pub const HALF_COUNT: f64 = 128.0;
    /// After so long a transfer counts half: 30 days.
    pub const HALF_AGE: Span = Span::from_secs(30 * 86_400);

    /// Counts a transfer of `size`, which ended at `ended_at`. One that is older than what is here
    /// already (from a capture, say) counts as much as if it had been here all the time and only
    /// its age had told.
    pub fn add(&mut self, size: Bytes, ended_at: Time) {
        let Some(bucket) = Bucket::of(size) else { return };
        let newer = fade(ended_at.saturating_since(self.as_of), Histogram::HALF_AGE);
        let weight = fade(self.as_of.saturating_since(ended_at), Histogram::HALF_AGE);
        let left = newer * halved(1.0 / Histogram::HALF_COUNT);
        for class in self.classes.values_mut() {
            class.weight *= left;
            class.bytes *= left;
        }
        self.as_of = self.as_of.max(ended_at);
        let class = self.classes.entry(bucket).or_default();
        class.weight += weight;
        class.bytes += weight * size.get() as f64;
        self.classes.retain(|_, class| class.weight > NEGLIGIBLE);
    }

    /// Every class that counts, by size, with its weight as of the latest transfer.
    pub fn classes(&self) -> impl Iterator<Item = (Bucket, Class)> {
        self.classes.iter().map(|(bucket, class)| (*bucket, *class))
    }

    /// Decayed count of all transfers, as of `now`.
    pub fn weight(&self, now: Time) -> f64 {
        let then: f64 = self.classes.values().map(|class| class.weight).sum();
        then * fade(now.saturating_since(self.as_of), Histogram::HALF_AGE)
    }

    /// The share of decayed transfers, and of decayed bytes, in sizes from `bound` on, which has
    /// to be where a class begins; nothing if there is nothing.
    pub fn share_from(&self, bound: Bytes) -> Option<Shares> {
        let mut above = Class::default();
        let mut all = Class::default();
        for (bucket, class) in &self.classes {
            all.weight += class.weight;
            all.bytes += class.bytes;
            if bucket.smallest() >= bound {
                above.weight += class.weight;
                above.bytes += class.bytes;
            }
        }
        (all.weight > 0.0).then(|| Shares {
            transfers: above.weight / all.weight,
            bytes: above.bytes / all.bytes,
        })
    }

    /// The most frequent size: the decayed mean of the two neighbouring classes (half an octave)
    /// that count most together. Of equals the one with the heavier single class, then the smaller.
    ///
    /// Two, because a size that varies around the bound between two classes would lose to a rarer
    /// one that lies within its class.
    pub fn most_frequent(&self) -> Option<Bytes> {
        let at = |index: u16| {
            let bucket = Bucket::new(index)?;
            self.classes.get(&bucket).copied()
        };
        let mut best: Option<(f64, f64, Class)> = None;
        for (bucket, class) in &self.classes {
            let lower = bucket.index().checked_sub(1).and_then(at).unwrap_or_default();
            for beside in [lower, at(bucket.index() + 1).unwrap_or_default()] {
                let both = Class {
                    weight: class.weight + beside.weight,
                    bytes: class.bytes + beside.bytes,
                };
                if best.is_none_or(|(weight, single, _)| {
                    (both.weight, class.weight) > (weight, single)
                }) {
                    best = Some((both.weight, class.weight, both));
                }
            }
        }
        best.map(|(.., both)| Bytes((both.bytes / both.weight).round() as u64))
    }

    /// When the latest transfer ended, which is when the weights hold.
    pub fn as_of(&self) -> Time {
        self.as_of
    }

    /// A histogram from its parts.
    pub(crate) fn from_parts(as_of: Time, classes: BTreeMap<Bucket, Class>) -> Histogram {
        Histogram { classes, as_of }
    }
}

/// What lies above a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Of decayed transfers, 0 to 1.
    pub transfers: f64,
    /// Of their bytes, 0 to 1.
    pub bytes: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(days: u64) -> Time {
        Time::ZERO + Span::from_secs(days * 86_400)
    }

    fn of(sizes: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        sizes.into_iter().for_each(|size| histogram.add(Bytes(size), day(1)));
        histogram
    }

    #[test]
    fn a_transfer_counts_half_after_its_half_lives() {
        let once = of([2_000]);
        assert_eq!(once.weight(day(1)), 1.0);
        assert_eq!(once.weight(day(31)), 0.5);
        assert_eq!(once.weight(day(0)), 1.0, "nothing grows by looking back");
        let mut later = of([2_000]);
        (0..128).for_each(|_| later.add(Bytes(500_000), day(1)));
        let first = later.classes().next().expect("it still counts").1;
        assert!((first.weight - 0.5).abs() < 1e-9, "{}", first.weight);
    }

    #[test]
    fn a_habit_that_changes_is_followed_within_a_half_count() {
        let mut histogram = of(std::iter::repeat_n(2_000, 1_000));
        (0..127).for_each(|_| histogram.add(Bytes(300_000), day(1)));
        assert_eq!(histogram.most_frequent(), Some(Bytes(2_000)));
        (0..2).for_each(|_| histogram.add(Bytes(300_000), day(1)));
        assert_eq!(histogram.most_frequent(), Some(Bytes(300_000)));
    }

    #[test]
    fn a_size_around_a_bound_is_not_split_in_two() {
        let around = (0..60).map(|n| if n % 2 == 0 { 2_040 } else { 2_056 });
        let histogram = of(around.chain(std::iter::repeat_n(90_000, 35)));
        let most = histogram.most_frequent().expect("there is one").get();
        assert!((2_040..=2_056).contains(&most), "{most}");
    }

    #[test]
    fn shares_are_of_transfers_and_of_bytes() {
        let shares = of([1_000, 1_000, 1_000, 1 << 20]).share_from(Bytes(1 << 20));
        let shares = shares.expect("there are some");
        assert!((shares.transfers - 0.25).abs() < 0.01, "{shares:?}");
        assert!(shares.bytes > 0.99, "{shares:?}");
        assert_eq!(Histogram::default().share_from(Bytes(1 << 20)), None);
    }

    /// Sizes with the days at which they came.
    fn history() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((1_u64..1 << 34, 0_u64..400), 1..60)
    }

    proptest! {
        #[test]
        fn the_most_frequent_size_is_among_those_seen(mut seen in history()) {
            seen.sort_by_key(|(_, at)| *at);
            let mut histogram = Histogram::default();
            seen.iter().for_each(|(size, at)| histogram.add(Bytes(*size), day(*at)));
            let most = histogram.most_frequent().expect("something was seen").get();
            let (low, high) = seen.iter().fold((u64::MAX, 0), |(low, high), (size, _)| {
                (low.min(*size), high.max(*size))
            });
            prop_assert!(low <= most && most <= high, "{most} is not within {low} to {high}");
        }

        #[test]
        fn weight_never_exceeds_the_count_nor_the_limit_of_the_series(mut seen in history()) {
            seen.sort_by_key(|(_, at)| *at);
            let mut histogram = Histogram::default();
            seen.iter().for_each(|(size, at)| histogram.add(Bytes(*size), day(*at)));
            let limit = 1.0 / (1.0 - halved(1.0 / Histogram::HALF_COUNT));
            let weight = histogram.weight(histogram.as_of());
            prop_assert!(weight > 0.0 && weight <= seen.len() as f64 && weight <= limit);
            let later = histogram.weight(histogram.as_of() + Histogram::HALF_AGE);
            prop_assert!((later / weight - 0.5).abs() < 1e-9);
        }

        #[test]
        fn age_tells_the_same_in_whatever_order_two_transfers_are_told(
            a in (1_u64..1 << 30, 0_u64..200),
            b in (1_u64..1 << 30, 0_u64..200),
        ) {
            let told = |order: [(u64, u64); 2]| {
                let mut histogram = Histogram::default();
                order.iter().for_each(|(size, at)| histogram.add(Bytes(*size), day(*at)));
                histogram.weight(day(300))
            };
            // Only the count's half-life knows an order, by a 128th part of an octave.
            let ratio = told([a, b]) / told([b, a]);
            prop_assert!((ratio - 1.0).abs() < 0.006, "{ratio}");
        }
    }
}
