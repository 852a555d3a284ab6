//! Airtime and retries of one direction along the time.
//!
//! Frames are counted in bins. Whenever there are too many bins, their width doubles, so that memory is bounded and
//! a long connection is described less finely.

use super::air::Attempts;
use crate::Radio;
use ackord_units::Time;

/// Bins kept of a direction.
const MOST: usize = 512;
/// Width of a bin at first, ns.
const WIDTH: u64 = 5_000_000;
/// The part of the bytes that had the least airtime each is the standard for the others, 1 in so many.
const BEST_PART: u64 = 4;

/// Frames of some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aired {
    /// All frames, and those with the retry bit.
    pub(crate) frames: u64,
    pub(crate) retries: u64,
    /// Frames with payload of a known rate: their number, the sum of their rates (kbit/s), their airtime.
    rated: u64,
    rates: u64,
    airtime_us: u64,
    /// Bytes of payload, repetitions left out.
    bytes: u64,
    /// The frame that was repeated for longest, if any.
    pub(crate) longest: Option<Attempts>,
}

impl Aired {
    fn add(&mut self, other: &Aired) {
        self.frames += other.frames;
        self.retries += other.retries;
        self.rated += other.rated;
        self.rates += other.rates;
        self.airtime_us += other.airtime_us;
        self.bytes += other.bytes;
        let both = [self.longest, other.longest].into_iter().flatten();
        self.longest = both.max_by_key(Attempts::span);
    }

    /// Returns the airtime of a byte of payload, us.
    pub(crate) fn per_byte_us(&self) -> Option<f64> {
        (self.bytes > 0 && self.airtime_us > 0).then(|| self.airtime_us as f64 / self.bytes as f64)
    }

    /// Returns the mean rate of frames with payload, bit/s.
    pub(crate) fn rate_bit_s(&self) -> Option<f64> {
        (self.rated > 0).then(|| 1e3 * self.rates as f64 / self.rated as f64)
    }

    /// Returns the share of frames with the retry bit.
    pub(crate) fn retry_share(&self) -> f64 {
        self.retries as f64 / self.frames.max(1) as f64
    }
}

/// Frames along the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// Each with its number, in order; bins without frames are left out.
    bins: Vec<(u64, Aired)>,
    /// The width of a bin is [`WIDTH`] times two to this power.
    doubled: u32,
}

impl Series {
    /// Records a packet of `payload_len` bytes that was captured at `at`: its frame, unless another packet of an
    /// A-MSDU has recorded that, and the attempts of the frame if it is a repetition.
    pub(super) fn take(
        &mut self,
        at: Time,
        frame: Option<&Radio>,
        payload_len: u32,
        repeated: Option<Attempts>,
    ) {
        let mut one = Aired { longest: repeated, ..Aired::default() };
        if let Some(radio) = frame {
            (one.frames, one.retries) = (1, u64::from(radio.retry));
        }
        if let Some(radio) = frame.filter(|radio| radio.rate_kbit_s > 0 && payload_len > 0) {
            (one.rated, one.rates) = (1, u64::from(radio.rate_kbit_s));
            one.airtime_us = u64::from(radio.airtime_us);
        }
        if repeated.is_none() {
            one.bytes = u64::from(payload_len);
        }
        let number = self.number(at);
        match self.bins.last_mut() {
            // Times never decrease.
            Some((last, bin)) if *last >= number => bin.add(&one),
            _ => self.bins.push((number, one)),
        }
        while self.bins.len() > MOST {
            self.widen();
        }
    }

    fn number(&self, at: Time) -> u64 {
        (at.as_nanos() / WIDTH) >> self.doubled
    }

    fn widen(&mut self) {
        self.doubled += 1;
        self.bins.iter_mut().for_each(|(number, _)| *number /= 2);
        self.bins.dedup_by(|(next, added), (number, bin)| {
            let same = next == number;
            if same {
                bin.add(added);
            }
            same
        });
    }

    /// Returns the frames between `from` and `to`, rounded to whole bins.
    pub(crate) fn between(&self, from: Time, to: Time) -> Aired {
        let (first, last) = (self.number(from), self.number(to));
        let begin = self.bins.partition_point(|(number, _)| *number < first);
        let mut all = Aired::default();
        let inside = self.bins[begin..].iter().take_while(|(number, _)| *number <= last);
        inside.for_each(|(_, bin)| all.add(bin));
        all
    }

    /// Returns the frames of the time in which a byte took the least airtime: a quarter of all bytes.
    pub(crate) fn best(&self) -> Option<Aired> {
        let costs = |(_, bin): &(u64, Aired)| bin.per_byte_us().map(|cost| (cost, *bin));
        let mut bins: Vec<(f64, Aired)> = self.bins.iter().filter_map(costs).collect();
        bins.sort_by(|a, b| a.0.total_cmp(&b.0));
        let enough = bins.iter().map(|(_, bin)| bin.bytes).sum::<u64>() / BEST_PART;
        let mut best = Aired::default();
        for (_, bin) in &bins {
            if best.bytes > enough {
                break;
            }
            best.add(bin);
        }
        (best.bytes > 0).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn at(millis: u64) -> Time {
        Time::from_nanos(1_700_000_000_000_000_000 + millis * 1_000_000)
    }

    fn radio(retry: bool, rate_kbit_s: u32, airtime_us: u16) -> Radio {
        Radio { retry, rate_kbit_s, airtime_us, ..Radio::default() }
    }

    #[test]
    fn a_long_connection_has_wider_bins_and_all_of_its_frames() {
        let mut series = Series::default();
        for millis in 0..100_000 {
            let frame = radio(millis % 4 == 3, 54_000, 250);
            series.take(at(millis), Some(&frame), 1000, None);
        }
        assert!(series.bins.len() <= MOST && series.bins.len() > MOST / 3, "{}", series.bins.len());
        let all = series.between(at(0), at(100_000));
        assert_eq!((all.frames, all.retries), (100_000, 25_000));
        assert_eq!((all.per_byte_us(), all.rate_bit_s()), (Some(0.25), Some(54e6)));
        // Bins are 320 ms wide now.
        let part = series.between(at(50_000), at(51_000));
        assert!((1_000..=1_640).contains(&part.frames), "{part:?}");
    }

    #[test]
    fn the_best_part_is_that_with_the_least_airtime_per_byte() {
        let mut series = Series::default();
        for millis in 0..1_000 {
            let fast = (200..600).contains(&millis);
            let frame = if fast { radio(false, 54_000, 250) } else { radio(true, 6_000, 2_000) };
            series.take(at(millis), Some(&frame), 1000, None);
        }
        let best = series.best().expect("bytes");
        assert_eq!((best.per_byte_us(), best.retry_share()), (Some(0.25), 0.0));
    }

    #[test]
    fn the_frame_repeated_for_longest_is_kept() {
        let mut series = Series::default();
        let attempts = |first, last| Attempts { count: 2, first, last, ..Attempts::default() };
        for (first, last) in [(0, 4), (1, 40), (30, 45)] {
            let again = attempts(at(first), at(last));
            series.take(at(last), Some(&radio(true, 0, 0)), 1000, Some(again));
        }
        let longest = series.between(at(0), at(100)).longest;
        assert_eq!(longest.map(|one| one.span()), Some(Span::from_millis(39)));
        assert_eq!(series.best(), None, "no rate is known");
    }
}
