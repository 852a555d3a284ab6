//! `ackord agent` on this kernel: real programs in a control group, with and without, and what is left of it after any
//! end.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | a control group, an agent there, programs in Python |
//! | `levers.rs` | what levers gain |
//! | `turns.rs` | turns of the whole host with settings and without |
//! | `seen.rs` | what is seen of connections, and what that takes |
//! | `ends.rs` | ends of an agent: asked, killed, kept |
//! | `files.rs` | a configuration file, read anew; a lever withdrawn; a full disk |
//! | `routes.rs` | routes of hosts to which packets overtake each other |
//! | `late.rs` | servers and control groups that are older or younger than it |
//! | `rights.rs` | what it says without a capability |
//! | `nonsense.rs` | files and requests that are none |
//! | `words.rs` | what needs no kernel: arguments, plans, errors |

#[cfg(feature = "agent")]
mod ends;
#[cfg(feature = "agent")]
mod files;
#[cfg(feature = "agent")]
mod late;
#[cfg(feature = "agent")]
mod levers;
#[cfg(feature = "agent")]
mod nonsense;
#[cfg(feature = "agent")]
mod rights;
#[cfg(feature = "agent")]
mod routes;
#[cfg(feature = "agent")]
mod seen;
#[cfg(feature = "agent")]
mod turns;
mod words;

#[cfg(not(feature = "agent"))]
#[test]
fn levers_on_this_kernel() {
    ackord_testing::skipped(
        "built without the agent's programs for the kernel (`make agent` installs what they take)",
    );
}

#[cfg(feature = "agent")]
mod world {
    use serde_json::Value;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Output, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    pub(super) const ACKORD: &str = env!("CARGO_BIN_EXE_ackord");
    pub(super) const PATIENCE: Duration = Duration::from_secs(20);

    /// Why nothing of this can be done here.
    pub(super) fn lacks() -> Option<String> {
        if !nix::unistd::geteuid().is_root() {
            return Some("programs in the kernel take root".to_owned());
        }
        if !ackord_testing::installed(&["python3", "nsenter", "ip"]) {
            return Some("no python3, nsenter or ip".to_owned());
        }
        let probed =
            Command::new(ACKORD).args(["agent", "probe", "--json"]).output().expect("it runs");
        let found: Value = serde_json::from_slice(&probed.stdout).expect("JSON");
        let missing = found.as_array().into_iter().flatten().find(|one| {
            let is_needed =
                !matches!(one["what"].as_str(), Some("ping-pong threshold" | "adopting"));
            is_needed && one["is_there"] == false
        });
        missing.map(|one| format!("{}: {}", one["what"], one["found"]))
    }

    /// A control group of its own, which is gone with it.
    pub(super) struct Group(pub(super) PathBuf);

    impl Group {
        pub(super) fn new(name: &str) -> Group {
            let root = ackord_agent::cgroups::mounted().expect("/proc").expect("version 2");
            let path = root.join(format!("ackord-test-{name}-{}", std::process::id()));
            fs::create_dir(&path).expect("root may");
            Group(path)
        }

        /// A command whose process is in the group from its beginning.
        pub(super) fn command(&self, argv: &[&str]) -> Command {
            let mut command = Command::new("sh");
            command
                .args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""])
                .arg(&self.0)
                .args(argv);
            command.stdin(Stdio::null());
            command
        }

        pub(super) fn python(&self, script: &str, arguments: &[&str]) -> Command {
            self.command(&[&["python3", "-c", script], arguments].concat())
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            for _ in 0..100 {
                if fs::remove_dir(&self.0).is_ok() {
                    return;
                }
                sleep(Duration::from_millis(20));
            }
        }
    }

    /// A process that is ended with it.
    pub(super) struct Running(pub(super) Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// An agent at a group.
    pub(super) struct Agent {
        pub(super) process: Running,
        pub(super) state: tempfile::TempDir,
        files: tempfile::TempDir,
    }

    const FILE: &str = "agent.toml";

    /// Tests run beside each other, and beside an agent of this machine: metrics would want one port.
    const NO_METRICS: &str = "\n[metrics]\nlisten = \"none\"\n";

    fn write_file(directory: &Path, group: &Group, lines: &str) {
        let text = format!("cgroup = \"{}\"\n{lines}\n{NO_METRICS}", group.0.display());
        fs::write(directory.join(FILE), text).expect("ours");
    }

    impl Agent {
        pub(super) fn begin(group: &Group, more: &[&str]) -> Agent {
            Agent::begin_by(Command::new(ACKORD), group, more)
        }

        /// By a command that ends with the program's name. Options become a file, as `check --print` writes it.
        pub(super) fn begin_by(command: Command, group: &Group, more: &[&str]) -> Agent {
            let (run, options): (Vec<&str>, Vec<&str>) =
                more.iter().partition(|one| ["--adopt", "--on-exit", "keep"].contains(*one));
            let mut check = Command::new(ACKORD);
            check.args(["agent", "check", "--cgroup"]).arg(&group.0).args(options).arg("--print");
            let checked = check.output().expect("it runs");
            // An empty file would mean all processes of this machine.
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
            let text = String::from_utf8(checked.stdout).expect("a file") + NO_METRICS;
            let files = tempfile::tempdir().expect("a directory");
            fs::write(files.path().join(FILE), text).expect("ours");
            Agent::run(command, files, tempfile::tempdir().expect("a directory"), &run)
        }

        fn run(
            mut command: Command,
            files: tempfile::TempDir,
            state: tempfile::TempDir,
            more: &[&str],
        ) -> Agent {
            command.args(["agent", "run"]).arg(files.path().join(FILE)).args(more);
            let process = command.arg("--state").arg(state.path()).spawn().expect("it starts");
            let agent = Agent { process: Running(process), state, files };
            agent.wait_for(|_| true);
            agent
        }

        /// By a configuration file with these lines, plain keys first, and its state in this directory.
        pub(super) fn with_file(group: &Group, lines: &str, state: tempfile::TempDir) -> Agent {
            Agent::with_file_by(Command::new(ACKORD), group, lines, state, &[])
        }

        /// The same, by a command that ends with the program's name, and with more options.
        pub(super) fn with_file_by(
            command: Command,
            group: &Group,
            lines: &str,
            state: tempfile::TempDir,
            more: &[&str],
        ) -> Agent {
            let files = tempfile::tempdir().expect("a directory");
            write_file(files.path(), group, lines);
            Agent::run(command, files, state, more)
        }

        /// Its file says this from now on, and it is told so.
        pub(super) fn reload(&self, group: &Group, lines: &str) {
            write_file(self.files.path(), group, lines);
            let pid = nix::unistd::Pid::from_raw(self.process.0.id() as i32);
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGHUP).expect("ours");
        }

        pub(super) fn ask(&self, what: &[&str]) -> Output {
            let mut command = Command::new(ACKORD);
            command.arg("agent").args(what).arg("--state").arg(self.state.path());
            command.output().expect("it runs")
        }

        pub(super) fn status(&self) -> Option<Value> {
            let said = self.ask(&["status", "--json"]);
            let status: Value = serde_json::from_slice(&said.stdout).ok()?;
            // Before the first second nothing has been published.
            (status["pid"] != 0).then_some(status)
        }

        /// Its status as soon as it is like this.
        pub(super) fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
            let in_time = self.is_within(PATIENCE, is_it);
            in_time.unwrap_or_else(|last| panic!("not within {PATIENCE:?}: {last:#?}"))
        }

        /// The same if that is so within this time, or the last status there was.
        pub(super) fn is_within(
            &self,
            patience: Duration,
            is_it: impl Fn(&Value) -> bool,
        ) -> Result<Value, Option<Value>> {
            let until = Instant::now() + patience;
            let mut last = None;
            while Instant::now() < until {
                if let Some(status) = self.status() {
                    if is_it(&status) {
                        return Ok(status);
                    }
                    last = Some(status);
                }
                sleep(Duration::from_millis(100));
            }
            Err(last)
        }

        pub(super) fn stop(mut self) -> tempfile::TempDir {
            let said = self.ask(&["stop"]);
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            let ended = self.process.0.wait().expect("ours");
            assert!(ended.success(), "{ended}");
            let Agent { state, .. } = self;
            state
        }
    }

    /// The lever of an application in a status.
    pub(super) fn lever<'a>(status: &'a Value, application: &str, lever: &str) -> &'a Value {
        let applications = status["applications"].as_array().into_iter().flatten();
        let levers = applications
            .filter(|one| one["name"].as_str().is_some_and(|name| name.starts_with(application)))
            .flat_map(|one| one["levers"].as_array().into_iter().flatten());
        levers.into_iter().find(|one| one["lever"] == lever).unwrap_or(&Value::Null)
    }

    pub(super) fn is_at_work(status: &Value, application: &str, name: &str) -> bool {
        lever(status, application, name)["standing"]["state"] == "at-work"
    }

    /// What nobody must leave behind.
    pub(super) fn nothing_is_left(state: &Path) {
        for file in ["agent.journal", "agent.sockets", "agent.sock"] {
            assert!(!state.join(file).exists(), "{file} is left");
        }
    }
}
