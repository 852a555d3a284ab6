//! A TCP segment as a value: the header's fields and the length of the payload.

use ackord_units::Seq;
use std::ops::BitOr;

/// A TCP header with its options, and how many payload bytes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Sequence number of the first byte (or of the SYN).
    pub seq: Seq,
    /// Next byte expected; has a meaning only with [`Flags::ACK`].
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// The window field as it stands in the header, before scaling.
    pub window: u16,
    /// Bytes of payload.
    pub payload_len: u32,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Bytes of sequence space: payload, and one each for SYN and FIN (RFC 9293 §3.4).
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.payload_len
            + u32::from(self.flags.contains(Flags::SYN))
            + u32::from(self.flags.contains(Flags::FIN))
    }

    /// The sequence number after this segment.
    #[inline]
    pub fn end_seq(&self) -> Seq {
        self.seq + self.seq_len()
    }

    /// Length of the TCP header with options, a multiple of four bytes.
    #[inline]
    pub fn header_len(&self) -> u32 {
        20 + self.options.wire_len()
    }
}

/// TCP control bits (RFC 9293 §3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u8);

impl Flags {
    /// No bit set.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is significant.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);

    /// These without those of `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// All bits as they stand in the header.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags with these header bits.
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits)
    }

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters = [(0x02, 'S'), (0x01, 'F'), (0x04, 'R'), (0x08, 'P'), (0x10, '.')];
        let more = [(0x20, 'U'), (0x40, 'E'), (0x80, 'W')];
        for (bit, letter) in letters.into_iter().chain(more) {
            if self.0 & bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// The TCP options this project speaks; others are skipped when read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size (only on a SYN).
    pub mss: Option<u16>,
    /// Window scale shift count (only on a SYN; RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (only on a SYN; RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018 §3).
    pub sack: SackBlocks,
}

impl Options {
    /// Bytes on the wire, padded to a multiple of four in the layout every common stack uses
    /// (NOP NOP before timestamps and SACK, NOP before window scale, SACK permitted sharing the
    /// timestamps' padding).
    #[inline]
    pub fn wire_len(&self) -> u32 {
        let mut len = if self.timestamps.is_some() { 12 } else { 0 };
        if !self.sack.is_empty() {
            len += 4 + 8 * self.sack.len() as u32;
        }
        // Looked at together: no segment but the first of each side has any of them.
        if self.mss.is_some() | self.window_scale.is_some() | self.sack_permitted {
            len += self.syn_len();
        }
        len
    }

    /// Bytes of what only a SYN has.
    #[inline(never)]
    fn syn_len(&self) -> u32 {
        let apart = self.sack_permitted && self.timestamps.is_none();
        4 * (u32::from(self.mss.is_some())
            + u32::from(self.window_scale.is_some())
            + u32::from(apart))
    }
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echoed clock of the other side.
    pub echo: u32,
}

/// A contiguous range of received bytes above the acknowledgment (RFC 2018 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First byte of the block.
    pub start: Seq,
    /// The byte after its last.
    pub end: Seq,
}

/// As many SACK blocks as 40 bytes of options hold.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Up to four SACK blocks, the most recently received first.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// Adds a block if there is room, and says whether there was.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let room = (self.len as usize) < MAX_SACK_BLOCKS;
        if room {
            self.blocks[self.len as usize] = block;
            self.len += 1;
        }
        room
    }

    /// The blocks in the order of the option.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.len as usize]
    }

    /// Returns the D-SACK block of an acknowledgment of `ack` (RFC 2883 §4): the first one, if it lies below `ack` or within
    /// the second.
    #[inline]
    pub fn duplicate(&self, ack: Seq) -> Option<SackBlock> {
        let [first, rest @ ..] = self.as_slice() else { return None };
        let within = |second: &SackBlock| {
            first.start.at_or_after(second.start) && first.end.at_or_before(second.end)
        };
        (first.start.before(ack) || rest.first().is_some_and(within)).then_some(*first)
    }

    /// How many blocks there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_with_every_option_fits_in_forty_bytes() {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            sack: SackBlocks::default(),
        };
        assert_eq!(options.wire_len(), 20);
    }

    #[test]
    fn three_sack_blocks_beside_timestamps_are_forty_bytes() {
        let mut sack = SackBlocks::default();
        for i in 0..3 {
            assert!(sack.push(SackBlock { start: Seq(i * 10), end: Seq(i * 10 + 5) }));
        }
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let options = Options { timestamps, sack, ..Options::default() };
        assert_eq!(options.wire_len(), 40);
    }
}
