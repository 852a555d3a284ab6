//! The same file and seed give the same bytes, run after run, in debug and in release.

use crate::common::{ackord, files_below, output, printed, text};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// CUBIC's cube root, random losses, timers: whatever could differ between builds is in here.
const SHORT: &[&str] = &["run", "lossy-wifi", "--set", "duration=3 s"];

fn run_into(folder: &Path, seed: &str) -> String {
    let captures = folder.join("captures");
    let mut arguments = SHORT.to_vec();
    arguments.extend(["--seed", seed, "--out", text(folder)]);
    arguments.extend(["--pcap", text(&captures), "--snaplen", "all"]);
    printed(&arguments)
}

#[test]
fn a_run_repeated_has_the_same_table_and_the_same_files() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tables = (run_into(first.path(), "7"), run_into(second.path(), "7"));
    assert_eq!(tables.0, tables.1);
    let files = files_below(first.path());
    assert_eq!(files, files_below(second.path()));
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    for expected in [
        "captures/wifi.at-server.pcapng",
        "captures/wifi.at-station.pcapng",
        "flows.csv",
        "links.csv",
        "plots/cwnd.png",
        "plots/cwnd.svg",
        "queues.csv",
        "report.html",
        "series/cwnd.csv",
        "summary.json",
    ] {
        assert!(names.contains(&expected), "{expected} is not among {names:?}");
    }
    assert!(!names.iter().any(|name| name.ends_with(".partial")), "{names:?}");
}

#[test]
fn another_seed_gives_another_run_and_another_capture() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tables = (run_into(first.path(), "7"), run_into(second.path(), "8"));
    assert_ne!(tables.0, tables.1);
    let capture = |folder: &Path| std::fs::read(folder.join("captures/wifi.at-server.pcapng"));
    assert_ne!(capture(first.path()).unwrap(), capture(second.path()).unwrap());
}

#[test]
fn capturing_and_plotting_change_nothing_about_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let plain = printed(&[SHORT, &["--json", "-"]].concat());
    let (out, captures) = (folder.path().join("out"), folder.path().join("captures"));
    let both = ["--json", "-", "--out", text(&out), "--pcap", text(&captures)];
    assert_eq!(printed(&[SHORT, &both].concat()), plain);
}

#[test]
fn a_comparison_is_the_same_with_one_thread_and_with_many() {
    let arguments = [
        "compare",
        "lossy-wifi",
        "--set",
        "duration=2 s",
        "--vary",
        "flows.*.tcp.congestion=reno,cubic",
        "--runs",
        "3",
        "--json",
        "-",
    ];
    let with = |threads| {
        let mut command = ackord(&arguments);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    };
    assert_eq!(with("1"), with("4"));
}

/// One hash for both builds: a difference between them fails in one of the two.
#[test]
fn the_capture_has_the_hash_on_record_in_debug_and_in_release() {
    let folder = tempfile::tempdir().unwrap();
    run_into(folder.path(), "7");
    let digest = files_below(&folder.path().join("captures")).into_iter().fold(
        Sha256::new(),
        |mut digest, (name, bytes)| {
            digest.update(name);
            digest.update(bytes);
            digest
        },
    );
    let hash = digest.finalize().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lossy-wifi.capture.sha256");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&record, format!("{hash}\n")).unwrap();
    }
    let known = std::fs::read_to_string(&record).unwrap();
    assert_eq!(
        known.trim(),
        hash,
        "simulated packets have changed; if that was meant: BLESS=1 cargo test -p ackord-cli --test tests repeat"
    );
}

#[test]
fn without_names_in_the_file_both_ends_of_every_flow_are_captured() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "reno-against-vegas", "--set", "duration=2 s", "--set"];
    let pcap = ["record.captures=[]", "--pcap", text(folder.path())];
    let output = output(&[&arguments[..], &pcap].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<_> = files_below(folder.path()).into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().any(|name| name.ends_with(".at-reno.pcapng")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(".at-vegas.pcapng")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(".at-receiver.pcapng")), "{names:?}");
}
