//! Waiting for packets or for a deadline, to the nanosecond, and being told to stop.

use ackord_units::Span;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
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
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for StopHandle {
    /// Readable once the run is to end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What to wait for besides a deadline.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    /// The TUN device.
    pub(crate) tun: BorrowedFd<'a>,
    /// The namespace, which tells about its command.
    pub(crate) namespace: BorrowedFd<'a>,
    /// The order to stop.
    pub(crate) stop: &'a StopHandle,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    /// A packet can be read, or the device is gone.
    pub(crate) tun: bool,
    /// The namespace has news.
    pub(crate) namespace: bool,
    /// Somebody wants the run to end.
    pub(crate) stop: bool,
}

/// Waits until something is ready or `timeout` is over, whichever comes first.
pub(crate) fn wait_until(sources: Sources<'_>, timeout: Span) -> Result<Ready, Errno> {
    let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
    let stop = sources.stop.0.as_fd();
    let mut watched = [watch(sources.tun), watch(sources.namespace), watch(stop)];
    let nanos = timeout.as_nanos();
    let timeout = TimeSpec::new((nanos / 1_000_000_000) as i64, (nanos % 1_000_000_000) as i64);
    match ppoll(&mut watched, Some(timeout), None) {
        // A signal is nobody's deadline: the caller looks at the clock and comes back.
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(errno),
    }
    let [tun, namespace, stop] = watched.map(|fd| fd.any().unwrap_or(true));
    Ok(Ready { tun, namespace, stop })
}

/// Asks the kernel not to delay this thread's timers by its usual 50 µs to save power.
pub(crate) fn sharpen_timers() {
    // Where this is refused the lateness shows it.
    let _ = prctl::set_timerslack(1);
}
