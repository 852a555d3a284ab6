//! Queues that mark, and endpoints that answer: nothing is lost, the link stays busy, the queue short.

use ackord_events::{CwndReason, Event, LinkId, Sink, TapPoint};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Ecn;

const LINK: LinkId = LinkId(0);

/// One transfer over 10 Mbit/s and 40 ms.
fn one_link(flows: usize, changes: &[(&str, &str)]) -> Scenario {
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
[tcp]
ecn = "on"
[record]
captures = ["link"]
"#;
    let flow = |number| {
        format!(
            "[[flows]]\nname = \"bulk{number}\"\nfrom = \"b\"\nto = \"a\"\nsends = \"server\"\n\
             traffic = \"bulk\"\n"
        )
    };
    let text = (0..flows).map(flow).fold(text.to_owned(), |text, flow| text + &flow);
    ScenarioFile::new("marked", text)
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
    fn of(flows: usize, changes: &[(&str, &str)]) -> Seen {
        let scenario = one_link(flows, changes);
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

/// What a window that falls to this share of itself at each mark fills of a link without a queue: it
/// grows evenly from there to all of it.
fn without_queue(beta: f64) -> f64 {
    (1.0 + beta) / 2.0
}

#[test]
fn codel_marks_every_control_and_loses_nothing() {
    for (control, beta) in
        [("reno", 0.5), ("cubic", 0.7), ("vegas", 0.75), ("westwood", 0.7), ("bbr", 0.7)]
    {
        let seen = Seen::of(1, &[("tcp.congestion", control)]);
        let told = seen.tell(control);
        assert_eq!((seen.dropped, seen.repairs), (0, 0), "{told}");
        assert!(seen.share() > without_queue(beta) && seen.share() <= 1.0, "{told}");
        assert!(seen.mean_wait_ms() < 10.0, "twice CoDel's target: {told}");
        // Vegas alone keeps its queue below the target, and the model of BBR has no reductions.
        assert_eq!(seen.marked > 0, control != "vegas", "{told}");
        assert_eq!(seen.reductions > 0, !matches!(control, "vegas" | "bbr"), "{told}");
    }
}

#[test]
fn the_same_queue_drops_what_may_not_be_marked() {
    let seen = Seen::of(1, &[("tcp.ecn", "off")]);
    let told = seen.tell("off");
    assert!(seen.dropped > 0 && seen.repairs > 0, "{told}");
    assert_eq!((seen.marked, seen.reductions), (0, 0), "{told}");
}

#[test]
fn a_stock_kernel_s_stack_that_asks_for_it_is_marked_too() {
    let seen = Seen::of(1, &[("tcp.profile", "linux"), ("tcp.ecn", "on")]);
    let told = seen.tell("linux");
    assert_eq!((seen.dropped, seen.repairs), (0, 0), "{told}");
    assert!(seen.reductions > 0 && seen.share() > without_queue(0.7), "{told}");
    // Its default answers, but nobody asks.
    let stock = Seen::of(1, &[("tcp.profile", "linux"), ("tcp.ecn", "accept")]);
    assert_eq!(stock.marked, 0, "{}", stock.tell("stock"));
}

#[test]
fn eight_flows_marked_have_as_short_a_queue_as_dropped_ones_and_repair_less() {
    for queue in ["codel", "fq-codel", "pie", "red"] {
        let choice = format!("{{ kind = \"{queue}\", ecn = \"on\" }}");
        let run = |ecn| Seen::of(8, &[("links.link.queue", choice.as_str()), ("tcp.ecn", ecn)]);
        let (on, off) = (run("on"), run("off"));
        let told = format!("{queue}: {}; {}", on.tell("on"), off.tell("off"));
        assert!(on.marked > 0 && on.reductions > 0, "{told}");
        assert!(on.repairs * 4 < off.repairs, "{told}");
        assert!(on.share() > 0.9 && on.share() <= 1.0, "{told}");
        assert!(on.mean_wait_ms() < off.mean_wait_ms() * 1.5, "{told}");
    }
}
