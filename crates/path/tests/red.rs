//! RED against Floyd and Jacobson 1993 and Floyd, Gummadi and Shenker 2001: drop rates in closed
//! form, gaps between drops, the gentle range, and how the largest probability adapts.

use crate::common::yard::Yard;
use ackord_events::DropReason;
use ackord_path::{CountIn, Limit, Queue, QueueDiscipline, Red, RedConfig, Spacing};
use ackord_units::{Bytes, RandomStream, Rate, Span};
use ackord_wire::Ecn;
use std::any::Any;

/// Thresholds 5 and 15, max_p 10 %; the average is the length that the last packet found.
fn config() -> RedConfig {
    RedConfig {
        limit: Limit::Packets(1_000),
        min_threshold: 5.0,
        max_threshold: 15.0,
        average_weight: 1.0,
        max_probability: 0.1,
        gentle: true,
        adaptive: false,
        spacing: Spacing::Uniform,
        count_in: CountIn::Packets,
        mean_packet: Bytes(1_000),
        rate: Rate::from_mbits_per_sec(8),
        ecn: false,
        stream: RandomStream::for_element(1, "links/test/queue"),
    }
}

fn red(config: RedConfig) -> Yard {
    Yard::new(Queue::of(Red::new(config)))
}

fn inside(yard: &Yard) -> &Red {
    let Queue::Other(queue) = &yard.queue else { panic!("not RED: {:?}", yard.queue) };
    let queue: &dyn Any = queue.as_ref();
    queue.downcast_ref().expect("RED")
}

/// Lets the queue grow to a length; RED's say in it is made up for by more arrivals.
fn grow(yard: &mut Yard, length: u32, ip_len: u32) {
    while yard.queue.length().packets < length {
        let _ = yard.arrive(0, ip_len);
    }
}

/// The gaps between drops over so many packets that all find this length.
fn gaps(config: RedConfig, length: u32, packets: u32) -> Vec<u32> {
    let mut yard = red(config);
    grow(&mut yard, length, 1_000);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for _ in 0..packets {
        gap += 1;
        match yard.arrive(0, 1_000) {
            Err(reason) => {
                assert_eq!(reason, DropReason::EarlyDrop);
                gaps.push(gap);
                gap = 0;
            }
            Ok(_) => {
                yard.depart();
            }
        }
    }
    gaps
}

#[test]
fn gaps_between_drops_are_uniform_up_to_one_over_the_probability() {
    // Half way: p_b = 0.05, so gaps are 1 to 20, each as often.
    let gaps = gaps(config(), 10, 210_000);
    let gaps = &gaps[1..];
    assert!(gaps.iter().all(|gap| (1..=20).contains(gap)));
    let expected = gaps.len() as f64 / 20.0;
    // 210000 packets at a mean gap of 10.5 are 20000 drops: 1000 of each gap, with a standard
    // deviation of 31; five of them.
    assert!((gaps.len() as f64 - 20_000.0).abs() < 400.0, "{}", gaps.len());
    for n in 1..=20 {
        let found = gaps.iter().filter(|&&gap| gap == n).count() as f64;
        assert!((found - expected).abs() < 155.0, "gap {n}: {found} of {expected}");
    }
}

#[test]
fn waiting_doubles_the_gaps() {
    let gaps = gaps(RedConfig { spacing: Spacing::Wait, ..config() }, 10, 100_000);
    assert!(gaps[1..].iter().all(|gap| (21..=40).contains(gap)));
    let mean = gaps[1..].iter().sum::<u32>() as f64 / (gaps.len() - 1) as f64;
    // Uniform on 21 to 40; 3280 gaps with a standard deviation of 5.8 each.
    assert!((mean - 30.5).abs() < 0.5, "{mean}");
}

#[test]
fn the_drop_rate_follows_the_average_in_closed_form() {
    // Uniform gaps of 1 to 1/p_b have a mean of (1/p_b + 1) / 2.
    let one_in = |base: f64| 2.0 / (1.0 / base + 1.0);
    for (length, expected) in [
        (4, 0.0),
        (6, one_in(0.01)),
        (10, one_in(0.05)),
        (13, one_in(0.08)),
        // Gentle: 0.1 + 0.9 * 5/15 = 0.4. Gaps 1, 2 and 3 with 0.4, 0.4 and 0.2: 1.8 on average.
        (20, 1.0 / 1.8),
        (28, one_in_gentle(0.1 + 0.9 * 13.0 / 15.0)),
    ] {
        let rate = gaps(config(), length, 100_000).len() as f64 / 100_000.0;
        assert!((rate - expected).abs() < 0.004, "length {length}: {rate}, expected {expected}");
    }
}

/// Above a half a gap is 1 or 2: 1 with the probability itself, 2 with the rest.
fn one_in_gentle(base: f64) -> f64 {
    1.0 / (2.0 - base)
}

#[test]
fn the_range_ends_where_every_packet_is_dropped() {
    // With a largest probability of zero nothing is dropped below the upper threshold.
    let fill = |gentle| {
        let mut yard = red(RedConfig { gentle, max_probability: 0.0, ..config() });
        for _ in 0..100_000 {
            let _ = yard.arrive(0, 1_000);
        }
        yard.queue.length().packets
    };
    assert_eq!((fill(false), fill(true)), (15, 30));
}

#[test]
fn the_average_forgets_while_nothing_is_sent() {
    // Packets of 1000 B take 1 ms at 8 Mbit/s.
    let mut yard = red(RedConfig { average_weight: 0.5, min_threshold: 1e3, ..config() });
    grow(&mut yard, 17, 1_000);
    let last = inside(&yard).average();
    assert!((last - 15.0).abs() < 0.01, "about one behind the length: {last}");
    yard.drain();
    // The last one is being sent for 1 ms more; then 3 ms in which three could have been.
    yard.advance(Span::from_millis(4));
    yard.arrive(0, 1_000).expect("far below the threshold");
    assert_eq!(inside(&yard).average(), last / 8.0);
}

#[test]
fn counting_in_bytes_long_packets_are_dropped_more_often() {
    let rate = |ip_len| {
        let mut yard = red(RedConfig { count_in: CountIn::Bytes, ..config() });
        grow(&mut yard, 10_000 / ip_len, ip_len);
        let mut drops = 0;
        for _ in 0..100_000 {
            match yard.arrive(0, ip_len) {
                Ok(_) => drop(yard.depart()),
                Err(_) => drops += 1,
            }
        }
        f64::from(drops) / 100_000.0
    };
    // 10000 B waiting are ten mean packets: p_b = 0.05, times 1/2 for 500 B.
    let expected = |base: f64| 2.0 / (1.0 / base + 1.0);
    for (ip_len, base) in [(1_000, 0.05), (500, 0.025)] {
        let found = rate(ip_len);
        assert!((found - expected(base)).abs() < 0.003, "{ip_len} B: {found}");
    }
}

#[test]
fn capable_packets_are_marked_where_others_are_dropped_but_not_where_all_are() {
    let mut yard = red(RedConfig { ecn: true, ..config() });
    let ect = |yard: &mut Yard| yard.arrive_with(0, 1_000, Ecn::Ect0);
    while yard.queue.length().packets < 30 {
        ect(&mut yard).expect("marked at most");
    }
    let marked = yard.marked();
    assert!(marked > 5, "{marked}");
    assert_eq!(ect(&mut yard), Err(DropReason::EarlyDrop), "twice the upper threshold");
    assert_eq!(yard.marked(), marked);
}

#[test]
fn a_full_queue_is_full() {
    let mut yard = red(RedConfig { limit: Limit::Packets(3), ..config() });
    grow(&mut yard, 3, 1_000);
    assert_eq!(yard.arrive(0, 1_000), Err(DropReason::QueueFull));
}

/// max_p after so long at a length that never changes, looked at every so often.
fn adapted(length: u32, lasts: Span, every: Span) -> f64 {
    let adaptive = RedConfig { adaptive: true, max_probability: 0.1, ..config() };
    let mut yard = red(adaptive);
    grow(&mut yard, length, 1_000);
    let mut elapsed = Span::ZERO;
    while elapsed < lasts {
        yard.advance(every);
        elapsed += every;
        if yard.arrive(0, 1_000).is_ok() {
            yard.depart();
        }
    }
    inside(&yard).max_probability()
}

#[test]
fn the_largest_probability_adapts_every_half_second() {
    let every = Span::from_millis(10);
    let after = |length, millis| adapted(length, Span::from_millis(millis), every);
    // The target is 9 to 11. Above: a hundredth each time. Below: a tenth less of it.
    assert_eq!(after(13, 490), 0.1);
    assert!((after(13, 500) - 0.11).abs() < 1e-12);
    assert!((after(13, 2_600) - 0.15).abs() < 1e-12);
    assert!((after(7, 1_000) - 0.081).abs() < 1e-12);
    assert!((after(10, 5_000) - 0.1).abs() < 1e-12);
    // It ends within a step of its range.
    let (most, least) = (after(13, 100_000), after(6, 100_000));
    assert!((0.5..=0.511).contains(&most), "{most}");
    assert!((0.009..=0.01).contains(&least), "{least}");
}

#[test]
fn adapting_does_not_depend_on_when_it_is_looked_at() {
    let often = adapted(13, Span::from_secs(7), Span::from_millis(1));
    let seldom = adapted(13, Span::from_secs(7), Span::from_millis(700));
    assert_eq!(often, seldom);
}
