//! Size classes a quarter of an octave wide: four per doubling, so that the bounds of a class are
//! 19 % apart whatever the size.

use ackord_units::Bytes;

/// A class of sizes; class `4 n + q` goes from 2^(n + q/4) up to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket(u16);

/// 2^63 times 2^(q/4), rounded up: where the quarters of an octave begin, in whole numbers, so that
/// a size is in the same class on every machine.
const QUARTERS: [u64; 4] =
    [0x8000_0000_0000_0000, Q1, 0xb504_f333_f9de_6485, 0xd744_fcca_d69d_6af5];
const Q1: u64 = 0x9837_f051_8db8_a970;

impl Bucket {
    /// Classes there are.
    pub const COUNT: u16 = 256;

    /// The class of a size; nothing for no bytes at all.
    pub fn of(size: Bytes) -> Option<Bucket> {
        let bytes = size.get();
        if bytes == 0 {
            return None;
        }
        let octave = bytes.ilog2() as u16;
        let mantissa = bytes << bytes.leading_zeros();
        let quarter = QUARTERS.iter().filter(|bound| **bound <= mantissa).count() as u16 - 1;
        Some(Bucket(4 * octave + quarter))
    }

    /// The class of this number, if there is one.
    pub fn new(index: u16) -> Option<Bucket> {
        (index < Bucket::COUNT).then_some(Bucket(index))
    }

    /// Its number.
    pub fn index(self) -> u16 {
        self.0
    }

    /// The smallest size in it; zero for the few classes below 4 bytes that no whole number is in.
    pub fn smallest(self) -> Bytes {
        let (octave, quarter) = (u32::from(self.0 / 4), usize::from(self.0 % 4));
        let dropped = 63 - octave;
        let floor = QUARTERS[quarter] >> dropped;
        let exact = floor << dropped == QUARTERS[quarter];
        Bytes(if exact { floor } else { floor + 1 })
    }

    /// The first size above it; the largest there is for the last class.
    pub fn end(self) -> Bytes {
        Bucket::new(self.0 + 1).map_or(Bytes(u64::MAX), Bucket::smallest)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bounds_are_the_fourth_roots_of_powers_of_two() {
        for (quarter, bound) in QUARTERS.into_iter().enumerate() {
            let exact = 2_f64.powf(63.0 + quarter as f64 / 4.0);
            assert!((bound as f64 / exact - 1.0).abs() < 1e-15, "quarter {quarter}");
        }
        assert_eq!(Bucket::of(Bytes(1 << 20)).map(Bucket::index), Some(80));
        assert_eq!(Bucket::of(Bytes((1 << 20) - 1)).map(Bucket::index), Some(79));
        assert_eq!(Bucket::of(Bytes(0)), None);
        assert_eq!(Bucket::of(Bytes(u64::MAX)).map(Bucket::index), Some(255));
    }

    proptest! {
        #[test]
        fn a_size_lies_within_the_bounds_of_its_class(size in 1_u64.., shift in 0_u32..63) {
            let size = Bytes((size >> shift).max(1));
            let bucket = Bucket::of(size).expect("not zero");
            prop_assert!(bucket.smallest() <= size);
            prop_assert!(size < bucket.end() || bucket.index() == Bucket::COUNT - 1);
        }

        #[test]
        fn larger_sizes_are_never_in_lower_classes(a in 1_u64.., b in 1_u64..) {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(Bucket::of(Bytes(low)) <= Bucket::of(Bytes(high)));
        }
    }
}
