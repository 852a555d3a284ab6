//! What the scripts beside the kernel say, and which kernel the profile is held to.

use ackord_testing::{installed, skipped};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::Command;

/// The kernel that `profile = "linux"` follows; what another one does otherwise is no mistake of ours.
const KERNEL: &str = "6.18.";

/// What a script prints about this machine's kernel; nothing where it does not allow it.
pub(crate) fn said_by<T: DeserializeOwned>(script: &str) -> Option<T> {
    if !nix::unistd::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
        skipped("it needs root and /dev/net/tun");
        return None;
    }
    if !installed(&["python3", "ip", "ss"]) {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(script);
    let done = Command::new("python3").arg(script).arg("--json").output().expect("it is there");
    let complaint = String::from_utf8_lossy(&done.stderr);
    if complaint.contains("no network namespace of my own") {
        skipped("no network namespace may be made here");
        return None;
    }
    assert!(done.status.success(), "{complaint}");
    Some(serde_json::from_slice(&done.stdout).expect("what the script prints"))
}

/// Where this is the profile's kernel there are no differences; of another they are a table.
pub(crate) fn differences_are_those_of(release: &str, head: &str, differences: &[String]) {
    if differences.is_empty() {
        return;
    }
    let table = differences.join("\n");
    println!("Linux {release}, where the profile's {KERNEL}x differs:\n{head}\n{table}");
    assert!(!release.starts_with(KERNEL), "{head}\n{table}");
}
