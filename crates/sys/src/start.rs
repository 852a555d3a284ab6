//! A command inside, between clone and exec: streams, terminal, signals.
//!
//! Called by the keeper, so nothing here may allocate, lock or panic.

#![allow(unsafe_code, reason = "exec and everything before it, in a copy of a threaded program")]

use super::inside::TerminalUse;
use super::keeper::{clone, errno};
use super::plan::Command;
use libc::{c_int, pid_t};
use std::mem::{size_of, zeroed};
use std::os::fd::RawFd;
use std::ptr::null_mut;

/// Starts a command: its process number, or the errno where it could not be started.
///
/// # Safety
/// The calling process has one thread and may be cloned.
pub(super) unsafe fn start(command: &Command) -> Result<pid_t, c_int> {
    // SAFETY: a second fork-like clone from a process of one thread; all pointers are into this
    // frame.
    unsafe {
        // It closes when the command is there; before that an errno may come through it.
        let mut pipe = [0; 2];
        if libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(errno());
        }
        let pid = clone(libc::SIGCHLD);
        if pid == 0 {
            become_command(command, pipe[1]);
        }
        let why_not = errno();
        libc::close(pipe[1]);
        if pid < 0 {
            libc::close(pipe[0]);
            return Err(why_not);
        }
        let mut errno: c_int = 0;
        let len = size_of::<c_int>();
        let got = libc::read(pipe[0], (&raw mut errno).cast(), len);
        libc::close(pipe[0]);
        if got == len as isize {
            libc::waitpid(pid, null_mut(), 0);
            return Err(errno);
        }
        Ok(pid)
    }
}

unsafe fn become_command(command: &Command, complaints: RawFd) -> ! {
    // SAFETY: as in `start`; the plan's pointers are into memory that this process has a copy of.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        match command.terminal {
            TerminalUse::Shared => {}
            TerminalUse::Foreground => {
                libc::setpgid(0, 0);
                // Every signal is blocked here, so the terminal does not stop us for asking.
                to_foreground(libc::getpid());
            }
            TerminalUse::Background => {
                libc::setpgid(0, 0);
                let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
                libc::dup2(nothing, 0);
            }
        }
        for (to, from) in [1, 2].into_iter().zip(command.streams) {
            if let Some(from) = from {
                libc::dup2(from, to);
            }
        }
        // Rust programs ignore it, which the command would inherit.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut none: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, null_mut());
        let argv = command.argv();
        libc::execvpe(*argv, argv, command.environment());
        let why = errno();
        libc::write(complaints, (&raw const why).cast(), size_of::<c_int>());
        libc::_exit(127)
    }
}

/// Sends a running command a signal: to its whole job, where it has one of its own.
///
/// # Safety
/// Always sound: `unsafe` only because it is a bare system call.
pub(super) unsafe fn signal(command: &Command, signal: c_int) {
    let process = command.process.get();
    let target = match command.terminal {
        TerminalUse::Shared => process,
        TerminalUse::Foreground | TerminalUse::Background => -process,
    };
    // SAFETY: no memory is involved. It fails only if the command has just ended.
    unsafe { libc::kill(target, signal) };
}

/// Lets a stopped command go on, in the foreground if it should have the terminal.
///
/// # Safety
/// As [`signal`].
pub(super) unsafe fn resume(command: &Command, in_foreground: bool) {
    // SAFETY: no memory is involved.
    unsafe {
        if in_foreground && command.terminal == TerminalUse::Foreground {
            to_foreground(command.process.get());
        }
        signal(command, libc::SIGCONT);
    }
}

/// Gives the terminal to a process group; nothing happens without a terminal.
unsafe fn to_foreground(group: pid_t) {
    // SAFETY: the path is a constant, the descriptor our own.
    unsafe {
        let terminal = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if terminal >= 0 {
            libc::tcsetpgrp(terminal, group);
            libc::close(terminal);
        }
    }
}
