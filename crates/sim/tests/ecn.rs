//! Queues that mark, and endpoints that answer: nothing is lost, the link stays busy, the queue short.

use ackord_events::{CwndReason, Event, LinkId, Sink, TapPoint};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Ecn;

const LINK: LinkId = LinkId(0);

/// One transfer over 10 Mbit/s and 40 ms.
fn one_link(changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let text = r#"
version = 1
name = "marked"
purpose = "A queue that marks in place of dropping"
source = "this project"
seed = 3
duration = "30 s"
[hosts.a]
[hosts.b]
[[links]]
name = "link"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "codel", ecn = "on" }
[[flows]]
name = "bulk"
from = "b"
to = "a"
sends = "a"
traffic = "bulk"
[tcp]
ecn = "on"
[record]
captures = ["link"]
"#;
    ScenarioFile::new("marked", text.to_owned())
        .with_overrides(changes)
        .check()
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[derive(Default)]
struct Seen {
    delivered: Bytes,
    dropped: u64,
    marked: u64,
    reductions: u64,
    repairs: u64,
    waits: Vec<Span>,
}

impl Sink for Seen {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, .. } => self.delivered += bytes,
            Event::PacketDropped { .. } => self.dropped += 1,
            Event::PacketTapped { tap: TapPoint::LinkOut(LINK), packet } => {
                self.marked += u64::from(packet.ecn == Ecn::Ce);
            }
            Event::CwndChanged { reason: CwndReason::Ecn, .. } => self.reductions += 1,
            Event::RecoveryEntered { .. } => self.repairs += 1,
            Event::PacketDequeued { link: LINK, waited, .. } => self.waits.push(waited),
            _ => {}
        }
    }
}

impl Seen {
    fn of(changes: &[(&str, &str)]) -> Seen {
        let scenario = one_link(changes);
        let mut simulation = Simulation::new(&scenario, scenario.seed).expect("builds");
        let mut seen = Seen::default();
        simulation.run_until(Time::ZERO + scenario.duration, &mut seen);
        simulation.finish(&mut seen).expect("packets are conserved");
        seen.waits.sort_unstable();
        seen
    }

    /// Payload over what the link could have carried of it in full segments.
    fn share(&self) -> f64 {
        self.delivered.bits() as f64 / (10e6 * 30.0 * 1448.0 / 1500.0)
    }

    fn mean_wait_ms(&self) -> f64 {
        let total: f64 = self.waits.iter().map(|wait| wait.as_secs_f64()).sum();
        total * 1e3 / self.waits.len() as f64
    }

    fn tell(&self, what: &str) -> String {
        let p99 = self.waits[self.waits.len() * 99 / 100].as_secs_f64() * 1e3;
        format!(
            "{what}: {:.3} of the link, waits {:.2} ms, p99 {p99:.1} ms, {} marked, {} dropped, {} \
             reductions, {} repairs",
            self.share(),
            self.mean_wait_ms(),
            self.marked,
            self.dropped,
            self.reductions,
            self.repairs
        )
    }
}

#[test]
fn codel_marks_every_control_and_loses_nothing() {
    for control in ["reno", "cubic", "vegas", "westwood", "bbr"] {
        let seen = Seen::of(&[("tcp.congestion", control)]);
        let told = seen.tell(control);
        eprintln!("{told}");
        assert_eq!((seen.dropped, seen.repairs), (0, 0), "{told}");
        assert!(seen.share() > 0.85 && seen.share() <= 1.0, "{told}");
        // Vegas keeps its queue below the target by itself.
        if control != "vegas" {
            assert!(seen.marked > 0, "{told}");
        }
        if !matches!(control, "vegas" | "bbr") {
            assert!(seen.reductions > 0, "{told}");
            assert!(seen.mean_wait_ms() < 10.0, "twice CoDel's target: {told}");
        }
    }
}

#[test]
fn without_ecn_the_same_queue_drops() {
    let seen = Seen::of(&[("tcp.ecn", "off")]);
    let told = seen.tell("off");
    eprintln!("{told}");
    assert!(seen.dropped > 0 && seen.repairs > 0 && seen.marked == 0, "{told}");
    assert_eq!(seen.reductions, 0, "{told}");
}

#[test]
fn red_and_pie_mark_too() {
    for (queue, most_ms) in [("red", 15.0), ("pie", 30.0), ("fq-codel", 10.0)] {
        let choice = format!("{{ kind = \"{queue}\", ecn = \"on\" }}");
        let seen = Seen::of(&[("links.link.queue", &choice)]);
        let told = seen.tell(queue);
        eprintln!("{told}");
        assert!(seen.marked > 0 && seen.reductions > 0, "{told}");
        assert!(seen.share() > 0.85 && seen.share() <= 1.0, "{told}");
        assert!(seen.mean_wait_ms() < most_ms, "{told}");
    }
}
