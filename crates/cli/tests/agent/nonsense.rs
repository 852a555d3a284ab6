//! Files and requests that are none: what is wrong is said, nothing is left, and a running agent goes on.

use super::ends::Namespace;
use super::world::{ACKORD, Agent, Group, lacks, nothing_is_left};
use ackord_testing::skipped;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

/// What an agent says that does not begin, and its exit code.
fn refused(mut command: Command) -> (String, Option<i32>) {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    (said, output.status.code())
}

fn run_with(
    mut command: Command,
    group: &Group,
    folder: &Path,
    lines: &str,
) -> (String, Option<i32>) {
    let file = folder.join("agent.toml");
    let text = format!(
        "cgroup = \"{}\"\n{lines}\n[metrics]\nlisten = \"none\"\n[state]\ndirectory = \"{}\"\n",
        group.0.display(),
        folder.join("state").display()
    );
    fs::write(&file, text).expect("ours");
    command.args(["agent", "run", "--for", "1s"]).arg(&file);
    refused(command)
}

#[test]
fn a_damaged_journal_is_told_with_its_line_and_left_as_it_is() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("journal");
    let folder = tempfile::tempdir().expect("a directory");
    let state = folder.path().join("state");
    fs::create_dir(&state).expect("ours");
    let journal = state.join("agent.journal");
    let sound = r#"{"change":"sysctl","path":"/proc/sys/none","old":"1","new":"3","reason":"r","at_unix_ms":1,"namespace":2}"#;
    let torn = format!("{sound}\n{}", &sound[..40]);
    for (octets, what) in [
        (&b"nonsense\n"[..], "line 1 is no line of a journal"),
        (b"\xff\xfe\x00\x80", "is no text"),
        (
            b"{\"change\":\"format-disk\",\"reason\":\"\",\"at_unix_ms\":1,\"namespace\":2}\n",
            "unknown variant `format-disk`",
        ),
        (b"\n", "line 1 is no line of a journal"),
        (torn.as_bytes(), "line 2 is no line of a journal"),
    ] {
        fs::write(&journal, octets).expect("ours");
        let mut rollback = Command::new(ACKORD);
        rollback.args(["agent", "rollback", "--state"]).arg(&state);
        let rolled = refused(rollback);
        let began = run_with(Command::new(ACKORD), &group, folder.path(), "");
        for (said, code) in [rolled, began] {
            assert_eq!(code, Some(1), "{said}");
            assert!(said.contains("agent.journal") && said.contains(what), "{what}: {said}");
        }
        assert_eq!(fs::read(&journal).expect("it is there"), octets);
    }
}

#[test]
fn with_a_history_or_a_list_of_pods_that_is_none_it_does_not_begin_and_leaves_nothing() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let namespace = Namespace::new("nonsense");
    let group = Group::new("nonsense");
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("damaged");
    fs::write(&file, vec![0x5a; 100_000]).expect("ours");
    let damaged = file.display();
    for (lines, what, expected) in [
        (format!("[quick]\n[history]\nstore = \"{damaged}\""), "damaged", 1),
        (format!("[quick]\n[pods]\nfile = \"{damaged}\""), "is no list of pods", 1),
    ] {
        let (said, code) = run_with(namespace.command(ACKORD), &group, folder.path(), &lines);
        assert_eq!(code, Some(expected), "{said}");
        assert!(said.contains(what), "{what}: {said}");
        nothing_is_left(&folder.path().join("state"));
        let rules = namespace.said(&["ip", "rule"]);
        assert!(!rules.contains("7411"), "{rules}");
        assert_eq!(fs::metadata(&file).expect("it is there").len(), 100_000, "as it was");
    }
}

#[test]
fn a_list_of_pods_that_becomes_none_changes_nothing() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("pods");
    let pod = Group(group.0.join("pod4f9a-3b1c"));
    fs::create_dir(&pod.0).expect("root may");
    let folder = tempfile::tempdir().expect("a directory");
    let pods = folder.path().join("pods.json");
    let one = r#"{"metadata": {"uid": "4f9a-3b1c", "annotations": {"ackord.io/agent": "on"}}}"#;
    fs::write(&pods, format!("{{\"items\": [{one}]}}")).expect("ours");
    let lines = format!("levers = \"none\"\n[pods]\nfile = \"{}\"\n", pods.display());
    let state = tempfile::tempdir().expect("a directory");
    let agent = Agent::with_file(&group, &lines, state);
    let is_there = |status: &serde_json::Value| {
        status["cgroups"][0].as_str().is_some_and(|path| path.ends_with("/pod4f9a-3b1c"))
    };
    agent.wait_for(is_there);
    fs::write(&pods, "{\"items\": [{\"meta").expect("ours");
    let seen = agent.wait_for(|_| true)["uptime_s"].as_f64();
    let later = agent.wait_for(|status| status["uptime_s"].as_f64() > seen.map(|at| at + 2.0));
    assert!(is_there(&later), "{later:#}");
    // Nor does a file that names no lever.
    agent.reload(&group, "levers = [\"nodelya\"]\n");
    fs::write(&pods, "{\"items\": []}").expect("ours");
    let status = agent.wait_for(|status| status["cgroups"][0].is_null());
    assert_eq!(status["reloads"], 0, "{status:#}");
    agent.stop();
}

#[test]
fn requests_that_are_none_are_refused_and_the_agent_goes_on() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("requests");
    let agent = Agent::begin(&group, &[]);
    let long = vec![b'"'; 1 << 16];
    for request in [
        &b"\n"[..],
        b"dance\n",
        b"{\"explain\":{\"pid\":-1}}\n",
        b"{\"explain\":{\"port\":70000}}\n",
        b"{\"explain\":{\"cgroup\":7}}\n",
        b"{\"explain\":{\"appl",
        b"\xff\xfe\x00\n",
        &long,
        b"",
    ] {
        let mut stream =
            UnixStream::connect(agent.state.path().join("agent.sock")).expect("it listens");
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let is_fine = answer.is_empty() || answer.starts_with("{\"refused\":");
        assert!(is_fine, "{:?}: {answer}", String::from_utf8_lossy(request));
    }
    assert!(agent.status().is_some(), "it goes on");
    for odd in ["", ":", ":0", "4294967296", "*", "\u{1f980}", &"x".repeat(3_000)] {
        let said = agent.ask(&["explain", odd, "--json"]);
        let code = said.status.code();
        assert!(matches!(code, Some(0 | 2)), "{odd}: {}", String::from_utf8_lossy(&said.stderr));
    }
    for path in ["/", "../..", "/etc", "/sys/fs/cgroup/../..", "a//b"] {
        let said = agent.ask(&["explain", path]);
        let code = said.status.code();
        assert!(matches!(code, Some(0 | 2)), "{path}: {}", String::from_utf8_lossy(&said.stderr));
    }
    nothing_is_left(agent.stop().path());
}
