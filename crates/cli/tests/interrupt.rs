//! Ctrl-C ends long work soon and cleanly.

use crate::common::{ackord, catches_interrupts, files_below, output, text, within_a_minute};
use ackord_testing::{assert_timely, timely};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts the program, gives it time to get to work, presses Ctrl-C, and waits.
fn interrupted(arguments: &[&str]) -> (Output, Duration) {
    ended_by(Signal::SIGINT, arguments)
}

fn ended_by(signal: Signal, arguments: &[&str]) -> (Output, Duration) {
    let child = ackord(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(within_a_minute(|| catches_interrupts(child.id())), "it begins");
    sleep(Duration::from_millis(700));
    let pressed = Instant::now();
    kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it is still at work");
    let output = child.wait_with_output().expect("it ends");
    (output, pressed.elapsed())
}

#[test]
fn an_interrupted_run_reports_what_it_has_with_exit_code_130() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let (out, captures) = (folder.path().join("out"), folder.path().join("captures"));
        let long =
            ["run", "dumbbell-100", "--yes", "--set", "duration=1000 s", "--out", text(&out)];
        let (output, took) = interrupted(&[&long[..], &["--pcap", text(&captures)]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{errors}");
        // Two seconds for the simulation; what is kept still has to be drawn, slowly in a debug build.
        assert_timely!(
            took < Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 5 }),
            "{took:?}"
        );
        assert!(errors.contains("interrupted at "), "{errors}");
        let files = files_below(folder.path());
        assert!(files.iter().all(|(name, _)| !name.ends_with(".partial")));
        let summary =
            files.iter().find(|(name, _)| name == "out/summary.json").expect("it is kept");
        let summary: serde_json::Value = serde_json::from_slice(&summary.1).expect("whole");
        assert_eq!(summary["ending"], "interrupted");
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(table.contains("Interrupted at "), "{table}");
    });
}

#[test]
fn without_files_to_write_it_ends_within_two_seconds() {
    timely(|| {
        let (output, took) =
            interrupted(&["run", "dumbbell-100", "--yes", "--set", "duration=1000 s"]);
        assert_eq!(output.status.code(), Some(130));
        assert_timely!(took < Duration::from_secs(2), "{took:?}");
    });
}

#[test]
fn an_interrupted_comparison_keeps_the_runs_that_were_finished_or_says_there_are_none() {
    timely(|| {
        let vary = ["--vary", "flows.*.tcp.congestion=reno,cubic", "--runs", "50"];
        let long = ["compare", "dumbbell-100", "--yes", "--set", "duration=1000 s"];
        let (output, took) = interrupted(&[&long[..], &vary[..]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert_timely!(took < Duration::from_secs(2), "{took:?}");
        assert!(errors.contains("interrupted"), "{errors}");
    });
}

#[test]
fn an_interrupted_paper_says_that_nothing_was_finished() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let (output, took) =
            interrupted(&["paper", "selective-drop", "--out", text(folder.path())]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert_timely!(took < Duration::from_secs(2), "{took:?}");
        assert!(errors.contains("interrupted in selective-drop; 0 papers finished"), "{errors}");
        assert!(output.stdout.is_empty() && files_below(folder.path()).is_empty());
    });
}

/// A file with this workload over one link.
fn workload(folder: &Path, traffic: &str) -> PathBuf {
    let path = folder.join("workload.toml");
    let text = format!(
        r#"
version = 1
name = "workload"
duration = "9000000 s"
hosts = {{ a = {{}}, b = {{}} }}
links = [{{ from = "a", to = "b", rate = "1000 Gbit/s", delay = "0 s" }}]
flows = [{{ name = "f", from = "a", to = "b", traffic = {traffic} }}]
"#
    );
    fs::write(&path, text).unwrap();
    path
}

/// Values at the ends of their ranges: sums beyond 64 bits, and more draws than a run can wait for.
const EXTREME: [&str; 4] = [
    "{ kind = \"on-off\", rate = \"1 Gbit/s\", on = \"1000000 s\", off = \"1 s\", count = 1000000 }",
    "{ kind = \"on-off\", rate = \"1000 Gbit/s\", on = \"1000000 s\", on_distribution = \"pareto\", \
     off = \"1 us\", count = 1000000 }",
    "{ kind = \"web\", objects = 10000, objects_distribution = \"pareto\", count = 1000000 }",
    "{ kind = \"web\", request = \"1 GB\", objects = 10000, count = 1000000 }",
];

#[test]
fn sigterm_ends_a_run_within_a_fifth_of_a_second_whatever_it_computes() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        for traffic in EXTREME {
            let file = workload(folder.path(), traffic);
            let (output, took) = ended_by(Signal::SIGTERM, &["run", text(&file), "--yes"]);
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(130), "{traffic}: {errors}");
            assert!(!errors.contains("panicked"), "{traffic}: {errors}");
            assert_timely!(took < Duration::from_millis(200), "{traffic}: {took:?}");
        }
    });
}

#[test]
fn a_long_run_without_a_terminal_needs_yes() {
    let refused = output(&["run", "dumbbell-100", "--set", "duration=1000000 s"]);
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("give --yes to begin") && errors.contains(" hours"), "{errors}");
}
