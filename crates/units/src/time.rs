//! Instants and spans in integer nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens (about 584 years).
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `nanos` nanoseconds after the start of the run.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run, for people and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span since `earlier`, or zero where `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1_000_000_000)
    }

    /// The span of `secs` seconds, rounded to the nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        Span((secs * 1e9).round().max(0.0) as u64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds, for people and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span less `other`, or zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span and `other` together, at most [`Span::MAX`].
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// This span times `factor`, at most [`Span::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }

    /// The distance between two spans.
    pub const fn abs_diff(self, other: Span) -> Span {
        Span(self.0.abs_diff(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.checked_add(span.0).expect("time stays below 584 years"))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0.checked_sub(span.0).expect("no instant lies before the start of the run"))
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("the subtracted instant is the earlier one"))
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.checked_add(other.0).expect("spans stay below 584 years"))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0.checked_sub(other.0).expect("the subtracted span is the shorter one"))
    }
}

impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, factor: u64) -> Span {
        Span(self.0.checked_mul(factor).expect("spans stay below 584 years"))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl fmt::Display for Span {
    /// The largest unit in which the span is a whole number, so that it parses back to itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0 => f.write_str("0 s"),
            _ if ns.is_multiple_of(1_000_000_000) => write!(f, "{} s", ns / 1_000_000_000),
            _ if ns.is_multiple_of(1_000_000) => write!(f, "{} ms", ns / 1_000_000),
            _ if ns.is_multiple_of(1_000) => write!(f, "{} us", ns / 1_000),
            _ => write!(f, "{ns} ns"),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_prints_in_the_largest_whole_unit() {
        assert_eq!(Span::from_micros(1_500).to_string(), "1500 us");
        assert_eq!(Span::from_millis(2_000).to_string(), "2 s");
        assert_eq!(Span::ZERO.to_string(), "0 s");
    }

    #[test]
    #[should_panic(expected = "earlier")]
    fn subtracting_a_later_instant_is_refused() {
        let _ = Time::ZERO - Time::from_nanos(1);
    }
}
