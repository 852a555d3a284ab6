//! Numbers and packets out of the bytes of a case.

use ackord_units::Seq;
use ackord_wire::{
    Ecn, Endpoints, Flags, IpFields, Options, Payload, SackBlock, SackBlocks, Segment, Timestamps,
    encode,
};

/// What is left of a case. Beyond its end everything is zero.
pub(super) struct TrialCase<'a>(pub(super) &'a [u8]);

impl<'a> TrialCase<'a> {
    pub(super) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(super) fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    pub(super) fn long(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }

    pub(super) fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A header in which mostly what is said by `expected` stands: what the other end awaits.
    pub(super) fn segment(&mut self, expected: &ExpectedStream) -> Segment {
        let (how, flags) = (self.byte(), Flags::from_bits(self.byte()));
        let near = |case: &mut TrialCase<'_>, at: Seq| match how & 3 {
            0 => at,
            1 => at + u32::from(case.byte()),
            2 => at - u32::from(case.byte()),
            _ => Seq(case.long()),
        };
        let seq = near(self, expected.seq);
        let ack = if how & 4 == 0 { expected.ack } else { near(self, expected.ack) };
        let flags = if how & 8 == 0 { flags } else { Flags::ACK };
        let payload_len = u32::from(self.word() % 1_400);
        let window = if how & 16 == 0 { 60_000 } else { self.word() };
        let mut options = Options::default();
        if how & 32 != 0 {
            options.timestamps = Some(Timestamps { value: self.long(), echo: self.long() });
            options.mss = flags.contains(Flags::SYN).then(|| self.word());
            options.window_scale = flags.contains(Flags::SYN).then(|| self.byte());
            options.sack_permitted = flags.contains(Flags::SYN);
        }
        if how & 64 != 0 {
            let mut sack = SackBlocks::default();
            let start = ack + u32::from(self.byte());
            sack.push(SackBlock { start, end: start + u32::from(self.byte()) });
            options.sack = sack;
        }
        Segment { seq, ack, flags, window, payload_len, options }
    }
}

/// Where a connection stands, as its next segment would say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExpectedStream {
    pub(super) seq: Seq,
    pub(super) ack: Seq,
}

impl ExpectedStream {
    /// A segment has been sent.
    pub(super) fn sent(&mut self, segment: &Segment) {
        self.seq = segment.end_seq();
    }

    /// A segment of the other end has been seen.
    pub(super) fn seen(&mut self, segment: &Segment) {
        let opens = segment.flags.contains(Flags::SYN);
        if opens || segment.seq == self.ack {
            self.ack = segment.end_seq();
        }
    }
}

/// The bytes of this part of sequence space.
pub(super) fn stream(from: Seq, len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (from + at).0 as u8).collect()
}

/// Whether these are the bytes from there on.
pub(super) fn are_in_place(from: Seq, bytes: &[u8]) -> bool {
    (0_u32..).zip(bytes).all(|(at, byte)| *byte == (from + at).0 as u8)
}

/// A TCP packet whose bytes are in their places.
pub(super) fn tcp(ends: Endpoints, segment: &Segment, ecn: Ecn) -> Option<Vec<u8>> {
    let fields = IpFields { ecn, ..IpFields::default() };
    // The bytes of a SYN would follow it.
    let from = segment.seq + u32::from(segment.flags.contains(Flags::SYN));
    let payload = stream(from, segment.payload_len as usize);
    let mut bytes = Vec::new();
    encode(ends, fields, segment, Payload::Bytes(&payload), &mut bytes).ok()?;
    Some(bytes)
}
