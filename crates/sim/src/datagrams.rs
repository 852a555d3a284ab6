//! The flows that are no connections: a source at one end, and at the other somebody who counts.

use crate::FOREIGN;
use crate::endpoints::start_time;
use ackord_scenario::Flow;
use ackord_traffic::{DATAGRAM_HEADERS, Datagrams};
use ackord_units::{Bytes, RandomStream, Span, Time};
use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};

/// The sending end of a datagram flow.
#[derive(Debug)]
pub(crate) struct Sender {
    source: Datagrams,
    flow: FlowId,
    from: Side,
    src: NodeId,
    dst: NodeId,
}

impl Sender {
    /// The sender of `flow`, which has this number, with the random streams of `seed`.
    pub(crate) fn new(seed: u64, flow: &Flow, number: FlowId) -> Sender {
        let stream = |what: &str| {
            RandomStream::for_element(seed, &format!("flows/{}/traffic/{what}", flow.name))
        };
        let source = flow.traffic.config().datagrams(&stream);
        let mut source = source.expect("only flows over UDP are asked for");
        source.start(start_time(seed, flow));
        let (src, dst) = match flow.sends {
            Side::Client => (flow.client, flow.server),
            Side::Server => (flow.server, flow.client),
        };
        Sender { source, flow: number, from: flow.sends, src, dst }
    }

    /// Which end sends.
    pub(crate) fn side(&self) -> Side {
        self.from
    }

    /// When the next packet leaves.
    pub(crate) fn deadline(&self) -> Time {
        self.source.deadline()
    }

    /// The packet that leaves at `now`, the `number`th of the run.
    pub(crate) fn next(&mut self, now: Time, number: u64) -> Option<Packet> {
        let len = self.source.next(now)?;
        Some(Packet {
            flow: self.flow,
            from: self.from,
            src: self.src,
            dst: self.dst,
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: len.get() as u32,
            tag: stamp(now, number),
            tcp: None,
        })
    }
}

/// What a packet of this length carries.
pub(crate) fn payload(packet: &Packet) -> Bytes {
    packet.len().saturating_sub(DATAGRAM_HEADERS)
}

/// How long a datagram of a simulated host has been under way at `now`.
pub fn one_way_delay(packet: &Packet, now: Time) -> Span {
    let nanos = ((now.as_nanos() << 16).wrapping_sub(packet.tag & !NUMBER) & !FOREIGN) >> 16;
    Span::from_nanos(nanos)
}

/// When a packet left and its number in the run, in one tag: no packet is under way for the 39 hours
/// after which the time begins anew, and captures show the number modulo 2^16 as of any packet. The
/// highest bit is that of [`FOREIGN`](crate::FOREIGN) packets.
fn stamp(now: Time, number: u64) -> u64 {
    (now.as_nanos() << 16) & !FOREIGN | (number & NUMBER)
}

const NUMBER: u64 = 0xffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_gives_back_delay_and_number_even_where_time_begins_anew() {
        for left in [0, 5_000_000_000, (1u64 << 47) - 7, (1 << 50) + 3] {
            let packet = Packet {
                flow: FlowId(0),
                from: Side::Client,
                src: NodeId(0),
                dst: NodeId(1),
                ip: IpVersion::V4,
                ecn: Ecn::NotEct,
                ip_len: 1_000,
                tag: stamp(Time::from_nanos(left), 70_000),
                tcp: None,
            };
            let now = Time::from_nanos(left + 123_456_789);
            assert_eq!(one_way_delay(&packet, now), Span::from_nanos(123_456_789));
            assert_eq!(packet.tag as u16, 70_000u32 as u16);
            assert_eq!(payload(&packet), Bytes(972));
        }
    }
}
