//! The bytes of a packet that leaves, or passes a tap: as they came in, or made anew.
//!
//! | the packet comes from | and is | its bytes |
//! | --- | --- | --- |
//! | a foreign host | as it was | those that came in, with the ECN field as the path left it |
//! | a foreign host | changed or made by a middlebox | its header anew, with what the host sent there |
//! | one of our hosts | any | its header anew, and zeros |
//!
//! Not modelled: what a header has that [`Segment`](ackord_wire::Segment) does not know (an unknown
//! option, the urgent pointer, DSCP, the time to live) where a middlebox has made it anew.

use super::classify::FlowTable;
use super::store::PacketStore;
use super::streams::KeptStreams;
use ackord_wire::{
    FlowAddresses, IpFields, NodeId, Packet, Payload, Segment, Side, encode, encode_packet, set_ecn,
};

/// The bytes of everything under way.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) store: PacketStore,
    /// Kept where the path has middleboxes.
    streams: Option<KeptStreams>,
    /// By node: whether its host is foreign.
    foreign: Vec<bool>,
    /// A packet made anew.
    made: Vec<u8>,
    /// Payload of one.
    payload: Vec<u8>,
}

/// Bytes, and where they are from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// As they came in, with how manieth packet.
    Kept(&'a [u8], u64),
    /// Made anew.
    Made(&'a [u8]),
    /// Made anew, but for the payload: that is not here (any more).
    HeaderOnly(&'a [u8]),
    /// Nothing is known of it.
    Nothing,
}

impl Bytes {
    /// Those of nobody yet, for nodes of which these are foreign hosts.
    pub(crate) fn new(
        store: PacketStore,
        streams: Option<KeptStreams>,
        foreign: Vec<bool>,
    ) -> Bytes {
        Bytes { store, streams, foreign, made: Vec::new(), payload: Vec::new() }
    }

    /// A packet of a foreign host enters.
    #[inline]
    pub(crate) fn entered(&mut self, packet: &Packet, payload: &[u8]) {
        if let (Some(streams), Some(segment)) = (&mut self.streams, &packet.tcp) {
            // Our own hosts want no bytes.
            let wanted = is(&self.foreign, packet.dst);
            let payload = if wanted { payload } else { &[] };
            streams.entered(packet.flow, packet.from, segment, payload);
        }
    }

    /// A packet has come to a foreign host.
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Packet) {
        if let (Some(streams), Some(segment)) = (&mut self.streams, &packet.tcp) {
            streams.arrived(packet.flow, packet.from, segment);
        }
    }

    /// A packet's bytes.
    #[inline]
    pub(crate) fn of(&mut self, packet: &Packet, flows: &FlowTable) -> Found<'_> {
        if !self.is_kept(packet) {
            return self.make(packet, flows);
        }
        let Some(stored) = self.store.get_mut(packet.tag) else { return Found::Nothing };
        if stored.ecn != packet.ecn {
            set_ecn(stored.bytes_mut(), packet.ecn);
            stored.ecn = packet.ecn;
        }
        Found::Kept(stored.bytes(), stored.order)
    }

    /// Keeps what foreign hosts send, so that it can be told whether it arrives as it was sent.
    pub(crate) fn keep_streams(&mut self) {
        self.streams.get_or_insert_default();
    }

    /// Whether the data of a packet that came in, and that its end is about to get, is what its host has
    /// sent there; nothing where that is not known (any more), or there is none.
    pub(crate) fn is_sound(&mut self, packet: &Packet) -> Option<bool> {
        let segment = packet.tcp.as_ref().filter(|segment| segment.payload_len > 0)?;
        let bytes = self.store.get(packet.tag)?.bytes();
        let came = &bytes[bytes.len().checked_sub(segment.payload_len as usize)?..];
        self.payload.clear();
        let (streams, payload) = (self.streams.as_ref()?, &mut self.payload);
        streams.payload(packet.flow, packet.from, segment, payload)?;
        Some(*payload == came)
    }

    /// Whether the packet is still as it came in. Where there is no middlebox nobody changes one.
    #[inline]
    fn is_kept(&self, packet: &Packet) -> bool {
        let stored = self.store.get(packet.tag);
        stored.is_some_and(|stored| self.streams.is_none() || stored.segment == packet.tcp)
    }

    #[cold]
    fn make(&mut self, packet: &Packet, flows: &FlowTable) -> Found<'_> {
        let Some(endpoints) = flows.endpoints(packet.flow, packet.from) else {
            return Found::Nothing;
        };
        self.made.clear();
        let identification = packet.tag as u16;
        if !is(&self.foreign, packet.src) {
            let (client, server) = match packet.from {
                Side::Client => (endpoints.src, endpoints.dst),
                Side::Server => (endpoints.dst, endpoints.src),
            };
            let addresses = FlowAddresses { client, server };
            return match encode_packet(packet, &addresses, identification, &mut self.made) {
                Ok(()) => Found::Made(&self.made),
                Err(_) => Found::Nothing,
            };
        }
        let Some(segment) = &packet.tcp else { return Found::Nothing };
        self.payload.clear();
        let (flow, from) = (packet.flow, packet.from);
        let streams = self.streams.as_ref();
        let there = streams.and_then(|all| all.payload(flow, from, segment, &mut self.payload));
        let without = Segment { payload_len: 0, ..*segment };
        let (segment, payload) = match there {
            Some(()) => (segment, Payload::Bytes(&self.payload)),
            None => (&without, Payload::Zeros(0)),
        };
        let ip = IpFields { ecn: packet.ecn, identification, ..IpFields::default() };
        match (encode(endpoints, ip, segment, payload, &mut self.made), there) {
            (Ok(()), Some(())) => Found::Made(&self.made),
            (Ok(()), None) => Found::HeaderOnly(&self.made),
            (Err(_), _) => Found::Nothing,
        }
    }
}

fn is(foreign: &[bool], node: NodeId) -> bool {
    foreign.get(node.0 as usize) == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::super::store::Entering;
    use super::*;
    use ackord_scenario::ScenarioFile;
    use ackord_units::{Seq, Time};
    use ackord_wire::{Ecn, Flags, FlowId, IpVersion, decode};

    /// A path with a box, a client that is foreign and a server that is foreign or not.
    fn bytes(server_is_foreign: bool) -> (Bytes, FlowTable, Packet) {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it is there");
        let scenario = file.check().expect("sound");
        let flow = &scenario.flows[0];
        let mut foreign = vec![false; scenario.nodes.len()];
        foreign[flow.client.0 as usize] = true;
        foreign[flow.server.0 as usize] = server_is_foreign;
        let segment = Segment {
            seq: Seq(500),
            flags: Flags::ACK | Flags::PSH,
            payload_len: 5,
            window: 9,
            ..Segment::default()
        };
        let packet = Packet {
            flow: FlowId(0),
            from: Side::Client,
            src: flow.client,
            dst: flow.server,
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 45,
            tag: 7,
            tcp: Some(segment),
        };
        let bytes = Bytes::new(PacketStore::new(1_500), Some(KeptStreams::default()), foreign);
        (bytes, FlowTable::new(&scenario), packet)
    }

    fn enter(bytes: &mut Bytes, flows: &FlowTable, packet: &Packet, payload: &[u8]) -> Packet {
        let endpoints = flows.endpoints(packet.flow, packet.from).expect("known");
        let ip = IpFields { ttl: 33, ecn: packet.ecn, identification: 4 };
        let segment = packet.tcp.expect("TCP");
        let mut buffer = Vec::new();
        encode(endpoints, ip, &segment, Payload::Bytes(payload), &mut buffer).expect("sound");
        let len = buffer.len();
        let (ecn, at) = (packet.ecn, Time::ZERO);
        bytes.entered(packet, payload);
        let entering = Entering { buffer, len, ecn, segment: Some(segment), at };
        Packet { tag: bytes.store.insert(entering).expect("room"), ..*packet }
    }

    #[test]
    fn what_no_box_touched_leaves_as_it_came_but_for_its_mark() {
        let (mut bytes, flows, packet) = bytes(true);
        let packet = enter(&mut bytes, &flows, &packet, b"hello");
        let marked = Packet { ecn: Ecn::Ce, ..packet };
        for (packet, ecn) in [(packet, Ecn::NotEct), (marked, Ecn::Ce), (packet, Ecn::NotEct)] {
            let Found::Kept(found, 1) = bytes.of(&packet, &flows) else { panic!("it is kept") };
            let decoded = decode(found).expect("sound");
            assert_eq!((decoded.ip.ecn, decoded.ip.ttl), (ecn, 33));
            assert_eq!(&found[decoded.payload], b"hello");
        }
    }

    #[test]
    fn what_a_box_made_of_it_has_the_bytes_that_were_sent_there() {
        let (mut bytes, flows, packet) = bytes(true);
        let packet = enter(&mut bytes, &flows, &packet, b"hello");
        let segment = packet.tcp.expect("TCP");
        let changed = Segment { window: 1, seq: Seq(501), payload_len: 3, ..segment };
        let cut = Packet { tcp: Some(changed), ip_len: 43, ..packet };
        let Found::Made(found) = bytes.of(&cut, &flows) else { panic!("it is made anew") };
        let decoded = decode(found).expect("sound");
        assert_eq!((decoded.segment, &found[decoded.payload]), (changed, &b"ell"[..]));
        // Gone from the path, but not acknowledged: a copy that a box kept can still be made.
        bytes.store.release(packet.tag);
        let Found::Made(found) = bytes.of(&packet, &flows) else { panic!("it is made anew") };
        assert_eq!(decode(found).map(|decoded| decoded.segment), Ok(segment));
        // Acknowledged, which a box may not know.
        let ack = Segment { ack: Seq(505), flags: Flags::ACK, ..Segment::default() };
        let (src, dst) = (packet.dst, packet.src);
        let back = Packet { from: Side::Server, src, dst, tcp: Some(ack), ip_len: 40, ..packet };
        bytes.entered(&back, &[]);
        let Found::Made(found) = bytes.of(&packet, &flows) else { panic!("it is made anew") };
        let decoded = decode(found).expect("sound");
        assert_eq!((decoded.segment, &found[decoded.payload]), (segment, &b"hello"[..]));
        // Never sent: nobody knows what it would be.
        let later = Packet { tcp: Some(Segment { seq: Seq(600), ..segment }), ..packet };
        let Found::HeaderOnly(found) = bytes.of(&later, &flows) else { panic!("it is nowhere") };
        let decoded = decode(found).expect("sound");
        assert_eq!((decoded.segment.seq, decoded.segment.payload_len), (Seq(600), 0));
    }

    #[test]
    fn bytes_that_were_not_sent_there_are_noticed() {
        let (mut bytes, flows, packet) = bytes(true);
        let packet = enter(&mut bytes, &flows, &packet, b"hello");
        assert_eq!(bytes.is_sound(&packet), Some(true));
        let stored = bytes.store.get_mut(packet.tag).expect("under way").bytes_mut();
        *stored.last_mut().expect("bytes") ^= 1;
        assert_eq!(bytes.is_sound(&packet), Some(false));
        let segment = packet.tcp.expect("TCP");
        let elsewhere = Segment { seq: Seq(900), ..segment };
        assert_eq!(bytes.is_sound(&Packet { tcp: Some(elsewhere), ..packet }), None);
        let without = Segment { payload_len: 0, ..segment };
        assert_eq!(bytes.is_sound(&Packet { tcp: Some(without), ..packet }), None);
    }

    #[test]
    fn our_own_packets_carry_zeros() {
        let (mut bytes, flows, packet) = bytes(false);
        let (src, dst) = (packet.dst, packet.src);
        let ours = Packet { src, dst, from: Side::Server, ecn: Ecn::Ect0, ..packet };
        let Found::Made(found) = bytes.of(&ours, &flows) else { panic!("it is made") };
        let decoded = decode(found).expect("sound");
        assert_eq!((&found[decoded.payload], decoded.ip.ecn), (&[0; 5][..], Ecn::Ect0));
        assert_eq!(Some(decoded.endpoints), flows.endpoints(FlowId(0), Side::Server));
        let unknown = Packet { flow: FlowId(99), ..ours };
        assert_eq!(bytes.of(&unknown, &flows), Found::Nothing);
    }
}
