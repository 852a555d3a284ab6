//! `ackord live run`: scenarios between stock kernels; SKIPPED where the machine does not let us.

use crate::common::{
    ackord, allowed, catches_interrupts, files_below, late, output, text, within_a_minute,
};
use ackord_testing::{assert_timely, installed, timely};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs must not disturb each other's timing.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the program answers; nothing where it may not make a namespace.
fn live(arguments: &[&str]) -> Option<Output> {
    let output = output(&[&["live", "run"], arguments].concat());
    allowed(&output).then_some(output)
}

/// JSON of a run that succeeded.
fn live_json(arguments: &[&str]) -> Option<Value> {
    let output = live(&[arguments, &["--json", "-"]].concat())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    late(&found["real_time"]["p99_us"]);
    Some(found)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a whole number: {value}"))
}

/// Two seconds of a path of 20 Mbit/s that loses 1 %. How late packets are is not the matter here:
/// tests run beside each other.
const SHORT: &[&str] = &["lossy-wifi", "--set", "duration=2 s", "--lateness-budget", "10 s"];

/// What holds on this path whoever is at its ends.
fn within_bounds(found: &Value) {
    assert_eq!(found["trust"], "within-budget");
    let flow = &found["flows"][0];
    let goodput = flow["goodput_bit_s"].as_f64().expect("a number");
    // 1 % of random loss costs much of the rate; a stall would leave less than a tenth.
    assert!(goodput < 20e6, "{goodput} bit/s over a link of 20 Mbit/s");
    assert_timely!(goodput > 5e5, "{goodput} bit/s over a link of 20 Mbit/s");
    let (sent, acks) = (count(&flow["segments_sent"]), count(&flow["acks_sent"]));
    assert_timely!(acks > sent / 4 && acks <= sent, "{acks} acknowledgments of {sent} segments");
    let again = count(&flow["retransmitted_segments"]);
    assert_timely!(again > 0 && again < sent / 10, "{again} of {sent} again");
    // Every packet that was lost is retransmitted, or still to be.
    let lost = count(&flow["packets_dropped"]);
    assert_timely!(
        again + 40 > lost && again <= lost + sent / 50,
        "{lost} lost, {again} retransmitted"
    );
    // What went into the path came out of it, died there, or was under way at the end.
    let device = &found["real_time"]["device"];
    let (entered, delivered) = (count(&device["entered"]), count(&device["delivered"]));
    assert!(delivered <= entered + sent, "{device}");
    assert_timely!(delivered > 100, "{device}");
    assert_eq!((count(&device["malformed"]), count(&device["too_many"])), (0, 0), "{device}");
}

#[test]
fn kernels_at_both_ends_count_what_was_seen_on_their_wires() {
    let _alone = alone();
    timely(|| {
        let Some(found) = live_json(SHORT) else { return };
        within_bounds(&found);
        let flow = &found["flows"][0];
        let host = |name: &str| {
            let hosts = found["hosts"].as_array().expect("a list").iter();
            hosts.clone().find(|host| host["name"] == name).expect("it is there").clone()
        };
        let (server, station) = (host("server"), host("station"));
        assert_eq!((&server["place"], &station["place"]), (&"kernel".into(), &"kernel".into()));
        // The kernel's own counters, read when all was over.
        let counted =
            |host: &Value, name: &str| count(host["counters"].get(name).unwrap_or(&0.into()));
        // After the run's last instant no acknowledgment comes any more, so that less than a window
        // leaves until the sockets are closed; what the last acknowledgment asked for may be among it.
        let ends = found["connections"].as_array().expect("a list");
        let [receiver, sender] = ends.as_slice() else { panic!("{ends:?}") };
        assert_eq!((&receiver["end"], &sender["end"]), (&"client".into(), &"server".into()));
        let last = &sender["last"];
        let window = count(&last["cwnd_bytes"]) / 1_448;
        let again = count(&flow["retransmitted_segments"]);
        let agrees = |counted: u64| (again..=again + 2).contains(&counted);
        assert_timely!(agrees(counted(&server, "TcpRetransSegs")), "{again} again: {server}");
        assert_timely!(agrees(count(&last["retransmitted_segments"])), "{again} again: {last}");
        let device = &found["real_time"]["device"];
        // Every segment of a kernel was taken. (It counts those retransmitted apart.)
        let both = |name: &str| counted(&server, name) + counted(&station, name);
        let entered = count(&device["entered"]);
        let segments = both("TcpOutSegs") + both("TcpRetransSegs");
        let late = window + 6;
        assert_timely!(
            segments.abs_diff(entered) <= late,
            "{segments} segments, {entered} packets came"
        );
        let lost: u64 = found["queues"].as_array().expect("a list").iter().map(dropped).sum();
        let under_way = entered - count(&device["delivered"]) - lost;
        assert!(under_way <= 250, "a queue of 100 packets each way and 20 ms: {under_way}");
        // And TCP_INFO of the sending end, for which the SYN is no segment with data.
        let sent = count(&flow["segments_sent"]) - 1;
        let told = count(&last["data_segments_out"]);
        assert_timely!(told + 1 >= sent && told <= sent + window + 1, "{sent} were seen: {last}");
        let srtt = last["srtt_ms"].as_f64().expect("a number");
        let late = found["real_time"]["max_us"].as_f64().expect("a number") / 1e3;
        // A full queue of 100 packets is 60 ms, and a delayed acknowledgment may be 40.
        let most = 120.0 + 2.0 * late;
        assert!(srtt >= 20.0, "two ways of 10 ms: {srtt}");
        assert_timely!(srtt < most, "two ways of 10 ms and a queue: {srtt} of {most}");
        assert!(flow["cwnd_mean_bytes"].as_f64().is_some_and(|cwnd| cwnd > 1_448.0), "{flow}");
        let settings = server["settings"].as_array().expect("a list");
        let told = |key: &str| settings.iter().find(|told| told["setting"] == key);
        assert_eq!(told("congestion").expect("it is told")["outcome"], "set");
    });
}

fn dropped(queue: &Value) -> u64 {
    count(&queue["dropped_packets"])
}

#[test]
fn our_tcp_may_be_at_either_end() {
    let _alone = alone();
    timely(|| {
        for ours in ["station", "server"] {
            let Some(found) = live_json(&[SHORT, &["--ours", ours]].concat()) else { return };
            within_bounds(&found);
            let places: Vec<_> = found["hosts"].as_array().expect("a list").iter().collect();
            let place = |host: &&&Value| (host["place"] == "ours") == (host["name"] == ours);
            assert!(places.iter().all(|host| place(&host)), "{ours}: {places:?}");
            assert_eq!(
                found["connections"].as_array().map(Vec::len),
                Some(1),
                "{ours}: one kernel"
            );
            assert!(count(&found["real_time"]["device"]["made"]) > 50, "{ours}");
        }
    });
}

/// curl and a web server in place of the flow's workload: what is to be set.
fn curl(folder: &Path) -> String {
    let path = folder.display();
    format!(
        "flows.download.exec={{ server = 'python3 -u -m http.server -d {path}/served 8000', \
         client = 'curl -sS -o {path}/copy http://{{server}}:8000/file' }}"
    )
}

#[test]
fn curl_fetches_from_a_web_server_through_the_path_and_all_is_told_of_the_flow() {
    let _alone = alone();
    timely(|| {
        if !installed(&["curl", "python3"]) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (served, out) = (folder.path().join("served"), folder.path().join("out"));
        std::fs::create_dir(&served).unwrap();
        let octets: Vec<u8> = (0..600_000u32).map(|number| (number * 7 % 251) as u8).collect();
        std::fs::write(served.join("file"), &octets).unwrap();
        let (programs, captures) = (curl(folder.path()), folder.path().join("captures"));
        let longer = ["lossy-wifi", "--set", "duration=30 s", "--lateness-budget", "10 s"];
        let files = ["--set", &programs, "--out", text(&out), "--pcap", text(&captures)];
        let Some(found) = live_json(&[&longer[..], &files].concat()) else { return };
        assert!(std::fs::read(folder.path().join("copy")).unwrap() == octets, "the bytes differ");
        // The answer's headers are some hundred bytes.
        let flow = &found["flows"][0];
        let delivered = count(&flow["bytes_delivered"]);
        assert!((600_000..601_000).contains(&delivered), "{delivered}");
        assert!(found["duration_s"].as_f64().is_some_and(|secs| secs < 29.0), "it ended with curl");
        let (sent, acks) = (count(&flow["segments_sent"]), count(&flow["acks_sent"]));
        // 600 kB of 1448 bytes; the request and the handshake are no pure acknowledgments.
        assert!(sent >= 415, "{sent} segments");
        assert_timely!(sent < 600 && acks <= sent, "{sent} segments, {acks} acknowledgments");
        let commands = found["commands"].as_array().expect("a list");
        let ended =
            |end: &str| commands.iter().find(|it| it["end"] == end).expect("it ran").clone();
        assert_eq!(ended("client")["exit_code"], 0);
        assert_eq!(ended("server")["outcome"], "was ended by SIGTERM");
        let files = files_below(folder.path());
        let file = |name: &str| {
            let found = files.iter().find(|(path, _)| path == name);
            &found.unwrap_or_else(|| panic!("{name} is not there")).1
        };
        let log = String::from_utf8_lossy(file("out/programs/download.server.err.txt"));
        assert!(log.contains("GET /file"), "{log}");
        for name in ["out/report.html", "out/plots/lateness.svg", "captures/wifi.at-station.pcapng"]
        {
            assert!(!file(name).is_empty());
        }
        // Real bytes: what curl asks for stands in the capture.
        let captured = file("captures/wifi.at-server.pcapng");
        assert!(captured.windows(9).any(|octets| octets == b"GET /file"));
    });
}

#[test]
fn a_program_that_fails_makes_the_run_a_failure() {
    let _alone = alone();
    let fails = "flows.download.exec={ client = \"sh -c 'sleep 0.2; exit 7'\" }";
    let Some(output) = live(&[SHORT, &["--set", fails]].concat()) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = "the program at the client of flow `download` exited with 7";
    assert!(errors.contains(said), "{errors}");
}

#[test]
fn a_program_that_outlives_the_run_dies_with_it_and_is_told_of() {
    let _alone = alone();
    let long = "flows.download.exec={ client = 'sleep 60' }";
    let short = ["lossy-wifi", "--set", "duration=500 ms", "--lateness-budget", "10 s"];
    let Some(output) = live(&[&short[..], &["--set", long]].concat()) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let said = "the run was over before `sleep 60` of flow `download` had ended";
    assert!(errors.contains(said), "{errors}");
}

#[test]
fn a_run_over_its_budget_is_marked_in_everything_that_is_written() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (out, json) = (folder.path().join("out"), folder.path().join("result.json"));
    let changes = ["lossy-wifi", "--set", "duration=1 s", "--lateness-budget", "1 ns"];
    let results = ["--out", text(&out), "--json", text(&json)];
    let Some(output) = live(&[&changes[..], &results].concat()) else { return };
    let (errors, tables) = (String::from_utf8(output.stderr), String::from_utf8(output.stdout));
    for said in [errors.unwrap(), tables.unwrap()] {
        assert!(said.contains("UNTRUSTWORTHY"), "{said}");
    }
    for (name, content) in files_below(folder.path()) {
        let content = String::from_utf8_lossy(&content);
        // The topology shows the scenario and no result.
        let shows_results = name.ends_with(".svg") && !name.ends_with("topology.svg");
        if shows_results || name.ends_with(".html") {
            assert!(content.contains("UNTRUSTWORTHY"), "{name}");
        }
        if name.ends_with(".json") {
            let found: Value = serde_json::from_str(&content).expect("JSON");
            assert_eq!(found["trust"], "untrustworthy", "{name}");
        }
    }
    assert!(out.join("plots/lateness.svg").exists());
}

#[test]
fn an_interrupted_run_reports_what_it_has() {
    let _alone = alone();
    timely(|| {
        let mut child =
            ackord(&["live", "run", "lossy-wifi", "--set", "duration=100 s", "--json", "-"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program starts");
        // Where it may not run it ends by itself, and a zombie catches nothing.
        within_a_minute(|| {
            catches_interrupts(child.id()) || child.try_wait().is_ok_and(|end| end.is_some())
        });
        std::thread::sleep(Duration::from_millis(1_500));
        // Where it may not run it has ended by itself, and there is nobody to interrupt.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT);
        let output = child.wait_with_output().expect("it ends");
        if !allowed(&output) {
            return;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{errors}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
        assert_eq!(found["ending"], "interrupted");
        late(&found["real_time"]["p99_us"]);
        let lasted = found["duration_s"].as_f64().expect("a number");
        assert_timely!((0.3..5.0).contains(&lasted), "{lasted} s");
        assert_timely!(count(&found["flows"][0]["bytes_delivered"]) > 0, "nothing was delivered");
    });
}

#[test]
fn what_cannot_be_run_is_bad_input() {
    for (arguments, said) in [
        (&["lossy-wifi", "--ours", "statoin"][..], "did you mean `station`?"),
        (&["lossy-wifi", "--lateness-budget", "1"], "invalid value '1'"),
        (&["real-programs", "--ours", "laptop"], "its host `laptop` is to be ours"),
        (&["lossy-wify"], "lossy-wifi"),
    ] {
        let output = output(&[&["live", "run"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(said), "{arguments:?}: {errors}");
    }
}

#[test]
fn the_simulator_says_that_it_runs_no_programs() {
    let output = output(&["run", "real-programs", "--set", "duration=1 s"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("the commands of `upload` run in `ackord live run`"), "{errors}");
}
