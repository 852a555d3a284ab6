//! `ackord diagnose` from outside: captures in, an answer out, and what it does with what is no capture.

mod answer;
mod bad;
mod exports;
#[cfg(feature = "parquet")]
mod fleet;
mod look;
mod made;
mod predict;
mod service;

use crate::common::{files_below, json, output, printed, text};
use std::path::{Path, PathBuf};

/// A download of two seconds over a link with losses, captured at its server.
fn lossy(folder: &Path) -> PathBuf {
    printed(&["run", "lossy-wifi", "--set", "duration=2 s", "--pcap", text(folder)]);
    folder.join("wifi.at-server.pcapng")
}

#[test]
fn the_seconds_of_a_connection_add_up_and_the_files_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let out = folder.path().join("out");
    let told =
        json(&["diagnose", text(&capture), "--no-predict", "--json", "-", "--out", text(&out)]);
    let connection = &told["connections"][0];
    let causes = connection["causes"].as_array().unwrap();
    let seconds: f64 = causes.iter().map(|share| share["seconds"].as_f64().unwrap()).sum();
    let duration = connection["duration_s"].as_f64().unwrap();
    assert!((seconds - duration).abs() < 1e-6, "{seconds} of {duration}");
    let files = files_below(&out);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let plots = ["plots/causes.png", "plots/causes.svg"];
    assert_eq!(names, ["diagnosis.json", "intervals.csv", plots[0], plots[1], "report.html"]);
    let kept: serde_json::Value = serde_json::from_slice(&files[0].1).unwrap();
    assert_eq!(kept, told);
    let intervals = connection["intervals"].as_array().unwrap().len();
    assert_eq!(String::from_utf8_lossy(&files[1].1).lines().count(), intervals + 1);
    let page = String::from_utf8_lossy(&files[4].1);
    assert!(page.contains("Diagnosis of wifi.at-server.pcapng"));
    let drawn = page.contains("\"kinds\":\"") && !page.contains("\"kinds\":\"\"");
    assert!(drawn || page.contains("make ui"), "the packets of the connection are in it");
}

#[test]
fn a_pipe_gives_the_same_as_the_file_and_can_be_exported_too() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let of_file = json(&["diagnose", text(&capture), "--no-predict", "--json", "-"]);
    let out = folder.path().join("out");
    let arguments = ["diagnose", "-", "--no-predict", "--json", "-", "--out", text(&out)];
    let mut command = crate::common::ackord(&arguments);
    let piped = command.stdin(std::fs::File::open(&capture).unwrap()).output().unwrap();
    let of_pipe: serde_json::Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(of_pipe["connections"], of_file["connections"]);
    assert_eq!(of_pipe["captures"][0]["name"], "standard input");
    assert!(out.join("report.html").exists());
}

#[test]
fn what_would_help_stands_in_the_answer_and_captures_of_after_are_held_against_it() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let told = printed(&["diagnose", text(&capture), "--connection", "0"]);
    assert!(told.contains("What would help"), "{told}");
    let checked = json(&[
        "diagnose",
        "--verify",
        text(&capture),
        text(&capture),
        "--no-predict",
        "--json",
        "-",
    ]);
    assert_eq!(checked["connections"], serde_json::json!([1, 1]));
    assert_eq!(checked["verdict"], "cannot-be-told");
    let missing = output(&["diagnose", "--verify", text(&capture), "/nowhere"]);
    assert_eq!(missing.status.code(), Some(2));
}

/// Every key of the JSON below this, once.
fn keys(value: &serde_json::Value, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn the_documentation_has_every_field_and_every_cause() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnose.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let told = json(&["diagnose", text(&capture), "--connection", "0", "--json", "-"]);
    let mut fields = std::collections::BTreeSet::new();
    keys(&told, &mut fields);
    assert!(fields.contains("gain_percent"), "remedies are among them");
    for field in fields {
        let written = [format!("`{field}`"), format!(".{field}`"), format!(".{field}[]`")];
        assert!(written.iter().any(|written| page.contains(written)), "{field}");
    }
    for cause in ackord_diagnose::Cause::ALL {
        let row = format!("| `{}` | {} |", cause.name(), cause.title());
        assert!(page.contains(&row), "{row}");
    }
}
