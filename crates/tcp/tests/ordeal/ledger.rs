//! The account of one direction: bytes that one end writes and sends, and that the other end
//! receives and acknowledges. Everything counts from the SYN, which has number 0, and never wraps.

use super::ranges::Ranges;
use super::{Broken, hold};
use ackord_units::Seq;
use ackord_wire::{Flags, IpVersion, Segment};

/// Numbers further away than this are no part of the stream.
const REACH: i64 = 1 << 30;

#[derive(Debug)]
pub struct Ledger {
    /// Initial sequence number of the sending end.
    pub iss: Seq,
    /// What the sending end may not exceed by itself.
    pub mss: u32,
    /// What it may send to a peer that has named no MSS (RFC 9293 §3.7.1).
    pub default_mss: u16,
    /// Bytes the sending application has handed over.
    pub written: u64,
    pub closed: bool,
    /// The number after the highest one sent.
    pub sent: u64,
    /// Number of the FIN, once sent.
    pub fin: Option<u64>,
    /// Highest acknowledgment that has reached the sending end.
    pub acked: u64,
    /// Highest right edge of a window that has reached it.
    pub edge: u64,
    /// Largest MSS it has been told.
    pub told_mss: Option<u16>,
    /// Shift of the windows it is told, if the other end's SYN said one.
    pub told_scale: Option<u8>,
    /// Shift it has announced itself in its latest SYN.
    pub own_scale: Option<u8>,
    /// Numbers that have reached the receiving end in sound packets.
    pub arrived: Ranges,
    /// Highest acknowledgment the receiving end has sent, and highest right edge.
    pub acknowledged: u64,
    pub offered: u64,
    /// Bytes put where the receiving end said that they belong, by offset.
    store: Vec<Option<u8>>,
    /// Bytes that the receiving end said are in order.
    pub delivered: u64,
    /// Clock of the sending end's latest timestamp.
    pub stamp: Option<u32>,
}

/// The byte at this offset of the stream of the end with this initial sequence number.
pub fn byte(iss: Seq, offset: u64) -> u8 {
    let mixed = (offset ^ u64::from(iss.0) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

impl Ledger {
    pub fn new(iss: Seq, mss: u32, ip: IpVersion) -> Ledger {
        Ledger {
            iss,
            mss,
            default_mss: if ip == IpVersion::V4 { 536 } else { 1_220 },
            written: 0,
            closed: false,
            sent: 0,
            fin: None,
            acked: 0,
            edge: 0,
            told_mss: None,
            told_scale: None,
            own_scale: None,
            arrived: Ranges::default(),
            acknowledged: 0,
            offered: 0,
            store: Vec::new(),
            delivered: 0,
            stamp: None,
        }
    }

    /// The sending end is back in LISTEN (RFC 9293 §3.10.7.4): nothing has been sent.
    pub fn begin_sending_anew(&mut self) {
        (self.sent, self.own_scale, self.stamp) = (0, None, None);
    }

    /// The receiving end is: nothing has been acknowledged.
    pub fn begin_receiving_anew(&mut self) {
        (self.acknowledged, self.offered) = (0, 0);
    }

    /// A sequence number of this direction, counted from the SYN.
    pub fn number(&self, seq: Seq) -> Option<u64> {
        let ahead = i64::from(seq.since(self.iss) as i32);
        (0..REACH).contains(&ahead).then_some(ahead as u64)
    }

    /// The payload of a segment of the sending end.
    pub fn payload(&self, segment: &Segment) -> Result<Vec<u8>, Broken> {
        if segment.payload_len == 0 {
            return Ok(Vec::new());
        }
        let number = self.number(segment.seq).filter(|number| *number > 0);
        let Some(number) = number else {
            return Err(format!("bytes at {} are none of the stream", segment.seq));
        };
        let offsets = number - 1..number - 1 + u64::from(segment.payload_len);
        Ok(offsets.map(|offset| byte(self.iss, offset)).collect())
    }

    /// A sound packet has reached the receiving end.
    pub fn on_arrival(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if let Some(number) = self.number(segment.seq) {
            self.arrived.add(number, number + u64::from(segment.seq_len()));
        }
    }

    /// A sound packet of the receiving end has reached the sending one, which may still be
    /// `opening` the connection.
    pub fn on_answer(&mut self, answer: &Segment, opening: bool) {
        let syn = answer.flags.contains(Flags::SYN);
        if syn && opening {
            self.told_mss = self.told_mss.max(Some(answer.options.mss.unwrap_or(self.default_mss)));
            self.told_scale = answer.options.window_scale;
        }
        if answer.flags.contains(Flags::ACK)
            && let Some(number) = self.number(answer.ack)
        {
            if number <= self.sent {
                self.acked = self.acked.max(number);
            }
            self.edge = self.edge.max(number + self.window(answer, syn));
        } else if syn {
            // A SYN alone offers its window from the first byte on.
            self.edge = self.edge.max(1 + u64::from(answer.window));
        }
    }

    /// The window that the sending end reads from an answer.
    fn window(&self, answer: &Segment, syn: bool) -> u64 {
        let shift = self.told_scale.filter(|_| !syn && self.own_scale.is_some());
        u64::from(answer.window) << shift.map_or(0, |shift| shift.min(14))
    }

    /// The receiving end says that the payload which has come belongs at this offset.
    pub fn put(&mut self, offset: u64, payload: &[u8]) -> Result<(), Broken> {
        let start = offset as usize;
        hold!(offset < 1 << 26, "bytes are put at {offset}, beyond all that can be");
        let end = start + payload.len();
        if self.store.len() < end {
            self.store.resize(end, None);
        }
        for (place, byte) in self.store[start..end].iter_mut().zip(payload) {
            *place = Some(*byte);
        }
        Ok(())
    }

    /// The receiving end says that so many bytes have come in order.
    pub fn deliver(&mut self, until: u64, honest: bool) -> Result<(), Broken> {
        hold!(until >= self.delivered, "{until} bytes delivered after {}", self.delivered);
        let in_order = self.arrived.prefix().saturating_sub(1);
        hold!(until <= in_order, "{until} bytes delivered, {in_order} have come in order");
        for offset in self.delivered..until {
            let there = self.store.get(offset as usize).copied().flatten();
            let Some(there) = there else {
                return Err(format!("byte {offset} is delivered and was never put"));
            };
            let sent = byte(self.iss, offset);
            hold!(!honest || there == sent, "byte {offset} is {there}, {sent} was written");
        }
        self.delivered = until;
        Ok(())
    }
}
