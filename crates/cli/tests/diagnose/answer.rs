//! The answer comes first, and its filters select the packets that it is about.

use super::made::{ip, pcap, udp};
use super::{lossy, text};
use crate::common::{json, printed};
use ackord_testing::installed;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn what_would_help_is_printed_before_causes_and_causes_before_connections() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let answer = printed(&["diagnose", text(&capture)]);
    let place = |heading: &str| {
        let line = answer.lines().position(|line| line == heading);
        line.unwrap_or_else(|| panic!("{heading} in {answer}"))
    };
    let headings = ["What would help", "Where the time went", "Connections"];
    assert!(headings.map(place).is_sorted(), "{answer}");
    let summary: Vec<&str> = answer.lines().skip(1).take(2).collect();
    let summary = summary.join(" ");
    assert!(summary.starts_with("1 connection, 1."), "{summary}");
    assert!(summary.contains(" s were lost; a remedy may recover part of it."), "{summary}");
    let detail = printed(&["diagnose", text(&capture), "--no-predict", "--connection", "0"]);
    assert!(detail.contains("in Wireshark: tcp.stream eq 0"), "{detail}");
    let parts = "shortest round trip 20.0 ms: 20.0 ms between capture and client, 0 s between capture and server";
    assert!(detail.split_whitespace().collect::<Vec<_>>().join(" ").contains(parts), "{detail}");
}

#[test]
fn the_folder_has_pictures_of_the_causes_and_of_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let out = folder.path().join("out");
    let arguments =
        ["diagnose", text(&capture), "--no-predict", "--out", text(&out), "--connection", "0"];
    printed(&arguments);
    for name in ["causes", "connection-0"] {
        let svg = std::fs::read_to_string(out.join(format!("plots/{name}.svg"))).unwrap();
        assert!(svg.contains("random loss") || svg.contains("retransmission"), "{name}");
        let png = std::fs::read(out.join(format!("plots/{name}.png"))).unwrap();
        assert_eq!(&png[1..4], b"PNG", "{name}");
    }
}

#[test]
fn captures_of_two_places_have_address_filters_and_no_stream_number() {
    let folder = tempfile::tempdir().unwrap();
    let server = lossy(folder.path());
    let station = folder.path().join("wifi.at-station.pcapng");
    let found = json(&["diagnose", text(&server), text(&station), "--no-predict", "--json", "-"]);
    let connection = &found["connections"][0];
    assert_eq!(connection["stream"], Value::Null);
    let filter = connection["filter"].as_str().unwrap();
    assert!(filter.starts_with("ip.addr == 10.0.") && filter.contains("tcp.port == "), "{filter}");
}

/// What a connection of a made capture does.
#[derive(Clone, Copy, Debug)]
enum Life {
    /// Handshake, data, FIN from both ends.
    Whole,
    /// The SYN is answered by RST.
    Refused,
    /// Data without a SYN.
    Open,
}

/// A TCP segment between the client's port and port 80.
fn segment(port: u16, from_client: bool, (seq, ack): (u32, u32), flags: u8, len: usize) -> Vec<u8> {
    let ports = if from_client { [port, 80] } else { [80, port] };
    let mut bytes = Vec::new();
    ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.extend(seq.to_be_bytes());
    bytes.extend(ack.to_be_bytes());
    bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.resize(20 + len, 7);
    let mut frame = ip(6, &bytes);
    if !from_client {
        // The addresses of the other direction.
        frame[29] = 2;
        frame[33] = 1;
    }
    frame
}

fn frames(life: Life, port: u16, isn: u32) -> Vec<Vec<u8>> {
    const FIN: u8 = 1;
    const SYN: u8 = 2;
    const RST: u8 = 4;
    const ACK: u8 = 16;
    let server = isn ^ 0x5555_0000;
    let client =
        |seq: u32, ack: u32, flags, len| segment(port, true, (isn + seq, server + ack), flags, len);
    let answer = |seq: u32, ack: u32, flags, len| {
        segment(port, false, (server + seq, isn + ack), flags, len)
    };
    let handshake = [client(0, 0, SYN, 0), answer(0, 1, SYN | ACK, 0), client(1, 1, ACK, 0)];
    let data = [client(1, 1, ACK, 100), answer(1, 101, ACK, 200), client(101, 201, ACK, 0)];
    let end =
        [client(101, 201, FIN | ACK, 0), answer(201, 102, FIN | ACK, 0), client(102, 202, ACK, 0)];
    match life {
        Life::Whole => [&handshake[..], &data, &end].concat(),
        Life::Refused => vec![client(0, 0, SYN, 0), answer(0, 1, RST | ACK, 0)],
        Life::Open => data.to_vec(),
    }
}

/// Frames of `capture` that `filter` selects in tshark.
fn selected(capture: &Path, filter: &str) -> Vec<u64> {
    let arguments = ["-n", "-r", text(capture), "-Y", filter, "-T", "fields", "-e", "frame.number"];
    let output = Command::new("tshark").args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{filter}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

/// Every filter of a connection selects as many packets as the connection has, and the frames of its causes.
fn check_filters(capture: &Path) -> usize {
    let found = json(&["diagnose", text(capture), "--no-predict", "--json", "-"]);
    let mut numbered = 0;
    for connection in found["connections"].as_array().unwrap() {
        let packets: u64 = connection["packets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .sum();
        let filter = connection["filter"].as_str().unwrap();
        let frames = selected(capture, filter);
        assert_eq!(frames.len() as u64, packets, "{filter}: {connection}");
        for cause in connection["cause_filters"].as_array().unwrap() {
            let of_cause = selected(capture, cause["filter"].as_str().unwrap());
            assert!(
                !of_cause.is_empty() && of_cause.iter().all(|frame| frames.contains(frame)),
                "{cause}"
            );
        }
        numbered += usize::from(connection["stream"].is_number());
    }
    numbered
}

#[test]
fn filters_select_the_packets_of_each_connection_in_tshark() {
    if !installed(&["tshark"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["run", "request-response", "--set", "duration=3 s", "--pcap", text(folder.path())];
    printed(&arguments);
    assert_eq!(check_filters(&folder.path().join("uplink.at-ap.pcapng")), 2);
}

#[test]
fn filters_are_right_whatever_ends_are_used_again() {
    if !installed(&["tshark"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Port, life and initial sequence number of each connection; then how many have a stream number.
    let whole = |port, isn| (port, Life::Whole, isn);
    type Case<'a> = (&'a str, &'a [(u16, Life, u32)], usize);
    let cases: [Case<'_>; 5] = [
        (
            "apart",
            &[whole(1001, 10), (1002, Life::Open, 20), (1003, Life::Refused, 30), whole(1004, 40)],
            4,
        ),
        ("again", &[whole(1001, 10), whole(1002, 20), whole(1001, 90_000), whole(1003, 30)], 4),
        (
            "refused",
            &[
                (1001, Life::Refused, 10),
                whole(1002, 20),
                (1001, Life::Refused, 10),
                whole(1003, 5),
            ],
            2,
        ),
        (
            "refused anew",
            &[(1001, Life::Refused, 10), (1001, Life::Refused, 70), whole(1003, 5)],
            1,
        ),
        (
            "first open",
            &[(1001, Life::Open, 10), whole(1002, 9), whole(1001, 80_000), whole(1003, 5)],
            0,
        ),
    ];
    for (name, connections, numbered) in cases {
        let all: Vec<Vec<u8>> =
            connections.iter().flat_map(|(port, life, isn)| frames(*life, *port, *isn)).collect();
        let capture = pcap(folder.path(), &format!("{name}.pcap"), &all);
        assert_eq!(check_filters(&capture), numbered, "{name}");
    }
}

#[test]
fn an_icmp_error_that_may_start_a_stream_leaves_no_stream_number() {
    if !installed(&["tshark"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let quoted = &frames(Life::Whole, 4001, 10)[0][14..];
    let error = ip(1, &[&[3, 1, 0, 0, 0, 0, 0, 0][..], quoted].concat());
    let mut all = vec![error, udp([53, 53], &[0; 8])];
    all.extend(frames(Life::Whole, 4002, 77));
    let capture = pcap(folder.path(), "icmp.pcap", &all);
    assert_eq!(check_filters(&capture), 0);
}
