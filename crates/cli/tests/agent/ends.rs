//! Ends of an agent: asked, by force, keeping what it did; and what is left of it.

use super::world::{ACKORD, Agent, Group, Running, lacks};
use ackord_testing::skipped;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A network namespace with one device, gone with it.
pub(super) struct Namespace(String);

impl Namespace {
    pub(super) fn new(name: &str) -> Namespace {
        let name = format!("ackord-agent-{name}-{}", std::process::id());
        run("ip", &["netns", "add", &name]);
        run("ip", &["-n", &name, "link", "set", "lo", "up"]);
        run("ip", &["-n", &name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"]);
        run("ip", &["-n", &name, "addr", "add", "192.0.2.1/24", "dev", "eth0"]);
        run("ip", &["-n", &name, "link", "set", "eth0", "up"]);
        run("ip", &["-n", &name, "link", "set", "eth1", "up"]);
        Namespace(name)
    }

    /// A command there, which sees the control groups of this machine: `ip netns exec` would hide them.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.0)).arg(program);
        command
    }

    pub(super) fn said(&self, argv: &[&str]) -> String {
        let output = self.command(argv[0]).args(&argv[1..]).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        run("ip", &["netns", "del", &self.0]);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().expect("it runs");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Connects to itself so often that a line comes in, exchanges something, and says what TCP_NODELAY is at the first.
pub(super) const WRITER: &str = "
import socket, sys, threading, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(64)
def serve(c):
    while True:
        n = 0
        while n < 100:
            d = c.recv(100 - n)
            if not d: return
            n += len(d)
        c.sendall(b'x' * 100)
def accept():
    while True:
        c, _ = s.accept()
        threading.Thread(target=serve, args=(c,), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
kept = []
for line in sys.stdin:
    if line.strip() == 'more':
        c = socket.create_connection(s.getsockname())
        kept.append(c)
        for _ in range(10):
            c.sendall(b'a' * 50); c.sendall(b'b' * 50)
            n = 0
            while n < 100: n += len(c.recv(100 - n))
    print(','.join(str(c.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) & 1) for c in kept), flush=True)
";

pub(super) struct Writer {
    process: Running,
    told: BufReader<ChildStdout>,
}

impl Writer {
    pub(super) fn new(mut child: Child) -> Writer {
        let told = BufReader::new(child.stdout.take().expect("piped"));
        Writer { process: Running(child), told }
    }

    pub(super) fn ask(&mut self, what: &str) -> String {
        let input = self.process.0.stdin.as_mut().expect("piped");
        writeln!(input, "{what}").expect("it lives");
        let mut line = String::new();
        self.told.read_line(&mut line).expect("it lives");
        line.trim().to_owned()
    }
}

/// An agent with quick routes in a namespace, and a program there whose second connection has TCP_NODELAY from it.
fn treated(name: &str, more: &[&str]) -> (Namespace, Group, Agent, Writer) {
    let namespace = Namespace::new(name);
    let group = Group::new(name);
    let mut writer = namespace.command("sh");
    writer
        .args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec python3 -c \"$1\""])
        .arg(&group.0)
        .arg(WRITER);
    let writer = writer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut writer = Writer::new(writer);
    let options = [&["--lever", "nodelay", "--control", "0%", "--quick"], more].concat();
    let agent = Agent::begin_by(namespace.command(ACKORD), &group, &options);
    assert_eq!(writer.ask("more"), "0");
    agent.wait_for(|status| super::world::is_at_work(status, "python", "nodelay"));
    assert_eq!(writer.ask("more"), "0,1", "the next one is treated");
    // The list of sockets is written once a second.
    agent.wait_for(|_| {
        std::fs::read_to_string(agent.state.path().join("agent.sockets"))
            .is_ok_and(|text| !text.is_empty())
    });
    let rules = namespace.said(&["ip", "rule"]);
    assert!(rules.contains("fwmark 0x10000000/0x10000000 lookup 7411"), "{rules}");
    let routes = namespace.said(&["ip", "route", "show", "table", "7411"]);
    assert!(routes.contains("192.0.2.0/24") && routes.contains("quickack 1"), "{routes}");
    (namespace, group, agent, writer)
}

fn nothing_is_left(namespace: &Namespace, state: &std::path::Path) {
    super::world::nothing_is_left(state);
    for family in ["-4", "-6"] {
        let rules = namespace.said(&["ip", family, "rule"]);
        assert!(!rules.contains("7411"), "{rules}");
        let routes = namespace.said(&["ip", family, "route", "show", "table", "7411"]);
        assert_eq!(routes.trim(), "", "{family}");
    }
}

#[test]
fn asked_to_end_it_takes_back_what_it_did_to_living_connections_too() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let (namespace, _group, agent, mut writer) = treated("asked", &[]);
    // The table follows the main one.
    run("ip", &["-n", &namespace.0, "route", "add", "198.51.100.0/24", "via", "192.0.2.9"]);
    agent.wait_for(|_| {
        namespace
            .said(&["ip", "route", "show", "table", "7411"])
            .contains("198.51.100.0/24 via 192.0.2.9")
    });
    run("ip", &["-n", &namespace.0, "route", "del", "198.51.100.0/24"]);
    agent.wait_for(|_| {
        !namespace.said(&["ip", "route", "show", "table", "7411"]).contains("198.51.100.0/24")
    });
    let state = agent.stop();
    nothing_is_left(&namespace, state.path());
    assert_eq!(writer.ask("look"), "0,0");
    assert_eq!(writer.ask("more"), "0,0,0", "a stock kernel");
}

#[test]
fn killed_it_does_nothing_more_and_a_rollback_takes_back_the_rest() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let (namespace, _group, mut agent, mut writer) = treated("killed", &[]);
    agent.process.0.kill().expect("ours");
    agent.process.0.wait().expect("ours");
    assert_eq!(
        writer.ask("more"),
        "0,1,0",
        "new connections are stock, the living one keeps what it has"
    );
    assert!(agent.state.path().join("agent.journal").exists());
    let rolled = namespace
        .command(ACKORD)
        .args(["agent", "rollback", "--state"])
        .arg(agent.state.path())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&rolled.stderr).into_owned();
    assert!(
        rolled.status.success() && said.contains("rule 7411") && said.contains("sockets"),
        "{said}"
    );
    assert_eq!(writer.ask("look"), "0,0,0");
    let _ = std::fs::remove_file(agent.state.path().join("agent.sock"));
    nothing_is_left(&namespace, agent.state.path());
}

#[test]
fn it_may_end_and_leave_connections_what_they_have() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let (namespace, group, agent, mut writer) = treated("kept", &["--on-exit", "keep"]);
    let state = agent.stop();
    assert_eq!(writer.ask("look"), "0,1");
    assert!(namespace.said(&["ip", "rule"]).contains("7411"));
    // The next one undoes that first.
    let mut next = namespace.command(ACKORD);
    next.args(["agent", "run", "--cgroup"]).arg(&group.0).arg("--state").arg(state.path());
    next.args(["--for", "1s", "--lever", "delayed-ack"]);
    assert!(next.stdout(Stdio::null()).status().expect("it runs").success());
    assert_eq!(writer.ask("look"), "0,0");
    nothing_is_left(&namespace, state.path());
}

#[test]
fn connections_that_were_there_are_adopted_and_explained() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("adopt");
    let child = group
        .python(WRITER, &[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = child.id();
    let mut writer = Writer::new(child);
    writer.ask("more");
    let agent = Agent::begin(&group, &["--by", "cgroup", "--adopt"]);
    let status = agent.wait_for(|_| true);
    let said = agent.ask(&["adopt"]);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success(), "{text}");
    assert!(text.starts_with("0 connections"), "it has them already: {text}");
    if status["refused"].as_u64() >= Some(1) {
        return skipped("this kernel lets no pass turn on a socket's callbacks (6.12 does)");
    }
    let explain = |which: &str| -> Value {
        let said = agent.ask(&["explain", which, "--json"]);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        serde_json::from_slice(&said.stdout).expect("JSON")
    };
    // Both ends of the one that is there, which says nothing meanwhile; by its group's path from either root.
    let name = group.0.file_name().expect("it has one").to_string_lossy().into_owned();
    for which in [group.0.display().to_string(), format!("/{name}"), format!("./{name}")] {
        let there = explain(&which);
        assert_eq!(there["in_all"], 2, "{there:#}");
        let ends = |at: usize| ["local", "remote"].map(|end| there["connections"][at][end].clone());
        let [local, remote] = ends(0);
        assert!(local.as_str().is_some_and(|end| end.starts_with("127.0.0.1:")), "{there:#}");
        assert_eq!(ends(1), [remote, local], "{there:#}");
        assert_eq!(there["connections"][0]["was_there"], true, "{there:#}");
    }
    let below = Group(group.0.join("below"));
    std::fs::create_dir(&below.0).expect("root may");
    assert_eq!(explain(&format!("{name}/below"))["in_all"], 0);
    let none = agent.ask(&["explain", &format!("{name}/elsewhere")]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && said.contains("is no control group"), "{said}");
    writer.ask("more");
    agent.wait_for(|status| status["connections_in_all"].as_u64() >= Some(4));
    assert!(explain(&pid.to_string())["in_all"].as_u64() >= Some(1));
    agent.stop();
}

#[test]
fn two_agents_do_not_share_a_state_and_the_second_says_so() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("two");
    let agent = Agent::begin(&group, &[]);
    let mut second = Command::new(ACKORD);
    second.args(["agent", "run", "--cgroup"]).arg(&group.0).arg("--state").arg(agent.state.path());
    let second = second.output().expect("it runs");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && said.contains("an agent runs here already"), "{said}");
    // With another state it stands aside: the hooks are somebody else's.
    let other = tempfile::tempdir().expect("a directory");
    let mut third = Command::new(ACKORD);
    third
        .args(["agent", "run", "--json", "--for", "1s", "--cgroup"])
        .arg(&group.0)
        .arg("--state")
        .arg(other.path());
    let third = third.output().expect("it runs");
    let status: serde_json::Value = serde_json::from_slice(&third.stdout).expect("JSON");
    assert_eq!(status["acts"], false, "{status:#}");
    assert!(
        status["stands_aside"].as_str().is_some_and(|why| why.contains("program")),
        "{status:#}"
    );
    agent.stop();
}
