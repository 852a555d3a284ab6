//! Being told to stop, and timers without slack.

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Ends a live run from elsewhere, such as a signal handler's thread.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<EventFd>);

impl StopHandle {
    /// A handle that has not been used yet.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new() -> std::io::Result<StopHandle> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Ok(StopHandle(Arc::new(EventFd::from_flags(flags)?)))
    }

    /// Ends the run at the next opportunity; may be called any number of times.
    pub fn stop(&self) {
        // It can only fail when the counter is full, and then it is set.
        let _ = self.0.write(1);
    }

    /// Readable once the run is to end.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for StopHandle {
    /// Readable once the run is to end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Asks the kernel not to delay this thread's timers by its usual 50 µs to save power.
pub fn sharpen_timers() {
    // Where this is refused the lateness shows it.
    let _ = prctl::set_timerslack(1);
}
