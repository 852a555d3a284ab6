//! Sizes of segments and windows. The initial window: RFC 6928 §2, RFC 3390, RFC 5681 §3.1.

use crate::config::{Config, InitialWindowBound};
use ackord_units::Bytes;

impl InitialWindowBound {
    /// The largest initial window with full-sized segments of `smss`.
    pub fn largest(self, smss: Bytes) -> Bytes {
        match self {
            InitialWindowBound::None => Bytes::MAX,
            InitialWindowBound::Rfc6928 => (smss * 10).min((smss * 2).max(Bytes(14_600))),
            InitialWindowBound::Rfc3390 => (smss * 4).min((smss * 2).max(Bytes(4_380))),
            InitialWindowBound::Rfc5681 => match smss.get() {
                2_191.. => smss * 2,
                1_096..=2_190 => smss * 3,
                _ => smss * 4,
            },
        }
    }
}

/// The sizes that bound what may be sent, whatever congestion control says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Payload of a full-sized segment, options already taken off.
    smss: Bytes,
    initial_window_segments: u64,
    initial_window_bound: InitialWindowBound,
    max_window_segments: Option<u64>,
}

impl Sizes {
    pub(super) fn new(config: &Config) -> Sizes {
        Sizes {
            smss: config.mss,
            initial_window_segments: config.window.initial_segments,
            initial_window_bound: config.window.initial_bound,
            max_window_segments: config.window.max_segments,
        }
    }

    #[inline]
    pub(super) fn smss(&self) -> Bytes {
        self.smss
    }

    pub(super) fn set_smss(&mut self, smss: Bytes) {
        self.smss = smss;
    }

    /// IW. After an idle time RFC 5681 §4.1 takes it as RW.
    pub(super) fn initial_window(&self) -> Bytes {
        let whole = self.smss * self.initial_window_segments;
        whole.min(self.initial_window_bound.largest(self.smss))
    }

    /// The fixed bound on what is in flight, if there is one.
    #[inline]
    pub(super) fn max_window(&self) -> Option<Bytes> {
        self.max_window_segments.map(|segments| self.smss * segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Either side of each corner of the three rules.
    #[test]
    fn the_bounds_are_those_of_the_rfcs() {
        use InitialWindowBound::{Rfc3390, Rfc5681, Rfc6928};
        for (bound, smss, largest) in [
            (Rfc6928, 536, 5_360),
            (Rfc6928, 1_460, 14_600),
            (Rfc6928, 1_461, 14_600),
            (Rfc6928, 7_300, 14_600),
            (Rfc6928, 8_960, 17_920),
            (Rfc3390, 1_095, 4_380),
            (Rfc3390, 1_460, 4_380),
            (Rfc3390, 2_190, 4_380),
            (Rfc3390, 2_191, 4_382),
            (Rfc3390, 536, 2_144),
            (Rfc5681, 1_095, 4_380),
            (Rfc5681, 1_096, 3_288),
            (Rfc5681, 2_190, 6_570),
            (Rfc5681, 2_191, 4_382),
        ] {
            assert_eq!(bound.largest(Bytes(smss)), Bytes(largest), "{bound:?} of {smss}");
        }
    }
}
