//! Turns of the whole host with settings and without, on this kernel.

use super::levers::{client, port, server};
use super::world::{Agent, Group, Running, is_at_work, lacks, lever, nothing_is_left};
use ackord_testing::skipped;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// Writes twice and reads, on one connection for so many seconds; prints how long each exchange took, ms.
const LASTING: &str = "
import socket, sys, time
c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    began = time.perf_counter()
    c.sendall(b'a' * 50); c.sendall(b'b' * 50)
    n = 0
    while n < 100: n += len(c.recv(100 - n))
    print((time.perf_counter() - began) * 1e3, flush=True)
    time.sleep(0.01)
";

/// Reads ten times a second, so that segments are acknowledged by the timer; prints its port.
const LAZY: &str = "
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(64)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    while c.recv(1 << 20): time.sleep(0.1)
    c.close()
";

/// Writes 100 bytes every two milliseconds and waits for nothing, a second on each connection, for so many seconds.
const STREAM: &str = "
import socket, sys, time
at = time.monotonic(); until = at + float(sys.argv[2])
while at < until:
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    over = at + 1
    while at < over:
        c.sendall(b'a' * 100)
        at += 0.002
        time.sleep(max(0, at - time.monotonic()))
    c.close()
";

const LINES: &str = "levers = \"nodelay\"\ncontrol = \"0 %\"\n[turns]\nuntreated = \"50 %\"\n";

fn agent(group: &Group, length: &str) -> Agent {
    let lines = format!("{LINES}length = \"{length}\"\nsettle = \"900 ms\"\n");
    Agent::with_file(group, &lines, tempfile::tempdir().expect("a directory"))
}

/// An open connection has TCP_NODELAY in turns with settings and loses it in turns without. So does one that opens in a
/// turn without.
#[test]
fn open_connections_get_and_lose_their_settings_by_turns() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("turns");
    let (_server, port) = server(&group);
    let agent = agent(&group, "3 s");
    client(&group, &port, 2);
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    agent.wait_for(|status| status["turns"]["treated_now"] == false);
    // It opens in a turn without settings; the process is another one than that for which the lever has begun.
    let lasting = |seconds: &str| {
        let mut client = group.python(LASTING, &[&port, seconds]);
        client.stdout(Stdio::piped()).spawn().expect("it starts")
    };
    let first = lasting("4").wait_with_output().expect("ours");
    assert!(first.status.success());
    let output = lasting("26").wait_with_output().expect("ours");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let took: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let is_slow = |one: &f64| *one > 30.0;
    let slow = took.iter().filter(|one| is_slow(one)).count();
    let switches =
        took.windows(20).step_by(20).map(|part| part.iter().filter(|one| is_slow(one)).count());
    let kinds: Vec<bool> = switches.map(|slow| slow >= 10).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(slow >= 40 && took.len() - slow >= 100, "{slow} of {}: {kinds:?}", took.len());
    assert!(changes >= 2, "{kinds:?}");
    let status = agent.wait_for(|status| status["turns"]["blocks"].as_u64() >= Some(3));
    let change = status["turns"]["time_per_byte_percent"]["mean"].as_f64();
    assert!(change < Some(-30.0), "{status:#}");
    nothing_is_left(agent.stop().path());
}

/// A program that streams small writes waits for nothing: without Nagle's algorithm it sends twenty times as many segments,
/// and nothing arrives sooner.
#[test]
fn a_setting_that_only_makes_more_segments_is_withdrawn_for_harm_to_the_host() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("segments");
    let mut lazy = group.python(LAZY, &[]).stdout(Stdio::piped()).spawn().expect("it starts");
    let port = port(&mut lazy);
    let _lazy = Running(lazy);
    let agent = agent(&group, "2 s");
    let mut stream = group.python(STREAM, &[&port, "120"]);
    let _stream = Running(stream.spawn().expect("it starts"));
    let standing = |status: &Value| lever(status, "python", "nodelay")["standing"].clone();
    let is_withdrawn = |status: &Value| {
        let applications = status["applications"].as_array().into_iter().flatten();
        let mut levers =
            applications.flat_map(|one| one["levers"].as_array().into_iter().flatten());
        levers.any(|one| one["standing"]["state"] == "withdrawn")
    };
    let status = agent.is_within(Duration::from_secs(110), is_withdrawn);
    let status = status.unwrap_or_else(|last| panic!("it is at work: {last:#?}"));
    let all = format!("{status:#}");
    assert!(all.contains("the host "), "{}: {all}", standing(&status));
    let segments = status["turns"]["segments_per_byte_percent"]["mean"].as_f64();
    assert!(segments > Some(100.0), "{all}");
    nothing_is_left(agent.stop().path());
}
