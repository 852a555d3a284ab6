//! Signals for a shell's command, from whoever got them.

use ackord_sys::is_in_foreground;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Passes signals on to the command; may be used from another thread.
#[derive(Clone, Debug)]
pub struct ShellOrders(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    wake: EventFd,
    waiting: Mutex<Vec<Signal>>,
}

impl ShellOrders {
    /// Orders that nobody has given yet.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new() -> io::Result<ShellOrders> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = EventFd::from_flags(flags)?;
        Ok(ShellOrders(Arc::new(Inner { wake, waiting: Mutex::default() })))
    }

    /// The command is to get the signal of this number. After SIGTERM and SIGHUP it has two seconds
    /// to end; then it is killed.
    pub fn signal(&self, number: i32) {
        if let Ok(signal) = Signal::try_from(number) {
            self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
            // It can only fail when the counter is full, and then it is set.
            let _ = self.0.wake.write(1);
        }
    }

    /// This process got a signal: it is passed on, unless it came from a key and the command, which
    /// is part of the same job at the terminal, got it too.
    pub fn received(&self, number: i32) {
        let from_key = matches!(number, libc::SIGINT | libc::SIGQUIT);
        if !(from_key && is_in_foreground()) {
            self.signal(number);
        }
    }

    /// What has been given since the last time.
    pub(super) fn take(&self) -> Vec<Signal> {
        // Nothing to read is nothing to do.
        let _ = self.0.wake.read();
        std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for ShellOrders {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }
}

/// Whether a signal asks a command to end for good: one that goes on nevertheless is killed after a
/// while. SIGINT does not: what it means is the command's affair.
pub(super) fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::SIGTERM | Signal::SIGHUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn orders_wake_once_and_are_taken_once() {
        let orders = ShellOrders::new().expect("a descriptor");
        let other = orders.clone();
        other.signal(libc::SIGTERM);
        other.signal(libc::SIGINT);
        other.signal(-1);
        assert_eq!(orders.take(), [Signal::SIGTERM, Signal::SIGINT]);
        assert_eq!(orders.take(), []);
        assert!(orders.as_fd().as_raw_fd() >= 0);
    }
}
