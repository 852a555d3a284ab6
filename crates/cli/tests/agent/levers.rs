//! What levers gain on this kernel, with real programs.

use super::world::{ACKORD, Agent, Group, Running, is_at_work, lacks, lever};
use ackord_testing::skipped;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Answers each 100 octets with 100; prints its port.
const SERVER: &str = "
import socket, sys, threading
def serve(c):
    while True:
        n = 0
        while n < 100:
            d = c.recv(100 - n)
            if not d: return
            n += len(d)
        c.sendall(b'x' * 100)
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(64)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
";

/// Writes twice and reads, so many times on each of so many connections; prints the median of each in ms.
const CLIENT: &str = "
import socket, sys, time
for _ in range(int(sys.argv[2])):
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    took = []
    for _ in range(12):
        began = time.perf_counter()
        c.sendall(b'a' * 50); c.sendall(b'b' * 50)
        n = 0
        while n < 100: n += len(c.recv(100 - n))
        took.append(time.perf_counter() - began)
    c.close()
    print(sorted(took)[6] * 1e3, flush=True)
";

pub(super) fn server(group: &Group) -> (Running, String) {
    let mut child = group.python(SERVER, &[]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let told = child.stdout.take().expect("piped");
    BufReader::new(told).read_line(&mut line).expect("a port");
    (Running(child), line.trim().to_owned())
}

pub(super) fn client(group: &Group, port: &str, connections: usize) -> Vec<f64> {
    let output = group.python(CLIENT, &[port, &connections.to_string()]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

fn mean(of: &Value) -> f64 {
    of["mean"].as_f64().unwrap_or(f64::NAN)
}

/// A delayed acknowledgment of Linux takes 40 ms and a jiffy; half of that is more than anything else in an exchange.
#[test]
fn write_write_read_loses_nothing_where_it_is_treated_and_all_of_it_where_it_is_left_alone() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("nagle");
    let (_server, port) = server(&group);
    let before = client(&group, &port, 2);
    assert!(before.iter().all(|median| *median > 35.0), "a stock kernel: {before:?}");
    let agent = Agent::begin(&group, &["--lever", "nodelay", "--control", "30%"]);
    client(&group, &port, 2);
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    let medians = client(&group, &port, 40);
    let (quick, slow): (Vec<f64>, Vec<f64>) = medians.iter().partition(|median| **median < 20.0);
    assert_eq!(quick.len() + slow.len(), 40);
    // Three of ten are left alone, give or take three standard deviations.
    assert!((3..=22).contains(&slow.len()), "{medians:?}");
    assert!(slow.iter().all(|median| *median > 35.0), "{slow:?}");
    let status = agent.wait_for(|status| {
        lever(status, "python", "nodelay")["lost_percent"]["treated"]["samples"].as_u64()
            >= Some(15)
    });
    let lost = &lever(&status, "python", "nodelay")["lost_percent"];
    assert!(mean(&lost["treated"]) < 20.0 && mean(&lost["control"]) > 60.0, "{lost}");
    super::world::nothing_is_left(agent.stop().path());
    let after = client(&group, &port, 1);
    assert!(after[0] > 35.0, "a stock kernel again: {after:?}");
}

/// Takes one connection and reads nothing; prints its port.
const SLOW_READER: &str = "
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(1)
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
time.sleep(60)
";

/// Lone writes, each when the one before is acknowledged; prints how long each acknowledgment took, ms.
const LONE_WRITER: &str = "
import fcntl, socket, struct, sys, time
SIOCOUTQ = 0x5411
c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    c.sendall(b'a' * 50)
    while struct.unpack('i', fcntl.ioctl(c, SIOCOUTQ, b'0000'))[0]: time.sleep(0.0002)
    print((time.perf_counter() - began) * 1e3, flush=True)
";

#[test]
fn a_slow_readers_lone_writes_are_acknowledged_by_the_bound_of_this_kernel() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("delack");
    let mut reader =
        group.python(SLOW_READER, &[]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut port = String::new();
    let told = reader.stdout.take().expect("piped");
    BufReader::new(told).read_line(&mut port).expect("a port");
    let _reader = Running(reader);
    let agent = Agent::begin(&group, &["--lever", "delayed-ack", "--control", "0%"]);
    // The writer is not in the group: as if it was somewhere else.
    let writer = Command::new("python3")
        .args(["-c", LONE_WRITER, port.trim(), "120"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&writer.stdout).into_owned();
    let took: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let median = |of: &[f64]| {
        let mut of = of.to_vec();
        of.sort_by(f64::total_cmp);
        of[of.len() / 2]
    };
    // The kernel acknowledges the first sixteen at once by itself, and goes on with 40 ms until the agent has seen it.
    let stock = median(&took[17..24]);
    let bound = ackord_agent::probe::least_delack().as_secs_f64() * 1e3;
    let treated = median(&took[90..]);
    assert!(stock > 35.0, "{took:?}");
    // Two jiffies, and as many until a timer strikes and a process runs.
    assert!(
        treated < bound * 2.0 && treated < stock / 2.0,
        "{treated} ms, bound {bound} ms: {took:?}"
    );
    super::world::nothing_is_left(agent.stop().path());
}

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
    let mut sink = group.python(SINK, &[]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut port = String::new();
    BufReader::new(sink.stdout.take().expect("piped")).read_line(&mut port).expect("a port");
    let _sink = Running(sink);
    let mut advise = Command::new(ACKORD);
    advise.args(["agent", "advise", "--for", "4s", "--json", "--cgroup"]).arg(&group.0);
    let advise = advise.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(group.python(BULK, &[port.trim()]).status().expect("it runs").success());
    let said = advise.wait_with_output().expect("ours");
    let status: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(status["nothing_to_gain"], true, "{status:#}");
    assert_eq!(status["acts"], false);
    assert!(status["connections_in_all"].as_u64() >= Some(30), "{status:#}");
}
