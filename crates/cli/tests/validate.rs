//! `ackord validate` on this machine's kernel; SKIPPED where the machine does not let us.

use crate::common::{ackord, allowed, late};
use ackord_testing::{assert_timely, timely};
use serde_json::Value;

/// The report of a command line; nothing where it may not make a namespace.
fn report(arguments: &[&str]) -> Option<Value> {
    let output = ackord(arguments).output().expect("the program starts");
    if !allowed(&output) {
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    Some(serde_json::from_slice(&output.stdout).expect("only JSON"))
}

fn metric<'a>(scenario: &'a Value, name: &str) -> &'a Value {
    let metrics = scenario["metrics"].as_array().expect("a list");
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("{name}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// What holds for either side by physics, whatever the model.
fn within_bounds(scenario: &Value, side: &str, link_mbit_s: f64) {
    let of = |name: &str| number(&metric(scenario, name)[side]);
    assert!(of("goodput") > 0.0 && of("goodput") <= link_mbit_s, "{side}: {}", of("goodput"));
    // An acknowledgment answers a segment: SYN, FIN and window updates are the few beyond.
    assert!(of("pure ACKs") <= of("segments sent") + 10.0, "{side}: {}", of("pure ACKs"));
    assert!(of("retransmitted") <= of("segments sent"));
    // What was lost was sent, and all that arrived in order was sent at least once.
    let delivered_segments = of("segments sent") - of("lost on the path");
    assert!(delivered_segments > 0.0);
}

#[test]
fn both_sides_are_told_with_errors_and_intervals_and_keep_to_what_the_link_carries() {
    timely(|| {
        let command = ["validate", "--quick", "--seeds", "2", "--jobs", "3", "--json", "-"];
        let only = ["--only", "clean", "--only", "loss-3", "--only", "write-write-read"];
        let Some(found) = report(&[&command[..], &only].concat()) else { return };
        let scenarios = found["scenarios"].as_array().expect("a list");
        let names: Vec<_> = scenarios.iter().map(|scenario| scenario["name"].clone()).collect();
        assert_eq!(names, ["clean", "loss-3", "write-write-read"]);
        assert_eq!((&found["seeds"], &found["scenarios_total"]), (&2.into(), &3.into()));
        for scenario in scenarios {
            for side in ["sim", "kernel"] {
                within_bounds(scenario, side, 20.0);
            }
            for metric in scenario["metrics"].as_array().expect("a list") {
                assert!(metric["metric"].is_string() && metric["unit"].is_string());
                let (sim, kernel) = (number(&metric["sim"]), number(&metric["kernel"]));
                let Some(error) = metric["error_percent"].as_f64() else {
                    assert!(kernel == 0.0 && sim != 0.0, "{metric}");
                    continue;
                };
                assert!((error * kernel / 100.0 - (sim - kernel)).abs() < 1e-6 * sim.max(1.0));
                let interval = metric["ci95"].as_array().expect("of two runs");
                assert!(number(&interval[0]) <= error && error <= number(&interval[1]), "{metric}");
            }
            assert!(scenario["lateness"].as_array().is_some_and(|runs| !runs.is_empty()));
        }
        // Short runs say little of rates, but these say what they are about. Where the machine was too
        // busy the report says so, and what it says of the kernel is worth nothing.
        for run in scenarios.iter().filter_map(|scenario| scenario["lateness"].as_array()).flatten()
        {
            late(&run["p99_us"]);
        }
        let trusted = |name: &str| {
            let found =
                scenarios.iter().find(|scenario| scenario["name"] == name).expect("asked for");
            assert_timely!(found["verdict"] != "untrusted", "{found}");
            found
        };
        let clean = trusted("clean");
        assert!(number(&metric(clean, "goodput")["error_percent"]).abs() < 15.0, "{clean}");
        // A round trip of 10 ms, and a delayed ACK of 40 ms or a little more: on both sides.
        let stalls = trusted("write-write-read");
        for side in ["sim", "kernel"] {
            let median = number(&metric(stalls, "completion median")[side]);
            assert!((50.0..75.0).contains(&median), "{side}: {median} ms");
        }
    });
}

#[test]
fn a_scenario_that_is_none_of_the_report_is_bad_input() {
    let output = crate::common::output(&["validate", "--only", "loss-11"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("did you mean `loss-1`"), "{errors}");
}
