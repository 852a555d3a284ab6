//! Waiting for any of several descriptors or a deadline, to the nanosecond, over and over.
//!
//! The set is put together once and used for every wait, since an emulator waits a hundred thousand
//! times a second.

#![allow(unsafe_code, reason = "nix's poll wants its descriptors borrowed anew for every call")]

use ackord_units::Span;
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Descriptors to wait for.
#[derive(Default)]
pub(crate) struct PollSet {
    entries: Vec<libc::pollfd>,
}

impl PollSet {
    /// Adds a descriptor; the answer is its number in the set. One that is closed while it is here
    /// is always ready.
    pub(crate) fn add(&mut self, descriptor: BorrowedFd<'_>) -> usize {
        let fd = descriptor.as_raw_fd();
        self.entries.push(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        self.entries.len() - 1
    }

    /// Waits until one is ready or `timeout` is over; a timeout of zero only looks.
    pub(crate) fn wait(&mut self, timeout: Span) -> Result<(), Errno> {
        let nanos = timeout.as_nanos();
        let timeout = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        let count = self.entries.len() as libc::nfds_t;
        // SAFETY: the entries and the timeout live through the call, and no signal mask is given.
        let found = unsafe {
            libc::ppoll(self.entries.as_mut_ptr(), count, &raw const timeout, std::ptr::null())
        };
        if found < 0 {
            self.mark_all(0);
            return match Errno::last() {
                // A signal is nobody's deadline: the caller looks at the clock and comes back.
                Errno::EINTR => Ok(()),
                errno => Err(errno),
            };
        }
        Ok(())
    }

    /// Whether this one was ready at the last wait.
    pub(crate) fn is_ready(&self, number: usize) -> bool {
        self.entries[number].revents != 0
    }

    /// Whether any was.
    pub(crate) fn any_is_ready(&self) -> bool {
        self.entries.iter().any(|entry| entry.revents != 0)
    }

    /// Takes every one for ready, as where time does not pass by itself.
    #[cfg(any(test, feature = "trials"))]
    pub(crate) fn take_all_for_ready(&mut self) {
        self.mark_all(libc::POLLIN);
    }

    fn mark_all(&mut self, revents: libc::c_short) {
        for entry in &mut self.entries {
            entry.revents = revents;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::eventfd::EventFd;
    use std::os::fd::AsFd;

    #[test]
    fn only_what_is_ready_is_ready_and_a_look_does_not_wait() {
        let (quiet, loud) = (EventFd::new().expect("an eventfd"), EventFd::new().expect("another"));
        let mut set = PollSet::default();
        let (a, b) = (set.add(quiet.as_fd()), set.add(loud.as_fd()));
        set.wait(Span::ZERO).expect("it looks");
        assert!(!set.is_ready(a) && !set.is_ready(b));
        loud.write(1).expect("written");
        set.wait(Span::from_secs(60)).expect("it is ready at once");
        assert!(!set.is_ready(a) && set.is_ready(b));
        set.take_all_for_ready();
        assert!(set.is_ready(a));
    }
}
