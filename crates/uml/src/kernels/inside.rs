//! A shell on a kernel: the first process inside.
//!
//! It mounts what a shell needs over the host's files, gives the shell the console, waits for its end, leaves
//! its exit code where the host finds it, and turns the machine off.

#![allow(unsafe_code, reason = "a controlling terminal is taken between fork and exec")]

use super::shell::{PLAN, Plan, STATUS};
use crate::chance;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::termios::{OutputFlags, SetArg, tcgetattr, tcsetattr};
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::sync;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// File systems over the host's read-only root: what kind, and where.
const MOUNTS: [(&str, &str); 7] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("devpts", "/dev/pts"),
    ("tmpfs", "/dev/shm"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
];
/// The console.
const CONSOLE: &str = "/dev/tty0";
/// Where the host's folder is seen once the shell has ended.
const OUTBOX: &str = "/run/ackord";

/// The first process of a kernel started by [`shell`](super::shell()): does what the plan in the host's
/// folder says, and turns the machine off.
///
/// # Errors
/// Only outside of such a kernel, where it does nothing, and where the host's folder is not to be found.
pub fn run_inside(folder: &Path) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("this is for the first process of a kernel"));
    }
    // The kernel's own /proc will be where this leads through the host's.
    let folder = &fs::canonicalize(folder)?;
    let code = prepared(folder).unwrap_or_else(|error| {
        eprintln!("ackord: {error}");
        127
    });
    // Where it cannot be left, the host says that the kernel died early.
    let _ = leave(folder, code);
    sync();
    // It would say on the console that it turns itself off, as if that were an emergency.
    let _ = fs::write("/proc/sys/kernel/printk", "0");
    match reboot(RebootMode::RB_POWER_OFF)? {}
}

fn prepared(folder: &Path) -> io::Result<u8> {
    let plan = fs::read(folder.join(PLAN))?;
    let plan: Plan = serde_json::from_slice(&plan)?;
    for (kind, place) in MOUNTS {
        // Folders that the host does not have are made where that is possible: below /dev.
        let _ = fs::create_dir(place);
        mount(Some("none"), place, Some(kind), MsFlags::empty(), None::<&str>)
            .map_err(|error| io::Error::other(format!("cannot mount {place}: {error}")))?;
    }
    if !plan.folder.is_dir() {
        // It lies below /tmp or /run, which are the kernel's own now.
        shown(&plan.folder).map_err(|error| {
            io::Error::other(format!("cannot show {}: {error}", plan.folder.display()))
        })?;
    }
    if let Some(seed) = &plan.seed {
        chance::seed(seed)?;
    }
    // Nice to have, all three.
    let _ = fs::write("/proc/sys/kernel/hostname", &plan.name);
    let _ = std::os::unix::fs::symlink("/proc/self/fd", "/dev/fd");
    let _ = Command::new("ip").args(["link", "set", "lo", "up"]).stderr(Stdio::null()).status();
    run(&plan)
}

/// The host's folder of this name, in its place.
fn shown(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    Ok(mount(Some("none"), folder, Some("hostfs"), MsFlags::MS_RDONLY, Some(folder))?)
}

fn run(plan: &Plan) -> io::Result<u8> {
    let console = File::options().read(true).write(true).open(CONSOLE)?;
    if !plan.terminal {
        // Whoever reads this expects lines as they were written.
        let mut settings = tcgetattr(&console)?;
        settings.output_flags.remove(OutputFlags::OPOST);
        tcsetattr(&console, SetArg::TCSANOW, &settings)?;
    }
    let (program, arguments) = match plan.command.split_first() {
        Some((program, arguments)) => (program.as_str(), arguments),
        None => ("/bin/sh", &[][..]),
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.env("PATH", &plan.path).env("TERM", &plan.term).env("HOME", "/tmp");
    command.env("PS1", format!("[{}] # ", plan.name));
    command.current_dir(&plan.folder);
    command.stdin(console.try_clone()?).stdout(console.try_clone()?).stderr(console);
    // SAFETY: between fork and exec two system calls, which neither allocate nor lock.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let child = command.spawn().map_err(|error| io::Error::other(format!("{program}: {error}")))?;
    // Everything that loses its parent is ours to wait for.
    loop {
        match wait()? {
            WaitStatus::Exited(pid, code) if pid.as_raw() == child.id().cast_signed() => {
                return Ok(code as u8);
            }
            WaitStatus::Signaled(pid, signal, _) if pid.as_raw() == child.id().cast_signed() => {
                return Ok(128 + signal as u8);
            }
            _ => {}
        }
    }
}

/// Leaves the exit code with the host, whose folder may be covered by now.
fn leave(folder: &Path, code: u8) -> io::Result<()> {
    fs::create_dir_all(OUTBOX)?;
    mount(Some("none"), OUTBOX, Some("hostfs"), MsFlags::empty(), Some(folder))?;
    fs::write(Path::new(OUTBOX).join(STATUS), format!("{code}\n"))
}
