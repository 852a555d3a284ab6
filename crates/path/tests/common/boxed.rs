//! Scripts for middleboxes: segments of a connection between a fixed host and a mobile one, and
//! what a box does about them.

use ackord_events::{ProxyAct, ProxySending};
use ackord_path::proxy::{Made, Outbox};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{
    Ecn, Flags, FlowId, IpVersion, NodeId, Packet, SackBlock, Segment, Side, Timestamps,
};

/// Bytes of a data segment.
pub(crate) const MSS: u32 = 1_000;

/// The window field of the mobile host.
pub(crate) const WINDOW: u16 = 30_000;

pub(crate) fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

pub(crate) fn us(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// The `index`-th data segment, from the fixed host.
pub(crate) fn data(index: u32) -> Packet {
    data_of(0, index * MSS, MSS)
}

pub(crate) fn data_of(flow: u32, seq: u32, payload_len: u32) -> Packet {
    let segment = Segment {
        seq: Seq(seq),
        ack: Seq(77),
        flags: Flags::ACK,
        window: 500,
        payload_len,
        ..Segment::default()
    };
    Packet {
        flow: FlowId(flow),
        from: Side::Server,
        src: NodeId(0),
        dst: NodeId(2),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 40 + payload_len,
        tag: u64::from(seq),
        tcp: Some(segment),
    }
}

/// The mobile host has everything below the `index`-th segment.
pub(crate) fn ack(index: u32) -> Packet {
    ack_of(0, index * MSS)
}

pub(crate) fn ack_of(flow: u32, ack: u32) -> Packet {
    let segment = Segment {
        seq: Seq(77),
        ack: Seq(ack),
        flags: Flags::ACK,
        window: WINDOW,
        ..Segment::default()
    };
    Packet {
        flow: FlowId(flow),
        from: Side::Client,
        src: NodeId(2),
        dst: NodeId(0),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 40,
        tag: 0,
        tcp: Some(segment),
    }
}

/// And reports segments `from..to` above.
pub(crate) fn sack(index: u32, blocks: &[(u32, u32)]) -> Packet {
    let mut packet = ack(index);
    if let Some(segment) = &mut packet.tcp {
        for &(from, to) in blocks {
            segment.options.sack.push(SackBlock { start: Seq(from * MSS), end: Seq(to * MSS) });
        }
        packet.ip_len = 20 + segment.header_len();
    }
    packet
}

/// With timestamps.
pub(crate) fn stamped(mut packet: Packet, value: u32, echo: u32) -> Packet {
    if let Some(segment) = &mut packet.tcp {
        segment.options.timestamps = Some(Timestamps { value, echo });
        packet.ip_len += 12;
    }
    packet
}

/// What a box sent, in short: data by segment, acknowledgments by what and with which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Data again.
    Again(u32),
    /// Data as a probe.
    Test(u32),
    /// An empty segment that asks for an answer.
    Question,
    /// An acknowledgment of everything below a segment, with this window.
    Ack(u32, u16),
    /// A packet that had been held back: an acknowledgment of everything below a segment.
    Released(u32, u16),
}

/// Empties the outbox.
pub(crate) fn sent(out: &mut Outbox) -> Vec<Sent> {
    let told = out
        .packets()
        .map(|(packet, made)| {
            let segment = packet.tcp.as_ref().expect("TCP");
            match made {
                Made::New(ProxySending::Retransmission)
                | Made::First(ProxySending::Retransmission) => Sent::Again(segment.seq.0 / MSS),
                Made::New(ProxySending::Probe) if segment.payload_len == 0 => Sent::Question,
                Made::New(ProxySending::Probe) => Sent::Test(segment.seq.0 / MSS),
                Made::New(_) | Made::First(_) => Sent::Ack(segment.ack.0 / MSS, segment.window),
                Made::Released => Sent::Released(segment.ack.0 / MSS, segment.window),
            }
        })
        .collect();
    out.clear();
    told
}

/// What the box told.
pub(crate) fn acts(out: &Outbox) -> Vec<ProxyAct> {
    out.notes().iter().map(|note| note.act).collect()
}
