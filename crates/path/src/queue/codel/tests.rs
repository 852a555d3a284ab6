use super::*;
use crate::packets::Packets;
use crate::queue::DropList;
use crate::queue::testing::packet;
use ackord_wire::{Ecn, Packet};

const CONFIG: CodelConfig = CodelConfig {
    target: Span::from_millis(5),
    interval: Span::from_millis(100),
    mtu: Bytes(1_500),
    ecn: false,
    ce_threshold: None,
};

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A controller over a line that never ends and whose packets have all waited as long as it is
/// told.
struct Bench {
    config: CodelConfig,
    controller: Controller,
    packets: Packets,
    drops: DropList,
    endless: Endless,
}

struct Endless {
    slot: Slot,
    waited: Span,
    bytes: u64,
}

impl Source for Endless {
    fn pop(&mut self, _now: Time) -> Option<Dequeued> {
        Some(Dequeued { slot: self.slot, waited: self.waited })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Bench {
    fn new(config: CodelConfig, ecn: Ecn) -> Bench {
        let mut packets = Packets::default();
        let slot = packets.insert(&Packet { ecn, ..packet(1_500) });
        let (controller, drops) = (Controller::default(), DropList::default());
        let endless = Endless { slot, waited: Span::ZERO, bytes: 100_000 };
        Bench { config, controller, packets, drops, endless }
    }

    /// A departure at `now` of packets that waited `millis`; how many were dropped before it.
    fn depart(&mut self, now: Time, millis: u64) -> usize {
        self.endless.waited = Span::from_millis(millis);
        let context = &mut QueueContext { packets: &mut self.packets, drops: &mut self.drops };
        let gone = self.controller.next(&self.config, now, &mut self.endless, context);
        assert!(gone.is_some());
        std::mem::take(&mut self.drops.dropped).len()
    }

    /// A departure every millisecond; the milliseconds at which one packet was dropped.
    fn drops(&mut self, from: u64, to: u64, waited_millis: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for now in from..to {
            times.extend(vec![now; self.depart(at(now), waited_millis)]);
        }
        times
    }
}

#[test]
fn drops_come_at_the_interval_over_the_square_root_of_the_count() {
    let mut bench = Bench::new(CONFIG, Ecn::NotEct);
    // Above the target from 0 on: an interval later the first drop. The next are due 100 ms
    // later, then 100/sqrt(2) = 70.71, 57.74, 50, 44.72, 40.82, 37.80, 35.36, 33.33 ms:
    // 200, 270.71, 328.45, 378.45, 423.17, 463.99, 501.79, 537.14, 570.48 ms.
    let by_hand = [100, 200, 271, 329, 379, 424, 464, 502, 538, 571];
    assert_eq!(bench.drops(0, 580, 6), by_hand);
}

#[test]
fn the_target_itself_counts_as_above_and_just_below_it_nothing_happens() {
    assert_eq!(Bench::new(CONFIG, Ecn::NotEct).drops(0, 150, 5), [100]);
    assert_eq!(Bench::new(CONFIG, Ecn::NotEct).drops(0, 5_000, 4), [] as [u64; 0]);
}

#[test]
fn one_packet_below_the_target_starts_the_interval_anew() {
    let mut bench = Bench::new(CONFIG, Ecn::NotEct);
    assert_eq!(bench.drops(0, 99, 6), [] as [u64; 0]);
    bench.depart(at(99), 4);
    assert_eq!(bench.drops(100, 210, 6), [200]);
}

#[test]
fn a_line_of_one_mtu_is_left_alone() {
    for (bytes, expected) in [(1_500, vec![]), (1_501, vec![100])] {
        let mut bench = Bench::new(CONFIG, Ecn::NotEct);
        bench.endless.bytes = bytes;
        assert_eq!(bench.drops(0, 150, 50), expected, "{bytes} B behind the packet");
    }
}

#[test]
fn a_late_departure_makes_up_for_the_drops_that_were_due() {
    let mut bench = Bench::new(CONFIG, Ecn::NotEct);
    assert_eq!(bench.drops(0, 101, 6), [100]);
    // 200, 270.71 and 328.45 ms have passed.
    assert_eq!(bench.depart(at(350), 6), 3);
}

#[test]
fn soon_after_the_last_drop_the_count_goes_on_where_it_was() {
    let mut bench = Bench::new(CONFIG, Ecn::NotEct);
    // Drops at 100, 200, 271, 329 and 379 ms: a count of 5, begun with 1. Then it ends.
    assert_eq!(bench.drops(0, 400, 6).len(), 5);
    bench.depart(at(400), 1);
    // Again above from 401 on: 501 the first; the count is 5 - 1 = 4, so the next follows
    // 100/sqrt(4) = 50 ms later, then 100/sqrt(5) = 44.72 ms.
    assert_eq!(bench.drops(401, 600, 6), [501, 551, 596]);
    // The count ended at 6, begun with 4. Next time it would be 2; but 16 intervals after
    // the drop that was due, it is 1.
    bench.depart(at(600), 1);
    assert_eq!(bench.drops(2_300, 2_550, 6), [2_400, 2_500]);
}

#[test]
fn ecn_capable_packets_are_marked_at_the_same_instants() {
    let config = CodelConfig { ecn: true, ..CONFIG };
    let mut bench = Bench::new(config, Ecn::Ect0);
    let mut marks = Vec::new();
    for now in 0..400 {
        let slot = bench.endless.slot;
        bench.packets[slot].ecn = Ecn::Ect0;
        assert_eq!(bench.depart(at(now), 6), 0, "nothing is dropped");
        if bench.packets[slot].ecn == Ecn::Ce {
            marks.push(now);
        }
    }
    assert_eq!(marks, [100, 200, 271, 329, 379]);
    assert_eq!(bench.drops.marked, 5);
    assert_eq!(Bench::new(config, Ecn::NotEct).drops(0, 250, 6), [100, 200]);
}

#[test]
fn above_the_ce_threshold_every_capable_packet_is_marked() {
    let ce_threshold = Some(Span::from_millis(1));
    let mut bench = Bench::new(CodelConfig { ce_threshold, ..CONFIG }, Ecn::Ect1);
    let marked = |bench: &mut Bench, now, millis| {
        let slot = bench.endless.slot;
        bench.packets[slot].ecn = Ecn::Ect1;
        bench.depart(at(now), millis);
        bench.packets[slot].ecn == Ecn::Ce
    };
    assert!(!marked(&mut bench, 0, 1));
    assert!(marked(&mut bench, 1, 2));
    let mut incapable = Bench::new(bench.config, Ecn::NotEct);
    incapable.depart(at(0), 2);
    assert_eq!(incapable.drops.marked, 0);
}
