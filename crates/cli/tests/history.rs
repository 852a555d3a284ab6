//! `ackord history`, and runs that take part in one.

use crate::common::{ackord, json, output, printed, text};
use ackord_history::Store;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const RUN: [&str; 8] = [
    "run",
    "lossy-wifi",
    "--set",
    "flows.0.traffic={ kind = \"bulk\", size = \"300 kB\" }",
    "--set",
    "flows.0.tcp.ack=ari",
    "--json",
    "-",
];

fn record(store: &Path, application: &str, sizes: &[&str]) {
    let command = ["history", "record", application, "--store", text(store)];
    printed(&[&command[..], sizes].concat());
}

fn shown(store: &Path) -> Value {
    json(&["history", "show", "--json", "-", "--store", text(store)])["applications"].take()
}

fn refused(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn sizes_are_recorded_shown_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("state/history.redb");
    record(&store, "photos", &["400 kB"; 6]);
    record(&store, "backup", &["9 MB"; 7]);
    record(&store, "new", &["2048"]);
    let shown = shown(&store);
    let of = |index: usize, key: &str| shown[index][key].clone();
    assert_eq!(of(0, "application"), "backup");
    assert_eq!((of(0, "verdict"), of(0, "nagle")), ("bulk".into(), "on".into()));
    assert_eq!((of(2, "verdict"), of(2, "nagle")), ("short".into(), "off".into()));
    assert_eq!(of(2, "most_frequent_bytes"), 400_000);
    // 274 segments of 1460 B, twice, would be 548: the limit of `ari` is 512.
    assert_eq!(of(2, "quick_ack_segments"), 512);
    assert_eq!((of(1, "verdict"), of(1, "quick_ack_segments")), ("unknown".into(), Value::Null));
    let one = printed(&["history", "show", "photos", "--store", text(&store)]);
    assert!(one.contains("██") && one.contains("Nagle's algorithm is off"), "{one}");
    let out = folder.path().join("out");
    printed(&["history", "show", "photos", "--store", text(&store), "--out", text(&out)]);
    assert!(out.join("plots/sizes.svg").exists() && out.join("report.html").exists());
    let wrong = refused(&["history", "forget", "foto", "--store", text(&store)]);
    assert!(wrong.contains("did you mean `photos`?"), "{wrong}");
    printed(&["history", "forget", "photos", "--store", text(&store)]);
    assert_eq!(self::shown(&store).as_array().map(Vec::len), Some(2));
    printed(&["history", "forget", "--all", "--store", text(&store)]);
    assert_eq!(self::shown(&store).as_array().map(Vec::len), Some(0));
}

#[test]
fn what_cannot_be_used_is_told_with_exit_code_2_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none.redb");
    let missing = refused(&["history", "show", "--store", text(&none)]);
    assert!(missing.contains("there is no history") && missing.contains("import"), "{missing}");
    let foreign = folder.path().join("foreign");
    std::fs::write(&foreign, "somebody's letter").unwrap();
    let refusal = refused(&["history", "record", "x", "1 kB", "--store", text(&foreign)]);
    assert!(refusal.contains("is not a history"), "{refusal}");
    let run = [&RUN[..], &["--history", text(&foreign)]].concat();
    assert!(refused(&run).contains("is not a history"));
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "somebody's letter");
    let size = refused(&["history", "record", "x", "12 apples", "--store", text(&none)]);
    assert!(size.contains("`12 apples` is not a size"), "{size}");
    let capture = refused(&["history", "import", text(&foreign), "--by", "port"]);
    assert!(capture.contains("neither a pcapng nor a pcap file"), "{capture}");
}

#[test]
fn a_store_that_another_process_holds_is_in_use_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let store = Store::open(&path).unwrap();
    let refusal = refused(&["history", "record", "x", "1 kB", "--store", text(&path)]);
    assert!(refusal.contains("is in use by another process"), "{refusal}");
    drop(store);
    record(&path, "x", &["1 kB"]);
    assert_eq!(shown(&path)[0]["transfers"], 1);
}

#[test]
fn a_place_in_the_state_folder_is_taken_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = ackord(&["history", "record", "web", "-"])
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"2048\n\n3 kB\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1\n2\n");
    assert_eq!(shown(&folder.path().join("ackord/history.redb"))[0]["transfers"], 2);
}

#[test]
fn a_run_takes_from_a_history_what_it_knows_and_adds_what_it_finished() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("history.redb");
    let with = |more: &[&str]| json(&[&RUN[..], &["--history", text(&store)], more].concat());
    let stock = json(&RUN);
    assert_eq!(stock["history"], Value::Null, "without --history nothing is said of one");
    let first = with(&[]);
    assert_eq!(first["history"][0]["verdict"], "unknown");
    assert_eq!(first["flows"], stock["flows"], "nothing is known: nothing changes");
    assert_eq!(first["scenario_hash"], stock["scenario_hash"]);
    let flow = stock["flows"][0]["name"].as_str().unwrap();
    assert_eq!(shown(&store)[0]["application"], flow);
    for _ in 0..5 {
        with(&[]);
    }
    let known = shown(&store);
    assert_eq!((&known[0]["transfers"], &known[0]["bytes"]), (&6.into(), &1_800_000.into()));
    assert!(known[0]["mean_duration_s"].as_f64().is_some_and(|secs| secs > 0.05));
    let later = with(&[]);
    assert_eq!(later["history"][0]["set"]["ack.most_sent"], "300 kB");
    assert_ne!(later["scenario_hash"], stock["scenario_hash"]);
    let acks = |run: &Value| run["flows"][0]["acks_sent"].as_u64().unwrap();
    assert!(acks(&later) > acks(&stock), "{} and {} ACKs", acks(&later), acks(&stock));
    // Another application is not known by these transfers.
    let other = with(&["--set", "flows.0.application=another"]);
    assert_eq!(other["history"][0]["verdict"], "unknown");
    assert_eq!(json(&RUN)["flows"], stock["flows"], "the same packets as ever without --history");
}
