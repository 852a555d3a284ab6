//! A shell on a kernel, in real time: the side of the host.
//!
//! The kernel's root is the host's, read-only; its first process is this program again (`inside.rs`), which
//! mounts what a shell needs. All that either leaves lies in one folder that goes with the shell.
//!
//! Not modelled: a network. Read-only is a word to the kernel inside, whose administrator the shell is: it
//! keeps from accidents and is no jail. Nothing may be done to a file that its user could not do anyway.

use super::tool::ends_with_us;
use super::{Kernel, KernelError};
use crate::chance;
use nix::sys::signal::Signal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// How soon the end of a shell, or a wish to end it, is noticed.
const PATIENCE: Duration = Duration::from_millis(20);
/// So many of the last lines of a kernel that died are told.
const LAST: usize = 8;
/// What the first process inside is to do: a [`Plan`].
pub(super) const PLAN: &str = "plan.json";
/// How the shell ended: its exit code.
pub(super) const STATUS: &str = "status";

/// The folder of the process that is the kernel, as seen in the files of the host.
const HERE: &str = "/proc/self/cwd";

/// A shell that is wanted.
#[derive(Clone, Debug)]
pub struct ShellOrder {
    /// On this kernel.
    pub kernel: Kernel,
    /// This program, whose `arguments`, followed by a folder, lead to [`run_inside`](super::run_inside).
    pub program: PathBuf,
    /// These arguments.
    pub arguments: Vec<String>,
    /// A command instead of a shell.
    pub command: Vec<String>,
    /// Its time stands while something computes, and leaps when all wait: `sleep 1000` is over at once.
    /// The same command sees the same times, addresses and random numbers each time. Otherwise its
    /// time goes as the host's.
    pub leaps: bool,
    /// Its memory, in MiB.
    pub memory_mib: u32,
}

/// How a shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellEnd {
    /// Its exit code; 128 and the signal's number, where one ended it.
    pub code: u8,
}

/// What the first process inside is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) command: Vec<String>,
    /// What its random numbers follow from, if from anything.
    pub(super) seed: Option<String>,
    /// Whether somebody sits at the console.
    pub(super) terminal: bool,
    pub(super) term: String,
    pub(super) path: String,
    pub(super) folder: PathBuf,
}

/// Runs a shell on a kernel until it ends, or until `watch`, asked now and then, wants no more.
///
/// # Errors
/// [`KernelError`].
pub fn shell(
    order: &ShellOrder,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<ShellEnd, KernelError> {
    let temporary = std::env::temp_dir();
    let io = KernelError::io(&temporary);
    let folder = tempfile::Builder::new().prefix("ackord-shell-").tempdir_in(&temporary);
    let folder = folder.map_err(&io)?;
    // The kernel's command line is cut at spaces: it gets names that have none.
    let init = folder.path().join("init");
    symlink(&order.program, &init).map_err(KernelError::io(&init))?;
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let plan = plan(order, terminal)?;
    let plan_file = folder.path().join(PLAN);
    fs::write(&plan_file, serde_json::to_string(&plan).expect("plain data"))
        .map_err(KernelError::io(&plan_file))?;
    let said = folder.path().join("said");
    let settings = Settings::of_terminal();
    let mut command = command(order, folder.path(), terminal);
    command.stderr(File::create(&said).map_err(KernelError::io(&said))?);
    let mut kernel = command.spawn().map_err(KernelError::io(&order.kernel.binary))?;
    let ended = wait(&mut kernel, watch);
    settings.put_back();
    let status = ended?;
    let code = fs::read_to_string(folder.path().join(STATUS)).ok();
    match code.and_then(|code| code.trim().parse().ok()) {
        Some(code) => Ok(ShellEnd { code }),
        None => Err(KernelError::Died(last_words(&said, status))),
    }
}

fn plan(order: &ShellOrder, terminal: bool) -> Result<Plan, KernelError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let folder = std::env::current_dir().map_err(KernelError::io(Path::new(".")))?;
    Ok(Plan {
        name: order.kernel.name.clone(),
        command: order.command.clone(),
        seed: order.leaps.then(|| "shell".to_owned()),
        terminal,
        term: variable("TERM").unwrap_or_else(|| "dumb".to_owned()),
        path: variable("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".to_owned()),
        folder,
    })
}

fn command(order: &ShellOrder, folder: &Path, terminal: bool) -> Command {
    let mut command = Command::new(&order.kernel.binary);
    command.env_clear();
    // The kernel looks for its folder below it before it is told of another.
    command.env("HOME", folder);
    // glibc would register restartable sequences in processes that are about to become the kernel's.
    command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    command.current_dir(folder);
    command.args(["umid=shell", "uml_dir=./", &format!("mem={}M", order.memory_mib)]);
    command.args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"]);
    // Where nobody sits at it, a console whose input has ended would hang up.
    let input = if terminal { "fd:0" } else { "null" };
    command.args(["con=null", "ssl=null", &format!("con0={input},fd:1")]);
    if order.leaps {
        let start = format!("time-travel-start={}", chance::FIRST_NANOSECOND);
        command.args(["time-travel=inf-cpu", &start]);
        without_chance(&mut command);
    }
    // Its own folder, under a name that is the same each time: the line goes into its random numbers.
    command.arg(format!("init={HERE}/init")).arg("--").args(&order.arguments).arg(HERE);
    if !terminal {
        command.stdin(Stdio::null());
    }
    ends_with_us(&mut command, Signal::SIGKILL);
    command
}

#[allow(unsafe_code, reason = "between fork and exec")]
fn without_chance(command: &mut Command) {
    // SAFETY: it neither allocates nor takes a lock.
    unsafe { command.pre_exec(chance::take_away) };
}

fn wait(
    kernel: &mut Child,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<ExitStatus, KernelError> {
    loop {
        if let Some(status) = kernel.try_wait().map_err(KernelError::io(Path::new("linux")))? {
            return Ok(status);
        }
        if watch().is_break() {
            // Its processes are of a kernel that is no more, and end with it.
            let _ = kernel.kill();
            let _ = kernel.wait();
            return Err(KernelError::Interrupted);
        }
        thread::sleep(PATIENCE);
    }
}

fn last_words(said: &Path, status: ExitStatus) -> String {
    let said = fs::read_to_string(said).unwrap_or_default();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LAST));
    last.fold(status.to_string(), |text, line| format!("{text}\n  {line}"))
}

/// How the terminal was set before a kernel had it.
struct Settings(Option<Termios>);

impl Settings {
    fn of_terminal() -> Settings {
        Settings(tcgetattr(io::stdin()).ok())
    }

    /// A kernel that was killed has not done so itself.
    fn put_back(&self) {
        if let Some(settings) = &self.0 {
            let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, settings);
        }
    }
}
