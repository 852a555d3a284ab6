//! FQ-CoDel against RFC 8290: new lines first, no jumping the others by pausing, shares in bytes,
//! what an overload costs and whom, and CoDel for each line by itself.

use crate::common::yard::Yard;
use ackord_events::DropReason;
use ackord_path::QueueDiscipline;
use ackord_units::{Bytes, KnobValue, Span};
use ackord_wire::Ecn;
use proptest::prelude::*;

fn fq_codel(knobs: &[(&str, KnobValue)]) -> Yard {
    let by_flow = ("bucket_by", KnobValue::Choice("flow"));
    Yard::registered("fq-codel", &[&[by_flow], knobs].concat())
}

fn fill(yard: &mut Yard, flow: u32, packets: usize, ip_len: u32) {
    for _ in 0..packets {
        yard.arrive(flow, ip_len).expect("there is room");
    }
}

fn flows(yard: &mut Yard, packets: usize) -> Vec<u32> {
    (0..packets).filter_map(|_| yard.depart()).map(|out| out.flow).collect()
}

#[test]
fn a_sparse_flow_goes_before_those_that_keep_a_queue() {
    let mut yard = fq_codel(&[]);
    fill(&mut yard, 1, 10, 1_500);
    fill(&mut yard, 2, 10, 1_500);
    // A quantum of 1514 B each: one packet, 14 B left, another packet, and then it is overdrawn.
    assert_eq!(flows(&mut yard, 4), [1, 1, 2, 2]);
    fill(&mut yard, 3, 1, 200);
    assert_eq!(flows(&mut yard, 1), [3], "before twelve packets of the others");
}

#[test]
fn a_flow_that_pauses_for_a_moment_is_not_new_again() {
    let mut yard = fq_codel(&[]);
    fill(&mut yard, 1, 20, 1_500);
    assert_eq!(flows(&mut yard, 2), [1, 1]);
    // Flow 2 sends its next packet whenever the last one has left. Were its line new each time,
    // flow 1 would starve.
    let mut sent = Vec::new();
    for _ in 0..12 {
        if sent.last() != Some(&1) {
            fill(&mut yard, 2, 1, 1_500);
        }
        sent.extend(flows(&mut yard, 1));
    }
    let of_1 = sent.iter().filter(|&&flow| flow == 1).count();
    assert!(of_1 >= 5, "RFC 8290 §4.2: the old lines come in between, {sent:?}");
}

#[test]
fn the_longest_line_loses_half_of_its_packets_from_the_head() {
    let mut yard = fq_codel(&[("limit", KnobValue::Packets(100))]);
    fill(&mut yard, 1, 90, 1_500);
    fill(&mut yard, 2, 11, 1_500);
    assert_eq!(yard.died_of(DropReason::QueueFull), (0..45).collect::<Vec<_>>());
    assert_eq!(yard.queue.length().packets, 56);
}

#[test]
fn an_overload_takes_a_batch_at_most() {
    let mut yard = fq_codel(&[("limit", KnobValue::Packets(300))]);
    fill(&mut yard, 1, 301, 1_500);
    assert_eq!(yard.died_of(DropReason::QueueFull), (0..64).collect::<Vec<_>>());
    let batch = ("drop_batch", KnobValue::Count(1));
    let mut one = fq_codel(&[("limit", KnobValue::Packets(300)), batch]);
    fill(&mut one, 1, 301, 1_500);
    assert_eq!(one.died_of(DropReason::QueueFull), [0]);
}

#[test]
fn the_longest_line_is_the_one_with_most_bytes() {
    let mut yard = fq_codel(&[("limit", KnobValue::Packets(30))]);
    fill(&mut yard, 1, 20, 40);
    fill(&mut yard, 2, 10, 1_500);
    fill(&mut yard, 3, 1, 40);
    assert_eq!(yard.died_of(DropReason::QueueFull), [20, 21, 22, 23, 24]);
}

#[test]
fn memory_is_limited_beside_packets() {
    let mut yard = fq_codel(&[("memory_limit", KnobValue::Bytes(Bytes(9_000)))]);
    fill(&mut yard, 1, 6, 1_500);
    assert!(yard.deaths.is_empty());
    fill(&mut yard, 2, 1, 40);
    assert_eq!(yard.died_of(DropReason::QueueFull), [0, 1, 2]);
}

#[test]
fn a_packet_that_fits_nowhere_is_itself_refused() {
    let mut yard = fq_codel(&[("memory_limit", KnobValue::Bytes(Bytes(1_000)))]);
    assert_eq!(yard.arrive(1, 1_500), Err(DropReason::QueueFull));
    fill(&mut yard, 1, 1, 1_000);
    assert_eq!(yard.depart().map(|out| out.ip_len), Some(1_000));
}

#[test]
fn codel_drops_only_in_the_line_that_stands() {
    let mut yard = fq_codel(&[]);
    fill(&mut yard, 1, 400, 1_500);
    // A departure each millisecond, and a packet of flow 2 every tenth: it waits for one turn of flow 1 at most,
    // which is two packets, and its own departure.
    for round in 0..350 {
        if round % 10 == 0 {
            fill(&mut yard, 2, 1, 200);
        }
        yard.advance(Span::from_millis(1));
        let out = yard.depart().expect("flow 1 has packets");
        assert!(out.flow == 1 || out.waited <= Span::from_millis(3), "{out:?}");
    }
    let early = yard.died_of(DropReason::EarlyDrop);
    // Above the target from the fifth millisecond: about 105, 205, 276 and 334 ms.
    assert_eq!(early.len(), 4, "{:?}", yard.deaths);
    assert!(early.iter().all(|&tag| tag < 400), "the packets of flow 1 came first");
}

#[test]
fn ecn_is_on_unless_switched_off() {
    let run = |knobs: &[(&str, KnobValue)]| {
        let mut yard = fq_codel(knobs);
        for _ in 0..300 {
            yard.arrive_with(1, 1_500, Ecn::Ect0).expect("there is room");
        }
        for _ in 0..290 {
            yard.advance(Span::from_millis(1));
            yard.depart();
        }
        (yard.marked(), yard.deaths.len())
    };
    let off = ("ecn", KnobValue::Choice("off"));
    assert_eq!((run(&[]), run(&[off])), ((3, 0), (0, 3)));
}

#[test]
fn flows_of_one_bucket_share_a_line_and_its_state() {
    let one = [("buckets", KnobValue::Count(1))];
    let mut yard = Yard::registered("fq-codel", &one);
    fill(&mut yard, 1, 3, 1_500);
    fill(&mut yard, 2, 1, 40);
    assert_eq!(flows(&mut yard, 4), [1, 1, 1, 2], "no turn of its own");
    assert_eq!(yard.queue.flow_state().entries, 1);
    assert_eq!(fq_codel(&[]).queue.flow_state().entries, 1_024);
}

proptest! {
    /// While two lines always have packets, what they have sent differs by no more than a quantum
    /// and the longest packet for each, which they may have overdrawn.
    #[test]
    fn shares_are_equal_in_bytes(
        one in prop::collection::vec(40..=1_500_u32, 150),
        other in prop::collection::vec(40..=1_500_u32, 150),
    ) {
        let mut yard = fq_codel(&[]);
        for (&one, &other) in one.iter().zip(&other) {
            prop_assert!(yard.arrive(1, one).is_ok() && yard.arrive(2, other).is_ok());
        }
        let mut left = [150, 150];
        let (mut lead, mut least, mut most) = (0_i64, 0, 0);
        while left.iter().all(|&packets| packets > 0) {
            let out = yard.depart().expect("both have packets");
            let sign = if out.flow == 1 { 1 } else { -1 };
            lead += sign * i64::from(out.ip_len);
            left[out.flow as usize - 1] -= 1;
            (least, most) = (least.min(lead), most.max(lead));
        }
        prop_assert!(most - least <= 1_514 + 2 * 1_500, "from {least} to {most} B");
    }
}
