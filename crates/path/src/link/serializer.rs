//! Transmission times.

use ackord_units::{Bytes, Rate, Span};

/// Works out transmission times as [`Rate::time_for`] does, without a division where it can.
#[derive(Clone, Debug)]
pub(super) struct Serializer {
    rate: Rate,
    /// Nanoseconds per byte where that is a whole number, or zero.
    nanos_per_byte: u64,
    /// The latest answer: traffic has few packet lengths, mostly one per direction.
    last_len: u32,
    last_span: Span,
}

/// Several packets, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) bytes: u64,
    pub(super) takes: Span,
}

impl Serializer {
    pub(super) fn new(rate: Rate) -> Serializer {
        let bits_per_sec = rate.as_bits_per_sec();
        let whole = bits_per_sec > 0 && 8_000_000_000 % bits_per_sec == 0;
        Serializer {
            rate,
            nanos_per_byte: if whole { 8_000_000_000 / bits_per_sec } else { 0 },
            last_len: 0,
            last_span: Span::ZERO,
        }
    }

    #[inline]
    pub(super) fn time_for(&mut self, ip_len: u32) -> Span {
        if self.nanos_per_byte != 0 {
            return Span::from_nanos(self.nanos_per_byte * u64::from(ip_len));
        }
        if ip_len != self.last_len {
            self.work_out(ip_len);
        }
        self.last_span
    }

    #[inline(never)]
    fn work_out(&mut self, ip_len: u32) {
        self.last_len = ip_len;
        self.last_span = self.rate.time_for(Bytes(u64::from(ip_len)));
    }

    /// Packets of these lengths.
    #[inline]
    pub(super) fn sum_of(&mut self, lens: impl Iterator<Item = u32>) -> Sum {
        if self.nanos_per_byte != 0 {
            // Several at a time where none can overflow, as no sum of lengths in memory can.
            let bytes = lens.fold(0, |bytes: u64, ip_len| bytes.wrapping_add(u64::from(ip_len)));
            return Sum { bytes, takes: Span::from_nanos(self.nanos_per_byte * bytes) };
        }
        lens.fold(Sum::default(), |sum, ip_len| Sum {
            bytes: sum.bytes + u64::from(ip_len),
            takes: sum.takes + self.time_for(ip_len),
        })
    }
}
