//! A lossless path with a queue of two bandwidth-delay products is filled, whatever the segment size.

use ackord_events::{EndpointId, NoSink};
use ackord_scenario::ScenarioFile;
use ackord_sim::Simulation;
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, Side};

/// Bytes of headers beside the payload: Ethernet is not counted, timestamps are.
const HEADERS: f64 = 52.0;

/// Returns the goodput of a download of five seconds, as a whole and in the last two seconds, bit/s.
fn goodput(mss: u64, rate_mbit_s: u64, delay_ms: u64) -> (f64, f64) {
    let bdp = rate_mbit_s * 1_000_000 / 8 * 2 * delay_ms / 1000;
    let queue = (2 * bdp / (mss + 52)).max(20);
    let text = format!(
        r#"
version = 1
name = "filled"
duration = "5 s"
[hosts.left]
[hosts.right]
[[links]]
name = "link"
from = "left"
to = "right"
rate = "{rate_mbit_s} Mbit/s"
delay = "{delay_ms} ms"
queue = {{ kind = "drop-tail", limit = "{queue} packets" }}
[tcp]
profile = "linux"
mss = "{mss} B"
[[flows]]
name = "download"
from = "left"
to = "right"
traffic = "bulk"
"#
    );
    let scenario = ScenarioFile::new("filled.toml", text).check().expect("a sound scenario");
    let mut simulation = Simulation::new(&scenario, 1).expect("a checked scenario builds");
    let receiver = EndpointId { flow: FlowId(0), side: Side::Server };
    let mut received = |seconds: u64| {
        simulation.run_until(Time::ZERO + Span::from_secs(seconds), &mut NoSink);
        simulation.connection(receiver).bytes_received()
    };
    let (before, all) = (received(3), received(5));
    (all as f64 * 8.0 / 5.0, (all - before) as f64 * 8.0 / 2.0)
}

#[test]
fn a_lossless_path_is_filled_by_segments_of_any_size() {
    let mut failed = Vec::new();
    for mss in [536, 1448, 4096, 8948, 30_000, 65_495] {
        for rate_mbit_s in [10, 100, 1000] {
            for delay_ms in [1, 10] {
                let bound = rate_mbit_s as f64 * 1e6 * mss as f64 / (mss as f64 + HEADERS);
                let (whole, late) = goodput(mss, rate_mbit_s, delay_ms);
                let (whole, late) = (whole / bound, late / bound);
                if whole > 1.0 || late < 0.9 {
                    let case = format!("{mss} B, {rate_mbit_s} Mbit/s, {delay_ms} ms");
                    failed.push(format!("{case}: {whole:.3}, at last {late:.3}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "shares of the bound: {failed:#?}");
}
