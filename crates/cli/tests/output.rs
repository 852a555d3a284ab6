//! What is printed where: JSON alone, tables, colours, closed pipes.

use crate::common::{ackord, json, output, printed, text};
use serde_json::Value;
use std::io::Read;
use std::process::Stdio;

const SHORT: [&str; 4] = ["run", "reno-against-vegas", "--set", "duration=5 s"];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn assert_has(value: &Value, wanted: &[&str]) {
    let found = keys(value);
    for key in wanted {
        assert!(found.contains(key), "`{key}` is not among {found:?}");
    }
}

#[test]
fn the_json_of_a_run_has_the_keys_that_programs_rely_on() {
    let run = json(&[&SHORT[..], &["--seed", "9", "--json", "-"]].concat());
    assert_has(&run, &["scenario_hash", "seed", "version", "flows", "queues", "links"]);
    assert_eq!(run["seed"], 9);
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(run["ending"], "complete");
    let flow = &run["flows"][0];
    assert_has(
        flow,
        &[
            "name",
            "mechanisms",
            "bytes_delivered",
            "goodput_bit_s",
            "segments_sent",
            "retransmitted_segments",
            "timeouts",
            "acks_sent",
            "completion_s",
        ],
    );
    assert_eq!(flow["mechanisms"]["congestion"], "reno");
    assert!(flow["bytes_delivered"].as_u64().expect("a count") > 100_000);
    assert!(flow["completion_s"].is_null(), "a bulk flow without an end never completes");
    let queue = &run["queues"][0];
    assert_has(queue, &["link", "drops", "mean_delay_ms", "p99_delay_ms"]);
    assert_has(&queue["drops"], &["queue-full", "over-share", "random-loss"]);
    let used = run["links"][0]["utilisation"].as_f64().expect("a share");
    assert!((0.5..=1.0).contains(&used), "{used}");
}

#[test]
fn a_transfer_with_an_end_says_when_it_was_done() {
    let changes = ["--set", "flows.download.traffic={ kind = 'bulk', size = '1 MB' }"];
    let run = json(&[&["run", "lossy-wifi"], &changes[..], &["--json", "-"]].concat());
    let flow = &run["flows"][0];
    assert_eq!(flow["bytes_delivered"], 1_000_000);
    let completion = flow["completion_s"].as_f64().expect("it has an end");
    // 1 MB at 20 Mbit/s takes 0.4 s at the very least.
    assert!((0.4..20.0).contains(&completion), "{completion}");
}

#[test]
fn the_json_file_says_the_same_as_standard_output_which_then_has_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let table = printed(&[&SHORT[..], &["--json", text(&path)]].concat());
    assert!(table.contains("Mbit/s") && table.contains("vegas"), "{table}");
    let direct = printed(&[&SHORT[..], &["--json", "-"]].concat());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), direct);
}

#[test]
fn set_changes_the_run_and_its_hash_and_stands_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |changes: &[&str]| {
        json(&[&SHORT[..], changes, &["--json", "-"]].concat())["scenario_hash"].clone()
    };
    let change = "links.bottleneck.queue.limit=25 packets";
    assert_ne!(hash(&[]), hash(&["--set", change]));
    printed(&[&SHORT[..], &["--set", change, "--out", text(folder.path())]].concat());
    let report = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(report.contains(change), "the report says what was changed");
}

#[test]
fn the_json_of_a_comparison_has_a_variant_per_value() {
    let arguments = ["--vary", "flows.vegas.tcp.congestion=vegas,cubic", "--runs", "2"];
    let common = ["compare", "reno-against-vegas", "--set", "duration=5 s", "--json", "-"];
    let found = json(&[&common[..], &arguments[..]].concat());
    assert_eq!((&found["planned_runs"], &found["finished_runs"]), (&4.into(), &4.into()));
    let labels: Vec<_> =
        found["variants"].as_array().unwrap().iter().map(|one| one["label"].clone()).collect();
    assert_eq!(labels, ["vegas", "cubic"]);
    let goodput = &found["variants"][1]["flows"][1]["goodput_bit_s"];
    assert_eq!(goodput["runs"], 2);
    assert!(goodput["mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn lists_are_text_or_json_with_every_knob() {
    let text = printed(&["list", "mechanisms", "vegas"]);
    assert!(text.contains("alpha") && text.contains("default"), "{text}");
    let all = json(&["list", "mechanisms", "--json"]);
    let all = all.as_array().unwrap();
    for (family, name) in [
        ("congestion", "reno"),
        ("congestion", "cubic"),
        ("recovery", "sack"),
        ("ack", "delayed"),
        ("nagle", "on"),
        ("queue", "drop-tail"),
        ("queue", "selective-drop"),
        ("traffic", "bulk"),
        ("endpoint", "tcp"),
    ] {
        let found = all.iter().find(|one| one["family"] == family && one["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{family} {name} is not listed"));
        assert_has(found, &["summary", "source", "knobs"]);
    }
    let vegas = all.iter().find(|one| one["name"] == "vegas" && one["family"] == "congestion");
    assert_has(&vegas.unwrap()["knobs"][0], &["name", "range", "default", "doc", "source"]);
    let scenarios = json(&["list", "scenarios", "--json"]);
    assert!(scenarios.as_array().unwrap().iter().any(|one| one["name"] == "lossy-wifi"));
}

#[test]
fn output_that_is_no_terminal_has_no_colours_and_no_bar() {
    let output = output(&SHORT);
    assert!(!output.stdout.contains(&0x1b));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = ackord(&["list", "mechanisms", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(errors, "");
}

#[test]
fn help_teaches_and_the_rest_prints() {
    let help = printed(&["--help"]);
    for words in ["ackord run", "ackord compare", "Exit codes", "compare"] {
        assert!(help.contains(words), "{help}");
    }
    assert!(printed(&["run", "--help"]).contains("Examples:"));
    assert_eq!(printed(&["--version"]), format!("ackord {}\n", env!("CARGO_PKG_VERSION")));
    assert!(printed(&["completions", "bash"]).contains("_ackord"));
    assert_eq!(json(&["schema"])["type"], "object");
    assert!(printed(&["check", "dumbbell"]).contains("dumbbell is sound: 20 hosts, 2 routers"));
}

#[test]
fn the_canonical_form_is_a_scenario_with_the_same_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("canonical.toml");
    std::fs::write(&path, printed(&["check", "reno-against-vegas", "--canonical"])).unwrap();
    let hash = |file| printed(&["check", file]);
    assert_eq!(hash(text(&path)), hash("reno-against-vegas"));
}

#[test]
fn the_benchmark_counts_packets_and_says_how_full_the_link_was() {
    let found = json(&["bench", "dumbbell", "--flows", "2", "--duration", "2 s", "--json", "-"]);
    // 20 Mbit/s for 2 s, less the start.
    let packets = found["packets"].as_u64().unwrap();
    assert!((1_000..3_400).contains(&packets), "{packets}");
    assert!((0.3..=1.0).contains(&found["utilisation"].as_f64().unwrap()));
    let nothing = json(&["bench", "dumbbell", "--flows", "2", "--duration", "0.001 s"]);
    assert_eq!(nothing["simulated_s"], 0.001);
}
