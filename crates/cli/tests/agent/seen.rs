//! What is seen of connections that lose nothing, and what looking takes.

use super::levers::port;
use super::world::{ACKORD, Agent, Group, Running, lacks};
use ackord_testing::{assert_timely, skipped, timely};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Takes what comes; prints its port.
const SINK: &str = "
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(64)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    while c.recv(1 << 20): pass
    c.close()
";

fn sink(group: &Group) -> (Running, String) {
    let mut sink = group.python(SINK, &[]).stdout(Stdio::piped()).spawn().expect("it starts");
    let port = port(&mut sink);
    (Running(sink), port)
}

const BULK: &str = "
import socket, sys
for _ in range(30):
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    for _ in range(40): c.sendall(b'a' * 50000)
    c.close()
";

#[test]
fn where_nothing_is_lost_nothing_is_done_and_advise_says_so() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("quiet");
    let (_sink, port) = sink(&group);
    let mut advise = Command::new(ACKORD);
    advise.args(["agent", "advise", "--for", "4s", "--json", "--cgroup"]).arg(&group.0);
    let advise = advise.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(group.python(BULK, &[&port]).status().expect("it runs").success());
    let said = advise.wait_with_output().expect("ours");
    let status: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(status["nothing_to_gain"], true, "{status:#}");
    assert_eq!(status["acts"], false);
    assert!(status["connections_in_all"].as_u64() >= Some(30), "{status:#}");
}

/// Writes a little each millisecond for a second and a half, pauses for so long, and closes; prints for how long it wrote.
const PACED: &str = "
import socket, sys, time
c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
began = time.perf_counter()
while time.perf_counter() < began + 1.5:
    c.sendall(b'a' * 200)
    time.sleep(0.001)
print(time.perf_counter() - began)
time.sleep(float(sys.argv[2]))
";

/// After a quarter of a second it moves data in bulk, and is not looked at for two.
#[test]
fn a_connection_that_ends_while_it_is_not_looked_at_has_moved_data_until_the_last_of_it() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    timely(|| {
        let group = Group::new("asleep");
        let (_sink, port) = sink(&group);
        let agent = Agent::begin(&group, &["--lever", "none"]);
        let mut before = 0.0;
        for (number, pause) in ["0", "0.6"].into_iter().enumerate() {
            let writer = Command::new("python3").args(["-c", PACED, &port, pause]).output();
            let text = String::from_utf8_lossy(&writer.expect("it runs").stdout).into_owned();
            let wrote: f64 = text.trim().parse().expect("a number");
            let status = agent.wait_for(|status| {
                let one = &status["applications"][0];
                one["connections_in_all"] == number + 1 && one["connections"] == 0
            });
            let active = status["applications"][0]["active_s"].as_f64().expect("a number");
            let seen = active - before;
            assert_timely!((seen - wrote).abs() < 0.1, "{seen} s of {wrote}, pause {pause} s");
            before = active;
        }
        agent.stop();
    });
}

/// Connects so many times.
const SHORT: &str = "
import socket, sys
for _ in range(int(sys.argv[2])): socket.create_connection(('127.0.0.1', int(sys.argv[1]))).close()
";

#[test]
fn reports_of_short_connections_are_taken_together() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("short");
    let (_sink, port) = sink(&group);
    let agent = Agent::begin(&group, &[]);
    let turns = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", agent.process.0.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).expect("a number")
    };
    let before = turns();
    assert!(group.python(SHORT, &[&port, "2000"]).status().expect("it runs").success());
    let status = agent.wait_for(|status| status["connections_in_all"].as_u64() >= Some(4_000));
    assert_eq!(status["reports_lost"], 0);
    // 32 of an application in a quarter of a second on a processor: none can have lost time.
    assert!(status["connections_unobserved"].as_u64() >= Some(1_000), "{status:#}");
    // Ten times a second, however long that took.
    let turns = turns() - before;
    assert!(turns < 1_000, "{turns} times");
    agent.stop();
}

/// Opens so many connections, and exchanges 100 bytes on each when all are there; closes them when its input ends.
const POOL: &str = "
import socket, sys, time
pool = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(int(sys.argv[2]))]
time.sleep(0.05)
while True:
    for c in pool:
        c.sendall(b'a' * 100)
        n = 0
        while n < 100: n += len(c.recv(100 - n))
    time.sleep(0.3)
";

/// More than are followed when they open: those that last are followed as soon as they do something.
#[test]
fn connections_that_were_passed_over_are_followed_when_they_are_old_enough_for_a_stall() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("pool");
    let agent = Agent::begin(&group, &[]);
    let (_server, port) = super::levers::server(&group);
    let mut client = group.python(POOL, &[&port, "600"]);
    let client = Running(client.spawn().expect("it starts"));
    // So many are followed late in a quarter of a second; each further exchange is another chance.
    let status = agent.wait_for(|status| status["connections"] == 1_200);
    assert_eq!(status["connections_in_all"], 1_200, "each counts once: {status:#}");
    assert_eq!(status["connections_unobserved"], 0, "{status:#}");
    let names: Vec<&str> = status["applications"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["connections"] == 600)
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("python")), "{status:#}");
    drop(client);
    agent.stop();
}
