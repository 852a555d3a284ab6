//! Stochastic fair queueing against McKenney 1990: turns by packets, collisions and what a new salt
//! does about them, buffers stolen from the longest line.

use crate::common::yard::Yard;
use ackord_events::DropReason;
use ackord_path::QueueDiscipline;
use ackord_units::{KnobValue, Span};

fn word(word: &'static str) -> KnobValue {
    KnobValue::Choice(word)
}

fn sfq(knobs: &[(&str, KnobValue)]) -> Yard {
    Yard::registered("sfq", &[&[("bucket_by", word("flow"))], knobs].concat())
}

fn fill(yard: &mut Yard, flow: u32, packets: usize, ip_len: u32) {
    for _ in 0..packets {
        yard.arrive(flow, ip_len).expect("there is room");
    }
}

fn flows(yard: &mut Yard) -> Vec<u32> {
    yard.drain().iter().map(|out| out.flow).collect()
}

#[test]
fn each_line_sends_a_packet_per_turn_whatever_its_length() {
    let mut yard = sfq(&[]);
    fill(&mut yard, 1, 4, 1_500);
    fill(&mut yard, 2, 3, 40);
    fill(&mut yard, 3, 2, 700);
    assert_eq!(flows(&mut yard), [1, 2, 3, 1, 2, 3, 1, 2, 1]);
}

#[test]
fn with_a_quantum_a_line_pays_back_what_it_has_overdrawn() {
    let mut yard = sfq(&[("turn", word("quantum"))]);
    // 1500 B per turn. Flow 1: 1000 and 1000 leave it 500 short, so its next turn begins with
    // 1000: one packet, which leaves nothing. Flow 2: three of 500.
    fill(&mut yard, 1, 5, 1_000);
    fill(&mut yard, 2, 9, 500);
    assert_eq!(flows(&mut yard), [1, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1, 2, 2, 2]);
}

#[test]
fn a_full_queue_costs_the_line_with_most_packets() {
    let mut yard = sfq(&[("limit", KnobValue::Packets(6))]);
    fill(&mut yard, 1, 4, 40);
    fill(&mut yard, 2, 2, 1_500);
    fill(&mut yard, 3, 1, 1_500);
    assert_eq!(yard.deaths, [(3, DropReason::QueueFull)], "packets count, not bytes");
    assert_eq!(yard.arrive(1, 40), Err(DropReason::QueueFull));
    let mut head = sfq(&[("limit", KnobValue::Packets(6)), ("push_out", word("head"))]);
    fill(&mut head, 1, 4, 40);
    fill(&mut head, 2, 2, 1_500);
    fill(&mut head, 3, 1, 1_500);
    assert_eq!(head.deaths, [(0, DropReason::QueueFull)]);
}

/// Whether flows 0 and 1, of eight lines by a hash, take turns: by the order in which two packets
/// of each leave.
fn take_turns(yard: &mut Yard) -> bool {
    fill(yard, 0, 2, 500);
    fill(yard, 1, 2, 500);
    match flows(yard)[..] {
        [0, 1, 0, 1] => true,
        [0, 0, 1, 1] => false,
        ref other => panic!("neither one line nor two: {other:?}"),
    }
}

#[test]
fn flows_that_share_a_line_do_not_share_it_for_long() {
    let hashed = [("bucket_by", word("hash")), ("buckets", KnobValue::Count(8))];
    let mut yard = Yard::registered("sfq", &hashed);
    let mut turns = Vec::new();
    for _ in 0..400 {
        turns.push(take_turns(&mut yard));
        // Between two salts nothing changes.
        yard.advance(Span::from_millis(4_999));
        assert_eq!(take_turns(&mut yard), turns[turns.len() - 1]);
        yard.advance(Span::from_millis(5_001));
    }
    let shared = turns.iter().filter(|&&turns| !turns).count();
    // One of eight by chance: 50 of 400 with a standard deviation of 6.6; five of them.
    assert!(shared.abs_diff(50) < 33, "{shared} of 400");
    let unchanging = [&hashed[..], &[("perturb_every", KnobValue::Span(FOREVER))]].concat();
    let mut yard = Yard::registered("sfq", &unchanging);
    let first = take_turns(&mut yard);
    assert!((0..50).all(|_| {
        yard.advance(Span::from_secs(10));
        take_turns(&mut yard) == first
    }));
}

const FOREVER: Span = Span::from_secs(1_000_000);

#[test]
fn a_new_salt_keeps_the_packets_of_a_flow_in_order() {
    let knobs = [
        ("bucket_by", word("hash")),
        ("buckets", KnobValue::Count(4)),
        ("perturb_every", KnobValue::Span(Span::from_millis(10))),
        ("limit", KnobValue::Packets(60)),
    ];
    let mut yard = Yard::registered("sfq", &knobs);
    // The yard refuses a packet that overtakes one of its flow.
    for round in 0..2_000 {
        let _ = yard.arrive(round % 7, 500);
        let _ = yard.arrive(round % 5, 500);
        yard.advance(Span::from_millis(1));
        yard.depart();
    }
    assert!(yard.queue.length().packets > 40, "there was a queue to sort");
    yard.drain();
}
