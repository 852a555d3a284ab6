//! A router that is a stock kernel, in the middle of an emulated path.

use crate::common::{alone, assert_timely, late, possible, timely};
use ackord_events::{Event, Sink};
use ackord_live::{EmulationOptions, EmulationReport, KernelRouter, RouterReport, emulate};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_units::{Span, Time};
use std::ops::ControlFlow;

/// A wireless link behind a router; a box that no run with a kernel router may notice.
const SCENARIO: &str = r#"
version = 1
name = "routed"
seed = 1
duration = "20 s"

[hosts.server]
[hosts.mobile]
[routers.base]

[[links]]
name = "air"
from = "base"
to = "mobile"
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "1000 packets" }

[[links]]
name = "wired"
from = "server"
to = "base"
rate = "100 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "1000 packets" }

[[proxies]]
at = "base"
link = "air"
proxy = "snoop"

[tcp]
profile = "linux"

[[flows]]
name = "transfer"
from = "mobile"
to = "server"
sends = "server"
traffic = { kind = "bulk", size = "1 MB" }
"#;

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::new("routed.toml", SCENARIO);
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Whether the kernel has IPv6; says SKIPPED if not.
fn has_ipv6() -> bool {
    let there = std::path::Path::new("/proc/net/if_inet6").exists();
    if !there {
        ackord_testing::skipped("this kernel has no IPv6");
    }
    there
}

fn router(scenario: &Scenario) -> KernelRouter {
    let proxy = &scenario.proxies[0];
    KernelRouter { node: proxy.at, lan_link: proxy.link }
}

#[derive(Default)]
struct Told {
    delivered: u64,
    by_boxes: u64,
}

impl Sink for Told {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, .. } => self.delivered += bytes.get(),
            Event::ProxySent { .. } | Event::ProxyAbsorbed { .. } => self.by_boxes += 1,
            _ => {}
        }
    }
}

fn run(options: EmulationOptions) -> Option<(EmulationReport, RouterReport, Told)> {
    let mut told = Told::default();
    let report = possible(emulate(options, &mut told, &mut |_| ControlFlow::Continue(())))?;
    late(report.lateness);
    let router = report.router.expect("one was asked for");
    Some((report, router, told))
}

#[test]
fn a_kernel_in_the_middle_forwards_every_packet_of_both_families_both_ways() {
    let _alone = alone();
    let v6 = has_ipv6().then_some("v6");
    let families = [Some("v4"), v6].into_iter().flatten();
    for (ip, sends) in families.flat_map(|ip| [(ip, "server"), (ip, "client")]) {
        timely(|| {
            let changes = [("flows.transfer.sends", sends), ("flows.transfer.ip", ip)];
            let scenario = scenario(&changes);
            let mut options = EmulationOptions::new(scenario).expect("a descriptor");
            options.router = Some(router(&options.scenario));
            let Some((report, router, told)) = run(options) else { return };
            assert!(!report.stopped, "{report:#?}");
            assert_eq!((told.delivered, told.by_boxes), (1_000_000, 0));
            assert_eq!((report.counts.altered, report.counts.unchecked), (0, 0));
            for way in [router.to_mobile, router.to_fixed] {
                assert!(way.handed > 300, "{router:?}");
                assert_eq!((way.made, way.missing, way.refused), (0, 0, 0), "{router:?}");
                // What was inside when the run ended is no loss.
                assert!(way.handed - way.forwarded < 5, "{router:?}");
            }
            let received = report.hosts[0].counters.value("Ip6InReceives");
            assert_eq!(received > 300, ip == "v6", "{received} packets of IPv6");
            println!("{ip}, {sends} sends: {router:?}");
            assert_timely!(router.inside.p50 < Span::from_millis(1), "{router:?}");
        });
    }
}
