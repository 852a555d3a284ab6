//! Selective drop, packet by packet, against sequences worked out by hand.

mod paper;
mod practical;

use crate::common::{at_us, builder_with, deliver_all, deliver_until, link, one_link, packet};
use ackord_events::{DropReason, LinkId, NoSink};
use ackord_path::{
    Graph, Limit, LinkConfig, PaperConfig, PaperDrop, PracticalConfig, PracticalDrop, Queue,
    QueueDiscipline, Threshold, TripSource, Weights,
};
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, NodeId, Packet, Segment, Side};
use std::collections::BTreeMap;

/// A packet of 1000 B takes 8 ms on the 1 Mbit/s link of these tests.
const SLOT_US: u64 = 8_000;

fn paper(threshold: Threshold) -> PaperConfig {
    PaperConfig {
        limit: Limit::Packets(50),
        threshold,
        arrival_counts: true,
        round_trip: Span::from_millis(40),
        rate: Rate::from_mbits_per_sec(1),
        packet_length: None,
        weights: Weights::default(),
    }
}

fn practical(threshold: Threshold) -> PracticalConfig {
    PracticalConfig {
        limit: Limit::Packets(50),
        threshold,
        round_trip: TripSource::Given(Span::from_millis(40)),
        rate: Rate::from_mbits_per_sec(1),
        packet_length: None,
        active_for: Span::from_millis(500),
        weights: Weights::default(),
    }
}

fn weigh(flow: u32, weight: f64) -> Weights {
    Weights(BTreeMap::from([(FlowId(flow), weight)]))
}

struct Bench {
    graph: Graph,
    link: LinkId,
    now: Time,
}

impl Bench {
    /// A link with the transmitter busy: packet 0 of flow 9 is on its way for 8 ms.
    fn busy(queue: Queue) -> Bench {
        let (graph, link) = one_link(LinkConfig { queue, ..link(0, 1) });
        let mut bench = Bench { graph, link, now: Time::ZERO };
        assert_eq!(bench.send(9), None);
        bench
    }

    fn paper(config: PaperConfig) -> Bench {
        Bench::busy(Queue::of(PaperDrop::new(config)))
    }

    fn practical(config: PracticalConfig) -> Bench {
        Bench::busy(Queue::of(PracticalDrop::new(config)))
    }

    /// Sends a packet of 1000 B; why something died, if something did.
    fn send(&mut self, flow: u32) -> Option<DropReason> {
        self.send_packet(packet(flow, 1_000, 0))
    }

    fn send_packet(&mut self, packet: Packet) -> Option<DropReason> {
        let before = self.graph.link_stats(self.link).drops;
        self.graph.handle_packet(self.now, packet, &mut NoSink);
        self.graph.conservation().check().expect("balanced");
        let after = self.graph.link_stats(self.link).drops;
        DropReason::ALL.into_iter().find(|&reason| after.of(reason) > before.of(reason))
    }

    /// How many of so many packets sent at once died, and of what.
    fn burst(&mut self, flow: u32, packets: usize) -> Vec<usize> {
        (0..packets).filter(|_| self.send(flow) == Some(DropReason::OverShare)).collect()
    }

    /// Goes on to just after so many packets have left the queue.
    fn after_departures(&mut self, packets: u64) {
        self.now = at_us(self.now.as_nanos() / 1_000 + SLOT_US * packets);
        deliver_until(&mut self.graph, self.now, &mut NoSink);
    }

    fn marked(&self) -> u64 {
        self.graph.link_stats(self.link).marked
    }
}
