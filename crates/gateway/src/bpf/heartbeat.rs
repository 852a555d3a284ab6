//! A sign of life that programs look at: where it is missing they let everything pass.

use super::sys::SharedWord;
use ackord_units::Span;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

/// Until when programs may take the process for alive: one store into memory that they see.
#[derive(Debug)]
pub(crate) struct Heartbeat(SharedWord);

impl Heartbeat {
    /// How long a beat holds. With the time between two beats it is below the 50 ms within which a process
    /// that was stopped must not matter any more.
    pub(crate) const HOLDS: Span = Span::from_millis(35);
    /// How often it has to beat, in order not to be taken for dead though something is late.
    pub(crate) const EVERY: Span = Span::from_millis(10);

    /// One that has not begun.
    pub(crate) fn new() -> io::Result<Heartbeat> {
        SharedWord::new("ackord_beat").map(Heartbeat)
    }

    /// Alive at this time.
    pub(crate) fn beat(&self, monotonic_nanos: u64) {
        self.0.get().store(monotonic_nanos + Heartbeat::HOLDS.as_nanos(), Ordering::Release);
    }

    /// Not alive, from now on.
    pub(crate) fn stop(&self) {
        self.0.get().store(0, Ordering::Release);
    }

    /// For programs.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.0.descriptor()
    }
}
