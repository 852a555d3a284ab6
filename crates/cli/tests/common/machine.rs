//! A machine of its own, as far as networks go: a network namespace in which the program is started,
//! as root or as an ordinary user, and what is to be found there and elsewhere afterwards.
//!
//! What a run makes is found by a mark in the environment, which every process of it inherits; so
//! other runs on the same machine do not disturb.

use ackord_testing::{installed, skipped};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Who starts the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The superuser.
    Root,
    /// Somebody without any privilege, with a `/dev/net/tun` that everybody may open.
    Anybody,
    /// The same with a `/dev/net/tun` that only root may open.
    AnybodyWithoutTun,
}

/// A network namespace with nobody in it but one process that waits.
pub(crate) struct Machine {
    holder: Child,
    folder: tempfile::TempDir,
    program: PathBuf,
}

static MARKS: AtomicU32 = AtomicU32::new(0);

/// A run that was started.
pub(crate) struct Run {
    pub(crate) child: Child,
    mark: String,
    /// Network namespaces other than the machine's in which processes of the run were seen.
    pub(crate) namespaces: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Machine {
    /// The machine; nothing with a loud word where it cannot be had.
    pub(crate) fn new() -> Option<Machine> {
        if !nix::unistd::geteuid().is_root() {
            skipped("a machine of its own takes root");
            return None;
        }
        if !installed(&["unshare", "nsenter", "setpriv", "ip", "tc", "lsns", "mount"]) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        // The program and its folders are there for everybody.
        let program = folder.path().join("ackord");
        fs::copy(env!("CARGO_BIN_EXE_ackord"), &program).expect("copied");
        for path in [folder.path(), &program] {
            let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(path, everybody).expect("ours");
        }
        let holder = Command::new("unshare")
            .args(["--net", "--kill-child", "--fork", "--", "sh", "-c"])
            .arg("ip link set lo up; echo ready; read line")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare starts");
        let mut machine = Machine { holder, folder, program };
        let mut ready = String::new();
        let stdout = machine.holder.stdout.as_mut().expect("piped");
        let mut lines = std::io::BufReader::new(stdout);
        std::io::BufRead::read_line(&mut lines, &mut ready).expect("it says something");
        if ready != "ready\n" {
            skipped("no network namespace may be made here");
            return None;
        }
        Some(machine)
    }

    /// A folder inside that everybody may write to.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).expect("ours");
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(&folder, everybody).expect("ours");
        folder
    }

    /// The program, where everybody may start it.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The process number of the one that holds the namespace: a child of `unshare`.
    pub(crate) fn holder(&self) -> u32 {
        let own = self.holder.id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let children = children.expect("the kernel lists children");
        children.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("one child")
    }

    /// A command of this machine.
    pub(crate) fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.holder())).arg("--");
        command
    }

    /// The program with these arguments, about to be started by somebody.
    pub(crate) fn ackord(&self, who: Who, arguments: &[&str]) -> (Command, String) {
        let mark = format!("{}-{}", std::process::id(), MARKS.fetch_add(1, Ordering::Relaxed));
        let mut command = self.enter();
        command.args(["env", &format!("ACKORD_TEST_MARK={mark}"), "TERM=dumb"]);
        for (name, folder) in [("TMPDIR", "tmp"), ("HOME", "home"), ("XDG_RUNTIME_DIR", "run")] {
            command.arg(format!("{name}={}", self.folder(folder).display()));
        }
        if who != Who::Root {
            // A node of its own over the machine's, in a mount namespace of its own.
            let mode = if who == Who::Anybody { "0666" } else { "0600" };
            let node = self.folder.path().join(format!("tun-{mode}"));
            let script = format!(
                "test -e {0} || mknod {0} c 10 200; chmod {mode} {0}; \
                 mount --bind {0} /dev/net/tun || exit 99; \
                 exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs -- \"$@\"",
                node.display()
            );
            command.args(["unshare", "--mount", "--", "sh", "-c", &script, "sh"]);
        }
        command.arg(&self.program).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (command, mark)
    }

    /// Whether something of this machine listens at a port: in a table such as `tcp6`, in a state.
    pub(crate) fn listens(&self, table: &str, port: u16, state: &str) -> bool {
        let path = format!("/proc/{}/net/{table}", self.holder());
        let sockets = fs::read_to_string(path).unwrap_or_default();
        sockets.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.get(1).is_some_and(|local| local.ends_with(&format!(":{port:04X}")));
            at && words.get(3) == Some(&state)
        })
    }

    /// Starts the program.
    pub(crate) fn start(&self, who: Who, arguments: &[&str]) -> Run {
        let (mut command, mark) = self.ackord(who, arguments);
        let child = command.spawn().expect("nsenter starts");
        let holder = PathBuf::from(format!("/proc/{}", self.holder()));
        let own = [&holder, Path::new("/proc/self")].into_iter().filter_map(network_of).collect();
        Run { child, mark, namespaces: BTreeSet::new(), own }
    }

    /// Everything of networks that is to be seen on this machine, and the files left.
    pub(crate) fn state(&self) -> String {
        // Routers of other tests (`gw`, a process, a number) come and go meanwhile.
        let script = "ip -o link; ip -o addr; ip rule; ip -6 rule; ip route show table all; \
                      ip -6 route show table all; tc qdisc 2>&1; \
                      ip netns list | grep -v '^gw[0-9]*-'; \
                      cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding; \
                      (nft list ruleset || iptables-save) 2>/dev/null";
        let output = self.enter().args(["sh", "-c", script]).output().expect("nsenter starts");
        let mut state = String::from_utf8_lossy(&output.stdout).into_owned();
        for folder in ["tmp", "home", "run"] {
            for (name, _) in super::files_below(&self.folder(folder)) {
                state.push_str(&format!("file {folder}/{name}\n"));
            }
        }
        state
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It ends when its standard input does.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

impl Run {
    /// Processes of this run that are there now; takes note of their network namespaces.
    pub(crate) fn processes(&mut self) -> Vec<PathBuf> {
        let marked = format!("ACKORD_TEST_MARK={}", self.mark).into_bytes();
        let is_ours = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|octet| *octet == 0).any(|variable| variable == marked)
        };
        let processes: Vec<PathBuf> = all_processes().filter(is_ours).collect();
        let networks = processes.iter().filter_map(network_of);
        self.namespaces.extend(networks.filter(|network| !self.own.contains(network)));
        processes
    }

    /// The process of the program itself: the first of the run that is called so.
    pub(crate) fn program(&mut self) -> Option<i32> {
        let of = |process: &PathBuf| {
            let name = fs::read_to_string(process.join("comm")).ok()?;
            let number = process.file_name()?.to_str()?.parse::<i32>().ok()?;
            (name.trim() == "ackord").then_some(number)
        };
        self.processes().iter().filter_map(of).min()
    }

    /// A process of the run that is the first of a PID namespace.
    pub(crate) fn keeper(&mut self) -> Option<i32> {
        let is_first = |process: &PathBuf| {
            let status = fs::read_to_string(process.join("status")).ok()?;
            let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
            let numbers: Vec<i32> =
                numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            (numbers.len() > 1 && numbers.last() == Some(&1)).then(|| numbers.first().copied())?
        };
        self.processes().iter().find_map(is_first)
    }

    /// Those of the run's network namespaces that still exist, wherever something holds them.
    pub(crate) fn namespaces_left(&self) -> Vec<String> {
        let mut there: BTreeSet<String> =
            all_processes().filter_map(|process| network_of(&process)).collect();
        let listed = Command::new("lsns").args(["-n", "-t", "net", "-o", "NS"]).output();
        let listed = listed.expect("lsns starts");
        for number in String::from_utf8_lossy(&listed.stdout).split_whitespace() {
            there.insert(format!("net:[{number}]"));
        }
        for process in all_processes() {
            let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
            let links = open.filter_map(|file| fs::read_link(file.path()).ok());
            there.extend(links.map(|link| link.display().to_string()));
        }
        self.namespaces.intersection(&there).cloned().collect()
    }
}

fn all_processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").expect("it is mounted").flatten().map(|entry| entry.path());
    entries.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.bytes().all(|octet| octet.is_ascii_digit())
    })
}

/// The network namespace of a process, such as `net:[4026531840]`.
fn network_of(process: impl AsRef<Path>) -> Option<String> {
    let link = fs::read_link(process.as_ref().join("ns/net")).ok()?;
    Some(link.display().to_string())
}

/// The control groups of a process if they are others than ours. One that is being forked is in the
/// root's for a moment, and then in its parent's.
pub(crate) fn other_groups(process: &Path) -> Option<String> {
    let others = || groups_of(process).filter(|groups| Some(groups) != ours().as_ref());
    others()?;
    sleep(Duration::from_millis(20));
    others()
}

fn ours() -> Option<String> {
    groups_of(Path::new("/proc/self"))
}

/// The control groups of a process that is still at work: one that ends leaves them first.
fn groups_of(process: &Path) -> Option<String> {
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    let at_work = fs::read(process.join("environ")).is_ok_and(|variables| !variables.is_empty());
    at_work.then_some(groups)
}
