//! The terminal we run at, lent to a command and taken back.
//!
//! A command with the terminal is a job of its own in the foreground, so that keys such as Ctrl-C
//! reach it alone. What a shell does for its jobs is then ours to do: take the terminal back as it
//! was when the command has ended, and stop with it when it was stopped.

#![allow(
    unsafe_code,
    reason = "nix has terminal attributes only with a feature we do not need else"
)]

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::unistd::Pid;
use std::fmt;
use std::mem::zeroed;

/// The terminal of our standard input.
pub(super) struct Terminal {
    /// Our job.
    job: libc::pid_t,
    /// How it was set when it was ours.
    settings: libc::termios,
}

/// The descriptor of standard input.
const INPUT: i32 = 0;

impl Terminal {
    /// The terminal, if we have one and our job is the one in its foreground.
    pub(super) fn in_foreground() -> Option<Terminal> {
        // SAFETY: the structure is plain data and lives through the calls.
        unsafe {
            let mut settings: libc::termios = zeroed();
            let job = libc::getpgrp();
            let ours = libc::tcgetattr(INPUT, &mut settings) == 0 && libc::tcgetpgrp(INPUT) == job;
            ours.then_some(Terminal { job, settings })
        }
    }

    /// Our job is in the foreground again and the terminal is set as it was.
    pub(super) fn take_back(&self) {
        // Asking from the background would stop us.
        let asking = SigSet::from(Signal::SIGTTOU);
        let mut before = SigSet::empty();
        let blocked = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&asking), Some(&mut before));
        // SAFETY: as in `in_foreground`. Both fail only where the terminal is gone.
        unsafe {
            libc::tcsetpgrp(INPUT, self.job);
            libc::tcsetattr(INPUT, libc::TCSADRAIN, &self.settings);
        }
        if blocked.is_ok() {
            let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
        }
    }

    /// Stops our job as Ctrl-Z would. Returns when somebody lets it go on, or at once where nobody
    /// could (nobody waits for jobs of ours); says whether it is in the foreground then.
    pub(super) fn stop_and_go_on(&self) -> bool {
        self.take_back();
        // It cannot fail: we may always signal ourselves.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        // SAFETY: no memory is involved.
        unsafe { libc::tcgetpgrp(INPUT) == self.job }
    }
}

/// Whether our job is in the foreground of its terminal: what a key sends then reaches all of it.
pub fn is_in_foreground() -> bool {
    // SAFETY: the path is a constant, the descriptor our own.
    unsafe {
        let terminal = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if terminal < 0 {
            return false;
        }
        let group = libc::tcgetpgrp(terminal);
        libc::close(terminal);
        group == libc::getpgrp()
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("job", &self.job).finish_non_exhaustive()
    }
}
