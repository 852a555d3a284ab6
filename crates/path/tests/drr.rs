//! Deficit round robin against Shreedhar and Varghese 1995: the arithmetic of its worked example,
//! its bound on unfairness, and what happens when there is no room.

use crate::common::packet;
use crate::common::yard::Yard;
use ackord_events::DropReason;
use ackord_path::{Drr, DrrConfig, Limit, PushOut, Queue, QueueDiscipline, Weights};
use ackord_units::Bytes;
use ackord_wire::FlowId;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn config(quantum: u64) -> DrrConfig {
    DrrConfig {
        limit: Limit::Packets(1_000),
        quantum: Bytes(quantum),
        push_out: PushOut::Tail,
        weights: Weights::default(),
    }
}

fn drr(config: DrrConfig) -> Yard {
    Yard::new(Queue::of(Drr::new(config)))
}

fn fill(yard: &mut Yard, flow: u32, lengths: &[u32]) {
    for &ip_len in lengths {
        yard.arrive(flow, ip_len).expect("there is room");
    }
}

fn sent(yard: &mut Yard, packets: usize) -> Vec<(u32, u32)> {
    (0..packets).filter_map(|_| yard.depart()).map(|out| (out.flow, out.ip_len)).collect()
}

#[test]
fn what_a_turn_leaves_unused_is_carried_over() {
    // The paper's Figures 2 and 3: a quantum of 500 B; of 200, 750 and 20 B waiting, the first
    // turn sends 200 and keeps 300, the second has 800 and sends both others.
    let mut yard = drr(config(500));
    fill(&mut yard, 1, &[200, 750, 20]);
    fill(&mut yard, 2, &[500, 500]);
    fill(&mut yard, 3, &[100, 600, 200]);
    fill(&mut yard, 4, &[180, 700, 50]);
    let first = [(1, 200), (2, 500), (3, 100), (4, 180)];
    assert_eq!(sent(&mut yard, 4), first);
    let second = [(1, 750), (1, 20), (2, 500), (3, 600), (3, 200), (4, 700), (4, 50)];
    assert_eq!(sent(&mut yard, 8), second);
}

#[test]
fn a_packet_longer_than_the_quantum_waits_for_as_many_turns_as_it_takes() {
    let mut yard = drr(config(500));
    fill(&mut yard, 1, &[1_400]);
    fill(&mut yard, 2, &[500; 4]);
    // Flow 1 has 500, 1000, then 1500.
    assert_eq!(sent(&mut yard, 5), [(2, 500), (2, 500), (1, 1_400), (2, 500), (2, 500)]);
}

#[test]
fn a_connection_that_has_nothing_to_send_saves_nothing_up() {
    let mut yard = drr(config(500));
    fill(&mut yard, 1, &[200]);
    fill(&mut yard, 2, &[500; 4]);
    assert_eq!(sent(&mut yard, 2), [(1, 200), (2, 500)]);
    // Had the 300 B been kept, 800 B would go in its next turn, before another of flow 2.
    fill(&mut yard, 1, &[800]);
    assert_eq!(sent(&mut yard, 4), [(2, 500), (1, 800), (2, 500), (2, 500)]);
}

#[test]
fn a_weight_multiplies_the_quantum() {
    let weights = Weights(BTreeMap::from([(FlowId(1), 3.0)]));
    let mut yard = drr(DrrConfig { weights, ..config(500) });
    fill(&mut yard, 1, &[500; 6]);
    fill(&mut yard, 2, &[500; 6]);
    let flows: Vec<_> = sent(&mut yard, 8).iter().map(|sent| sent.0).collect();
    assert_eq!(flows, [1, 1, 1, 2, 1, 1, 1, 2]);
}

#[test]
fn a_full_queue_costs_the_longest_line() {
    let mut yard = drr(DrrConfig { limit: Limit::Packets(5), ..config(500) });
    fill(&mut yard, 1, &[500; 4]);
    fill(&mut yard, 2, &[500]);
    // Flow 1 with 4 * 500 B loses its last to flow 2, then to flow 3; then all three are as long
    // as the newcomer's line would be, and the newcomer is refused.
    fill(&mut yard, 2, &[500]);
    assert_eq!(yard.deaths, [(3, DropReason::QueueFull)]);
    fill(&mut yard, 3, &[100]);
    assert_eq!(yard.deaths.last(), Some(&(2, DropReason::QueueFull)));
    assert_eq!(yard.arrive(2, 500), Err(DropReason::QueueFull));
    assert_eq!(yard.arrive(1, 500), Err(DropReason::QueueFull));
    let tags: Vec<_> = yard.drain().iter().map(|out| out.tag).collect();
    assert_eq!(tags, [0, 4, 6, 1, 5]);
}

#[test]
fn from_the_head_the_packet_that_waited_longest_goes() {
    let full = DrrConfig { limit: Limit::Packets(3), push_out: PushOut::Head, ..config(500) };
    let mut yard = drr(full);
    fill(&mut yard, 1, &[500; 4]);
    fill(&mut yard, 2, &[500]);
    assert_eq!(yard.died_of(DropReason::QueueFull), [0, 1]);
    let tags: Vec<_> = yard.drain().iter().map(|out| out.tag).collect();
    assert_eq!(tags, [2, 4, 3]);
}

#[test]
fn a_limit_in_bytes_makes_as_much_room_as_is_needed_and_no_more_than_there_is() {
    let mut yard = drr(DrrConfig { limit: Limit::Bytes(Bytes(2_000)), ..config(500) });
    fill(&mut yard, 1, &[400; 5]);
    fill(&mut yard, 2, &[900]);
    assert_eq!(yard.died_of(DropReason::QueueFull), [4, 3, 2]);
    assert_eq!(yard.queue.length().bytes, Bytes(1_700));
    let mut small = drr(DrrConfig { limit: Limit::Bytes(Bytes(300)), ..config(500) });
    assert_eq!(small.arrive(1, 400), Err(DropReason::QueueFull));
    assert_eq!(small.queue.length().packets, 0);
}

#[test]
fn state_is_kept_only_of_connections_with_packets_in_line() {
    let mut yard = drr(config(500));
    for flow in 0..100 {
        fill(&mut yard, flow, &[500]);
        fill(&mut yard, flow + 1, &[500]);
        assert_eq!(yard.drain().len(), 2);
    }
    let state = yard.queue.flow_state();
    assert_eq!(state.entries, 2, "never more than two at once");
    assert!((16..=128).contains(&state.entry_bytes), "{state:?}");
}

const LONGEST: u32 = 1_500;

proptest! {
    /// Theorem on fairness: in any interval in which two connections always have packets waiting,
    /// what they send differs by no more than 2 Max + Q; with a quantum of the longest packet,
    /// 3 Max.
    #[test]
    fn unfairness_stays_below_three_of_the_longest_packet(
        one in prop::collection::vec(40..=LONGEST, 150),
        other in prop::collection::vec(40..=LONGEST, 150),
        third in prop::collection::vec(40..=LONGEST, 0..150),
    ) {
        let mut yard = drr(config(u64::from(LONGEST)));
        for n in 0..150 {
            for (flow, lengths) in [(1, &one), (2, &other), (3, &third)] {
                lengths.get(n).map(|&ip_len| yard.arrive(flow, ip_len));
            }
        }
        let mut left = [150, 150];
        let (mut lead, mut least, mut most) = (0_i64, 0, 0);
        while left.iter().all(|&packets| packets > 0) {
            let out = yard.depart().expect("both have packets");
            match out.flow {
                1 => lead += i64::from(out.ip_len),
                2 => lead -= i64::from(out.ip_len),
                _ => continue,
            }
            left[out.flow as usize - 1] -= 1;
            (least, most) = (least.min(lead), most.max(lead));
        }
        prop_assert!(most - least <= 3 * i64::from(LONGEST), "from {least} to {most} B");
    }

    /// However hard another pushes, a connection that keeps below its share of the room loses
    /// nothing.
    #[test]
    fn a_flood_costs_only_itself(flood in prop::collection::vec((40..=LONGEST, 0..3_u8), 50..300)) {
        let mut yard = drr(DrrConfig { limit: Limit::Packets(20), ..config(1_500) });
        for (n, (ip_len, departs)) in flood.into_iter().enumerate() {
            let _ = yard.arrive(1, ip_len);
            if n % 10 == 0 {
                prop_assert!(yard.arrive(2, 40).is_ok());
            }
            if departs == 0 || n % 5 == 0 {
                yard.depart();
            }
        }
    }
}

#[test]
fn an_idle_transmitter_is_given_the_packet_at_once() {
    let mut packets = ackord_path::Packets::default();
    let mut drops = ackord_path::DropList::default();
    let context = &mut ackord_path::QueueContext { packets: &mut packets, drops: &mut drops };
    let slot = context.packets.insert(&packet(1, 1_400, 0));
    let mut drr = Drr::new(config(500));
    let passed = drr.pass(ackord_units::Time::ZERO, slot, context);
    assert_eq!((passed, drr.length().packets), (Ok(Some(slot)), 0));
}
