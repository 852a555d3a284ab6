//! How much goes through one emulated link between two kernels: for a quiet machine and an optimised
//! build, `cargo test --release -p ackord-live --test tests emulate_speed -- --ignored --nocapture`.

use crate::common::{alone, possible};
use ackord_events::{Event, Sink};
use ackord_live::{EmulationOptions, EmulationReport, emulate};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_units::Time;
use std::ops::ControlFlow;

/// One link between two hosts, far faster than anybody can be.
fn one_link(traffic: &str, delay: &str) -> Scenario {
    let text = format!(
        r#"
version = 1
name = "one-link"
purpose = "One link that is never in the way"
source = "this project"
seed = 3
duration = "4 s"
[hosts.a]
[hosts.b]
[[links]]
name = "link"
from = "a"
to = "b"
rate = "100 Gbit/s"
delay = "{delay}"
queue = {{ kind = "drop-tail", limit = "100000 packets" }}
[[flows]]
name = "flow"
from = "a"
to = "b"
traffic = {traffic}
"#
    );
    ScenarioFile::new("one-link", text).check().unwrap_or_else(|errors| panic!("{errors}"))
}

#[derive(Default)]
struct Delivered {
    bytes: u64,
    datagrams: u64,
}

impl Sink for Delivered {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, .. } => self.bytes += bytes.get(),
            Event::DatagramDelivered { .. } => self.datagrams += 1,
            _ => {}
        }
    }
}

/// How long this thread has been on a processor, in nanoseconds: unlike the time that passes, that
/// says what a packet costs also on a machine that is not quiet.
fn on_processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn run(scenario: Scenario) -> Option<(EmulationReport, Delivered)> {
    let _alone = alone();
    let options = EmulationOptions::new(scenario).expect("a descriptor");
    let mut delivered = Delivered::default();
    let mut on = |_| ControlFlow::Continue(());
    let before = on_processor_ns();
    let report = possible(emulate(options, &mut delivered, &mut on))?;
    let took = on_processor_ns() - before;
    print!(
        "{:.0} ns of the driver a packet, {:.0} % of a processor; ",
        took / report.counts.entered as f64,
        took / report.took.as_nanos() as f64 * 100.0
    );
    Some((report, delivered))
}

#[test]
#[ignore = "a figure for a quiet machine and an optimised build"]
fn bulk_transfers() {
    for delay in ["0 ms", "1 ms", "10 ms"] {
        let Some((report, delivered)) = run(one_link(r#"{ kind = "bulk" }"#, delay)) else {
            return;
        };
        let seconds = report.took.as_secs_f64();
        let packets = (report.counts.entered + report.counts.delivered) as f64 / 2.0;
        println!(
            "delay {delay}: {:.3} Gbit/s of payload, {:.0} kpps, lateness {} {} {}, refused {}",
            delivered.bytes as f64 * 8.0 / seconds / 1e9,
            packets / seconds / 1e3,
            report.lateness.p50,
            report.lateness.p99,
            report.lateness.max,
            report.counts.refused,
        );
    }
}

#[test]
#[ignore = "a figure for a quiet machine and an optimised build"]
fn small_datagrams() {
    for rate in ["50 Mbit/s", "100 Mbit/s", "200 Mbit/s"] {
        let traffic = format!(r#"{{ kind = "cbr", rate = "{rate}", packet = "60 B" }}"#);
        let Some((report, delivered)) = run(one_link(&traffic, "1 ms")) else { return };
        let seconds = report.took.as_secs_f64();
        let end = report.ends.iter().map(|end| (end.datagrams, end.datagrams_refused));
        println!(
            "{rate}: {:.0} kpps entered, {:.0} kpps delivered; the ends had {:?}; lateness {} {} {}",
            report.counts.entered as f64 / seconds / 1e3,
            delivered.datagrams as f64 / seconds / 1e3,
            end.collect::<Vec<_>>(),
            report.lateness.p50,
            report.lateness.p99,
            report.lateness.max,
        );
    }
}
