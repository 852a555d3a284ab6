//! An agent with a configuration file: read anew, a lever that is withdrawn, a disk that is full.

use super::ends::{WRITER, Writer};
use super::levers::{client, server};
use super::world::{ACKORD, Agent, Group, is_at_work, lacks, lever, nothing_is_left};
use ackord_testing::skipped;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Asks and is answered, each with one write, so that nothing is lost; on so many connections.
const NOTHING_LOST: &str = "
import socket, sys
for _ in range(int(sys.argv[2])):
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    for _ in range(10):
        c.sendall(b'a' * 100)
        n = 0
        while n < 100: n += len(c.recv(100 - n))
    c.close()
";

#[test]
fn a_lever_whose_connections_are_no_better_off_is_withdrawn_and_the_status_says_why() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("withdrawn");
    let (_server, port) = server(&group);
    let lines = "by = \"cgroup\"\nlevers = [\"nodelay\"]\ncontrol = \"40 %\"\n[end]\nenough = 12\neach = 4\n";
    let agent = Agent::with_file(&group, lines, tempfile::tempdir().expect("a directory"));
    client(&group, &port, 2);
    agent.wait_for(|status| is_at_work(status, "/", "nodelay"));
    let withdrawn =
        |status: &Value| lever(status, "/", "nodelay")["standing"]["state"] == "withdrawn";
    // What is alike may differ by chance, more so beside busy neighbours, but not for long.
    let status = (0..6).find_map(|_| {
        let run = group.python(NOTHING_LOST, &[&port, "60"]).status().expect("it runs");
        assert!(run.success());
        agent.is_within(Duration::from_secs(4), withdrawn).ok()
    });
    let status = status.unwrap_or_else(|| agent.wait_for(withdrawn));
    let why = lever(&status, "/", "nodelay")["standing"]["why"].to_string();
    assert!(why.contains("no better off"), "{status:#}");
    // Whoever comes now is stock again.
    let medians = client(&group, &port, 2);
    assert!(medians.iter().all(|median| *median > 35.0), "{medians:?}");
    nothing_is_left(agent.stop().path());
}

/// Loses time with `lose`, as it writes twice; otherwise it is slow where the kernel says that Nagle's algorithm is off for
/// it: TCP_NODELAY harms this one.
const HARMED: &str = "
import socket, sys, time
for _ in range(int(sys.argv[2])):
    c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    is_treated = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    print(is_treated & 1, flush=True)
    for _ in range(10):
        if sys.argv[3] == 'lose': c.sendall(b'a' * 50); c.sendall(b'b' * 50)
        else: c.sendall(b'a' * 100)
        n = 0
        while n < 100: n += len(c.recv(100 - n))
        if sys.argv[3] != 'lose': time.sleep(0.03 if is_treated else 0.003)
    c.close()
";

#[test]
fn a_lever_that_harms_is_withdrawn_long_before_it_would_be_for_no_gain() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("harm");
    let (_server, port) = server(&group);
    let lines = "levers = [\"nodelay\"]\ncontrol = \"40 %\"\n[end]\neach = 4\n";
    let agent = Agent::with_file(&group, lines, tempfile::tempdir().expect("a directory"));
    let run = group.python(HARMED, &[&port, "2", "lose"]).status().expect("it runs");
    assert!(run.success());
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    let run = group.python(HARMED, &[&port, "30", "harm"]).status().expect("it runs");
    assert!(run.success());
    let withdrawn =
        |status: &Value| lever(status, "python", "nodelay")["standing"]["state"] == "withdrawn";
    let status = agent.wait_for(withdrawn);
    let why = lever(&status, "python", "nodelay")["standing"]["why"].to_string();
    assert!(why.contains("slower than those left alone"), "{status:#}");
    let after = group.python(HARMED, &[&port, "2", "lose"]).output().expect("it runs");
    assert_eq!(after.stdout, b"0\n0\n", "new connections are stock");
    nothing_is_left(agent.stop().path());
}

#[test]
fn a_dry_run_stays_one_whatever_the_file_says_when_it_is_read_anew() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("dry");
    let (_server, port) = server(&group);
    let state = tempfile::tempdir().expect("a directory");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let all = "levers = [\"nodelay\", \"delayed-ack\"]\ncontrol = \"0 %\"\n";
    let command = Command::new(ACKORD);
    let agent = Agent::with_file_by(command, &group, all, state, &["--dry-run"]);
    client(&group, &port, 2);
    // Everything that could ask for a lever, and another state directory.
    let more = format!(
        "{all}[[application]]\nname = \"python*\"\nlevers = \"nodelay\"\n[state]\ndirectory = \"{}\"\n",
        elsewhere.path().display()
    );
    agent.reload(&group, &more);
    agent.wait_for(|status| status["reloads"] == 1);
    client(&group, &port, 2);
    let status = agent.wait_for(|status| {
        status["applications"][0]["connections_in_all"].as_u64() >= Some(8)
            || status["connections_in_all"].as_u64() >= Some(8)
    });
    for name in ["nodelay", "delayed-ack"] {
        assert_eq!(lever(&status, "python", name)["standing"]["state"], "off", "{status:#}");
    }
    let medians = client(&group, &port, 2);
    assert!(medians.iter().all(|median| *median > 35.0), "{medians:?}");
    assert!(fs::read_dir(elsewhere.path()).expect("ours").next().is_none());
    nothing_is_left(agent.stop().path());
}

#[test]
fn what_becomes_of_connections_at_its_end_stays_as_the_command_line_says() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("exit");
    let mut writer = group.python(WRITER, &[]);
    let writer = writer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut writer = Writer::new(writer);
    let lines = "levers = \"nodelay\"\ncontrol = \"0 %\"\non_exit = \"restore\"\n";
    let state = tempfile::tempdir().expect("a directory");
    let command = Command::new(ACKORD);
    let agent = Agent::with_file_by(command, &group, lines, state, &["--on-exit", "keep"]);
    assert_eq!(writer.ask("more"), "0");
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    assert_eq!(writer.ask("more"), "0,1");
    agent.reload(&group, lines);
    agent.wait_for(|status| status["reloads"] == 1);
    let state = agent.stop();
    assert_eq!(writer.ask("look"), "0,1", "kept");
    let mut rollback = Command::new(ACKORD);
    rollback.args(["agent", "rollback", "--state"]).arg(state.path());
    assert!(rollback.status().expect("it runs").success());
    assert_eq!(writer.ask("look"), "0,0");
    nothing_is_left(state.path());
}

#[test]
fn a_file_is_read_anew_and_a_bad_one_changes_nothing() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let group = Group::new("reload");
    let (_server, port) = server(&group);
    let state = tempfile::tempdir().expect("a directory");
    let agent = Agent::with_file(&group, "levers = \"none\"\ncontrol = \"0 %\"\n", state);
    client(&group, &port, 2);
    agent.wait_for(|status| status["connections_in_all"].as_u64() >= Some(2));
    agent.reload(&group, "levers = [\"nodelay\"]\ncontrol = \"0 %\"\n");
    agent.wait_for(|status| status["reloads"] == 1);
    client(&group, &port, 2);
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    assert!(client(&group, &port, 1)[0] < 20.0);

    agent.reload(&group, "levers = [\"nodelai\"]\n");
    assert!(client(&group, &port, 1)[0] < 20.0);
    let status = agent.wait_for(|_| true);
    assert_eq!(status["reloads"], 1, "{status:#}");
    nothing_is_left(agent.stop().path());
}

/// A small disk, unmounted with it.
struct Disk(PathBuf);

impl Disk {
    fn at(path: &Path) -> Option<Disk> {
        let argv = ["-t", "tmpfs", "-o", "size=64k", "ackord-test"];
        let mounted = Command::new("mount").args(argv).arg(path).status();
        mounted.is_ok_and(|status| status.success()).then(|| Disk(path.to_owned()))
    }

    fn clear(&self) {
        for file in 0.. {
            if fs::remove_file(self.0.join(format!("full-{file}"))).is_err() {
                return;
            }
        }
    }

    fn fill(&self) {
        let mut octets = 1 << 16;
        for file in 0.. {
            if fs::write(self.0.join(format!("full-{file}")), vec![0; octets]).is_err() {
                octets /= 2;
            }
            if octets == 0 {
                return;
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn on_a_full_disk_nothing_is_pulled_that_no_file_names_until_there_is_room() {
    if let Some(why) = lacks() {
        return skipped(why);
    }
    let state = tempfile::tempdir().expect("a directory");
    let Some(disk) = Disk::at(state.path()) else {
        return skipped("no file system of a size of its own");
    };
    let group = Group::new("full");
    let mut writer = group.python(WRITER, &[]);
    let writer = writer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut writer = Writer::new(writer);
    let lines = "levers = [\"nodelay\"]\ncontrol = \"0 %\"\n";
    let agent = Agent::with_file(&group, lines, state);
    assert_eq!(writer.ask("more"), "0");
    agent.wait_for(|status| is_at_work(status, "python", "nodelay"));
    let is_held = |status: &Value| {
        let findings = status["health"].as_array().into_iter().flatten();
        let mut whats = findings.filter_map(|one| one["what"].as_str());
        whats.any(|what| what.contains("cannot be written"))
    };
    disk.fill();
    // The first one that is treated shows that there is no room, and loses it again.
    writer.ask("more");
    agent.wait_for(is_held);
    assert_eq!(writer.ask("look"), "0,0");
    assert_eq!(writer.ask("more"), "0,0,0");
    disk.clear();
    agent.wait_for(|status| !is_held(status));
    assert_eq!(writer.ask("more"), "0,0,0,1");
    let state = agent.stop();
    nothing_is_left(state.path());
    drop(disk);
}
