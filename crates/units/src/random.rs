//! Random numbers: one stream per element, the same for the same seed on every machine.
//!
//! A stream is xoshiro256++ (Blackman and Vigna 2018). Its 256 bits of state are four outputs of
//! SplitMix64 started at `splitmix64(seed) ^ fnv1a_64(path)`, where `path` names the element, such
//! as "links/bottleneck/forward/loss": an element added or removed changes nobody else's numbers.
//! The derivation and the distributions are this project's own and pinned by tests, because
//! libraries may change theirs between versions and a seed in a report must stay good.
//!
//! Not for secrets.

use crate::{Ratio, Span, portable};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that belongs to one element.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// The stream of the element called `path` in the run with this seed.
    pub fn for_element(seed: u64, path: &str) -> RandomStream {
        let mut state = SplitMix64(SplitMix64(seed).next() ^ fnv1a_64(path.as_bytes()));
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&state.next().to_le_bytes());
        }
        RandomStream(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// Another stream, from four draws of this one.
    pub fn split(&mut self) -> RandomStream {
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        RandomStream(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True with this probability. Draws once whatever the probability is, so that changing it
    /// shifts no later draw.
    #[inline]
    pub fn chance(&mut self, probability: Ratio) -> bool {
        self.below_threshold(probability.as_draw_threshold()) || probability == Ratio::ONE
    }

    /// True when the next draw is below `threshold`, see [`Ratio::as_draw_threshold`].
    #[inline]
    pub fn below_threshold(&mut self, threshold: u64) -> bool {
        self.next_u64() < threshold
    }

    /// A whole number from zero up to, but not including, `bound`; zero if that is zero.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32
    }

    /// A span from `from` up to, but not including, `until`; `from` if the range is empty.
    ///
    /// The product of a draw and the width, divided by 2^64: no span is more likely than another
    /// by more than width / 2^64.
    #[inline]
    pub fn uniform(&mut self, from: Span, until: Span) -> Span {
        let width = until.saturating_sub(from).as_nanos();
        let scaled = (u128::from(self.next_u64()) * u128::from(width)) >> 64;
        from + Span::from_nanos(scaled as u64)
    }

    /// A normal number of mean 0 and standard deviation 1, by the polar method (Marsaglia and
    /// Bray 1964). It draws an even count of numbers, 2.5 on average.
    pub fn standard_normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return u * (-2.0 * portable::ln(square) / square).sqrt();
            }
        }
    }

    /// A uniform number of mean 0 and standard deviation 1: from -sqrt(3) to sqrt(3).
    pub fn standard_uniform(&mut self) -> f64 {
        (2.0 * self.unit() - 1.0) * 3f64.sqrt()
    }

    /// An exponential number of mean 1, by inversion.
    pub fn standard_exponential(&mut self) -> f64 {
        -portable::ln(1.0 - self.unit())
    }

    /// A lognormal number of mean 1 and this standard deviation.
    pub fn unit_lognormal(&mut self, deviation: f64) -> f64 {
        // ln X is normal with variance s^2 = ln(1 + deviation^2) and mean -s^2 / 2.
        let variance = portable::ln(1.0 + deviation * deviation);
        portable::exp(variance.sqrt() * self.standard_normal() - variance / 2.0)
    }

    /// A number from 0 up to, but not including, 1, in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A number's 64 bits well mixed: what SplitMix64 gives first when started at it.
#[inline]
pub fn mix64(number: u64) -> u64 {
    SplitMix64(number).next()
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn fnv1a_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_building_blocks_give_their_published_test_vectors() {
        // FNV-1a of the empty text is its offset basis; of "a" and "foobar" as its authors list.
        assert_eq!(fnv1a_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a_64(b"foobar"), 0x8594_4171_f739_67e8);
        // SplitMix64 from a state of zero.
        assert_eq!(SplitMix64(0).next(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn the_numbers_behind_a_seed_stay_what_they_are() {
        // Worked out apart from this code, from the published algorithms.
        let mut stream = RandomStream::for_element(1, "links/bottleneck/forward/loss");
        let numbers = [(); 3].map(|()| stream.next_u64());
        let expected = [0xd502_2632_cb49_010b, 0x80d8_a546_64a8_03bf, 0x4d4d_31e9_ada1_b9a9];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn a_stream_depends_on_the_seed_and_on_the_whole_path() {
        let first = |seed, path| RandomStream::for_element(seed, path).next_u64();
        let base = first(1, "links/a/loss");
        assert_eq!(base, first(1, "links/a/loss"));
        assert_ne!(base, first(2, "links/a/loss"));
        assert_ne!(base, first(1, "links/b/loss"));
    }

    #[test]
    fn uniform_spans_stay_inside_and_fill_their_range() {
        let (from, until) = (Span::from_nanos(10), Span::from_nanos(14));
        let mut stream = RandomStream::for_element(3, "uniform");
        let mut counts = [0_u32; 4];
        for _ in 0..4_000 {
            counts[(stream.uniform(from, until) - from).as_nanos() as usize] += 1;
        }
        // Binomial(4000, 1/4): 1000 with a standard deviation of 27; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 137), "{counts:?}");
        assert_eq!(stream.uniform(until, from), until, "an empty range");
    }

    #[test]
    fn standard_draws_have_the_moments_of_their_distribution() {
        let moments = |mut draw: Box<dyn FnMut() -> f64>| {
            let draws: Vec<f64> = (0..100_000).map(|_| draw()).collect();
            let moment = |power| draws.iter().map(|z| z.powi(power)).sum::<f64>() / 100_000.0;
            [moment(1), moment(2), moment(3), moment(4)]
        };
        let mut stream = RandomStream::for_element(3, "normal");
        let normal = moments(Box::new(move || stream.standard_normal()));
        let mut stream = RandomStream::for_element(3, "uniform");
        let uniform = moments(Box::new(move || stream.standard_uniform()));
        // Five standard errors of each moment: sqrt(var(z^k) / 100000).
        for (found, known, bound) in [
            (normal[0], 0.0, 0.016),
            (normal[1], 1.0, 0.023),
            (normal[2], 0.0, 0.062),
            (normal[3], 3.0, 0.155),
            (uniform[0], 0.0, 0.016),
            (uniform[1], 1.0, 0.015),
            (uniform[2], 0.0, 0.032),
            (uniform[3], 1.8, 0.038),
        ] {
            assert!((found - known).abs() < bound, "{found} for {known}");
        }
        // The tails: 1001 of a million below -3.09, 100 below -3.72.
        let mut stream = RandomStream::for_element(4, "normal");
        let draws: Vec<f64> = (0..1_000_000).map(|_| stream.standard_normal()).collect();
        for (below, known) in [(-3.09, 1_000.8), (-3.72, 99.6)] {
            let found = draws.iter().filter(|&&draw| draw < below).count() as f64;
            assert!((found - known).abs() < 5.0 * f64::sqrt(known), "{found} below {below}");
        }
    }

    #[test]
    fn whole_numbers_stay_below_their_bound_and_are_all_as_likely() {
        let mut stream = RandomStream::for_element(3, "below");
        let mut counts = [0_u32; 16];
        (0..16_000).for_each(|_| counts[stream.below(16) as usize] += 1);
        // Binomial(16000, 1/16): 1000 with a standard deviation of 31; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 153), "{counts:?}");
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
    }

    #[test]
    fn chance_never_and_always() {
        let mut stream = RandomStream::for_element(3, "chance");
        assert!((0..1_000).all(|_| stream.chance(Ratio::ONE)));
        assert!(!(0..1_000).any(|_| stream.chance(Ratio::ZERO)));
    }
}
