//! What the agent says if a capability is missing.

use super::world::{ACKORD, Group, lacks};
use ackord_testing::{installed, skipped};
use std::process::{Command, Output};

/// Without this capability, and the one that has it in it.
fn without(capability: &str, arguments: &[&str]) -> Output {
    let set = format!("-{capability},-sys_admin");
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", &set, ACKORD, "agent"]).args(arguments);
    command.output().expect("it runs")
}

#[test]
fn a_missing_capability_is_named_by_the_agent_and_by_its_probe() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    if !installed(&["setpriv"]) {
        return;
    }
    let group = Group::new("rights");
    let state = tempfile::tempdir().expect("a directory");
    let (group, state) = (group.0.display().to_string(), state.path().display().to_string());
    for capability in ["bpf", "net_admin", "perfmon"] {
        let name = format!("CAP_{}", capability.to_uppercase());
        let options = ["run", "--cgroup", &group, "--state", &state, "--for", "1s"];
        let run = without(capability, &options);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("lacks {name}")), "{said}");
        assert!(said.contains("ackord agent probe"), "{said}");
        let probe = without(capability, &["probe", "--json"]);
        assert_eq!(probe.status.code(), Some(1));
        let found: serde_json::Value = serde_json::from_slice(&probe.stdout).expect("JSON");
        let one = found.as_array().into_iter().flatten().find(|one| one["what"] == *name);
        assert!(one.is_some_and(|one| one["is_there"] == false), "{found:#}");
    }
}
