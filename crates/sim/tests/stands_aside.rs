//! Practical Proxy TCP costs a connection nothing much whose losses are those of its own queue.

use ackord_events::{EndpointId, NoSink};
use ackord_scenario::{Override, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::Time;
use ackord_wire::{FlowId, Side};

/// Of the wireless link: 1000 of 1040 bytes at 2 Mbit/s.
const CAPACITY: f64 = 2e6 / 8.0 * 1_000.0 / 1_040.0;

/// What arrives of what the link could carry in 60 s.
fn share(proxy: &str, more: &[(&str, &str)], seed: u64) -> f64 {
    let always = [
        ("duration", "60 s"),
        ("links.air.loss", "none"),
        ("links.air.reverse.loss", "none"),
        ("tcp.mss", "1000 B"),
        ("tcp.max_window", "1000"),
        ("proxies.base.proxy", proxy),
    ];
    let sets = always.iter().chain(more);
    let overrides = sets.map(|(path, value)| Override::new(*path, (*value).to_owned()));
    let file = ScenarioFile::from_library("fading-access-point").expect("it comes along");
    let scenario = file.with_overrides(overrides).check().expect("a sound scenario");
    let mut simulation = Simulation::new(&scenario, seed).expect("it builds");
    simulation.run_until(Time::ZERO + scenario.duration, &mut NoSink);
    let server = EndpointId { flow: FlowId(0), side: Side::Server };
    simulation.connection(server).bytes_acked() as f64 / (CAPACITY * 60.0)
}

/// A Reno that halves its window whenever the path is full has three quarters of the link even where
/// there is no queue at all; with recoveries that hid every overflow it had 36 %.
#[test]
fn a_sender_that_counts_duplicates_hears_of_a_queue_shorter_than_the_path() {
    for limit in ["5 packets", "10 packets", "20 packets"] {
        let queue = format!("{{ kind = \"drop-tail\", limit = \"{limit}\" }}");
        let sets = [
            ("tcp.profile", "ns2"),
            ("tcp.congestion", "ns2"),
            ("tcp.recovery", "ns2-reno"),
            ("links.air.queue", queue.as_str()),
        ];
        let with = share("proxy-tcp", &sets, 1);
        assert!(with >= 0.75, "{limit}: {with:.3} of the link");
    }
}

/// Where the delay jumps, what a pause holds back comes in one burst that no queue has room for. The
/// sender's own recovery of it costs a percent or so: of fifteen seeds the mean is 98.8 ± 0.4 % of what goes
/// without a box.
#[test]
fn a_sender_that_speaks_sack_repairs_a_burst_that_overflowed_by_itself() {
    let jumps = "{ kind = \"redraw\", every = \"1 s\", distribution = \"uniform\", \
                 deviation = \"28.9 ms\", floor = \"20 ms\", order = \"kept\" }";
    let sets = [
        ("tcp.profile", "linux"),
        ("tcp.congestion", "cubic"),
        ("tcp.recovery", "sack"),
        ("links.air.queue", "{ kind = \"drop-tail\", limit = \"49 packets\" }"),
        ("links.air.delay", "70 ms"),
        ("links.air.jitter", jumps),
    ];
    let all = |proxy| (1..=5).map(|seed| share(proxy, &sets, seed) / 5.0).sum::<f64>();
    let [with, without] = ["proxy-tcp", "none"].map(all);
    assert!(with >= 0.98 * without, "{with:.4} of the link, {without:.4} without a box");
}
