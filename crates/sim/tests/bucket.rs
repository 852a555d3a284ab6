//! Connections through a policer and through a shaper: neither gets more than burst and rate.

use ackord_events::{DropReason, Event, Sink};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::Time;
use ackord_wire::{Packet, Side};

const SECONDS: u64 = 30;
/// Bytes per second of the bucket, and what it holds.
const RATE: u64 = 5_000_000 / 8;
const BURST: u64 = 60_000;

/// 50 Mbit/s, 40 ms, one flow; `element` is of the link.
fn scenario(element: &str, congestion: &str) -> Scenario {
    let text = format!(
        r#"
version = 1
name = "bucket"
purpose = "a bulk flow beyond a rate"
source = "this project"
seed = 1
duration = "{SECONDS} s"
[hosts.server]
[hosts.client]
[[links]]
name = "line"
from = "server"
to = "client"
rate = "50 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop-tail", limit = "50 kB" }}
{element} = {{ kind = "token-bucket", rate = "5 Mbit/s", burst = "{BURST} B" }}
reverse = {{ {element} = "none" }}
[[flows]]
name = "download"
from = "client"
to = "server"
sends = "server"
traffic = "bulk"
[tcp]
congestion = "{congestion}"
[record]
captures = ["line"]
"#
    );
    ScenarioFile::new("bucket.toml", text).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// What comes out of the link, and what it drops.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    out: Vec<(Time, u64)>,
    policed: u64,
    queue_full: u64,
    longest_wait_ms: u64,
}

impl Sink for Seen {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        use ackord_events::TapPoint::LinkOut;
        match event {
            Event::PacketTapped {
                tap: LinkOut(_),
                packet: Packet { from: Side::Server, ip_len, .. },
            } => self.out.push((at, u64::from(*ip_len))),
            Event::PacketDropped { reason: DropReason::Policed, .. } => self.policed += 1,
            Event::PacketDropped { reason: DropReason::QueueFull, .. } => self.queue_full += 1,
            Event::PacketDequeued { waited, .. } => {
                let waited = waited.as_nanos() / 1_000_000;
                self.longest_wait_ms = self.longest_wait_ms.max(waited);
            }
            _ => {}
        }
    }
}

fn run(scenario: &Scenario) -> Seen {
    let mut seen = Seen::default();
    let end = Time::ZERO + scenario.duration;
    let mut simulation = Simulation::new(scenario, 1).expect("builds");
    simulation.run_until(end, &mut seen);
    simulation.finish(&mut seen).expect("packets are conserved");
    seen
}

impl Seen {
    /// Bytes out, as a share of what the bucket allows in the whole run.
    fn share(&self) -> f64 {
        let out: u64 = self.out.iter().map(|(_, octets)| octets).sum();
        out as f64 / (BURST + RATE * SECONDS) as f64
    }

    /// In every interval between two packets, burst and rate are not exceeded; what the line does to one
    /// packet is beside it.
    fn holds_the_bound(&self) {
        let mut least = 0.0_f64;
        let mut sum = 0.0;
        for (at, octets) in &self.out {
            // Bytes beyond the rate so far, held against the least of before.
            let level = |sum: f64| sum - at.as_secs_f64() * RATE as f64;
            least = least.min(level(sum));
            sum += *octets as f64;
            let beyond = level(sum) - least;
            assert!(beyond <= BURST as f64 + 1_500.0, "{beyond} bytes beyond the rate at {at:?}");
        }
    }
}

#[test]
fn a_flow_through_a_policer_gets_at_most_its_rate_and_meets_no_queue() {
    for congestion in ["reno", "cubic"] {
        let seen = run(&scenario("policer", congestion));
        seen.holds_the_bound();
        // Reno swings between a half of what it was at a loss and the whole: a bucket that holds more than
        // a round trip carries it over that, as far as it is not emptied.
        assert!((0.7..=1.0).contains(&seen.share()), "{congestion}: {}", seen.share());
        assert!(seen.policed > 10 && seen.queue_full == 0, "{congestion}: {}", seen.policed);
        assert!(seen.longest_wait_ms <= 8, "{congestion}: {} ms", seen.longest_wait_ms);
        assert_eq!(seen, run(&scenario("policer", congestion)), "{congestion}: always the same");
    }
}

#[test]
fn a_flow_through_a_shaper_gets_its_rate_and_fills_the_queue_before_it() {
    let seen = run(&scenario("shaper", "reno"));
    seen.holds_the_bound();
    assert!((0.97..=1.0).contains(&seen.share()), "{}", seen.share());
    assert!(seen.policed == 0 && seen.queue_full > 0);
    // 50 kB at 5 Mbit/s.
    assert!((70..=80).contains(&seen.longest_wait_ms), "{} ms", seen.longest_wait_ms);
}
