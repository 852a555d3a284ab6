//! What cwnd does while the application, not cwnd, holds the sender.

use ackord_events::{EndpointId, NoSink};
use ackord_scenario::{Override, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Bytes, Time};
use ackord_wire::{FlowId, Side};

/// cwnd after 200 messages of one segment, 100 ms apart on a path of 10 ms: one is in flight at a
/// time, and each has its acknowledgment.
fn cwnd_after_lone_segments(cwnd_use: &str) -> Bytes {
    let set = |path: &str, value: &str| Override::new(path, value);
    let file = ScenarioFile::from_library("delayed-ack-stall").expect("it comes along");
    let file = file.with_overrides([
        set("flows.*.traffic", r#"{ kind = "paced", message = "1000 B", interval = "100 ms" }"#),
        set("flows.*.tcp.mss", "1012 B"),
        set("flows.*.tcp.congestion", "reno"),
        set("flows.*.tcp.initial_window", "1"),
        set("flows.*.receiver_tcp.ack", "immediate"),
        set("flows.*.tcp.cwnd_use", cwnd_use),
        set("duration", "20050 ms"),
    ]);
    let scenario = file.check().unwrap_or_else(|errors| panic!("{errors}"));
    let mut simulation = Simulation::new(&scenario, 1).expect("a checked scenario builds");
    simulation.run_until(Time::ZERO + scenario.duration, &mut NoSink);
    let sender = EndpointId { flow: FlowId(0), side: Side::Client };
    simulation.connection(sender).cwnd()
}

#[test]
fn an_untried_cwnd_grows_only_where_nobody_asks() {
    // It holds the first segment, and from then on there is room to spare.
    assert_eq!(cwnd_after_lone_segments("full"), Bytes(2_000));
    // RFC 5681 in slow start: a segment for every acknowledgment. The first message leaves at 10 ms,
    // the last one acknowledged in time at 20.01 s.
    assert_eq!(cwnd_after_lone_segments("any"), Bytes(202_000));
}
