//! The kernels there are, what the scripts beside a kernel say of them, and which one the profile is held to.

use super::{ackord, json, text};
use ackord_testing::{installed, skipped};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernels that `profile = "linux"` follows: the newest, and the one in simulated time. What another one
/// does otherwise is no mistake of ours.
const FOLLOWED: [&str; 2] = ["6.18.", "6.12."];

/// The kernels that the user has built from a distribution's source; says SKIPPED if there are none.
pub(crate) fn kernels() -> Vec<String> {
    let listed = json(&["kernel", "list", "--json", "-"]);
    let sound =
        |kernel: &&Value| kernel["state"] == "sound" && kernel["source"]["kind"] == "package";
    let all = listed["kernels"].as_array().expect("a list");
    let name =
        |kernel: &Value| format!("{}@{}", kernel["name"].as_str().expect("a name"), kernel["hz"]);
    let found: Vec<String> = all.iter().filter(sound).map(name).collect();
    if found.is_empty() {
        skipped("no kernel has been built: `make kernel`");
    }
    found
}

/// What a script prints about a stock kernel in simulated time: the same each time, whatever else this machine
/// does, and without rights. Nothing where it cannot be asked.
pub(crate) fn said_by<T: DeserializeOwned>(kernel: &str, script: &str) -> Option<T> {
    if !installed(&["python3", "ip", "ss"]) {
        return None;
    }
    let script = path(script);
    let (name, hz) = kernel.split_once('@').expect("a name and ticks per second");
    let shell = ["kernel", "shell", "--leap", name, "--hz", hz, "--"];
    let mut asked = ackord(&[&shell[..], &["python3", text(&script), "--json"]].concat());
    // Also where that is below /tmp a kernel sees the folder that it was started in.
    let done = asked.current_dir(root()).output().expect("the program starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    Some(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")))
}

/// What a script prints about this machine's kernel; nothing where it does not allow it.
pub(crate) fn said_by_this_machine<T: DeserializeOwned>(script: &str) -> Option<T> {
    if !nix::unistd::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
        skipped("it needs root and /dev/net/tun");
        return None;
    }
    if !installed(&["python3", "ip", "ss"]) {
        return None;
    }
    let done = Command::new("python3").arg(path(script)).arg("--json").output().expect("there");
    let complaint = String::from_utf8_lossy(&done.stderr);
    if complaint.contains("no network namespace of my own") {
        skipped("no network namespace may be made here");
        return None;
    }
    assert!(done.status.success(), "{complaint}");
    Some(serde_json::from_slice(&done.stdout).expect("what the script prints"))
}

fn path(script: &str) -> PathBuf {
    root().join("scripts").join(script)
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// Where the profile follows this kernel there are no differences; of another they are a table.
pub(crate) fn differences_are_those_of(release: &str, head: &str, differences: &[String]) {
    if differences.is_empty() {
        return;
    }
    let table = differences.join("\n");
    println!("Linux {release}, where it differs from the profile:\n{head}\n{table}");
    assert!(!FOLLOWED.iter().any(|followed| release.starts_with(followed)), "{head}\n{table}");
}
