//! Transmitters that are not of one rate: traces against their definition, the cellular hop against
//! its closed forms.

use crate::common::{at_us, deliver_all, deliver_until, drop_tail, link, one_link, packet};
use ackord_events::{DropReason, NoSink};
use ackord_path::{
    Cellular, CellularConfig, Graph, LinkConfig, Opportunities, Pace, Request, Trace,
};
use ackord_units::{RandomStream, Rate, Ratio, Span, Time};
use proptest::prelude::*;
use std::sync::Arc;

fn replaying(trace: &Trace) -> LinkConfig {
    let pace = Opportunities::new(Arc::new(trace.clone()));
    LinkConfig {
        pace: Some(Pace::Opportunities(Box::new(pace))),
        delay: Span::ZERO,
        queue: drop_tail(10_000),
        ..link(0, 1)
    }
}

fn trace(text: &str) -> Trace {
    Trace::parse(text).expect("a valid trace")
}

/// When each packet is delivered, in nanoseconds.
fn arrivals(config: LinkConfig, packets: &[(u64, u32)]) -> Vec<u64> {
    let (mut graph, _) = one_link(config);
    let mut arrived = Vec::new();
    for (tag, &(at, ip_len)) in (0..).zip(packets) {
        let at = Time::from_nanos(at);
        arrived.extend(deliver_until(&mut graph, at, &mut NoSink));
        graph.handle_packet(at, packet(1, ip_len, tag), &mut NoSink);
    }
    arrived.extend(deliver_all(&mut graph, &mut NoSink));
    graph.conservation().check().expect("accounted for");
    assert!(arrived.is_sorted_by_key(|d| d.packet.tag), "in order");
    arrived.iter().map(|d| d.at.as_nanos()).collect()
}

const MS: u64 = 1_000_000;

#[test]
fn a_full_packet_takes_an_opportunity_and_short_ones_share_it() {
    let opportunities = trace("5\n10\n10\n20\n");
    // 1500 and its 4 bytes are one; then three of 400 are 1212 bytes of the next, the fourth goes
    // on in the one after.
    let sent = [(0, 1_500), (0, 400), (0, 400), (0, 400), (0, 400)];
    let expected = [5, 10, 10, 10, 10].map(|ms| ms * MS);
    assert_eq!(arrivals(replaying(&opportunities), &sent), expected);
}

#[test]
fn a_packet_beyond_an_opportunity_goes_on_in_the_next_and_leaves_the_rest() {
    // 3000 and 4 bytes: two opportunities are 3008, 4 bytes are left and used by what waits.
    let sent = [(0, 3_000), (0, 100)];
    assert_eq!(arrivals(replaying(&trace("1\n7\n9\n")), &sent), [7 * MS, 9 * MS]);
    let sent = [(0, 2_900), (0, 100)];
    assert_eq!(arrivals(replaying(&trace("1\n7\n9\n")), &sent), [7 * MS, 7 * MS]);
}

#[test]
fn opportunities_that_nobody_waits_for_are_lost_and_one_at_the_same_instant_is_missed() {
    let opportunities = trace("1\n2\n3\n8\n");
    // Comes at 3 ms sharp: waits for 8. One nanosecond earlier it gets the one at 3.
    assert_eq!(arrivals(replaying(&opportunities), &[(3 * MS, 1_500)]), [8 * MS]);
    assert_eq!(arrivals(replaying(&opportunities), &[(3 * MS - 1, 1_500)]), [3 * MS]);
    // What is left of an opportunity is lost as well if nobody waits then.
    let sent = [(0, 100), (1_500_000, 1_500)];
    assert_eq!(arrivals(replaying(&opportunities), &sent), [MS, 2 * MS]);
}

#[test]
fn a_trace_begins_anew_at_its_last_opportunity() {
    // 0, 4, 10 | 10, 14, 20 | ...: two at 10 ms, the end of the first and the start of the second.
    let opportunities = trace("0\n4\n10\n");
    let sent: Vec<_> = (0..6).map(|_| (1, 1_500)).collect();
    let expected = [4, 10, 10, 14, 20, 20].map(|ms| ms * MS);
    assert_eq!(arrivals(replaying(&opportunities), &sent), expected);
}

#[test]
fn a_link_that_uses_every_opportunity_is_busy_all_the_time() {
    let opportunities = trace("3\n3\n4\n10\n");
    let (mut graph, id) = one_link(replaying(&opportunities));
    for tag in 0..4 {
        graph.handle_packet(Time::ZERO, packet(1, 1_500, tag), &mut NoSink);
    }
    deliver_all(&mut graph, &mut NoSink);
    assert_eq!(graph.busy_for(id, at_us(10_000)), Span::from_millis(10));
    assert_eq!(graph.busy_for(id, at_us(20_000)), Span::from_millis(10));
}

/// The definition, opportunity by opportunity: what comes before an instant is served at it.
fn by_definition(opportunities: &Trace, packets: &[(u64, u32)]) -> Vec<u64> {
    let stamps: Vec<u64> = opportunities.to_text().lines().map(|l| l.parse().unwrap()).collect();
    let (mut left, mut done, mut base) = (None, Vec::new(), 0);
    while done.len() < packets.len() {
        for stamp in &stamps {
            let now = (base + stamp) * MS;
            let mut room = 1_504;
            while room > 0 && done.len() < packets.len() {
                let (came, ip_len) = packets[done.len()];
                if came >= now {
                    break;
                }
                let need = left.unwrap_or(ip_len + 4);
                if need <= room {
                    done.push(now);
                    left = None;
                } else {
                    left = Some(need - room);
                }
                room -= need.min(room);
            }
        }
        base += stamps.last().unwrap();
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_replayed_trace_does_what_the_definition_says(
        mut stamps in prop::collection::vec(0_u64..40, 1..30),
        packets in prop::collection::vec(
            (0_u64..4_000, prop::sample::select(vec![40, 576, 1_496, 1_500, 1_501, 4_000])),
            1..60,
        ),
    ) {
        stamps.sort_unstable();
        *stamps.last_mut().unwrap() += 1;
        let text: String = stamps.iter().map(|stamp| format!("{stamp}\n")).collect();
        let opportunities = trace(&text);
        prop_assert_eq!(opportunities.to_text(), text);
        // In steps of a microsecond and a fraction, so that few come at an opportunity's instant.
        let mut at = 0;
        let packets: Vec<_> = packets.iter().map(|&(gap, len)| {
            at += gap * 500;
            (at, len)
        }).collect();
        let found = arrivals(replaying(&opportunities), &packets);
        prop_assert_eq!(found, by_definition(&opportunities, &packets));
    }
}

const SLOT: Span = Span::from_millis(1);

fn cellular(rate: Rate, block_error: f64, request: Option<Request>) -> CellularConfig {
    CellularConfig {
        rate,
        slot: SLOT,
        block_error: Ratio::new(block_error).expect("a share"),
        retry_after_slots: 8,
        retries: 3,
        request,
        stream: RandomStream::for_element(1, "links/a/cellular"),
    }
}

fn hop(config: CellularConfig) -> (Graph, ackord_events::LinkId) {
    let pace = Some(Pace::Cellular(Box::new(Cellular::new(config))));
    one_link(LinkConfig { pace, delay: Span::ZERO, queue: drop_tail(1_000_000), ..link(0, 1) })
}

#[test]
fn a_lone_packet_waits_for_the_next_slot_and_takes_it() {
    let (mut graph, _) = hop(cellular(Rate::from_mbits_per_sec(16), 0.0, None));
    // 16 Mbit/s are 2000 bytes a slot. At 2.3 ms: slot 3 begins at 3 ms and is over at 4 ms.
    graph.handle_packet(at_us(2_300), packet(1, 1_500, 0), &mut NoSink);
    // At 4 ms sharp the slot that begins then is planned already.
    graph.handle_packet(at_us(4_000), packet(1, 1_500, 1), &mut NoSink);
    // 1500 of the slot's 2000 bytes are taken: 500 go with it, the rest in the next.
    graph.handle_packet(at_us(4_100), packet(1, 1_500, 2), &mut NoSink);
    let arrived: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.at).collect();
    assert_eq!(arrived, [4_000, 6_000, 7_000].map(at_us));
}

#[test]
fn upward_a_phone_asks_before_it_sends_and_not_while_it_sends() {
    let request = Request { every: Span::from_millis(10), grant_after: Span::from_micros(7_500) };
    let (mut graph, _) = hop(cellular(Rate::from_mbits_per_sec(8), 0.0, Some(request)));
    // Asks at 20 ms, is granted from 27.5 on: the slots that begin at 28 and 29 ms and so on take
    // 1000 bytes each, and 29 ms is not asked for again.
    for (tag, at) in (0..).zip([12_000, 12_100, 28_500]) {
        graph.handle_packet(at_us(at), packet(1, 1_000, tag), &mut NoSink);
    }
    // The phone has been idle since 31 ms: asks at 50, is granted at 57.5.
    graph.handle_packet(at_us(40_100), packet(1, 1_000, 3), &mut NoSink);
    let arrived: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.at).collect();
    assert_eq!(arrived, [29_000, 30_000, 31_000, 59_000].map(at_us));
}

/// Mean tries of a block: 1 + e + .. + e^retries.
fn mean_tries(e: f64, retries: i32) -> f64 {
    (0..=retries).map(|k| e.powi(k)).sum()
}

#[test]
fn a_lone_packets_mean_delay_and_loss_are_the_closed_forms() {
    let e = 0.3;
    let request = Request { every: Span::from_millis(10), grant_after: Span::from_millis(8) };
    for (request, to_the_slot_ms) in [(None, 0.5), (Some(request), 5.0 + 8.0)] {
        let (mut graph, id) = hop(cellular(Rate::from_mbits_per_sec(16), e, request));
        let (packets, mut total, mut phase) =
            (40_000_u64, 0.0, RandomStream::for_element(2, "phases"));
        let mut arrived = 0_u64;
        for n in 0..packets {
            let step = Span::from_millis(100);
            let sent = at_us(100_000 * n) + phase.uniform(Span::ZERO, Span::from_millis(40));
            graph.handle_packet(sent, packet(1, 1_000, n), &mut NoSink);
            for delivery in deliver_until(&mut graph, at_us(100_000 * n) + step, &mut NoSink) {
                total += (delivery.at - sent).as_secs_f64() * 1e3;
                arrived += 1;
            }
        }
        let lost = graph.link_stats(id).drops.of(DropReason::RetryLimit) as f64;
        let share = e.powi(4);
        let deviation = (share * (1.0 - share) / packets as f64).sqrt();
        assert!((lost / packets as f64 - share).abs() < 4.0 * deviation, "{lost}");
        // Retries of those that arrive: sum of k e^k over k up to 3, by their share.
        let kept: f64 = (0..4).map(|k| e.powi(k)).sum();
        let retries: f64 = (0..4).map(|k| f64::from(k) * e.powi(k)).sum::<f64>() / kept;
        let expected = to_the_slot_ms + 1.0 + 8.0 * retries;
        let mean = total / arrived as f64;
        // The deviation of a delay is below 8 ms of retries and 3 ms of phase: 8.6 together.
        let error = 4.0 * 8.6 / (arrived as f64).sqrt();
        assert!((mean - expected).abs() < error, "{mean} ms for {expected} ms");
    }
}

#[test]
fn retransmissions_take_their_share_of_the_throughput_and_packets_stay_in_order() {
    for e in [0.0, 0.1, 0.5] {
        let rate = Rate::from_mbits_per_sec(10);
        let (mut graph, id) = hop(cellular(rate, e, None));
        let packets = 100_000_u64;
        for n in 0..packets {
            graph.handle_packet(Time::ZERO, packet(1, 1_250, n), &mut NoSink);
        }
        let end = at_us(20_000_000);
        let arrived = deliver_until(&mut graph, end, &mut NoSink);
        assert!(arrived.is_sorted_by_key(|delivery| delivery.packet.tag), "in order");
        // A packet is a block; in 20 s there are 20 000 slots.
        let blocks = graph.link_stats(id).packets as f64;
        let expected = 20_000.0 / mean_tries(e, 3);
        // The tries of a block have a variance below e / (1-e)^2: the count of blocks in n slots
        // has one below n var / mean^3.
        let variance = 20_000.0 * e / (1.0 - e).powi(2) / mean_tries(e, 3).powi(3);
        assert!((blocks - expected).abs() < 4.0 * variance.sqrt() + 2.0, "{blocks}, {expected}");
        let busy = graph.busy_for(id, end).as_secs_f64();
        assert!((19.9..=20.0).contains(&busy), "always something to send: {busy} s of 20");
        graph.conservation().check().expect("accounted for");
    }
}

#[test]
fn a_retransmission_holds_up_what_follows() {
    // Every first try fails and one retry is allowed: half the blocks of two slots are lost.
    let config = CellularConfig { retries: 1, ..cellular(Rate::from_mbits_per_sec(8), 0.5, None) };
    let (mut graph, _) = hop(config);
    for n in 0..2_000 {
        graph.handle_packet(Time::ZERO, packet(1, 1_000, n), &mut NoSink);
    }
    let arrived = deliver_all(&mut graph, &mut NoSink);
    assert!(arrived.is_sorted_by_key(|delivery| delivery.packet.tag));
    let together = arrived.windows(2).filter(|pair| pair[0].at == pair[1].at).count();
    assert!(together > 300, "what was held up comes at once: {together}");
}
