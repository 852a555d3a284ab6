//! Routes of hosts to which packets overtake each other: real downloads over an emulated path that does that, the agent
//! in the network of the sender.

use super::world::{ACKORD, Agent, Group, PATIENCE, Running, lacks, nothing_is_left};
use ackord_testing::skipped;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A path of 20 Mbit/s and 15 ms each way on which each packet takes up to 4 ms longer.
const PATH: &str = r#"version = 1
name = "reordering"
purpose = "Downloads over a path on which packets overtake each other"
seed = 1
duration = "60 s"
[hosts.client]
[hosts.server]
[[links]]
name = "access"
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "15 ms"
jitter = { kind = "per-packet", distribution = "uniform", deviation = "1.2 ms", floor = "13 ms", order = "free" }
queue = { kind = "drop-tail", limit = "200 packets" }
[tcp]
profile = "linux"
"#;

/// Downloads, a connection each, one a second.
fn scenario() -> String {
    let mut text = PATH.to_owned();
    for number in 0..56 {
        let _ = write!(
            text,
            "[[flows]]\nname = \"transfer-{number}\"\nfrom = \"client\"\nto = \"server\"\nsends = \"server\"\n\
             start = \"{}.5 s\"\ntraffic = {{ kind = \"transfers\", size = \"300 kB\", count = 1 }}\n",
            number + 1
        );
    }
    text
}

/// The downloads, ended with it: whoever runs them takes their networks away.
struct Downloads(Running);

impl Drop for Downloads {
    fn drop(&mut self) {
        let pid = nix::unistd::Pid::from_raw(self.0.0.id() as i32);
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && self.0.0.try_wait().is_ok_and(|ended| ended.is_none()) {
            sleep(Duration::from_millis(50));
        }
    }
}

impl Downloads {
    fn begin(group: &Group, file: &Path) -> Downloads {
        fs::write(file, scenario()).expect("ours");
        let mut command = group.command(&[ACKORD, "live", "run", &file.display().to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        Downloads(Running(child))
    }

    /// The process that keeps the network of the sender, the second host; nothing where none comes up.
    fn keeper(&mut self) -> Option<u32> {
        let of = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let (run, own) = (self.0.0.id(), of(std::process::id()));
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && self.0.0.try_wait().is_ok_and(|ended| ended.is_none()) {
            let children = fs::read_to_string(format!("/proc/{run}/task/{run}/children"));
            let mut pids: Vec<u32> =
                children.ok()?.split(' ').filter_map(|pid| pid.parse().ok()).collect();
            pids.sort_unstable();
            pids.retain(|pid| of(*pid).is_some_and(|net| Some(net) != own));
            if let Some(pid) = pids.get(1) {
                return Some(*pid);
            }
            sleep(Duration::from_millis(20));
        }
        None
    }
}

/// A command in the network of this process.
fn inside(keeper: u32, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--target={keeper}")).arg("--net").arg(program);
    command
}

fn said(keeper: u32, argv: &[&str]) -> String {
    let Output { stdout, .. } = inside(keeper, argv[0]).args(&argv[1..]).output().expect("it runs");
    String::from_utf8_lossy(&stdout).into_owned()
}

const LINES: &str = "levers = \"none\"\nby = \"cgroup\"\n[routes]\ninitcwnd = 32\n";

/// An agent that has seen packets overtake each other, and the routes that it made.
fn with_route(keeper: u32, group: &Group, state: tempfile::TempDir) -> (Agent, String) {
    let agent = Agent::with_file_by(inside(keeper, ACKORD), group, LINES, state, &[]);
    let status = agent.wait_for(|status| !status["hosts"][0].is_null());
    let host = status["hosts"][0]["address"].as_str().expect("an address").to_owned();
    let segments = status["hosts"][0]["reordering_segments"].as_u64().expect("a number");
    assert!(segments > 3, "more than the kernel begins with: {status:#}");
    let rules = said(keeper, &["ip", "rule"]);
    assert!(rules.contains("7412:\tfrom all lookup 7412"), "{rules}");
    let routes = said(keeper, &["ip", "route", "show", "table", "7412"]);
    for part in [host.as_str(), "initcwnd 32", "reordering "] {
        assert!(routes.contains(part), "{part}: {routes}");
    }
    // The kernel asks it.
    let taken = said(keeper, &["ip", "route", "get", &host]);
    assert!(taken.contains("table 7412"), "{taken}");
    (agent, host)
}

fn no_route_is_left(keeper: u32, host: &str) {
    assert!(!said(keeper, &["ip", "rule"]).contains("7412"));
    assert_eq!(said(keeper, &["ip", "route", "show", "table", "7412"]).trim(), "");
    assert!(!said(keeper, &["ip", "route", "get", host]).contains("7412"));
}

#[test]
fn a_host_to_which_packets_overtake_each_other_has_a_route_until_the_agent_ends_or_is_rolled_back()
{
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let files = tempfile::tempdir().expect("a directory");
    let group = Group::new("routes");
    let mut downloads = Downloads::begin(&group, &files.path().join("reordering.toml"));
    let Some(keeper) = downloads.keeper() else {
        return skipped("no networks of hosts (`ackord live run`)");
    };
    let (agent, host) = with_route(keeper, &group, tempfile::tempdir().expect("a directory"));
    let state = agent.stop();
    nothing_is_left(state.path());
    no_route_is_left(keeper, &host);

    let (mut agent, host) = with_route(keeper, &group, state);
    agent.process.0.kill().expect("ours");
    agent.process.0.wait().expect("ours");
    assert!(said(keeper, &["ip", "rule"]).contains("7412"), "it stands in the journal");
    let rollback = inside(keeper, ACKORD)
        .args(["agent", "rollback", "--state"])
        .arg(agent.state.path())
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&rollback.stderr).into_owned();
    assert!(rollback.status.success() && told.contains("rule 7412"), "{told}");
    no_route_is_left(keeper, &host);
    drop(downloads);
}
