//! Amounts of data and rates.

use crate::Span;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A number of bytes (bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any run carries.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// The count as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }

    /// These bytes less `other`, or none.
    #[inline]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// The mean rate at which these bytes went by in `span`; zero for an empty span.
    pub fn over(self, span: Span) -> Rate {
        if span == Span::ZERO {
            return Rate(0);
        }
        let bits_e9 = u128::from(self.0) * 8 * 1_000_000_000;
        Rate((bits_e9 / u128::from(span.as_nanos())) as u64)
    }
}

impl Rate {
    /// A rate of whole bits per second.
    pub const fn from_bits_per_sec(bits_per_sec: u64) -> Rate {
        Rate(bits_per_sec)
    }

    /// A rate of whole megabits (10^6 bits) per second.
    pub const fn from_mbits_per_sec(mbits_per_sec: u64) -> Rate {
        Rate(mbits_per_sec * 1_000_000)
    }

    /// Bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// How long `bytes` take at this rate, rounded up to the nanosecond so that a link never runs
    /// faster than its rate. [`Span::MAX`] for a rate of zero.
    pub fn time_for(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        let bits_e9 = bytes.0.checked_mul(8_000_000_000);
        match bits_e9 {
            Some(bits_e9) => Span::from_nanos(bits_e9.div_ceil(self.0)),
            None => {
                let wide = u128::from(bytes.0) * 8_000_000_000;
                Span::from_nanos(
                    u64::try_from(wide.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX),
                )
            }
        }
    }

    /// How many whole bytes pass in `span` at this rate; at most [`Bytes::MAX`].
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.as_nanos()) / 8_000_000_000;
        u64::try_from(bytes).map_or(Bytes::MAX, Bytes)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.checked_add(other.0).expect("byte counts stay below 2^64"))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.checked_sub(other.0).expect("the subtracted count is the smaller one"))
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.checked_mul(factor).expect("byte counts stay below 2^64"))
    }
}

impl Div<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn div(self, divisor: u64) -> Bytes {
        Bytes(self.0 / divisor)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(counts: I) -> Bytes {
        counts.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0 B"),
            n if n.is_multiple_of(1_000_000_000) => write!(f, "{} GB", n / 1_000_000_000),
            n if n.is_multiple_of(1_000_000) => write!(f, "{} MB", n / 1_000_000),
            n if n.is_multiple_of(1_000) && n >= 10_000 => write!(f, "{} kB", n / 1_000),
            n => write!(f, "{n} B"),
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0 bit/s"),
            n if n.is_multiple_of(1_000_000_000) => write!(f, "{} Gbit/s", n / 1_000_000_000),
            n if n.is_multiple_of(1_000_000) => write!(f, "{} Mbit/s", n / 1_000_000),
            n if n.is_multiple_of(1_000) => write!(f, "{} kbit/s", n / 1_000),
            n => write!(f, "{n} bit/s"),
        }
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Counts one more. Not checked as sums are: one by one, 64 bits last longer than anybody can wait.
#[inline(always)]
pub fn count(counter: &mut u64) {
    *counter = counter.wrapping_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_64_bits_are_the_most_and_not_a_remainder() {
        let fast = Rate::from_bits_per_sec(9_000_000_000_000_000);
        assert_eq!(fast.bytes_in(Span::from_secs(1_000)), Bytes(1_125_000_000_000_000_000));
        assert_eq!(fast.bytes_in(Span::from_secs(100_000)), Bytes::MAX);
    }

    #[test]
    fn serialization_time_rounds_up_so_a_link_never_exceeds_its_rate() {
        let rate = Rate::from_bits_per_sec(3_000_000);
        assert_eq!(rate.time_for(Bytes(1_500)), Span::from_millis(4));
        assert_eq!(rate.time_for(Bytes(1)), Span::from_nanos(2_667));
    }

    #[test]
    fn rate_and_amount_agree() {
        assert_eq!(Bytes(125_000).over(Span::from_secs(1)), Rate::from_mbits_per_sec(1));
        assert_eq!(Rate::from_mbits_per_sec(1).bytes_in(Span::from_secs(1)), Bytes(125_000));
    }
    #[test]
    fn no_profile_lets_a_count_wrap() {
        let manifest = include_str!("../../../Cargo.toml");
        let mut profiles = manifest.split("\n[profile.");
        let release = profiles.find(|profile| profile.starts_with("release]")).expect("is there");
        assert!(release.contains("\noverflow-checks = true\n"), "{release}");
        assert!(!manifest.contains("overflow-checks = false"));
    }
}
