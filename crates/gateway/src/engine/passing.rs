//! What passes: whose it is, what is kept of it, and what a box says.

use super::fast::STANDS_FOR;
use super::turns::begun_anew;
use super::{Engine, FIXED, MOBILE, Order};
use crate::config::{FlowFacts, MarkMatch};
use crate::watch::Decision;
use crate::{Connection, Interface, Key, LinkHeader, OpenedFrom, Sighting};
use ackord_path::proxy::{Heading, Verdict};
use ackord_units::{Seq, Time};
use ackord_wire::{
    DecodeError, Decoded, Flags, FlowId, LinkType, Packet, Piece, Segment, Side, TcpChecksum,
    decode_offloaded, glimpse, write_piece,
};

/// SYNs that are remembered for connections that are not known yet, at most.
const AHEAD: usize = 64;

impl Engine {
    /// A packet of a connection that is known leaves by the WAN interface: whoever is told that interface's
    /// header need not know a route.
    pub(super) fn learn_wan(&mut self, link: LinkHeader, ip: &[u8]) {
        let Ok(seen) = glimpse(LinkType::RAW, ip, ip.len() as u32) else { return };
        let key = Key::towards(Interface::Wan, seen.endpoints);
        if let Some(connection) = self.connections.of_key(key) {
            connection.to_wan = Some(link);
        }
        // A SYN may be shown here before it is shown as it comes in, and makes its connection known.
        if seen.flags.contains(Flags::SYN) {
            self.ahead.truncate(AHEAD - 1);
            self.ahead.push_front((key, link));
        }
    }

    /// A packet with this mark leaves for a mobile host: its connection may be another rule's. Before its
    /// first packet was shown without a mark nobody knows it; there will be another one.
    pub(super) fn learn_mark(&mut self, lan: Interface, mark: MarkMatch, ip: &[u8]) {
        let Ok(seen) = glimpse(LinkType::RAW, ip, ip.len() as u32) else { return };
        let key = Key::towards(lan, seen.endpoints);
        let Some(connection) = self.connections.of_key(key) else { return };
        let known = connection.facts.mark.and(mark);
        if known == connection.facts.mark {
            return;
        }
        connection.facts.mark = known;
        let most = self.classes.len().saturating_sub(1);
        let class = (self.classify)(&connection.facts).min(most);
        if class == connection.class {
            return;
        }
        self.stats.held -= u64::from(connection.is_held);
        connection.is_held = false;
        // What the rule before did to it is no evidence about this one.
        if let Some(class) = self.classes.get(connection.class) {
            begun_anew(connection, class, &mut self.counted, self.now);
        }
        let before = std::mem::replace(&mut connection.class, class);
        if let Some(proxy) = self.classes.get_mut(before).and_then(|one| one.proxy.as_mut()) {
            proxy.forget(connection.flow);
        }
    }

    pub(super) fn take_in(
        &mut self,
        now: Time,
        sighting: &Sighting<'_>,
        (lan, to_lan): (u8, Option<LinkHeader>),
        ip: &[u8],
        heading: Heading,
    ) {
        let Some(decoded) = self.read(ip, sighting.checksum) else { return };
        let towards = match heading {
            Heading::Mobile => Interface::Lan(lan),
            Heading::Fixed => Interface::Wan,
        };
        let key = Key::towards(towards, decoded.endpoints);
        let (flags, limit) = (decoded.segment.flags, self.config.limits.fast);
        if flags.contains(Flags::SYN) && self.begins_anew(key, &decoded) {
            self.forget(key);
        }
        let connection = self.know(now, key, (lan, to_lan), ip);
        let (flow, is_fast) = (connection.flow, connection.pace.is_fast());
        let bytes = u64::from(decoded.segment.payload_len);
        // Whoever is fast already is looked at as a whole.
        let has_turned = !is_fast && connection.pace.look(now, limit);
        connection.pace.add(bytes);
        // As one segment: nobody asks for those that it is made of.
        let segment_size = if connection.pace.is_fast() { 0 } else { sighting.segment_size };
        self.count(flow, heading, if sighting.is_sample { bytes * STANDS_FOR } else { bytes });
        if !flags.contains(Flags::SYN) {
            self.connections.heard(key, towards);
        }
        self.bury_the_gone();
        if self.taps.want(key) {
            let interface = if heading == Heading::Mobile { towards } else { Interface::Lan(lan) };
            self.taps.seen(self.on_the_wall(now), key, interface, ip);
        }
        if has_turned {
            self.turn(flow);
        }
        // A sample is of a stream with gaps, and nothing follows from it.
        if !sighting.is_sample {
            for piece in Piece::of(decoded.segment.payload_len, segment_size) {
                self.stats.segments += 1;
                self.pass(now, (flow, heading), ip, &decoded, piece);
            }
        }
        self.tell_hiding(now, flow);
        self.taps.flush();
        if flags.contains(Flags::RST) {
            self.forget(key);
        }
    }

    /// TCP in an IP packet; what else cannot be read is counted.
    fn read(&mut self, ip: &[u8], checksum: TcpChecksum) -> Option<Decoded> {
        let mut decoded = decode_offloaded(ip, checksum);
        // Only data towards the mobile hosts is kept, and not where there is too much of it: rings cut the
        // rest off behind its headers.
        if matches!(decoded, Err(DecodeError::Truncated { .. })) {
            decoded = decode_offloaded(ip, TcpChecksum::HeadersOnly);
        }
        let is_other = matches!(decoded, Err(DecodeError::NotTcp { .. } | DecodeError::NotIp(_)));
        self.stats.tcp += u64::from(decoded.is_ok());
        self.stats.unreadable += u64::from(decoded.is_err() && !is_other);
        decoded.ok()
    }

    /// The connection of a packet that passes a LAN interface.
    fn know(
        &mut self,
        now: Time,
        key: Key,
        (lan, to_lan): (u8, Option<LinkHeader>),
        ip: &[u8],
    ) -> &mut Connection {
        let (classify, most) = (&self.classify, self.classes.len().saturating_sub(1));
        let mut is_new = false;
        let begin = || {
            is_new = true;
            let interface = usize::from(lan);
            let (dscp, mark) = (dscp_of(ip), MarkMatch::default());
            let facts = FlowFacts { interface, mobile: key.mobile, fixed: key.fixed, dscp, mark };
            (classify(&facts).min(most), facts)
        };
        let connection = self.connections.touch(now, key, begin);
        connection.to_lan = to_lan.map(|link| (lan, link)).or(connection.to_lan);
        if is_new {
            self.stats.connections += 1;
            let its = self.ahead.iter().find(|(ahead, _)| *ahead == key);
            connection.to_wan = its.map(|(_, link)| *link);
        }
        let has_box = self.classes.get(connection.class).is_some_and(|class| class.proxy.is_some());
        self.listening.passed(now, connection, has_box);
        connection
    }

    fn count(&mut self, flow: FlowId, heading: Heading, bytes: u64) {
        let Some(connection) = self.connections.of_flow(flow) else { return };
        let (counters, stats) = (&mut connection.counters, &mut self.stats);
        let each = match heading {
            Heading::Mobile => [&mut counters.bytes_to_mobile, &mut stats.bytes_to_mobile],
            Heading::Fixed => [&mut counters.bytes_from_mobile, &mut stats.bytes_from_mobile],
        };
        each.into_iter().for_each(|count| *count += bytes);
    }

    /// Whether a SYN opens another connection between the ends of one that is known.
    fn begins_anew(&mut self, key: Key, decoded: &Decoded) -> bool {
        let first = decoded.segment.seq + 1;
        let same = |one: &mut Connection| {
            let counted = one.counters;
            // Nothing yet beyond SYNs, or a SYN that is retransmitted.
            counted.bytes_to_mobile + counted.bytes_from_mobile == 0
                || one.counters.first_after_syn.contains(&Some(first))
        };
        self.connections.of_key(key).is_some_and(|one| !same(one))
    }

    /// One segment of a connection passes.
    fn pass(
        &mut self,
        now: Time,
        (flow, heading): (FlowId, Heading),
        ip: &[u8],
        decoded: &Decoded,
        piece: Piece,
    ) {
        let in_treated_turn = self.is_turn_treated();
        let Some(connection) = self.connections.of_flow(flow) else { return };
        let segment = piece.segment(&decoded.segment);
        let len = u64::from(piece.len);
        let class = connection.class;
        let has_box = self.classes.get(class).is_some_and(|class| class.proxy.is_some());
        let is_fast = connection.pace.is_fast();
        let is_treated = has_box && in_treated_turn && !connection.is_control && !is_fast;
        let key = connection.key;
        let (own, other) = match heading {
            Heading::Mobile => (&mut connection.to_mobile, &mut connection.from_mobile),
            Heading::Fixed => (&mut connection.from_mobile, &mut connection.to_mobile),
        };
        // A FIN without data is not counted: a host that has left never acknowledges it. Connections too fast to be
        // followed give no evidence.
        if len > 0 && !segment.flags.contains(Flags::SYN) && !is_fast {
            own.sent(now, segment.seq, segment.seq + segment.payload_len);
        }
        if segment.flags.contains(Flags::ACK) && !is_fast {
            other.acknowledged(now, segment.ack);
        }
        if segment.flags.contains(Flags::SYN) {
            if !segment.flags.contains(Flags::ACK) {
                connection.opened.get_or_insert(match heading {
                    Heading::Mobile => OpenedFrom::Wan,
                    Heading::Fixed => OpenedFrom::Lan,
                });
            }
            connection.counters.first_after_syn[usize::from(heading == Heading::Fixed)] =
                Some(segment.seq + 1);
        }
        match heading {
            Heading::Mobile => {
                // Of a fast connection it is not known what is acknowledged.
                if !is_fast {
                    self.counted.link.air_bytes += len as f64;
                }
                // Headers are injected, too, and the data behind them was sent with its own.
                // What is not there, whatever a header says, earns nothing.
                let is_there = len > 0 && decoded.payload.end <= ip.len();
                let passed = if is_there { len + decoded.payload.start as u64 } else { 0 };
                connection.budget.earn(passed * self.config.limits.injected_per_mille / 1_000);
                if len > 0 {
                    connection.recoveries.sender_sent(segment.seq, segment.seq + piece.len);
                }
                if len > 0 && is_treated {
                    self.keep((flow, key), (ip, decoded), piece, segment.seq);
                }
            }
            Heading::Fixed => {
                if segment.flags.contains(Flags::ACK) {
                    connection.recoveries.acknowledged(segment.ack);
                    if let Some(duplicate) = segment.options.sack.duplicate(segment.ack) {
                        connection.recoveries.duplicate(duplicate.start, duplicate.end);
                    }
                    self.connections.acknowledge(flow, segment.ack);
                }
            }
        }
        if is_treated {
            self.ask_the_box(now, (flow, heading, class), decoded, segment);
        } else if has_box {
            let why = match () {
                () if is_fast => "too fast for a wireless link",
                () if in_treated_turn => "control group",
                () => "a turn without remedies",
            };
            self.taps.decided(key, Decision::LeftAlone(why));
        } else {
            self.taps.decided(key, Decision::LeftAlone("no remedy at work"));
        }
    }

    /// Keeps a piece of data towards the mobile host, to be injected if it is lost.
    fn keep(
        &mut self,
        (flow, key): (FlowId, Key),
        (ip, decoded): (&[u8], &Decoded),
        piece: Piece,
        seq: Seq,
    ) {
        self.packet.clear();
        write_piece(ip, decoded, piece, &mut self.packet);
        // A ring that has too much to copy copies headers.
        let decision = match self.packet.is_empty() {
            true => Decision::NotKept("not copied"),
            false if self.connections.keep(flow, seq, piece.len, &self.packet) => Decision::Kept,
            false => Decision::NotKept("no room"),
        };
        self.taps.decided(key, decision);
    }

    fn ask_the_box(
        &mut self,
        now: Time,
        (flow, heading, class): (FlowId, Heading, usize),
        decoded: &Decoded,
        segment: Segment,
    ) {
        let packet = as_packet(flow, heading, decoded, segment);
        let Some(proxy) = self.classes.get_mut(class).and_then(|one| one.proxy.as_mut()) else {
            return;
        };
        // A box in the path is asked what becomes of the packet, which is on its way already.
        let verdict = proxy.handle(now, &packet, heading, &mut self.outbox);
        let done = match (heading, self.connections.of_flow(flow)) {
            (Heading::Fixed, Some(connection)) => {
                let done = connection.hiding.on_verdict(now, &segment, &verdict);
                if done && verdict != Verdict::Forward {
                    self.taps.decided(connection.key, Decision::Removed("repaired here"));
                }
                done
            }
            _ => verdict == Verdict::Forward,
        };
        self.stats.not_removed += u64::from(!done);
        self.send_what_was_made(now);
    }

    fn tell_hiding(&mut self, now: Time, flow: FlowId) {
        let Some(connection) = self.connections.of_flow(flow) else { return };
        let mut hiding = connection.hiding;
        let told = hiding.tell(now, connection.key, |from| connection.kept_without_hole_from(from));
        connection.hiding = hiding;
        self.orders.extend(told.map(Order::Cover));
    }
}

/// The six bits of the traffic class (RFC 2474).
pub(crate) fn dscp_of(ip: &[u8]) -> u8 {
    match ip {
        [first, second, ..] if first >> 4 == 6 => (first << 4 | second >> 4) >> 2,
        [_, second, ..] => second >> 2,
        _ => 0,
    }
}

/// A segment as a box sees it. Who opened the connection matters to no box: the mobile host is the client.
fn as_packet(flow: FlowId, heading: Heading, decoded: &Decoded, segment: Segment) -> Packet {
    let (from, src, dst) = match heading {
        Heading::Mobile => (Side::Server, FIXED, MOBILE),
        Heading::Fixed => (Side::Client, MOBILE, FIXED),
    };
    let headers = decoded.payload.start as u32;
    Packet {
        flow,
        from,
        src,
        dst,
        ip: decoded.ip.version,
        ecn: decoded.ip.ecn,
        ip_len: headers + segment.payload_len,
        tag: 0,
        tcp: Some(segment),
    }
}
