//! `profile = "linux"` beside the kernel of this machine and stock kernels in simulated time: what they can be
//! asked or seen to do, knob by knob, and what our endpoint of that profile does with the same silence.
//!
//! `scripts/linux-profile.py` asks a kernel, in a network namespace of its own. It prints a table;
//! docs/linux-profile.md keeps one.

use crate::common::kernel::{differences_are_those_of, kernels, said_by, said_by_this_machine};
use ackord_events::{EndpointId, NoSink};
use ackord_tcp::registry::{self, Stack};
use ackord_tcp::{Config, Connection};
use ackord_testing::skipped;
use ackord_units::{Knobs, Seq, Span, Time};
use ackord_wire::{Ecn, Endpoints, Flags, FlowId, IpFields, Payload, Segment, Side, encode};
use serde::Deserialize;
use std::path::Path;

/// What the script prints.
#[derive(Deserialize)]
struct Kernel {
    kernel: String,
    /// By how much it was late in what it could not decide.
    late_ms: f64,
    knobs: Vec<Answer>,
    schedules: Schedules,
    syn: Syn,
}

/// A knob, what the kernel has for it in our words, and how that was asked.
#[derive(Deserialize)]
struct Answer {
    knob: String,
    value: String,
    how: String,
}

/// What a kernel has no setting for, it cannot be asked.
const NOT_THERE: &str = "not there";

/// Seconds since the first, to a peer that never answers.
#[derive(Deserialize)]
struct Schedules {
    syn: Vec<f64>,
    syn_ack: Vec<f64>,
}

#[derive(Deserialize)]
struct Syn {
    options: Vec<String>,
    ttl: u8,
    do_not_fragment: bool,
}

fn linux() -> Stack {
    Stack::named("linux").expect("it is listed")
}

/// What the profile has for a knob, and the kernel's answer as a value of the same kind.
fn both(stack: &Stack, answer: &Answer) -> (String, String) {
    let of = |choice: &dyn Knobs, name: &str| {
        let knob = choice.mechanism().knob(name).unwrap_or_else(|| panic!("no knob {name}"));
        let ours = choice.value(name).map_or("none".to_owned(), |value| value.to_string());
        let kernel = knob.kind.parse(&answer.value).map(|value| value.to_string());
        (ours, kernel.unwrap_or_else(|_| answer.value.clone()))
    };
    match answer.knob.split_once('.') {
        Some((family, name)) => of(stack.choice(family).expect("a family"), name),
        None => match stack.choice(&answer.knob) {
            Some(choice) => (choice.mechanism().name.to_owned(), answer.value.clone()),
            None => of(&stack.endpoint, &answer.knob),
        },
    }
}

/// Numbers that the kernel keeps as a fraction of 1024 agree to a thousandth.
fn agree(ours: &str, kernel: &str) -> bool {
    match (ours.parse::<f64>(), kernel.parse::<f64>()) {
        (Ok(ours), Ok(kernel)) if ours.fract() != 0.0 => (ours - kernel).abs() < 1e-3,
        _ => ours == kernel,
    }
}

#[test]
fn the_kernel_has_what_the_profile_has() {
    for name in kernels() {
        let Some(kernel) = said_by(&name, "linux-profile.py") else { return };
        has_what_the_profile_has(&kernel);
    }
}

/// The newest kernel has settings that those in simulated time do not have.
#[test]
fn this_machines_kernel_has_what_the_profile_has() {
    let Some(kernel) = said_by_this_machine("linux-profile.py") else { return };
    has_what_the_profile_has(&kernel);
}

fn has_what_the_profile_has(kernel: &Kernel) {
    let stack = linux();
    println!("Linux {}", kernel.kernel);
    println!("| knob | profile | kernel | how asked |\n| --- | --- | --- | --- |");
    let (mut differ, mut undecided) = (Vec::new(), Vec::new());
    for answer in &kernel.knobs {
        let (ours, theirs) = both(&stack, answer);
        println!("| `{}` | {ours} | {} | {} |", answer.knob, answer.value, answer.how);
        if answer.value == "undecided (busy)" {
            undecided.push(answer.knob.as_str());
        } else if answer.value != NOT_THERE && !agree(&ours, &theirs) {
            differ.push(format!("| `{}` | {ours} | {theirs} |", answer.knob));
        }
    }
    assert!(kernel.knobs.len() >= 25, "only {} knobs were asked for", kernel.knobs.len());
    if !undecided.is_empty() {
        let (late, knobs) = (kernel.late_ms, undecided.join(", "));
        skipped(format_args!("busy (lateness {late:.0} ms): undecided are {knobs}"));
    }
    differ.extend(silence_is_met_otherwise(&stack, &kernel.schedules));
    differ.extend(the_syn_is_otherwise(&stack, &kernel.syn));
    differences_are_those_of(&kernel.kernel, "| what | profile | this kernel |", &differ);
}

fn silence_is_met_otherwise(stack: &Stack, kernel: &Schedules) -> Vec<String> {
    let mut differ = Vec::new();
    for (what, ours, theirs) in [
        ("SYN", syn_times(stack, Side::Client), &kernel.syn),
        ("SYN-ACK", syn_times(stack, Side::Server), &kernel.syn_ack),
    ] {
        println!("{what} at {theirs:?} s, ours at {ours:?}");
        let mut alike = theirs.len() >= 4;
        for (pair, at) in theirs.windows(2).zip(ours.windows(2)) {
            let (theirs, ours) = (pair[1] - pair[0], at[1] - at[0]);
            // The wheel of the kernel's timers rounds up by an eighth at most; a busy machine adds.
            alike &= theirs > ours - 0.005 && theirs < ours * 1.125 + 0.15;
        }
        let seen_for = theirs.last().unwrap_or(&0.0) + 0.3;
        alike &= theirs.len() >= ours.iter().filter(|at| **at <= seen_for * 0.9).count();
        if !alike {
            differ.push(format!("| {what} at s | {ours:?} | {theirs:?} |"));
        }
    }
    differ
}

/// When our SYN, or our SYN-ACK, leaves while nobody answers and timers expire to the nanosecond: the
/// first ten, in seconds.
fn syn_times(stack: &Stack, side: Side) -> Vec<f64> {
    let id = EndpointId { flow: FlowId(0), side };
    let config = Config { timer_tick: Span::ZERO, ..stack.config() };
    let (mechanisms, start) = (stack.mechanisms(), Time::ZERO);
    let mut connection = match side {
        Side::Client => Connection::connect(config, mechanisms, id, Seq(1), start),
        Side::Server => {
            let mut listener = Connection::listen(config, mechanisms, id, Seq(1));
            let syn = Segment { flags: Flags::SYN, window: 60_000, ..Segment::default() };
            listener.handle_segment(start, &syn, Ecn::NotEct, &mut NoSink);
            listener
        }
    };
    let (mut now, mut times) = (start, Vec::new());
    while times.len() < 10 {
        while connection.poll_segment(now, &mut NoSink).is_some() {
            times.push(now.saturating_since(start).as_secs_f64());
        }
        let Some(next) = connection.deadline() else { break };
        now = next;
        connection.handle_deadline(now, &mut NoSink);
    }
    times
}

fn the_syn_is_otherwise(stack: &Stack, kernel: &Syn) -> Vec<String> {
    let id = EndpointId { flow: FlowId(0), side: Side::Client };
    let (config, mechanisms) = (stack.config(), stack.mechanisms());
    let mut client = Connection::connect(config, mechanisms, id, Seq(1), Time::ZERO);
    let syn = client.poll_segment(Time::ZERO, &mut NoSink).expect("a SYN").segment;
    let address = |text: &str| text.parse().expect("an address");
    let endpoints = Endpoints { src: address("10.0.0.1:1"), dst: address("10.0.0.2:2") };
    let mut bytes = Vec::new();
    encode(endpoints, IpFields::default(), &syn, Payload::Zeros(0), &mut bytes).expect("it fits");
    let ours = option_names(&bytes[40..]);
    let told = |options: Vec<&str>, ttl: u8, df: bool| format!("{options:?}, TTL {ttl}, DF {df}");
    let ours = told(ours, bytes[8], bytes[6] & 0x40 != 0);
    let names = kernel.options.iter().map(String::as_str).collect();
    let theirs = told(names, kernel.ttl, kernel.do_not_fragment);
    println!("SYN: {ours}");
    if ours == theirs { Vec::new() } else { vec![format!("| SYN | {ours} | {theirs} |")] }
}

/// The names the script has for the options of a SYN, as they stand.
fn option_names(mut options: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    while let [kind, rest @ ..] = options {
        let (name, len) = match kind {
            0 => break,
            1 => ("nop", 1),
            2 => ("mss", usize::from(rest[0])),
            3 => ("window scale", usize::from(rest[0])),
            4 => ("sack permitted", usize::from(rest[0])),
            8 => ("timestamps", usize::from(rest[0])),
            _ => ("another", usize::from(rest[0])),
        };
        names.push(name);
        options = &options[len..];
    }
    names
}

/// Every sysctl that the profile names as a source is one that the script asks about.
#[test]
fn every_sysctl_that_the_profile_names_is_asked() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/linux-profile.py");
    let script = std::fs::read_to_string(script).expect("the script is there");
    let profile = registry::profile("linux").expect("it is listed");
    let stack = linux();
    let parts = stack.by_name();
    let knobs = parts.iter().flat_map(|(_, part)| part.mechanism().knobs);
    let sources = knobs.map(|knob| knob.source);
    let mut named = 0;
    for source in profile.settings.iter().map(|setting| setting.source).chain(sources) {
        for part in source.split("net.ipv4.").skip(1) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            assert!(script.contains(name.trim_start_matches("tcp_")), "{name} is not asked");
            named += 1;
        }
    }
    assert!(named > 15, "{named}");
}
