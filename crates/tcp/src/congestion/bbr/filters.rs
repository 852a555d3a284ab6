//! The memories of the model: windowed maxima, and the stream of chance.

use ackord_units::{Bytes, Rate};

/// BBR.max_bw_filter: the largest delivery rate of the previous and the current probing cycle
/// (§2.11, §5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    previous: Rate,
    current: Rate,
}

impl MaxBandwidth {
    pub(super) fn update(&mut self, sample: Rate) {
        self.current = self.current.max(sample);
    }

    /// A cycle ends. One that brought no sample does not make the filter forget.
    pub(super) fn advance(&mut self) {
        if self.current > Rate::default() {
            self.previous = self.current;
            self.current = Rate::default();
        }
    }

    pub(super) fn get(&self) -> Rate {
        self.previous.max(self.current)
    }
}

/// BBR.ExtraAckedFilterLen, in round trips (§2.12).
const EXTRA_ACKED_ROUNDS: usize = 10;

/// BBR.extra_acked_filter: the largest value of each of the last round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraAcked {
    /// Round trip and its largest value, at the round's number modulo the length.
    rounds: [(u64, Bytes); EXTRA_ACKED_ROUNDS],
}

impl ExtraAcked {
    pub(super) fn update(&mut self, round: u64, extra: Bytes) {
        let slot = &mut self.rounds[(round % EXTRA_ACKED_ROUNDS as u64) as usize];
        let kept = if slot.0 == round { slot.1 } else { Bytes::ZERO };
        *slot = (round, kept.max(extra));
    }

    /// The largest value of the last `length` round trips, of which `round` is one.
    pub(super) fn max(&self, round: u64, length: u64) -> Bytes {
        let recent = self.rounds.iter().filter(|(at, _)| at + length > round && *at <= round);
        recent.map(|&(_, extra)| extra).max().unwrap_or(Bytes::ZERO)
    }
}

/// How many rounds [`ExtraAcked`] looks back once Startup is over.
pub(super) const EXTRA_ACKED_FILTER_LEN: u64 = EXTRA_ACKED_ROUNDS as u64;

/// Chance without a source of chance: a splitmix64 sequence that begins at the connection's initial
/// sequence number, so that a run repeats and connections differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// A whole number below `bound`, which is far below 2^32.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rate(mbits: u64) -> Rate {
        Rate::from_mbits_per_sec(mbits)
    }

    #[test]
    fn a_maximum_lives_through_the_cycle_after_its_own() {
        let mut filter = MaxBandwidth::default();
        filter.update(rate(10));
        filter.advance();
        filter.update(rate(7));
        assert_eq!(filter.get(), rate(10));
        filter.advance();
        assert_eq!(filter.get(), rate(7));
        filter.advance();
        assert_eq!(filter.get(), rate(7), "a cycle without a sample changes nothing");
    }

    #[test]
    fn extra_acked_forgets_after_ten_rounds_and_in_startup_after_one() {
        let mut filter = ExtraAcked::default();
        filter.update(1, Bytes(500));
        filter.update(2, Bytes(100));
        assert_eq!(filter.max(2, 1), Bytes(100));
        assert_eq!(filter.max(10, 10), Bytes(500));
        assert_eq!(filter.max(11, 10), Bytes(100));
        assert_eq!(filter.max(12, 10), Bytes::ZERO);
    }

    #[test]
    fn chance_repeats_differs_by_seed_and_fills_its_range() {
        let draws = |seed| {
            let mut chance = Chance::new(seed);
            (0..1_000).map(|_| chance.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        let mean = draws(3).iter().sum::<u64>() as f64 / 1_000.0;
        assert!((450.0..550.0).contains(&mean), "{mean}");
    }
}
