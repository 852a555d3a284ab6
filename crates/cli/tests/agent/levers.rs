//! What levers gain on this kernel, with real programs.

use super::ends::Namespace;
use super::world::{ACKORD, Agent, Group, Running, is_at_work, lacks, lever};
use ackord_testing::{assert_timely, skipped, timely};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Answers each 100 bytes with 100, in so many writes; prints its port.
const SERVER: &str = "
import socket, sys, threading
def serve(c):
    while True:
        n = 0
        while n < 100:
            d = c.recv(100 - n)
            if not d: return
            n += len(d)
        for _ in range(writes): c.sendall(b'x' * (100 // writes))
writes = int(sys.argv[1])
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
    server_of(group, "1")
}

/// A server that answers in so many writes.
pub(super) fn server_of(group: &Group, writes: &str) -> (Running, String) {
    let mut child =
        group.python(SERVER, &[writes]).stdout(Stdio::piped()).spawn().expect("it starts");
    let port = port(&mut child);
    (Running(child), port)
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

/// How long each of a slow reader's peer's lone writes waited for its acknowledgment, ms, with an agent at the reader.
fn lone_writes(name: &str, network: impl Fn(&str) -> Command, more: &[&str]) -> Vec<f64> {
    let group = Group::new(name);
    let mut reader = network("sh");
    reader.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec python3 -c \"$1\""]);
    reader.arg(&group.0).arg(SLOW_READER).stdout(Stdio::piped());
    let mut reader = reader.spawn().expect("it starts");
    let port = port(&mut reader);
    let _reader = Running(reader);
    let options = [&["--lever", "delayed-ack", "--control", "0%"], more].concat();
    let agent = Agent::begin_by(network(ACKORD), &group, &options);
    // The writer is not in the group: as if it was somewhere else.
    let writer = network("python3").args(["-c", LONE_WRITER, &port, "120"]).output();
    let text = String::from_utf8_lossy(&writer.expect("it runs").stdout).into_owned();
    super::world::nothing_is_left(agent.stop().path());
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

pub(super) fn port(server: &mut std::process::Child) -> String {
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("piped")).read_line(&mut line).expect("a port");
    line.trim().to_owned()
}

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn are_acknowledged_by_the_bound(took: &[f64]) {
    // The kernel acknowledges the first sixteen at once by itself, and goes on with 40 ms until the agent has seen it.
    let stock = median(&took[17..24]);
    let bound = ackord_agent::probe::least_delack().as_secs_f64() * 1e3;
    assert_timely!(stock > 35.0, "{took:?}");
    let begins = took[24..].iter().position(|one| *one < stock / 2.0).map(|at| at + 24);
    // With most of the writes still to come: one neighbour's second of work is not most of them.
    assert_timely!(begins.is_some_and(|begins| begins < 90), "{took:?}");
    let treated = median(&took[begins.unwrap_or(90)..]);
    // Two jiffies, and as many until a timer expires and a process runs.
    assert_timely!(
        treated < bound * 2.0 && treated < stock / 2.0,
        "{treated} ms, bound {bound} ms: {took:?}"
    );
}

#[test]
fn a_slow_readers_lone_writes_are_acknowledged_by_the_bound_of_this_kernel() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    timely(|| {
        are_acknowledged_by_the_bound(&lone_writes("delack", |program| Command::new(program), &[]))
    });
}

/// Its own addresses are in the local table, which comes before that of quick routes.
#[test]
fn with_quick_routes_lone_writes_on_the_host_itself_have_the_bound_all_the_same() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let namespace = Namespace::new("own");
    let network = |program: &str| namespace.command(program);
    timely(|| are_acknowledged_by_the_bound(&lone_writes("own", network, &["--quick"])));
}
