//! Shares and probabilities.

use std::fmt;

/// A share or probability between 0 and 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Ratio(f64);

impl Ratio {
    /// Nothing; never.
    pub const ZERO: Ratio = Ratio(0.0);
    /// All; always.
    pub const ONE: Ratio = Ratio(1.0);

    /// The ratio `value`, if it lies between 0 and 1.
    pub fn new(value: f64) -> Option<Ratio> {
        (0.0..=1.0).contains(&value).then_some(Ratio(value))
    }

    /// The value between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The value as a threshold for a uniform 64-bit draw: an event of this probability happens
    /// when the draw is below it.
    pub fn as_draw_threshold(self) -> u64 {
        // 2^64 as a float; the cast saturates, so a ratio of one becomes u64::MAX.
        (self.0 * 18_446_744_073_709_551_616.0) as u64
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Percent with as many digits as the value needs, without the float's own noise.
        let percent = format!("{:.9}", self.0 * 100.0);
        write!(f, "{} %", percent.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
