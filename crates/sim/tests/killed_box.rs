//! Boxes that keep end-to-end semantics are dispensable: whatever the link loses, and whenever the box
//! dies and begins anew, every byte arrives, and none is acknowledged before it has.

use ackord_events::{EndpointId, Event, Sink};
use ackord_scenario::{Override, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::Time;
use ackord_wire::{FlowId, Side};

const SIZE: u64 = 400_000;

/// Boxes that may die, and begin anew.
const BOXES: [&str; 5] = [
    "snoop",
    "m-tcp",
    "proxy-tcp",
    "{ kind = \"proxy-tcp\", place = \"in-path\" }",
    "{ kind = \"proxy-tcp\", mode = \"paper\" }",
];

/// The most that was acknowledged ahead of its delivery, and how often a box died.
#[derive(Default)]
struct Ledger {
    delivered: u64,
    ahead: u64,
    deaths: u64,
}

impl Sink for Ledger {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { endpoint, stream_offset, .. }
                if endpoint.side == Side::Client =>
            {
                self.delivered = stream_offset.get();
            }
            Event::AckAdvanced { endpoint, stream_offset, .. } if endpoint.side == Side::Server => {
                self.ahead = self.ahead.max(stream_offset.get().saturating_sub(self.delivered));
            }
            Event::ProxyFailed { .. } => self.deaths += 1,
            _ => {}
        }
    }
}

/// Whether a box that died begins anew.
#[derive(Clone, Copy)]
enum Then {
    Restarts { after_ms: u64 },
    StaysDead,
}

fn transfer(proxy: &str, profile: &str, (dies_ms, then): (u64, Then), seed: u64) -> Ledger {
    let mut sets = vec![
        ("duration", "200 s".to_owned()),
        ("flows.download.traffic", format!("{{ kind = \"bulk\", size = \"{SIZE} B\" }}")),
        ("tcp.profile", profile.to_owned()),
        ("links.air.loss", "{ kind = \"random\", per_packet = \"3 %\" }".to_owned()),
        (
            "links.air.outage",
            "{ kind = \"schedule\", from = [\"1 s\"], for = [\"1500 ms\"] }".to_owned(),
        ),
        ("proxies.base.proxy", proxy.to_owned()),
        ("proxies.base.dies", format!("{dies_ms} ms")),
    ];
    if let Then::Restarts { after_ms } = then {
        sets.push(("proxies.base.restarts", format!("{} ms", dies_ms + after_ms)));
    }
    let overrides = sets.iter().map(|(path, value)| Override::new(*path, value.clone()));
    let file = ScenarioFile::from_library("fading-access-point").expect("it comes along");
    let scenario = file.with_overrides(overrides).check().expect("a sound scenario");
    let mut simulation = Simulation::new(&scenario, seed).expect("it builds");
    let mut ledger = Ledger::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut ledger);
    simulation.finish(&mut ledger).expect("packets are conserved");
    let server = EndpointId { flow: FlowId(0), side: Side::Server };
    let acked = simulation.connection(server).bytes_acked();
    assert!(acked >= SIZE, "{proxy}, {profile}, dies at {dies_ms} ms: {acked} B");
    ledger
}

fn check(proxy: &str, then: Then) {
    for profile in ["rfc", "linux", "ns2"] {
        for (number, dies_ms) in (50..3_000).step_by(295).enumerate() {
            let ledger = transfer(proxy, profile, (dies_ms, then), number as u64);
            let case = format!("{proxy}, {profile}, dies at {dies_ms} ms");
            assert_eq!(ledger.delivered, SIZE, "{case}");
            assert_eq!(ledger.ahead, 0, "{case}");
            assert_eq!(ledger.deaths, 1, "{case}: it died while the transfer lasted");
        }
    }
}

#[test]
fn every_octet_arrives_whenever_a_box_dies_and_begins_anew() {
    BOXES.iter().for_each(|proxy| check(proxy, Then::Restarts { after_ms: 700 }));
}

#[test]
fn every_octet_arrives_whenever_a_box_dies_for_good() {
    BOXES.iter().for_each(|proxy| check(proxy, Then::StaysDead));
}

/// A box that begins anew so soon has missed what is under way: only the sender can recover that, and
/// M-TCP's byte once made it take its own timeouts for needless, until one came a minute after another.
#[test]
fn no_timeout_is_taken_for_needless_because_a_box_began_anew() {
    for dies_ms in [145, 240, 335] {
        let ledger = transfer("m-tcp", "linux", (dies_ms, Then::Restarts { after_ms: 100 }), 1);
        assert_eq!(ledger.delivered, SIZE, "dies at {dies_ms} ms");
    }
}
