//! What other programs read: qlog by its draft, and the capture with comments by tshark.

use super::lossy;
use crate::common::{json, printed, text};
use ackord_testing::installed;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The keys of an object, all of them among `known`.
fn known<'a>(object: &'a Value, known: &[&str]) -> Vec<&'a str> {
    let keys: Vec<&str> =
        object.as_object().expect("an object").keys().map(String::as_str).collect();
    for key in &keys {
        assert!(known.contains(key), "{key} is not among {known:?}");
    }
    keys
}

/// As draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01 have an event.
fn check_event(event: &Value) {
    // Events may have fields of their own: `frame`.
    known(event, &["time", "name", "data", "frame"]);
    let data = &event["data"];
    match event["name"].as_str().expect("a name") {
        "transport:packet_sent" | "transport:packet_received" => {
            known(data, &["header", "raw", "frames"]);
            for frame in data["frames"].as_array().expect("frames") {
                match frame["frame_type"].as_str() {
                    Some("stream") => {
                        known(frame, &["frame_type", "stream_id", "offset", "length"]);
                    }
                    Some("ack") => {
                        known(frame, &["frame_type", "acked_ranges"]);
                        let ranges = frame["acked_ranges"].as_array().expect("ranges");
                        assert!(ranges.iter().all(|range| range[0].as_u64() <= range[1].as_u64()));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        "recovery:packet_lost" => {
            known(data, &["header"]);
        }
        "recovery:metrics_updated" => {
            known(data, &["min_rtt", "smoothed_rtt", "latest_rtt", "bytes_in_flight"]);
            assert!(data.as_object().unwrap().values().all(Value::is_number), "{data}");
            return;
        }
        other => panic!("{other}"),
    }
    known(&data["header"], &["packet_type", "packet_number"]);
    assert_eq!(data["header"]["packet_type"], "1RTT");
    assert!(data["header"]["packet_number"].is_u64());
}

#[test]
fn qlog_is_as_its_draft_has_it_and_every_packet_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let file = folder.path().join("x.qlog");
    let out = folder.path().join("out");
    let told = json(&[
        "diagnose",
        text(&capture),
        "--no-predict",
        "--connection",
        "0",
        "--qlog",
        text(&file),
        "--out",
        text(&out),
        "--json",
        "-",
    ]);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(std::fs::read(out.join("connection-0.qlog")).unwrap(), bytes);
    let qlog: Value = serde_json::from_slice(&bytes).unwrap();
    known(&qlog, &["qlog_version", "qlog_format", "title", "description", "traces"]);
    assert_eq!(
        (qlog["qlog_version"].as_str(), qlog["qlog_format"].as_str()),
        (Some("0.3"), Some("JSON"))
    );
    let trace = &qlog["traces"][0];
    known(trace, &["title", "description", "vantage_point", "common_fields", "events"]);
    known(&trace["vantage_point"], &["name", "type", "flow"]);
    assert_eq!(trace["vantage_point"]["type"], "server", "captured there, and it sends");
    known(&trace["common_fields"], &["time_format", "reference_time", "protocol_type"]);
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    let events = trace["events"].as_array().unwrap();
    events.iter().for_each(check_event);
    let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "in order of time");
    assert!(
        times.last().unwrap() / 1e3
            <= told["connections"][0]["duration_s"].as_f64().unwrap() + 1e-6
    );
    let sent = events.iter().filter(|event| event["name"] == "transport:packet_sent");
    assert!(
        sent.enumerate().all(|(number, event)| event["data"]["header"]["packet_number"] == number)
    );
    let count = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert!(count("recovery:packet_lost") > 0 && count("recovery:metrics_updated") > 100);
}

fn tshark(capture: &Path, arguments: &[&str]) -> String {
    let output = Command::new("tshark")
        .args(["-n", "-r", text(capture)])
        .args(arguments)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn wireshark_reads_the_same_packets_with_the_cause_where_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let annotated = folder.path().join("told.pcapng");
    printed(&["diagnose", text(&capture), "--no-predict", "--annotate", text(&annotated)]);
    let told = json(&["diagnose", text(&annotated), "--no-predict", "--json", "-"]);
    let before = json(&["diagnose", text(&capture), "--no-predict", "--json", "-"]);
    assert_eq!(told["connections"], before["connections"], "comments change nothing");
    if !installed(&["tshark"]) {
        return;
    }
    let bytes = [
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.protocols",
        "-e",
        "tcp.seq",
        "-e",
        "frame.len",
    ];
    assert_eq!(tshark(&annotated, &bytes), tshark(&capture, &bytes));
    let comments = tshark(
        &annotated,
        &["-Y", "frame.comment", "-T", "fields", "-e", "frame.number", "-e", "frame.comment"],
    );
    for interval in before["connections"][0]["intervals"].as_array().unwrap() {
        let frame = format!("{}\t", interval["frames"][0]);
        let comment = comments.lines().find(|line| line.starts_with(&frame));
        let reason = interval["reason"].as_str().unwrap();
        assert!(
            comment.is_some_and(|comment| comment.contains(reason)),
            "{frame}{reason}\n{comments}"
        );
    }
    assert!(comments.contains("retransmission;"), "{comments}");
}
