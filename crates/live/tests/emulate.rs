//! Emulations between stock kernels, and between a kernel and our own TCP.

mod common;

use ackord_events::{Event, Sink};
use ackord_live::{EmulationEnding, EmulationOptions, EmulationReport, Place, emulate};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_units::{Span, Time};
use ackord_wire::Side;
use common::{alone, possible};
use std::ops::ControlFlow;

fn scenario(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("it comes along");
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{name}: {errors}"))
}

/// What was told.
#[derive(Default)]
struct Told {
    delivered: u64,
    dropped: u64,
    completed: u64,
    datagrams: (u64, u64),
}

impl Sink for Told {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, .. } => self.delivered += bytes.get(),
            Event::PacketDropped { .. } => self.dropped += 1,
            Event::TransferCompleted { .. } => self.completed += 1,
            Event::DatagramSent { .. } => self.datagrams.0 += 1,
            Event::DatagramDelivered { .. } => self.datagrams.1 += 1,
            _ => {}
        }
    }
}

fn run(options: EmulationOptions) -> Option<(EmulationReport, Told)> {
    let mut told = Told::default();
    let report = possible(emulate(options, &mut told, &mut |_| ControlFlow::Continue(())))?;
    Some((report, told))
}

const QUICK: &[(&str, &str)] =
    &[("links.wifi.delay", "5 ms"), ("flows.download.traffic.size", "1 MB"), ("duration", "20 s")];

#[test]
fn two_kernels_move_a_transfer_over_a_lossy_path_and_the_run_ends_with_it() {
    let _alone = alone();
    let scenario = scenario("lossy-wifi", QUICK);
    let options = EmulationOptions::new(scenario).expect("a descriptor");
    let Some((report, told)) = run(options) else { return };
    assert_eq!(report.ending, EmulationEnding::Complete, "{report:#?}");
    assert!(report.took < Span::from_secs(19), "it ended with its flow: {}", report.took);
    assert_eq!(told.delivered, 1_000_000);
    let places: Vec<Place> = report.hosts.iter().map(|host| host.place).collect();
    assert_eq!(places, [Place::Kernel, Place::Kernel]);
    assert!(report.hosts.iter().all(|host| host.counters.value("TcpInSegs") > 100));
    assert!(report.counts.entered > 900 && report.counts.malformed == 0, "{:?}", report.counts);
    assert!(!report.samples.is_empty() && report.lateness.packets > 900);
}

#[test]
fn either_end_may_be_our_own_tcp() {
    let _alone = alone();
    for side in [Side::Client, Side::Server] {
        let scenario = scenario("lossy-wifi", QUICK);
        let flow = &scenario.flows[0];
        let ours = if side == Side::Client { flow.client } else { flow.server };
        let mut options = EmulationOptions::new(scenario).expect("a descriptor");
        options.ours.insert(ours);
        let Some((report, told)) = run(options) else { return };
        assert_eq!((report.ending, told.delivered), (EmulationEnding::Complete, 1_000_000));
        assert!(report.took < Span::from_secs(19), "{side:?}: it ended with its flow");
        assert!(report.counts.made > 100, "our packets are made: {:?}", report.counts);
    }
}
