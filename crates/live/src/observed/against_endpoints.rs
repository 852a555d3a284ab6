//! Our own endpoints in the simulator tell what they do; an observer of their hosts' wires has to
//! tell the same.
//!
//! Different by nature, and so not compared: when a state is entered that no segment shows (a close
//! that waits behind data), and round-trip times of bytes sent twice, which the endpoints take from
//! timestamps.

use super::*;
use ackord_events::TapPoint;
use ackord_scenario::{Capture, Override, Scenario, ScenarioFile, Way};
use ackord_sim::{Simulation, Topology};
use ackord_units::Span;
use ackord_wire::{FlowId, NodeId, Packet};
use std::collections::BTreeMap;

/// What an end is said to have done.
#[derive(Debug, Default, PartialEq)]
struct Deeds {
    /// Every segment it sent: when, number, bytes, why.
    sent: Vec<(Time, Seq, u64, SegmentKind)>,
    delivered: Vec<(Time, u64, u64)>,
    acknowledged: Vec<(Time, u64, u64)>,
    states: Vec<TcpState>,
    round_trips: Vec<(Time, Span)>,
    in_vain: Vec<(Time, Seq, u64)>,
}

#[derive(Default)]
struct Log(BTreeMap<EndpointId, Deeds>);

impl Log {
    fn of(&mut self, endpoint: EndpointId) -> &mut Deeds {
        self.0.entry(endpoint).or_default()
    }
}

impl Sink for Log {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::SegmentSent { endpoint, seq, payload, kind } => {
                self.of(endpoint).sent.push((at, seq, payload.get(), kind));
            }
            Event::DataDelivered { endpoint, bytes, stream_offset } => {
                self.of(endpoint).delivered.push((at, bytes.get(), stream_offset.get()));
            }
            Event::AckAdvanced { endpoint, bytes, stream_offset } => {
                self.of(endpoint).acknowledged.push((at, bytes.get(), stream_offset.get()));
            }
            Event::StateChanged { endpoint, to, .. } => self.of(endpoint).states.push(to),
            Event::RttSampled { endpoint, rtt, .. } => {
                self.of(endpoint).round_trips.push((at, rtt))
            }
            Event::RetransmissionSpurious { endpoint, seq, bytes } => {
                self.of(endpoint).in_vain.push((at, seq, bytes.get()));
            }
            _ => {}
        }
    }
}

/// Keeps what the endpoints tell, and shows the observers what passes their hosts' taps.
struct Watch {
    told: Log,
    seen: Log,
    ends: BTreeMap<EndpointId, ObservedEnd>,
    /// For each direction of a link the nodes it leads from and to.
    links: BTreeMap<ackord_events::LinkId, (NodeId, NodeId)>,
}

impl Watch {
    fn new(scenario: &Scenario) -> Watch {
        let mut links = BTreeMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            links.insert(Topology::link_id(index, Way::Forward), (link.from, link.to));
            links.insert(Topology::link_id(index, Way::Reverse), (link.to, link.from));
        }
        let (told, seen) = (Log::default(), Log::default());
        Watch { told, seen, ends: BTreeMap::new(), links }
    }

    fn passes(&mut self, at: Time, tap: TapPoint, packet: &Packet) {
        let Some(segment) = &packet.tcp else { return };
        let Packet { flow, from, src, dst, .. } = *packet;
        let side = match tap {
            TapPoint::LinkIn(link) if self.links[&link].0 == src => from,
            TapPoint::LinkOut(link) if self.links[&link].1 == dst => from.other(),
            _ => return,
        };
        let endpoint = EndpointId { flow, side };
        let end = self.ends.entry(endpoint).or_insert_with(|| ObservedEnd::new(endpoint));
        if side == from {
            end.sent(at, segment, &mut self.seen);
        } else {
            end.received(at, segment, &mut self.seen);
        }
    }
}

impl Sink for Watch {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        self.told.emit(at, event);
        if let Event::PacketTapped { tap, packet } = event {
            self.passes(at, tap, packet);
        }
    }
}

fn watched(name: &str, changes: &[(&str, &str)]) -> Watch {
    let file = ScenarioFile::from_library(name).expect("it comes along");
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let mut scenario = file.with_overrides(changes).check().expect("a sound scenario");
    let everywhere = (0..scenario.links.len())
        .flat_map(|link| [Way::Forward, Way::Reverse].map(|way| Capture { link, way }));
    scenario.record.captures = everywhere.collect();
    let mut watch = Watch::new(&scenario);
    let mut simulation = Simulation::new(&scenario, 3).expect("a sound scenario");
    simulation.run_until(Time::ZERO + scenario.duration, &mut watch);
    simulation.finish(&mut watch).expect("every packet is somewhere");
    watch
}

/// Compares both accounts; answers how many segments were compared, and how many of them again.
fn compare(watch: &Watch) -> (usize, usize) {
    let (mut segments, mut again) = (0, 0);
    for (endpoint, told) in &watch.told.0 {
        let seen = &watch.seen.0[endpoint];
        for (told, seen) in told.sent.iter().zip(&seen.sent) {
            assert_eq!(told, seen, "{endpoint:?}: told and seen");
        }
        assert_eq!(told.sent.len(), seen.sent.len(), "{endpoint:?}");
        for (told, seen) in told.delivered.iter().zip(&seen.delivered) {
            assert_eq!(told, seen, "{endpoint:?}: told and seen");
        }
        assert_eq!(told.delivered.len(), seen.delivered.len(), "{endpoint:?}");
        for (told, seen) in told.acknowledged.iter().zip(&seen.acknowledged) {
            assert_eq!(told, seen, "{endpoint:?}: told and seen");
        }
        assert_eq!(told.acknowledged.len(), seen.acknowledged.len(), "{endpoint:?}");
        assert_eq!(told.in_vain, seen.in_vain, "{endpoint:?}");
        assert_eq!(told.states, seen.states, "{endpoint:?}");
        // Of every round-trip time that was seen the endpoint has the same.
        let of_own: BTreeMap<_, _> = told.round_trips.iter().copied().collect();
        for (at, rtt) in &seen.round_trips {
            assert_eq!(of_own.get(at), Some(rtt), "{endpoint:?} at {at}");
        }
        segments += told.sent.len();
        again += told.sent.iter().filter(|sent| sent.3 == SegmentKind::Retransmission).count();
    }
    (segments, again)
}

#[test]
fn a_download_with_losses() {
    let watch =
        watched("lossy-wifi", &[("tcp.profile", "linux"), ("flows.0.traffic.size", "4 MB")]);
    let (segments, again) = compare(&watch);
    // 4 MB of 1448 bytes; 1 % of them lost.
    assert!(segments > 2_763 && (10..200).contains(&again), "{segments} {again}");
    let receiver = EndpointId { flow: FlowId(0), side: Side::Client };
    let delivered = watch.seen.0[&receiver].delivered.last().map(|last| last.2);
    assert_eq!(delivered, Some(4_000_000));
}

#[test]
fn fades_with_timeouts() {
    let (segments, again) = compare(&watched("fades", &[("duration", "20 s")]));
    assert!(segments > 1_000 && again > 0, "{segments} {again}");
}

#[test]
fn exchanges_both_ways() {
    let (segments, _) = compare(&watched("write-write-read", &[("tcp.profile", "linux")]));
    assert!(segments > 100, "{segments}");
}

#[test]
fn reordering_and_duplicates() {
    let changes = [
        ("tcp.profile", "linux"),
        ("flows.0.traffic.size", "2 MB"),
        ("links.0.jitter.kind", "per-packet"),
        ("links.0.jitter.deviation", "3 ms"),
        ("links.0.jitter.order", "free"),
    ];
    let watch = watched("lossy-wifi", &changes);
    compare(&watch);
    let in_vain: usize = watch.seen.0.values().map(|deeds| deeds.in_vain.len()).sum();
    assert!(in_vain > 0, "packets that change places look lost for a while");
}
