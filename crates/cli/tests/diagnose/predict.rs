//! Predictions are bounded in time and in memory, and end at a signal.

use super::made::{Exchange, connections};
use crate::common::{ackord, catches_interrupts, printed, text, within_a_minute};
use ackord_testing::{assert_timely, timely};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Connections of 120 MB each at a round trip of 10 us, with a timeout for every fortieth segment of 60 kB: a
/// simulation of one of them as a whole takes minutes, and the capture of it gigabytes.
fn expensive(folder: &Path) -> PathBuf {
    let exchange =
        Exchange { round_trip_us: 10, segment: 60_000, segments: 2_000, timeout_every: 40 };
    connections(folder, "expensive.pcap", 6, &exchange)
}

/// Runs to its end; returns the output and the most memory that it had, kB.
fn most_memory(arguments: &[&str]) -> (String, u64) {
    let mut child = ackord(arguments).stdout(Stdio::piped()).spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kilobytes.unwrap_or(0));
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(0));
    (String::from_utf8(output.stdout).expect("UTF-8"), most)
}

#[test]
fn predictions_of_an_expensive_capture_stay_within_their_time_and_memory() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let capture = expensive(folder.path());
        let began = Instant::now();
        let (_, without) = most_memory(&["diagnose", text(&capture), "--no-predict"]);
        let reading = began.elapsed();
        let began = Instant::now();
        let (report, with) = most_memory(&["diagnose", text(&capture)]);
        let took = began.elapsed();
        assert!(report.contains("What would help"), "{report}");
        assert!(with < without + 300_000, "{with} kB, without predictions {without} kB");
        // The packets are read once more.
        let most = Duration::from_secs(11) + 3 * reading;
        assert_timely!(took < most, "{took:?}, and {reading:?} without predictions");
    });
}

#[test]
fn predictions_that_are_stopped_are_reported_and_none_are_made_in_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let capture = expensive(folder.path());
    let one = ["diagnose", text(&capture), "--connection", "0"];
    let report = printed(&[&one[..], &["--predict-for", "1 ms"]].concat()).replace("\n  ", " ");
    let sentence = "prediction stopped after 1 ms (--predict-for); results so far are kept";
    assert!(report.contains(sentence), "{report}");
    let none = printed(&[&one[..], &["--predict-for", "0 s"]].concat());
    assert_eq!(none, printed(&[&one[..], &["--no-predict"]].concat()));
}

#[test]
fn a_signal_during_a_prediction_ends_the_program_with_the_results_so_far() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        timely(|| {
            let folder = tempfile::tempdir().unwrap();
            let capture = expensive(folder.path());
            let began = Instant::now();
            printed(&["diagnose", text(&capture), "--no-predict"]);
            let reading = began.elapsed();
            let child = ackord(&["diagnose", text(&capture), "--predict-for", "1 h"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program starts");
            assert!(within_a_minute(|| catches_interrupts(child.id())), "it begins");
            // It has read the capture, twice, and predicts.
            sleep(3 * reading + Duration::from_millis(200));
            let sent = Instant::now();
            kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it is still at work");
            let output = child.wait_with_output().expect("it ends");
            let took = sent.elapsed();
            assert_eq!(output.status.code(), Some(130), "{signal}");
            let report = String::from_utf8(output.stdout).unwrap().replace("\n  ", " ");
            assert!(report.contains("Where the time went"), "{report}");
            let sentence = "prediction interrupted; results so far are kept";
            assert!(report.contains(sentence), "{report}");
            assert_timely!(took < Duration::from_millis(200), "{took:?}");
        });
    }
}
