//! The terminal we run at, lent to a command and taken back.
//!
//! A command with the terminal is a job of its own in the foreground, so that keys such as Ctrl-C
//! reach it alone. What a shell does for its jobs is then ours to do: take the terminal back as it
//! was when the command has ended, and stop with it when it was stopped.

use nix::fcntl::{OFlag, open};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::sys::stat::Mode;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::io::stdin;

/// The terminal of our standard input.
#[derive(Debug)]
pub(super) struct Terminal {
    /// Our job.
    job: Pid,
    /// How it was set when it was ours.
    settings: Termios,
}

impl Terminal {
    /// The terminal, if we have one and our job is the one in its foreground.
    pub(super) fn in_foreground() -> Option<Terminal> {
        let terminal = Terminal { job: getpgrp(), settings: tcgetattr(stdin()).ok()? };
        terminal.is_ours().then_some(terminal)
    }

    fn is_ours(&self) -> bool {
        tcgetpgrp(stdin()) == Ok(self.job)
    }

    /// Our job is in the foreground again and the terminal is set as it was.
    pub(super) fn take_back(&self) {
        // Asking from the background would stop us.
        let asking = SigSet::from(Signal::SIGTTOU);
        let mut before = SigSet::empty();
        let blocked = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&asking), Some(&mut before));
        // Both fail only where the terminal is gone.
        let _ = tcsetpgrp(stdin(), self.job);
        let _ = tcsetattr(stdin(), SetArg::TCSADRAIN, &self.settings);
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
        self.is_ours()
    }
}

/// Whether our job is in the foreground of its terminal: what a key sends then reaches all of it.
pub fn is_in_foreground() -> bool {
    let terminal = open(c"/dev/tty", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty());
    terminal.and_then(tcgetpgrp) == Ok(getpgrp())
}
