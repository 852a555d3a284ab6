//! Split connections between two hosts: what goes over, what is acknowledged too early, and what
//! becomes of it all when a host or the box is gone.

mod bench;

use ackord_units::Time;
use ackord_wire::Flags;
use bench::{Bench, Who, config, ms};

fn times(segments: &[(Time, ackord_wire::Segment)], flags: Flags) -> Vec<Time> {
    segments
        .iter()
        .filter(|(_, segment)| segment.flags.contains(flags))
        .map(|(at, _)| *at)
        .collect()
}

#[test]
fn the_fixed_host_is_answered_before_the_mobile_was_asked() {
    let mut bench = Bench::new(config(), Who::Fixed, (100_000, 0));
    bench.run_until(ms(10_000));
    // 20 ms to the box and 20 ms back; the mobile's own answer would have taken 80.
    let answers = times(&bench.host(Who::Fixed).heard, Flags::SYN | Flags::ACK);
    assert_eq!(answers, [ms(40)]);
    assert_eq!(bench.host(Who::Mobile).received, 100_000);
}
