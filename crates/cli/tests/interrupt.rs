//! Ctrl-C ends long work soon and cleanly.

use crate::common::{ackord, catches_interrupts, files_below, text, within_a_minute};
use ackord_testing::{assert_timely, timely};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts the program, gives it time to get to work, presses Ctrl-C, and waits.
fn interrupted(arguments: &[&str]) -> (Output, Duration) {
    let child = ackord(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(within_a_minute(|| catches_interrupts(child.id())), "it begins");
    sleep(Duration::from_millis(700));
    let pressed = Instant::now();
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("it is still at work");
    let output = child.wait_with_output().expect("it ends");
    (output, pressed.elapsed())
}

#[test]
fn an_interrupted_run_reports_what_it_has_with_exit_code_130() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let (out, captures) = (folder.path().join("out"), folder.path().join("captures"));
        let long = ["run", "dumbbell-100", "--set", "duration=1000 s", "--out", text(&out)];
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
        let (output, took) = interrupted(&["run", "dumbbell-100", "--set", "duration=1000 s"]);
        assert_eq!(output.status.code(), Some(130));
        assert_timely!(took < Duration::from_secs(2), "{took:?}");
    });
}

#[test]
fn an_interrupted_comparison_keeps_the_runs_that_were_finished_or_says_there_are_none() {
    timely(|| {
        let vary = ["--vary", "flows.*.tcp.congestion=reno,cubic", "--runs", "50"];
        let long = ["compare", "dumbbell-100", "--set", "duration=1000 s"];
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
