//! The paper's form.

use super::*;

#[test]
fn a_connection_keeps_q_thresh_packets_and_no_more() {
    let mut bench = Bench::paper(paper(Threshold::Fixed(3)));
    assert_eq!(bench.burst(1, 5), [3, 4], "the fourth and the fifth");
    assert_eq!(bench.burst(2, 3), [] as [usize; 0], "another connection has its own counter");
    bench.after_departures(1);
    assert_eq!(bench.burst(1, 2), [1], "one has left, one may come");
}

#[test]
fn in_the_other_reading_one_packet_more_may_queue() {
    let config = PaperConfig { arrival_counts: false, ..paper(Threshold::Fixed(3)) };
    assert_eq!(Bench::paper(config).burst(1, 6), [4, 5]);
}

#[test]
fn the_computed_threshold_falls_as_connections_join() {
    // 40 ms of 1 Mbit/s are 5 packets of 1000 B: W_best is 5 + 2 for one connection, 2.5 + 2 for
    // two, 5/3 + 2 for three.
    let mut bench = Bench::paper(paper(Threshold::Best { factor: 1.0 }));
    assert_eq!(bench.burst(1, 8), [7], "alone: seven");
    assert_eq!(bench.burst(2, 5), [4], "the second of two: four");
    assert_eq!(bench.burst(3, 4), [3], "the third of three: three");
    bench.after_departures(3);
    // Flow 1 has four left, but with three connections only three may be.
    assert_eq!(bench.burst(1, 1), [0]);
    bench.after_departures(4);
    // All of flow 1 has left, and it finds the two others queueing.
    assert_eq!(bench.burst(1, 4), [3]);
    bench.after_departures(20);
    bench.send(9);
    assert_eq!(bench.burst(1, 8), [7], "alone again");
}

#[test]
fn the_factor_scales_the_computed_threshold() {
    let bench = |factor| Bench::paper(paper(Threshold::Best { factor }));
    assert_eq!(bench(0.5).burst(1, 5), [3, 4], "3.5 packets");
    assert_eq!(bench(0.01).burst(1, 2), [1], "never less than one packet");
}

#[test]
fn smaller_packets_raise_the_computed_threshold() {
    // 40 ms of 1 Mbit/s are 10 packets of 500 B.
    let config = paper(Threshold::Best { factor: 1.0 });
    let config = PaperConfig { packet_length: Some(Bytes(500)), ..config };
    assert_eq!(Bench::paper(config).burst(1, 13), [12]);
}

#[test]
fn a_weight_multiplies_the_threshold_of_its_connection() {
    let config = PaperConfig { weights: weigh(1, 2.0), ..paper(Threshold::Fixed(3)) };
    let mut bench = Bench::paper(config);
    assert_eq!((bench.burst(1, 7), bench.burst(2, 4)), (vec![6], vec![3]));
}

#[test]
fn the_physical_limit_has_its_own_reason() {
    let config = PaperConfig { limit: Limit::Packets(4), ..paper(Threshold::Fixed(3)) };
    let mut bench = Bench::paper(config);
    assert_eq!(bench.burst(1, 3), [] as [usize; 0]);
    assert_eq!(bench.send(2), None);
    assert_eq!(bench.send(2), Some(DropReason::QueueFull));
    assert_eq!(bench.send(1), Some(DropReason::OverShare), "the share is looked at first");
}
