//! Whatever passes, a box that keeps the connection's ends acknowledging to each other says no more
//! than the mobile host did, makes up no data, keeps to its memory, and falls quiet.

use ackord_path::proxy::{Heading, Made, NO_PAYLOAD, Outbox, Proxy, Verdict};
use ackord_path::registry::ProxyChoice;
use ackord_units::{Bytes, Choice, KnobValue, Seq, Span, Time};
use ackord_wire::{
    Ecn, Flags, FlowId, IpVersion, NodeId, Packet, SackBlock, Segment, Side, Timestamps,
};
use proptest::prelude::*;

/// Boxes that keep end-to-end semantics.
const END_TO_END: &[&str] = &["snoop", "m-tcp"];
const FLOWS: u32 = 2;
const CACHE: Bytes = Bytes(5_000);

/// One packet of a test: anything.
#[derive(Clone, Debug)]
struct Any {
    after_millis: u64,
    heading: Heading,
    flow: u32,
    flags: u8,
    seq: u32,
    ack: u32,
    window: u16,
    payload_len: u32,
    blocks: Vec<(u32, u32)>,
    timestamps: bool,
    is_tcp: bool,
    refused: bool,
}

/// Sequence numbers around one another, around the wrap, and anywhere.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        10 => (0_u32..12).prop_map(|n| n * 500),
        3 => (0_u32..8_000).prop_map(|n| n.wrapping_sub(4_000)),
        1 => any::<u32>(),
    ]
}

fn flags() -> impl Strategy<Value = u8> {
    prop_oneof![30 => Just(0x10), 2 => Just(0x11), 1 => Just(0x04), 1 => Just(0x02), 3 => any::<u8>()]
}

fn any_packet() -> impl Strategy<Value = Any> {
    let heading = prop_oneof![Just(Heading::Mobile), Just(Heading::Fixed)];
    let blocks = prop::collection::vec((number(), number()), 0..4);
    let payload_len = prop_oneof![4 => Just(500_u32), 4 => Just(0), 1 => 0_u32..65_000];
    let after = prop_oneof![8 => 0_u64..30, 1 => 0_u64..3_000];
    let numbers = (number(), number(), any::<u16>(), payload_len);
    let kind = (prop::bool::weighted(0.95), prop::bool::weighted(0.05), any::<bool>());
    (after, heading, 0..FLOWS + 2, flags(), numbers, blocks, kind).prop_map(
        |(after_millis, heading, flow, flags, numbers, blocks, kind)| Any {
            after_millis,
            heading,
            flow,
            flags,
            seq: numbers.0,
            ack: numbers.1,
            window: numbers.2,
            payload_len: numbers.3,
            blocks,
            is_tcp: kind.0,
            refused: kind.1,
            timestamps: kind.2,
        },
    )
}

fn packet(any: &Any, tag: u64) -> Packet {
    let mut segment = Segment {
        seq: Seq(any.seq),
        ack: Seq(any.ack),
        flags: Flags::from_bits(any.flags),
        window: any.window,
        payload_len: any.payload_len,
        ..Segment::default()
    };
    segment.options.timestamps = any.timestamps.then_some(Timestamps { value: 5, echo: 6 });
    for &(start, end) in &any.blocks {
        segment.options.sack.push(SackBlock { start: Seq(start), end: Seq(end) });
    }
    let (src, dst) = if any.heading == Heading::Mobile { (0, 2) } else { (2, 0) };
    Packet {
        flow: FlowId(any.flow),
        from: if src == 0 { Side::Server } else { Side::Client },
        src: NodeId(src),
        dst: NodeId(dst),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 20 + segment.header_len() + any.payload_len,
        tag,
        tcp: any.is_tcp.then_some(segment),
    }
}

/// What has passed, for comparison.
#[derive(Default)]
struct Witness {
    data: Vec<Packet>,
    acks: Vec<(FlowId, Seq)>,
}

impl Witness {
    fn saw(&mut self, packet: &Packet, heading: Heading) {
        let Some(segment) = &packet.tcp else { return };
        match heading {
            Heading::Mobile => self.data.push(*packet),
            Heading::Fixed if segment.flags.contains(Flags::ACK) => {
                self.acks.push((packet.flow, segment.ack));
            }
            Heading::Fixed => {}
        }
    }

    /// The mobile host has acknowledged at least this much.
    fn acknowledged(&self, flow: FlowId, ack: Seq) -> bool {
        self.acks.iter().any(|(of, most)| *of == flow && ack.at_or_before(*most))
    }

    /// A packet that the box sent by itself.
    fn check(&self, sent: &Packet) {
        let segment = sent.tcp.as_ref().expect("boxes make TCP only");
        if sent.dst == NodeId(2) {
            let known = self.data.iter().any(|seen| {
                let of = seen.tcp.as_ref().expect("TCP");
                (seen.tag, seen.flow, of.seq, of.payload_len)
                    == (sent.tag, sent.flow, segment.seq, segment.payload_len)
            });
            assert!(known, "data that nobody sent: {sent:?}");
        } else {
            assert_eq!((segment.payload_len, sent.tag), (0, NO_PAYLOAD));
            assert!(self.acknowledged(sent.flow, segment.ack), "acknowledged early: {sent:?}");
        }
    }
}

fn build(name: &str, settings: &[(&str, &'static str)]) -> Proxy {
    let mut choice = ProxyChoice::named(name)
        .expect("listed")
        .with("cache", KnobValue::Bytes(CACHE))
        .with("flows", KnobValue::Count(u64::from(FLOWS)))
        .with("idle_for", KnobValue::Span(Span::from_secs(5)));
    for (knob, value) in settings {
        choice = choice.with(knob, KnobValue::Choice(value));
    }
    choice.config().build()
}

fn run_deadlines(proxy: &mut Proxy, until: Time, witness: &Witness, out: &mut Outbox) {
    while let Some(due) = proxy.deadline().filter(|due| *due <= until) {
        proxy.handle_deadline(due, out);
        out.packets().for_each(|(packet, _)| witness.check(packet));
        out.clear();
        assert!(proxy.deadline().is_none_or(|next| next > due), "always due");
    }
}

fn holds(mut proxy: Proxy, script: &[Any]) {
    let (mut now, mut out, mut witness) = (Time::ZERO, Outbox::default(), Witness::default());
    for (tag, any) in script.iter().enumerate() {
        now += Span::from_millis(any.after_millis);
        run_deadlines(&mut proxy, now, &witness, &mut out);
        let packet = packet(any, tag as u64);
        witness.saw(&packet, any.heading);
        match proxy.handle(now, &packet, any.heading, &mut out) {
            Verdict::Forward => {}
            Verdict::Absorb => assert!(packet.tcp.is_some(), "other traffic passes"),
            Verdict::Rewrite(changed) => {
                let segment = changed.tcp.expect("TCP stays TCP");
                assert_eq!((changed.tag, changed.dst), (packet.tag, packet.dst));
                assert_eq!(any.heading, Heading::Fixed, "data is not changed");
                assert!(witness.acknowledged(changed.flow, segment.ack));
            }
        }
        for (sent, made) in out.packets() {
            assert!(matches!(made, Made::New(_) | Made::First(_)));
            witness.check(sent);
        }
        out.clear();
        if any.refused && any.heading == Heading::Mobile {
            proxy.handle_refused(now, &packet);
        }
        let stats = proxy.stats();
        assert!(stats.flows <= FLOWS && stats.cached.get() <= u64::from(FLOWS) * CACHE.get());
    }
    // An hour of silence: nothing is left, and nothing more is due.
    run_deadlines(&mut proxy, now + Span::from_secs(3_600), &witness, &mut out);
    assert_eq!(proxy.deadline(), None);
    let late = now + Span::from_secs(3_601);
    let other = Packet { tcp: None, ..packet(&script[0], 0) };
    proxy.handle(late, &other, Heading::Mobile, &mut out);
    assert_eq!((proxy.stats().flows, proxy.stats().cached), (0, Bytes::ZERO));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_passes(script in prop::collection::vec(any_packet(), 1..120)) {
        for name in END_TO_END {
            holds(build(name, &[]), &script);
        }
        for (mode, suppress) in [("paper", "on"), ("practical", "off"), ("practical", "auto")] {
            holds(build("snoop", &[("mode", mode), ("suppress", suppress)]), &script);
        }
    }
}
