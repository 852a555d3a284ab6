//! What Prometheus gets, as it reads it.

use super::*;
use crate::watch::{
    Change, ClassStatus, Compared, Delays, Estimate, Finding, FlowCounts, LinkStatus, QueueStatus,
    RateStatus, Severity,
};
use ackord_daemon::status::Process;
use ackord_units::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

fn full() -> Status {
    let mut delays = Delays::default();
    for micros in [5, 15, 15, 3_000_000] {
        delays.record(Span::from_micros(micros));
    }
    let estimate = |mean, ci95| Estimate { samples: 9, mean, ci95 };
    let compared = Compared {
        treated: estimate(5e6, Some(1e5)),
        control: estimate(4e6, None),
        difference: None,
    };
    Status {
        process: Process { version: "1.2.3".to_owned(), ..Process::default() },
        flows: FlowCounts { known: 10, treated: 6, control: 1, ..FlowCounts::default() },
        bytes_to_mobile: 123,
        injected_to_mobile: 17,
        refused_injections: [("budget \"spent\"\n".to_owned(), 3)].into(),
        injection_lateness: delays.status(),
        rings: vec![RingStatus {
            interface: "eth0".to_owned(),
            side: "wan".to_owned(),
            packets: 100,
            lost: 1,
            one_by_one: false,
        }],
        classes: vec![ClassStatus {
            name: "phones".to_owned(),
            remedy: "proxy-tcp".to_owned(),
            goodput_bit_s: compared,
            stalled_percent: compared,
            standing: Standing::StoodDown { since_unix_s: 1.0, why: "slower".to_owned() },
            ..ClassStatus::default()
        }],
        queues: vec![QueueStatus {
            interface: "wlan0".to_owned(),
            discipline: "fq-codel".to_owned(),
            drops: [("early-drop".to_owned(), 4)].into(),
            follows: Some(RateStatus {
                decided_bit_s: 5_000_000,
                delay_ms: Some(31.0),
                decisions: [("bloat".to_owned(), 7)].into(),
                ..RateStatus::default()
            }),
            ..QueueStatus::default()
        }],
        link: Some(LinkStatus {
            blocks: 9,
            delivered_percent: Some(Change { mean: 5.0, low: -1.0, high: 11.0 }),
            ..LinkStatus::default()
        }),
        subscribers: vec![SubscriberStatus {
            address: "2001:db8::7".parse().expect("one"),
            flows: 2,
            treated: 1,
            held: 0,
            flows_in_all: 5,
            bytes_to_mobile: 4_000,
            bytes_from_mobile: 30,
            injected_segments: 6,
            active_s: 2.5,
            stalled_s: 0.5,
            rate_to_mobile_bit_s: 8.0,
            rate_from_mobile_bit_s: 0.0,
            rtt_ms: Some(20.0),
            stalled_percent: Some(20.0),
        }],
        health: vec![Finding {
            severity: Severity::Warning,
            what: "lost".to_owned(),
            advice: String::new(),
        }],
        ..Status::default()
    }
}

/// Values by name with labels.
fn read(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            (name, value.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn every_figure_has_its_name_its_labels_and_its_base_unit() {
    let text = metrics(full());
    let values = read(&text);
    let lateness = "ackord_gateway_injection_lateness_seconds";
    for (name, value) in [
        ("ackord_gateway_build_info{version=\"1.2.3\"}", 1.0),
        ("ackord_gateway_flows{group=\"treated\"}", 6.0),
        ("ackord_gateway_flows{group=\"untreated\"}", 3.0),
        ("ackord_gateway_payload_bytes_total{direction=\"to_mobile\"}", 123.0),
        ("ackord_gateway_injected_segments_total{towards=\"mobile\"}", 17.0),
        ("ackord_gateway_refused_injections_total{reason=\"budget \\\"spent\\\"\\n\"}", 3.0),
        ("ackord_gateway_ring_lost_packets_total{interface=\"eth0\",side=\"wan\"}", 1.0),
        ("ackord_gateway_health_findings{severity=\"warning\"}", 1.0),
        ("ackord_gateway_class_at_work{class=\"phones\",remedy=\"proxy-tcp\"}", 0.0),
        (
            "ackord_gateway_class_goodput_bits_per_second\
             {class=\"phones\",remedy=\"proxy-tcp\",group=\"control\"}",
            4e6,
        ),
        (
            "ackord_gateway_class_stalled_ratio\
             {class=\"phones\",remedy=\"proxy-tcp\",group=\"control\"}",
            4e4,
        ),
        (
            "ackord_gateway_queue_dropped_packets_total\
             {interface=\"wlan0\",discipline=\"fq-codel\",reason=\"early-drop\"}",
            4.0,
        ),
        ("ackord_gateway_link_change_ratio{of=\"delivered\",bound=\"low\"}", -0.01),
        (
            "ackord_gateway_subscriber_payload_bytes_total\
             {mobile=\"2001:db8::7\",direction=\"to_mobile\"}",
            4_000.0,
        ),
        ("ackord_gateway_subscriber_stalled_seconds_total{mobile=\"2001:db8::7\"}", 0.5),
        ("ackord_gateway_subscriber_rtt_seconds{mobile=\"2001:db8::7\"}", 0.02),
        ("ackord_gateway_queue_rate_decided_bits_per_second{interface=\"wlan0\"}", 5e6),
        ("ackord_gateway_queue_rate_applied{interface=\"wlan0\"}", 0.0),
        ("ackord_gateway_queue_link_delay_seconds{interface=\"wlan0\"}", 0.031),
        ("ackord_gateway_queue_rate_decisions_total{interface=\"wlan0\",reason=\"bloat\"}", 7.0),
        ("ackord_gateway_queue_steering{interface=\"wlan0\",discipline=\"fq-codel\"}", 1.0),
    ] {
        assert_eq!(values.get(name), Some(&value), "{name} in\n{text}");
    }
    for (le, count) in [("0.00001", 1.0), ("0.00002", 3.0), ("1.0", 3.0), ("+Inf", 4.0)] {
        let name = format!("{lateness}_bucket{{le=\"{le}\"}}");
        assert_eq!(values.get(name.as_str()), Some(&count), "{name} in\n{text}");
    }
    let half = "ackord_gateway_class_goodput_ci95_bits_per_second\
                {class=\"phones\",remedy=\"proxy-tcp\",group=\"control\"}";
    assert!(!values.contains_key(half), "no interval is known");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_gateway_that_has_just_begun_has_sound_metrics_too() {
    let values = metrics(Status::default());
    assert_eq!(read(&values)["ackord_gateway_injection_lateness_seconds_bucket{le=\"+Inf\"}"], 0.0);
}

/// Every metric that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let begins = text.match_indices("ackord_gateway_").map(|(at, _)| &text[at..]);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    begins.map(|rest| rest.split(|letter| !is_part(letter)).next().unwrap_or(rest)).collect()
}

#[test]
fn the_dashboard_names_only_metrics_that_there_are() {
    let dashboard = include_str!("../../../../../packaging/grafana/ackord-gateway.json");
    let parsed: serde_json::Value = serde_json::from_str(dashboard).expect("JSON");
    assert!(parsed["panels"].as_array().is_some_and(|panels| panels.len() > 8));
    let text = metrics(full());
    let there: BTreeSet<_> = read(&text).into_keys().flat_map(named).collect();
    let shown = named(dashboard);
    let unknown: Vec<_> = shown.difference(&there).collect();
    assert!(shown.len() > 20 && unknown.is_empty(), "{unknown:?} are not among {there:?}");
}

fn ask(to: SocketAddr, request: &str) -> String {
    #[allow(clippy::disallowed_types, reason = "Prometheus comes by TCP")]
    let mut stream = std::net::TcpStream::connect(to).expect("it listens");
    stream.write_all(request.as_bytes()).expect("room");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text, then the end");
    answer
}

#[test]
fn they_are_served_as_they_stand() {
    #[allow(clippy::disallowed_types, reason = "a port that is free")]
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback interface");
    let address = free.local_addr().expect("bound");
    drop(free);
    let shared = Arc::new(Shared::default());
    serve_metrics(address, Arc::clone(&shared)).expect("it was free");
    shared.publish(full());
    let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("openmetrics-text"), "{answer}");
    assert!(answer.contains("\nackord_gateway_flows{group=\"treated\"} 6"), "{answer}");
}
