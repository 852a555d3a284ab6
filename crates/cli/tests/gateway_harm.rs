//! Treated connections beside those left alone, between stock kernels over an emulated wireless link: a
//! remedy that gains is seen to, and one made harmful on purpose stands down.

use crate::common::{output, text};
use ackord_events::{Event, Sink};
use ackord_gateway::{Key, is_control};
use ackord_live::{
    CommandOutcome, EmulationOptions, EmulationReport, HostCommand, KernelRouter, LAN_DEVICE,
    LiveError, NamespaceError, WAN_DEVICE, emulate,
};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_testing::{assert_timely, skipped, timely};
use ackord_units::Time;
use ackord_wire::{FlowAddresses, FlowId, FlowNodes, IpVersion};
use serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Mobile hosts, each with a download and a wireless link of its own: what one gets is no loss to another.
const MOBILES: u32 = 12;

/// Every wireless link is out from second 3 to 4.5, when its queue is full. A Reno sender whose flight was
/// frozen takes what the box repeats then for a round trip of seconds.
const PATH: &str = r#"
version = 1
name = "treated-beside-control"
seed = 1
[hosts.fixed]
[hosts.mobile]
count = 12
[routers.base]
[routers.cell]

[[links]]
name = "lan"
from = "base"
to = "cell"
rate = "1 Gbit/s"
delay = "10 us"
queue = { kind = "drop-tail", limit = "2000 packets" }

[[links]]
name = "wired"
from = "fixed"
to = "base"
rate = "1 Gbit/s"
delay = "15 ms"
queue = { kind = "drop-tail", limit = "2000 packets" }

[[links]]
from = "cell"
to = "mobile-*"
rate = "5 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
outage = { kind = "schedule", from = ["3 s"], for = ["1500 ms"], does = "loses" }

[[proxies]]
at = "base"
link = "lan"
proxy = "none"

[tcp]
profile = "linux"
"#;

fn scenario(seconds: u32, congestion: &str) -> Scenario {
    let flows = (1..=MOBILES).map(|number| {
        format!(
            "[[flows]]\nname = \"download-{number}\"\nfrom = \"mobile-{number}\"\nto = \"fixed\"\n\
             sends = \"server\"\nstart = {{ from = \"0 s\", to = \"1 s\" }}\ntraffic = \"bulk\"\n"
        )
    });
    let flows: String = flows.collect();
    let text = format!("duration = \"{seconds} s\"{PATH}congestion = \"{congestion}\"\n{flows}");
    ScenarioFile::new("gateway_harm.rs", text).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Two of these at the same time would keep each other's gateway waiting.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Bytes that arrived, by second and flow; and by flow, whether it is left alone.
struct Arrived {
    octets: RefCell<Vec<[u64; MOBILES as usize]>>,
    is_control: Vec<bool>,
}

impl Sink for &Arrived {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Event::DataDelivered { endpoint, bytes, .. } = event {
            let (second, mut octets) = (at.as_secs_f64() as usize, self.octets.borrow_mut());
            let len = octets.len().max(second + 1);
            octets.resize(len, Default::default());
            octets[second][endpoint.flow.0 as usize] += bytes.get();
        }
    }
}

impl Arrived {
    /// Mbit/s of a flow, mean of either arm over the last seconds that are over: treated, control.
    fn at_last(&self, seconds: usize) -> [f64; 2] {
        let octets = self.octets.borrow();
        let end = octets.len().saturating_sub(1);
        let begin = end.saturating_sub(seconds);
        [false, true].map(|arm| {
            let flows = || (0..MOBILES as usize).filter(|flow| self.is_control[*flow] == arm);
            let each =
                flows().map(|flow| octets[begin..end].iter().map(|one| one[flow]).sum::<u64>());
            each.sum::<u64>() as f64 * 8e-6 / seconds as f64 / flows().count() as f64
        })
    }

    /// Whether the treated get as much as the others, or nearly.
    fn is_even(&self) -> bool {
        let [treated, control] = self.at_last(3);
        treated > 0.9 * control
    }
}

/// What a run came to.
struct Outcome {
    report: EmulationReport,
    arrived: Arrived,
    /// What the gateway said of itself, each second.
    said: Vec<Value>,
    log: String,
}

/// The gateway with this remedy on the router; half of the connections are left alone. It ends
/// early when a harm is healed. Nothing where this machine does not allow it.
fn run(seconds: u32, congestion: &str, remedy: &str) -> Option<Outcome> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let [state, config, log] =
        ["state", "gateway.toml", "log"].map(|name| folder.path().join(name));
    let said = format!(
        "version = 1\nwan = \"{WAN_DEVICE}\"\nlan = \"{LAN_DEVICE}\"\ncontrol = \"50 %\"\n\
         remedy = {remedy}\n[harm]\nsustained = \"1 s\"\nflows = 4\nretry = \"never\"\n\
         [metrics]\nlisten = \"none\"\n[state]\ndirectory = {:?}\n",
        text(&state)
    );
    fs::write(&config, said).expect("a file");
    let scenario = scenario(seconds, congestion);
    let is_control = (0..).zip(&scenario.flows).map(|(number, flow)| {
        let nodes = FlowNodes { client: flow.client, server: flow.server };
        let ends = FlowAddresses::of(FlowId(number), nodes, IpVersion::V4);
        is_control(Key { mobile: ends.client, fixed: ends.server }, 500)
    });
    let arrived = Arrived { octets: RefCell::default(), is_control: is_control.collect() };
    let router = KernelRouter { node: scenario.proxies[0].at, lan_link: scenario.proxies[0].link };
    let mut options = EmulationOptions::new(scenario).expect("a descriptor");
    (options.router, options.realtime_priority) = (Some(router), true);
    options.commands = vec![gateway(router, &config, &log)];
    // How often it was said to have stood down: that is a second each.
    let (stood_down, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (report, said) = thread::scope(|scope| {
        let asked = scope.spawn(|| ask_each_second(&state, &stood_down, &is_over));
        let mut go_on = |_| match stood_down.load(Ordering::Relaxed) > 5 && arrived.is_even() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let report = emulate(options, &mut &arrived, &mut go_on);
        is_over.store(true, Ordering::Relaxed);
        (report, asked.join().expect("it only asks"))
    });
    let report = match report {
        Err(LiveError::Namespace(error @ NamespaceError::NotAllowed(_))) => {
            skipped(format_args!("it needs root or rootless TUN: {error}"));
            return None;
        }
        other => other.unwrap_or_else(|error| panic!("{error}")),
    };
    ackord_testing::late(Duration::from_nanos(report.lateness.p99.as_nanos()));
    let log = fs::read_to_string(log).expect("it is there");
    assert!(!matches!(report.commands[..], [CommandOutcome::Exited(1..)]), "{log}");
    // Whatever it does to them, no byte is another, and the kernel forwards everything.
    let router = report.router.expect("one was asked for");
    assert_eq!((report.counts.altered, report.counts.unchecked), (0, 0));
    assert_eq!((router.to_mobile.missing, router.to_fixed.missing), (0, 0), "{router:?}");
    Some(Outcome { report, arrived, said, log })
}

fn gateway(router: KernelRouter, config: &Path, log: &Path) -> HostCommand {
    let log = Arc::new(File::create(log).expect("a file"));
    HostCommand {
        host: router.node,
        argv: [env!("CARGO_BIN_EXE_ackord"), "gateway", "run", text(config)]
            .map(str::to_owned)
            .into(),
        environment: Vec::new(),
        starts_at: None,
        ends: Vec::new(),
        serves: true,
        stdout: Some(Arc::clone(&log)),
        stderr: Some(log),
    }
}

fn ask_each_second(state: &Path, stood_down: &AtomicUsize, is_over: &AtomicBool) -> Vec<Value> {
    let (mut said, mut next) = (Vec::new(), Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        if Instant::now() < next {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        next += Duration::from_secs(1);
        let told = output(&["gateway", "status", "--json", "--state", text(state)]);
        if told.status.success() {
            let told: Value = serde_json::from_slice(&told.stdout).expect("only JSON");
            let is_described = !told["classes"][0].is_null();
            stood_down.fetch_add(
                usize::from(is_described && standing(&told) == "stood-down"),
                Ordering::Relaxed,
            );
            said.extend(is_described.then_some(told));
        }
    }
    said
}

/// In what is said of the only class: how it stands.
fn standing(said: &Value) -> &str {
    said["classes"][0]["standing"]["state"].as_str().expect("it stands somehow")
}

/// Goodput: the mean of either arm and the difference with half its 95 % interval, Mbit/s.
fn goodput(said: &Value) -> [f64; 4] {
    let goodput = &said["classes"][0]["goodput_bit_s"];
    let paths = ["/treated/mean", "/control/mean", "/difference/mean", "/difference/ci95"];
    paths.map(|path| goodput.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN) / 1e6)
}

fn told(outcome: &Outcome) -> String {
    let each = outcome.said.iter().map(|said| {
        let ([treated, control, less, give], at) = (goodput(said), &said["uptime_s"]);
        let (state, injected) = (standing(said), &said["injected_segments"]);
        format!("{at} s: {state}, {treated:.2} and {control:.2} Mbit/s, {less:.2} ± {give:.2}; {injected}\n")
    });
    let [treated, control] = outcome.arrived.at_last(3);
    let last = outcome.said.last().unwrap_or(&Value::Null);
    let keys = ["holds", "false_holds", "heartbeat_worst_ms", "rings", "refused_injections"];
    let last = keys.map(|key| format!("{key} {}\n", last[key])).concat();
    format!(
        "{}at last {treated:.2} and {control:.2} Mbit/s; {:?}\n{last}{}",
        each.collect::<String>(),
        outcome.report.lateness,
        outcome.log
    )
}

#[test]
fn a_remedy_made_harmful_on_purpose_stands_down_and_what_it_harmed_recovers() {
    timely(|| {
        let remedy = "{ kind = \"proxy-tcp\", mode = \"paper\" }";
        let Some(outcome) = run(35, "reno", remedy) else { return };
        let told = told(&outcome);
        println!("{told}");
        let first = outcome.said.iter().position(|said| standing(said) == "stood-down");
        assert_timely!(first.is_some_and(|first| first + 5 < outcome.said.len()), "{told}");
        let after = &outcome.said[first.expect("just seen")..];
        let [treated, control, less, give] = goodput(&after[0]);
        assert!(treated < control && less + give < 0.0, "{told}");
        // It says so, to whoever asks and in the log.
        let why = after[0].pointer("/classes/0/standing/why").and_then(Value::as_str);
        assert_eq!(why, Some("its connections are slower than those left alone"), "{told}");
        let health = after[0]["health"].as_array().expect("a list");
        let says = |one: &Value| one["what"].as_str().expect("words").contains("stood down");
        assert!(health.iter().any(says), "{health:?}");
        assert!(outcome.log.contains("the remedy of rule default stands down"), "{told}");
        // From then on it is as if there was none.
        for said in after {
            assert_eq!(standing(said), "stood-down", "{told}");
            assert_eq!(said["injected_segments"], after[0]["injected_segments"], "{told}");
            assert_eq!((&said["treated"], &said["held"]), (&0.into(), &0.into()), "{told}");
        }
        // What they harm, remedies leave behind: a timer of seconds, which ends.
        assert_timely!(outcome.arrived.is_even(), "{told}");
    });
}

#[test]
fn a_remedy_that_gains_stays_and_its_gain_is_told_with_an_interval() {
    for congestion in ["cubic", "reno"] {
        timely(|| gains(congestion));
    }
}

fn gains(congestion: &str) {
    let Some(outcome) = run(9, congestion, "\"proxy-tcp\"") else { return };
    let told = told(&outcome);
    println!("{congestion}:\n{told}");
    for said in &outcome.said {
        assert_timely!(standing(said) == "at-work", "{told}");
    }
    let last = outcome.said.last().expect("it was asked");
    assert!(last["injected_segments"].as_u64() > Some(0), "{told}");
    let left = outcome.arrived.is_control.iter().filter(|one| **one).count();
    assert_eq!((&last["control"], &last["treated"]), (&left.into(), &(12 - left).into()));
    let [_, _, more, give] = goodput(last);
    assert_timely!(more - give > 0.0, "{told}");
}
