//! The identification field of IPv4: a gap may show that packets were lost before the capture point.
//!
//! Hosts number their packets per socket (Linux), per destination, per processor, or for the whole host, or at
//! random. Only a counter per socket proves a loss: `hosts.rs` decides that from all connections of a host, and
//! `suspects.rs` keeps the gaps until then.

use crate::Seen;
use ackord_units::Time;

/// Packets numbered one by one in a row before a gap counts.
const REGULAR: u32 = 6;
/// Gaps that may be lost packets.
const MOST_SKIPPED: u16 = 2048;
/// Samples kept of a direction's numbers.
pub(crate) const SAMPLES: usize = 4;

/// The numbers of one direction's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// Numbers left out between the last packet and the one before it; zero unless numbering was regular.
    pub(crate) gap: u16,
    /// The number expected next, and the number of the last packet.
    next: u16,
    last: u16,
    /// Packets in a row that had the number expected.
    run: u32,
    /// Packets that had the number expected, and all.
    pub(crate) exact: u32,
    pub(crate) all: u32,
    /// Times and numbers of the samples.
    sample_times: [Time; SAMPLES],
    sample_numbers: [u16; SAMPLES],
    sampled: u8,
    /// Every so many packets are sampled.
    every: u32,
}

impl Numbers {
    /// Takes a packet of this direction. Returns its number if it is late: it fills an earlier gap.
    #[inline]
    pub(crate) fn take(&mut self, seen: &Seen, mss: u32, at: Time) -> Option<u16> {
        self.gap = 0;
        // IPv6, and packets that may not be fragmented (RFC 6864 §4.1).
        if seen.ip_id == 0 {
            return None;
        }
        self.sample(seen.ip_id, at);
        let first = self.all == 0;
        self.all = self.all.saturating_add(1);
        // A card that splits segments gives each part a number, loopback interfaces give one to the whole.
        let ahead = match seen.ip_id.wrapping_sub(self.last) {
            1 => 0,
            _ => seen.ip_id.wrapping_sub(self.next),
        };
        match ahead {
            0 => {
                self.run = self.run.saturating_add(1);
                self.exact = self.exact.saturating_add(1);
            }
            _ if first => {}
            1..MOST_SKIPPED if self.run >= REGULAR => self.gap = ahead,
            behind if behind > u16::MAX - MOST_SKIPPED && self.run >= REGULAR => {
                return Some(seen.ip_id);
            }
            _ => self.run /= 2,
        }
        let segments = seen.payload_len.div_ceil(mss.max(1)).max(1);
        self.next = seen.ip_id.wrapping_add(segments as u16);
        self.last = seen.ip_id;
        None
    }

    /// Returns true if a packet with this number was sent before the last one; false if numbers are irregular.
    pub(crate) fn is_behind(&self, number: u16) -> bool {
        self.run >= REGULAR && number != 0 && number.wrapping_sub(self.next) > u16::MAX / 2
    }

    fn sample(&mut self, number: u16, at: Time) {
        if !self.all.is_multiple_of(self.every.max(1)) {
            return;
        }
        if usize::from(self.sampled) == SAMPLES {
            for place in 0..SAMPLES / 2 {
                self.sample_times[place] = self.sample_times[2 * place];
                self.sample_numbers[place] = self.sample_numbers[2 * place];
            }
            self.sampled = (SAMPLES / 2) as u8;
            self.every = self.every.max(1) * 2;
        }
        let place = usize::from(self.sampled);
        (self.sample_times[place], self.sample_numbers[place]) = (at, number);
        self.sampled += 1;
    }

    /// Returns some numbers with their times, in order.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (Time, u16)> {
        let all = self.sample_times.into_iter().zip(self.sample_numbers);
        all.take(usize::from(self.sampled))
    }

    /// Returns true if nearly all packets had the number expected.
    pub(crate) fn is_regular(&self) -> bool {
        self.exact >= REGULAR && self.exact * 10 >= self.all * 9
    }
}
