//! How much work a prediction may do.
//!
//! Two kinds of bounds. The caller decides when to stop: its closure is called within every model run and
//! every diagnosis of one, so a deadline or a signal takes effect in milliseconds. Independently, each
//! model run is bounded before it starts by [`MOST_PACKETS`] data packets, and while it runs by
//! [`MOST_CAPTURE`] bytes of capture. At most [`SEEDS`](super::SEEDS) runs exist at a time, which bounds
//! the memory of predictions whatever the connection was.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Data packets that one model run may send, retransmissions not counted.
pub const MOST_PACKETS: u64 = 30_000;
/// Bytes that the capture of one model run may have, kept in memory until it is diagnosed.
pub(super) const MOST_CAPTURE: usize = 10_000_000;
/// Packets that a queue of a model may hold.
pub(super) const MOST_QUEUED: u64 = 20_000;

/// The work that predictions may do: as long as a closure continues.
///
/// The library reads no clock. A caller that wants predictions to end after a while passes a closure that
/// compares its own clock with a deadline.
pub struct Allowance<'a> {
    go_on: &'a (dyn Fn() -> ControlFlow<()> + Sync),
    /// Set at the first `Break`, so that work in parallel threads ends too.
    stopped: AtomicBool,
    /// Data packets of a model run.
    packets: f64,
    /// Bytes of its capture.
    capture: usize,
}

/// The caller of a prediction has stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("prediction was stopped before it was finished")]
pub struct Stopped;

impl<'a> Allowance<'a> {
    /// Returns an allowance that ends when `go_on` returns `Break`. The closure is called from several
    /// threads, thousands of times a second.
    pub fn new(go_on: &'a (dyn Fn() -> ControlFlow<()> + Sync)) -> Allowance<'a> {
        let (packets, capture) = (MOST_PACKETS as f64, MOST_CAPTURE);
        Allowance { go_on, stopped: AtomicBool::new(false), packets, capture }
    }

    /// Returns an allowance without bounds, for models that are not made from captures.
    pub(crate) fn unlimited() -> Allowance<'static> {
        let (packets, capture) = (f64::INFINITY, usize::MAX);
        Allowance { packets, capture, ..Allowance::new(&|| ControlFlow::Continue(())) }
    }

    /// Whether a model run may have so many data packets.
    pub(crate) fn fits(&self, packets: f64) -> bool {
        packets <= self.packets
    }

    /// Returns `Break` if a capture has become too large, or once the caller has stopped the work.
    pub(crate) fn go_on_with(&self, capture: usize) -> ControlFlow<()> {
        if capture > self.capture { ControlFlow::Break(()) } else { self.go_on() }
    }

    /// Returns `Break` once the caller has stopped the work.
    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        if !self.is_stopped() && (self.go_on)().is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns an error once the caller has stopped the work.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.go_on().is_break() { Err(Stopped) } else { Ok(()) }
    }

    /// Whether work was ended by the caller.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
