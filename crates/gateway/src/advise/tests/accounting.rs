//! The time that is accounted to random connections over a path without loss.

use super::*;

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// It does not.
    Open,
    /// The last data carries the FIN.
    FinOnData,
    /// A FIN follows the last data; the mobile host may still send.
    FinAlone,
    /// The server resets it once all data is acknowledged.
    Reset,
}

/// A random connection: bursts of segments, all of which arrive.
#[derive(Clone, Debug)]
struct Plan {
    first: u32,
    round_trip: u64,
    /// Pause of the application before it, in milliseconds, and segments.
    bursts: Vec<(u64, u32)>,
    /// Segments that are needlessly retransmitted before they are acknowledged, by index.
    again: Vec<bool>,
    /// Segments that the watch does not see, by index.
    missed: Vec<bool>,
    /// Before which segment the watch begins.
    begins: u32,
    has_syn: bool,
    end: End,
}

fn plans() -> impl Strategy<Value = Plan> {
    let ends =
        prop_oneof![Just(End::Open), Just(End::FinOnData), Just(End::FinAlone), Just(End::Reset)];
    (
        prop_oneof![any::<u32>(), u32::MAX - 20 * MSS..=u32::MAX],
        2_u64..200,
        proptest::collection::vec((0_u64..3_000, 1_u32..12), 1..6),
        proptest::collection::vec(any::<bool>(), 64),
        proptest::collection::vec(proptest::bool::weighted(0.1), 64),
        prop_oneof![Just(0_u32), 0_u32..20],
        any::<bool>(),
        ends,
    )
        .prop_map(|(first, round_trip, bursts, again, missed, begins, has_syn, end)| {
            let all: u32 = bursts.iter().map(|(_, count)| count).sum();
            let begins = begins.min(all - 1);
            Plan { first, round_trip, bursts, again, missed, begins, has_syn, end }
        })
}

/// One observed packet.
#[derive(Clone, Copy, Debug)]
struct Packet {
    at: u64,
    way: Way,
    /// Offset of its first byte, or of the acknowledgment.
    offset: u32,
    len: u32,
    flags: Flags,
}

impl Plan {
    /// Returns what the watch sees, in order of time, and when the first data passed and the last
    /// acknowledgment.
    fn packets(&self) -> (Vec<Packet>, u64, u64) {
        let all: u32 = self.bursts.iter().map(|(_, count)| count).sum();
        let mut packets = Vec::new();
        let (mut at, mut index, mut first) = (10_u64, 0_u32, None);
        for (pause, count) in &self.bursts {
            at += pause;
            for _ in 0..*count {
                let which = index as usize;
                let is_last = index + 1 == all;
                let fin =
                    if is_last && self.end == End::FinOnData { Flags::FIN } else { Flags::NONE };
                let data = Packet {
                    at,
                    way: Way::Out,
                    offset: index * MSS,
                    len: MSS,
                    flags: Flags::ACK | fin,
                };
                let acked = (index + 1) * MSS + u32::from(fin.contains(Flags::FIN));
                let seen = index >= self.begins;
                if seen && !self.missed[which] {
                    packets.push(data);
                    first.get_or_insert(at);
                }
                if seen && self.again[which] {
                    packets.push(Packet { at: at + 1, ..data });
                    first.get_or_insert(at + 1);
                }
                if seen {
                    let flags = Flags::ACK;
                    packets.push(Packet {
                        at: at + self.round_trip,
                        way: Way::In,
                        offset: acked,
                        len: 0,
                        flags,
                    });
                }
                (at, index) = (at + 1, index + 1);
            }
            at += self.round_trip;
        }
        let last = at;
        self.end(&mut packets, last, all * MSS);
        packets.sort_by_key(|packet| packet.at);
        (packets, first.unwrap_or(last), last)
    }

    fn end(&self, packets: &mut Vec<Packet>, last: u64, offset: u32) {
        let packet = |at, way, offset, flags| Packet { at, way, offset, len: 0, flags };
        match self.end {
            End::FinAlone => {
                packets.push(packet(last + 1, Way::Out, offset, Flags::ACK | Flags::FIN));
                packets.push(packet(last + 1 + self.round_trip, Way::In, offset + 1, Flags::ACK));
            }
            End::Reset => packets.push(packet(last + 1, Way::Out, offset, Flags::ACK | Flags::RST)),
            End::Open | End::FinOnData => {}
        }
        // Something else passes long after, as on any link.
        packets.push(packet(
            last + 60_000,
            Way::In,
            offset + u32::from(self.has_fin()),
            Flags::ACK,
        ));
    }

    fn has_fin(&self) -> bool {
        matches!(self.end, End::FinOnData | End::FinAlone)
    }
}

proptest! {
    #[test]
    fn a_path_without_loss_has_no_stalls_and_no_time_under_way_after_the_last_acknowledgment(
        plan in plans()
    ) {
        let mut advisor = advisor();
        let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
        if plan.has_syn && plan.begins == 0 {
            let mut syn = download.segment(0, plan.first.wrapping_sub(1), 1, 0);
            syn.flags = Flags::SYN | Flags::ACK;
            download.see(0, Way::Out, syn);
        }
        let (packets, first, last) = plan.packets();
        for packet in &packets {
            let number = plan.first.wrapping_add(packet.offset);
            let (seq, ack) = if packet.way == Way::Out { (number, 1) } else { (1, number) };
            let mut segment = download.segment(packet.at, seq, ack, packet.len);
            segment.flags = packet.flags;
            download.see(packet.at, packet.way, segment);
        }
        for class in &advisor.advice().classes {
            prop_assert_eq!(class.stalls, (0, Span::ZERO));
            let whole = Span::from_millis(last - first);
            prop_assert!(class.active <= whole, "{} of {}", class.active, whole);
        }
    }
}

/// The server closes with its last data, and the watch goes on for a minute.
#[test]
fn the_acknowledgment_of_data_with_a_fin_ends_the_time_under_way() {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    let mut data = download.segment(0, 1, 1, MSS);
    data.flags = Flags::ACK | Flags::FIN;
    download.see(0, Way::Out, data);
    let ack = download.segment(40, 1, 1 + MSS + 1, 0);
    download.see(40, Way::In, ack);
    let mut other = Download { advisor: &mut advisor, port: 50_001, timestamps: true };
    other.data(60_000, 0);
    let advice = advisor.advice();
    assert_eq!((advice.classes[0].active, advice.classes[0].stalls.0), (Span::from_millis(40), 0));
    assert_eq!(advice.classes[0].bytes, u64::from(MSS));
}

/// The payload of a SYN (RFC 7413) begins one after its sequence number.
#[test]
fn the_acknowledgment_of_data_with_a_syn_ends_the_time_under_way() {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    let mut data = download.segment(0, 0, 1, MSS);
    data.flags = Flags::ACK | Flags::SYN;
    download.see(0, Way::Out, data);
    download.ack(40, 1);
    download.ack(9_000, 1);
    let advice = advisor.advice();
    assert_eq!(
        (advice.classes[0].active, advice.classes[0].bytes),
        (Span::from_millis(40), u64::from(MSS))
    );
}
