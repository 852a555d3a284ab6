//! Servers that were there before the agent, control groups that come after it, programs of one interpreter.

use super::levers::server_of;
use super::world::{ACKORD, Agent, Group, Running, is_at_work, lacks, lever, nothing_is_left};
use ackord_testing::skipped;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// One write and its answer, so many times on each of so many connections; prints the median of each in ms.
const ONE_WRITE: &str = "
import socket, sys, time
for _ in range(int(sys.argv[2])):
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    took = []
    for _ in range(12):
        began = time.perf_counter()
        c.sendall(b'a' * 100)
        n = 0
        while n < 100: n += len(c.recv(100 - n))
        took.append(time.perf_counter() - began)
    c.close()
    print(sorted(took)[6] * 1e3, flush=True)
";

fn server(group: &Group) -> (Running, String) {
    server_of(group, "2")
}

/// A client that is not in the control group.
fn exchanges(port: &str, connections: usize) -> Vec<f64> {
    let mut client = Command::new("python3");
    let output =
        client.args(["-c", ONE_WRITE, port, &connections.to_string()]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

#[test]
fn a_server_that_is_older_than_the_agent_is_helped_again_after_each_start() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("older");
    let (_server, port) = server(&group);
    let stock = exchanges(&port, 1);
    assert!(stock[0] > 35.0, "a stock kernel: {stock:?}");
    for by in ["service", "executable", "executable"] {
        let options = ["--by", by, "--lever", "nodelay", "--control", "0%"];
        let mut agent = Agent::begin(&group, &options);
        exchanges(&port, 2);
        let status = agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
        assert!(lever(&status, "unknown", "nodelay").is_null(), "{status:#}");
        let medians = exchanges(&port, 6);
        assert!(medians.iter().all(|median| *median < 20.0), "{by}: {medians:?}");
        // The end of a crash.
        agent.process.0.kill().expect("ours");
        agent.process.0.wait().expect("ours");
    }
}

#[test]
fn two_programs_of_one_interpreter_are_two_applications() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("scripts");
    let (_server, port) = server(&group);
    let folder = tempfile::tempdir().expect("a directory");
    let script = folder.path().join("quiet.py");
    fs::write(&script, ONE_WRITE).expect("ours");
    let agent = Agent::begin(&group, &["--lever", "nodelay", "--control", "0%"]);
    let quiet = |connections: &str| {
        let script = script.display().to_string();
        let mut client = group.command(&["python3", &script, &port, connections]);
        assert!(client.stdout(Stdio::null()).status().expect("it runs").success());
    };
    quiet("3");
    quiet("4");
    let end = format!(" {}", script.display());
    let named = |one: &&Value| one["name"].as_str().is_some_and(|name| name.ends_with(&end));
    let client = |status: &Value| -> Value {
        let all = status["applications"].as_array().into_iter().flatten();
        all.into_iter().find(named).cloned().unwrap_or_default()
    };
    // Of two processes; only the server is helped.
    let status = agent.wait_for(|status| {
        let all = status["applications"].as_array().into_iter().flatten();
        let helped = all.filter(|one| one["levers"][0]["standing"]["state"] == "at-work");
        let one = client(status);
        helped.count() == 1 && one["connections_in_all"] == 7 && one["connections"] == 0
    });
    let client = client(&status);
    assert_eq!(client["levers"][0]["standing"]["state"], "watching", "{status:#}");
    // By the script, and by what is no name of anything.
    let said = agent.ask(&["explain", "quiet.py"]);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success() && text.contains("there were 7 so far"), "{text}");
    let said = agent.ask(&["explain", "quiet.pi"]);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(2), "{text}");
    assert!(text.contains("did you mean `quiet.py`?"), "{text}");
    nothing_is_left(agent.stop().path());
}

#[test]
fn a_control_group_that_comes_later_or_is_made_anew_is_followed() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let above = Group::new("later");
    let below = Group(above.0.join("app"));
    let options = ["--by", "port", "--lever", "nodelay", "--control", "0%"];
    let agent = Agent::begin(&below, &options);
    let waits = |status: &Value| {
        let findings = status["health"].as_array().into_iter().flatten();
        let mut whats = findings.filter_map(|one| one["what"].as_str());
        whats.any(|what| what.starts_with("waits for the control group"))
    };
    agent.wait_for(|status| waits(status) && status["cgroups"][0].is_null());
    let mut seen = 0;
    for turn in 0..2 {
        fs::create_dir(&below.0).expect("root may");
        let is_followed = |status: &Value| !waits(status) && !status["cgroups"][0].is_null();
        agent.wait_for(is_followed);
        let (server, port) = server(&below);
        let more = |status: &Value| status["connections_in_all"].as_u64() >= Some(seen + 2);
        // Within a second it is there; what opened before is not followed.
        let followed = (0..4).find_map(|_| {
            exchanges(&port, 2);
            agent.is_within(std::time::Duration::from_secs(2), more).ok()
        });
        let status = followed.unwrap_or_else(|| agent.wait_for(more));
        seen = status["connections_in_all"].as_u64().expect("a number");
        drop(server);
        if turn == 0 {
            let gone = || fs::remove_dir(&below.0).is_ok();
            assert!((0..100).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                gone()
            }));
        }
    }
    nothing_is_left(agent.stop().path());
}

#[test]
fn what_can_never_be_a_control_group_is_refused() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    for path in ["/etc/none", "/etc"] {
        let mut run = Command::new(ACKORD);
        let output = run.args(["agent", "run", "--cgroup", path]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot become one"), "{said}");
    }
}
