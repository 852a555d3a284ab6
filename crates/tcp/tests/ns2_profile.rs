//! `profile = "ns2"` beside ns-2 itself: what its one-way Reno says of its variables, and when its
//! packets leave into silence (`ns2/profile.tcl`).
//!
//! How near the whole comes is measured in papers/dad-sd and papers/proxy-tcp.

use ackord_events::{EndpointId, NoSink};
use ackord_tcp::Connection;
use ackord_tcp::registry::Stack;
use ackord_units::{KnobType, KnobValue, Knobs, Seq, Span, Time};
use ackord_wire::{Flags, FlowId, Side};
use std::collections::BTreeMap;
use std::process::Command;

/// ns-2's variables, and when its packets left.
struct Ns2 {
    variables: BTreeMap<String, String>,
    packets: Vec<f64>,
}

/// Asks ns-2; nothing with a loud word where it is not installed.
fn ask() -> Option<Ns2> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ns2/profile.tcl");
    let Ok(done) = Command::new("ns").arg(script).output() else {
        eprintln!("SKIPPED the ns2 profile beside ns-2: it is not installed");
        return None;
    };
    let text = String::from_utf8(done.stdout).expect("what the script prints");
    assert!(text.contains("packet"), "{}", String::from_utf8_lossy(&done.stderr));
    let mut found = Ns2 { variables: BTreeMap::new(), packets: Vec::new() };
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["variable", name, value] => {
                found.variables.insert(name.to_owned(), value.to_owned());
            }
            ["packet", at] => found.packets.push(at.parse().expect("a time")),
            _ => panic!("{line}"),
        }
    }
    Some(found)
}

impl Ns2 {
    fn number(&self, name: &str) -> f64 {
        self.variables[name].parse().unwrap_or_else(|_| panic!("{name} is no number"))
    }
}

#[test]
fn ns2_has_what_the_profile_has() {
    let Some(ns2) = ask() else { return };
    let stack = Stack::named("ns2").expect("it is listed");
    let config = stack.config();
    let seconds = |span: Span| span.as_secs_f64();
    for (knob, ours, variable) in [
        ("initial_window", config.window.initial_segments as f64, "windowInit_"),
        ("rto_initial", seconds(config.rto.initial), "rtxcur_init_"),
        ("rto_min", seconds(config.rto.min), "minrto_"),
        ("rto_max", seconds(config.rto.max), "maxrto_"),
        ("clock_granularity", seconds(config.rto.granularity), "tcpTick_"),
        ("loss.threshold", count(stack.loss.value("threshold")), "numdupacks_"),
    ] {
        println!("{knob}: {ours}, {variable} {}", ns2.number(variable));
        assert!((ours - ns2.number(variable)).abs() < 1e-9, "{knob}: {ours} and {variable}");
    }
    // What a word of ours stands for, and the variable that makes it true in ns-2.
    let endpoint = |name: &str| word(stack.endpoint.value(name));
    for (knob, ours, variable, value) in [
        (
            "loss.limited_transmit",
            (word(stack.loss.value("limited_transmit")), "every"),
            "singledup_",
            1.0,
        ),
        ("timestamps", (endpoint("timestamps"), "off"), "timestamps_", 0.0),
        ("ecn", (endpoint("ecn"), "off"), "ecn_", 0.0),
        ("frto", (endpoint("frto"), "off"), "frto_enabled_", 0.0),
        ("frto", (endpoint("frto"), "off"), "sfrto_enabled_", 0.0),
        ("idle_restart", (endpoint("idle_restart"), "off"), "QOption_", 0.0),
        ("cwnd_use", (endpoint("cwnd_use"), "any"), "QOption_", 0.0),
        // One recovery for a window of data, and an initial window of that many packets.
        ("recovery", (stack.recovery.mechanism().name.to_owned(), "ns2-reno"), "bugFix_", 1.0),
        ("initial_window", ("as said".to_owned(), "as said"), "windowInitOption_", 1.0),
        ("congestion", (stack.congestion.mechanism().name.to_owned(), "ns2"), "windowOption_", 1.0),
        ("congestion", ("halved".to_owned(), "halved"), "decrease_num_", 0.5),
        ("rto_variance", (endpoint("rto_variance"), "every-sample"), "rfc2988_", 1.0),
    ] {
        assert_eq!(ours.0, ours.1, "{knob}");
        assert!((ns2.number(variable) - value).abs() < 1e-9, "{knob}: {variable}");
    }
    assert_eq!(ns2.variables["generateDSacks_"], "false");
    // Every script sets these two, and so does every scenario: the profile leaves them alone.
    assert_eq!((ns2.number("window_"), ns2.number("packetSize_")), (20.0, 1000.0));
    assert_eq!(config.window.max_segments, None);
}

#[test]
fn silence_is_met_as_ns2_meets_it() {
    let Some(ns2) = ask() else { return };
    let stack = Stack::named("ns2").expect("it is listed");
    let id = EndpointId { flow: FlowId(0), side: Side::Client };
    let (config, mechanisms) = (stack.config(), stack.mechanisms());
    let mut client = Connection::connect(config, mechanisms, id, Seq(1), Time::ZERO);
    let (mut now, mut ours) = (Time::ZERO, Vec::new());
    loop {
        while let Some(outbound) = client.poll_segment(now, &mut NoSink) {
            // The reset with which we give up is no try.
            if outbound.segment.flags.contains(Flags::SYN) {
                ours.push(now.as_nanos() as f64 / 1e9);
            }
        }
        let Some(next) = client.deadline() else { break };
        now = next;
        client.handle_deadline(now, &mut NoSink);
    }
    // ns-2's clock ticks every 10 ms, and the script looks every 100.
    for (ours, theirs) in ours.iter().zip(&ns2.packets) {
        let look = if *theirs < 300.0 { 0.25 } else { 1.25 };
        assert!((ours - theirs).abs() < look, "{ours} {theirs}");
    }
    // It never gives up; ours does after the most tries there may be.
    assert_eq!(ours.len(), 256);
    assert!(ns2.packets.len() > 300, "{}", ns2.packets.len());
}

fn count(value: Option<KnobValue>) -> f64 {
    u64::from_value(value).expect("a count") as f64
}

fn word(value: Option<KnobValue>) -> String {
    value.expect("a word").to_string()
}
