//! Scripts for tests of boxes: segments in, what comes out, with instants.
//!
//! One connection between a fixed host (node 0) that sends 1000-byte segments from sequence number
//! 1 on, and a mobile host (node 2).

use super::{Heading, InPath, Outbox, Verdict};
use ackord_events::ProxySending;
use ackord_units::{Seq, Span, Time};
use ackord_wire::{
    Ecn, Flags, FlowId, IpVersion, NodeId, Packet, SackBlock, Segment, Side, Timestamps,
};

pub(crate) const MSS: u32 = 1_000;

/// What came out of a box during one call, in the words of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    /// The packet that came in went on.
    Passed,
    /// It went on with this acknowledgment, this window and so many SACK blocks.
    Changed(u32, u16, usize),
    /// It ended there.
    Kept,
    /// The box sent data again, from this sequence number on.
    Again(u32),
    /// The box sent data to find out whether anybody listens.
    Probed(u32),
    /// The box acknowledged this much, with this window.
    Acked(u32, u16),
}

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// The number of the byte at which the `n`-th segment begins, counted from one.
pub(crate) fn nth(n: u32) -> u32 {
    1 + (n - 1) * MSS
}

fn packet(src: u16, dst: u16, segment: Segment) -> Packet {
    Packet {
        flow: FlowId(7),
        from: if src == 0 { Side::Server } else { Side::Client },
        src: NodeId(src),
        dst: NodeId(dst),
        ip: IpVersion::V4,
        ecn: Ecn::Ect0,
        ip_len: 20 + segment.header_len() + segment.payload_len,
        tag: u64::from(segment.seq.0),
        tcp: Some(segment),
    }
}

pub(crate) fn to_mobile(segment: Segment) -> Packet {
    packet(0, 2, segment)
}

pub(crate) fn from_mobile(segment: Segment) -> Packet {
    packet(2, 0, segment)
}

/// The `n`-th data segment, counted from one.
pub(crate) fn data(n: u32) -> Packet {
    to_mobile(Segment {
        seq: Seq(nth(n)),
        ack: Seq(500),
        flags: Flags::ACK,
        window: 100,
        payload_len: MSS,
        ..Segment::default()
    })
}

/// An acknowledgment of everything before the `n`-th segment; SACK blocks from segment to segment,
/// the last not included.
pub(crate) fn ack(n: u32, sacked: &[(u32, u32)]) -> Packet {
    let mut segment = Segment {
        seq: Seq(500),
        ack: Seq(nth(n)),
        flags: Flags::ACK,
        window: 100,
        ..Segment::default()
    };
    for &(from, to) in sacked {
        segment.options.sack.push(SackBlock { start: Seq(nth(from)), end: Seq(nth(to)) });
    }
    from_mobile(segment)
}

/// The same with timestamps.
pub(crate) fn stamped(mut packet: Packet) -> Packet {
    if let Some(segment) = &mut packet.tcp {
        segment.options.timestamps = Some(Timestamps { value: 11, echo: 22 });
        packet.ip_len = packet.ip.header_len() + segment.header_len() + segment.payload_len;
    }
    packet
}

/// Plays packets to a box and tells what came out.
pub(crate) struct Script<B> {
    pub(crate) the_box: B,
    out: Outbox,
}

impl<B: InPath> Script<B> {
    pub(crate) fn new(the_box: B) -> Script<B> {
        Script { the_box, out: Outbox::default() }
    }

    /// Segments one to `n` pass, one each millisecond from `from` on, and nothing comes back yet.
    pub(crate) fn flight(&mut self, from: u64, segments: std::ops::RangeInclusive<u32>) {
        for (millis, n) in (from..).zip(segments) {
            assert_eq!(self.down(millis, data(n)), [Seen::Passed]);
        }
    }

    /// A packet comes from the fixed host.
    pub(crate) fn down(&mut self, millis: u64, packet: Packet) -> Vec<Seen> {
        self.play(millis, &packet, Heading::Mobile)
    }

    /// A packet comes from the mobile host.
    pub(crate) fn up(&mut self, millis: u64, packet: Packet) -> Vec<Seen> {
        self.play(millis, &packet, Heading::Fixed)
    }

    fn play(&mut self, millis: u64, packet: &Packet, heading: Heading) -> Vec<Seen> {
        let mut seen = self.until(millis);
        let verdict = self.the_box.handle(at(millis), packet, heading, &mut self.out);
        seen.push(match verdict {
            Verdict::Forward => Seen::Passed,
            Verdict::Absorb => Seen::Kept,
            Verdict::Rewrite(changed) => {
                let segment = changed.tcp.expect("TCP stays TCP");
                let wanted = changed.ip.header_len() + segment.header_len() + segment.payload_len;
                assert_eq!(changed.ip_len, wanted, "the length goes with the options");
                Seen::Changed(segment.ack.0, segment.window, segment.options.sack.len())
            }
        });
        self.drain(&mut seen);
        seen
    }

    /// Time passes up to and including `millis`.
    pub(crate) fn until(&mut self, millis: u64) -> Vec<Seen> {
        let mut seen = Vec::new();
        while let Some(due) = self.the_box.deadline().filter(|due| *due <= at(millis)) {
            self.the_box.handle_deadline(due, &mut self.out);
            self.drain(&mut seen);
            let next = self.the_box.deadline();
            assert!(next.is_none_or(|next| next > due), "a box that is always due");
        }
        seen
    }

    fn drain(&mut self, seen: &mut Vec<Seen>) {
        for (packet, made) in self.out.packets() {
            let segment = packet.tcp.expect("boxes send TCP");
            seen.push(match made {
                super::Made::New(ProxySending::Retransmission)
                | super::Made::First(ProxySending::Retransmission) => Seen::Again(segment.seq.0),
                super::Made::New(ProxySending::Probe) => Seen::Probed(segment.seq.0),
                super::Made::New(ProxySending::Acknowledgment) => {
                    assert_eq!((segment.payload_len, packet.tag), (0, super::NO_PAYLOAD));
                    Seen::Acked(segment.ack.0, segment.window)
                }
                other => panic!("{other:?} was not expected"),
            });
        }
        self.out.clear();
    }
}
