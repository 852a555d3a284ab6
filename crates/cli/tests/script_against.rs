//! `ackord script --against kernel` as a user meets it, where a kernel is built.

use crate::common::{ackord, output, printed};
use std::path::Path;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/tcp");

/// What the program prints against the default kernel; nothing where there is none.
fn against(arguments: &[&str]) -> Option<(Option<i32>, String, String)> {
    let all = [&["script", "--against", "kernel=6.12"][..], arguments].concat();
    let output = ackord(&all).output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if errors.contains("ackord kernel build") {
        ackord_testing::skipped(&errors);
        return None;
    }
    let told = String::from_utf8(output.stdout).expect("it is text");
    Some((output.status.code(), told, errors))
}

#[test]
fn a_kernel_that_does_all_as_a_script_says_is_alike() {
    let script = format!("{SCRIPTS}/profile_linux/lone_fin.tcp");
    let Some((code, told, errors)) = against(&[&script, "--strict", "--trace"]) else { return };
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.starts_with("alike        "), "{told}");
    // Its tick, and its own number for the SYN.
    assert!(told.contains("0.044000"), "{told}");
    assert!(told.contains("1 played: 1 alike, 0 different"), "{told}");
}

#[test]
fn what_a_kernel_does_otherwise_is_told_with_its_line_and_is_no_failure_unless_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("wrong.tcp");
    let text = "# Nothing acknowledges the FIN.\nprofile linux\nset timestamps = off\n\
                0 handshake rtt 40 ms <mss 1000, sackOK>\n0.0413 inject FIN seq 1\n\
                assert cwnd = 10 segments, state_timer = none\nquiet for 10 ms\n";
    std::fs::write(&script, text).expect("written");
    let script = script.to_str().expect("a path");
    let Some((code, told, errors)) = against(&[script, "--json", "-"]) else { return };
    assert_eq!(code, Some(0), "{errors}");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let one = &told["scripts"][0];
    assert_eq!(
        (one["result"].as_str(), &told["summary"]["not_asked"]),
        (Some("played"), &1.into())
    );
    // It is, with the next tick.
    assert_eq!(one["differences"][0]["kind"], "unexpected");
    let (code, ..) = against(&[script, "--strict"]).expect("there is a kernel");
    assert_eq!(code, Some(1));
}

#[test]
fn what_a_kernel_cannot_be_told_is_not_played() {
    let script = format!("{SCRIPTS}/profile_linux/timers_with_slack.tcp");
    let Some((code, told, errors)) = against(&[&script, "--strict"]) else { return };
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.contains("not playable"), "{told}");
    assert!(told.contains("timer_tick = 0 s"), "{told}");
}

#[test]
fn many_scripts_on_one_kernel_come_out_as_each_alone_and_as_the_page_has_it() {
    let Some((code, told, errors)) = against(&[SCRIPTS]) else { return };
    assert_eq!(code, Some(0), "{errors}");
    let summary = told.lines().rev().find(|line| line.contains(" played: ")).expect("a summary");
    let page = Path::new(SCRIPTS).join("../../docs/scripts-against-kernel.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let counts = page.lines().find(|line| line.contains(" played, ")).expect("its counts");
    let numbers = |text: &str| -> Vec<u32> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
    };
    assert_eq!(numbers(summary), numbers(counts), "{summary}\n{counts}");
    let file = format!("{SCRIPTS}/profile_linux/the_timeout.tcp");
    let (_, alone, _) = against(&[&file]).expect("there is a kernel");
    let word = alone.split_whitespace().next().expect("a word");
    let among = told.lines().find(|line| line.ends_with("the_timeout.tcp")).expect("it is there");
    assert!(among.starts_with(word), "{among}\n{alone}");
}

#[test]
fn only_a_kernel_can_be_played_against() {
    let errors = String::from_utf8(output(&["script", "--against", "penguins"]).stderr).unwrap();
    assert!(errors.contains("`kernel` or `kernel=VERSION`"), "{errors}");
    assert!(printed(&["script", "--help"]).contains("--against"));
}
