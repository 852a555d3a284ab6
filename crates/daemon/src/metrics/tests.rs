//! What Prometheus gets, as it reads it.

use super::*;
use crate::status::{Compared, Estimate, Process};
use crate::{DelayStatus, Delays, Finding, Severity};
use ackord_units::Span;
use std::collections::BTreeMap;
use std::io::{Read, Write};

fn full() -> String {
    let mut delays = Delays::default();
    for micros in [5, 15, 15, 3_000_000] {
        delays.record(Span::from_micros(micros));
    }
    let late = delays.status();
    page("ackord_idler", move |page| {
        page.process(&Process {
            version: "1.2.3".to_owned(),
            uptime_s: 7.5,
            resident_bytes: 4_096,
            heartbeat_ms: 20.0,
            heartbeat_worst_ms: 100.0,
            reloads: 2,
            ..Process::default()
        })?;
        let finding =
            Finding { severity: Severity::Warning, what: String::new(), advice: String::new() };
        page.findings(&[finding])?;
        page.counter(Metric("naps", "Naps taken", None), 3)?;
        let by = vec![(vec![("reason", "budget \"spent\"\n")], 4_u64)];
        page.counters(Metric("refusals", "What was not done", Some(Unit::Bytes)), by)?;
        let late = vec![(vec![], &late)];
        page.histograms(Metric("lateness", "How late it was", Some(Unit::Seconds)), late)?;
        let none = DelayStatus::default();
        let none = vec![(vec![("queue", "one")], &none)];
        page.histograms(Metric("waiting", "How long it waited", Some(Unit::Seconds)), none)?;
        let estimate = |mean, ci95| Estimate { samples: 9, mean, ci95 };
        let both = Compared {
            treated: estimate(50.0, Some(2.0)),
            control: estimate(40.0, None),
            difference: None,
        };
        let mut compare = Compare::default();
        compare.add(&|group| vec![("class", "all"), ("group", group)], &both, 0.01);
        page.gauges(Metric("share", "A mean", None), compare.means)?;
        page.gauges(Metric("share_ci95", "Half its interval", None), compare.halves)
    })
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
fn every_figure_has_its_prefix_its_name_its_labels_and_its_base_unit() {
    let text = full();
    let values = read(&text);
    for (name, value) in [
        ("build_info{version=\"1.2.3\"}", 1.0),
        ("uptime_seconds", 7.5),
        ("resident_memory_bytes", 4_096.0),
        ("heartbeat_age_seconds", 0.02),
        ("heartbeat_age_max_seconds", 0.1),
        ("reloads_total", 2.0),
        ("health_findings{severity=\"failure\"}", 0.0),
        ("health_findings{severity=\"warning\"}", 1.0),
        ("naps_total", 3.0),
        ("refusals_bytes_total{reason=\"budget \\\"spent\\\"\\n\"}", 4.0),
        ("lateness_seconds_bucket{le=\"0.00001\"}", 1.0),
        ("lateness_seconds_bucket{le=\"0.00002\"}", 3.0),
        ("lateness_seconds_bucket{le=\"1.0\"}", 3.0),
        ("lateness_seconds_bucket{le=\"+Inf\"}", 4.0),
        ("lateness_seconds_count", 4.0),
        ("waiting_seconds_bucket{le=\"+Inf\",queue=\"one\"}", 0.0),
        ("share{class=\"all\",group=\"treated\"}", 0.5),
        ("share{class=\"all\",group=\"control\"}", 0.4),
        ("share_ci95{class=\"all\",group=\"treated\"}", 0.02),
    ] {
        let name = format!("ackord_idler_{name}");
        assert_eq!(values.get(name.as_str()), Some(&value), "{name} in\n{text}");
    }
    let unknown = "ackord_idler_share_ci95{class=\"all\",group=\"control\"}";
    assert!(!values.contains_key(unknown), "no interval is known");
    assert!(text.ends_with("# EOF\n"));
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
fn they_are_served_by_http_and_nothing_else_is() {
    #[allow(clippy::disallowed_types, reason = "a port that is free")]
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback interface");
    let address = free.local_addr().expect("bound");
    drop(free);
    serve_metrics(address, full).expect("it was free");
    assert!(serve_metrics(address, full).is_err(), "it is taken");
    let get = |path: &str, method: &str| {
        ask(address, &format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    };
    let answer = get("/metrics", "GET");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("openmetrics-text"), "{answer}");
    assert!(answer.contains("\nackord_idler_naps_total 3"), "{answer}");
    assert!(get("/", "GET").starts_with("HTTP/1.1 404"));
    assert!(get("/metrics", "DELETE").starts_with("HTTP/1.1 405"));
    assert!(ask(address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
}
