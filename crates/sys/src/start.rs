//! A command inside, between clone and exec: streams, terminal, signals.
//!
//! Called by the keeper, so nothing here may allocate, lock or panic.

#![allow(unsafe_code, reason = "exec and everything before it, in a copy of a threaded program")]

use super::inside::TerminalUse;
use super::plan::Command;
use super::process::{clone, exit};
use libc::{c_int, pid_t};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{
    Pid, dup2_stderr, dup2_stdin, dup2_stdout, getpid, pipe2, read, setpgid, tcsetpgrp, write,
};
use std::os::fd::OwnedFd;
use std::ptr::null_mut;

/// Starts a command: its process number, or the errno where it could not be started.
///
/// # Safety
/// The calling process has one thread and may be cloned.
pub(super) unsafe fn start(command: &Command) -> Result<pid_t, c_int> {
    // It closes when the command is there; before that an errno may come through it.
    let (told, complaints) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| errno as c_int)?;
    // SAFETY: a second fork-like clone from a process of one thread; the child only makes system
    // calls and never returns.
    let pid = unsafe { clone(libc::SIGCHLD) };
    if pid == 0 {
        become_command(command, &complaints);
    }
    let why_not = Errno::last_raw();
    drop(complaints);
    if pid < 0 {
        return Err(why_not);
    }
    let mut errno = [0; size_of::<c_int>()];
    match read(&told, &mut errno) {
        Ok(len) if len == errno.len() => {
            // SAFETY: no status is asked for.
            unsafe { libc::waitpid(pid, null_mut(), 0) };
            Err(c_int::from_ne_bytes(errno))
        }
        _ => Ok(pid),
    }
}

fn become_command(command: &Command, complaints: &OwnedFd) -> ! {
    let itself = Pid::from_raw(0);
    // What fails here is seen from the command, or not at all.
    let _ = set_pdeathsig(Signal::SIGKILL);
    match command.terminal {
        TerminalUse::Shared => {}
        TerminalUse::Foreground => {
            let _ = setpgid(itself, itself);
            // Every signal is blocked here, so the terminal does not stop us for asking.
            to_foreground(getpid());
        }
        TerminalUse::Background => {
            let _ = setpgid(itself, itself);
            let flags = OFlag::O_RDWR | OFlag::O_CLOEXEC;
            let _ = open(c"/dev/null", flags, Mode::empty()).and_then(dup2_stdin);
        }
    }
    let [stdout, stderr] = &command.streams;
    let _ = stdout.as_ref().map(dup2_stdout);
    let _ = stderr.as_ref().map(dup2_stderr);
    let argv = command.argv();
    // SAFETY: no handler is installed; the words of a plan end in zeros, and their lists in null
    // pointers, and all is memory that this process has a copy of.
    unsafe {
        // Rust programs ignore it, which the command would inherit.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let _ = SigSet::empty().thread_set_mask();
        libc::execvpe(*argv, argv, command.environment());
    }
    let _ = write(complaints, &Errno::last_raw().to_ne_bytes());
    exit(127)
}

/// Sends a running command a signal: to its whole job, where it has one of its own.
pub(super) fn signal(command: &Command, signal: Signal) {
    let process = command.process.get();
    let target = match command.terminal {
        TerminalUse::Shared => process,
        TerminalUse::Foreground | TerminalUse::Background => -process,
    };
    // It fails only if the command has just ended.
    let _ = kill(Pid::from_raw(target), signal);
}

/// Lets a stopped command go on, in the foreground if it should have the terminal.
pub(super) fn resume(command: &Command, in_foreground: bool) {
    if in_foreground && command.terminal == TerminalUse::Foreground {
        to_foreground(Pid::from_raw(command.process.get()));
    }
    signal(command, Signal::SIGCONT);
}

/// Gives the terminal to a process group; nothing happens without a terminal.
fn to_foreground(group: Pid) {
    let terminal = open(c"/dev/tty", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty());
    let _ = terminal.and_then(|terminal| tcsetpgrp(terminal, group));
}
