//! Between the gateway's loop, which waits for nobody, and the threads that answer.

use super::Status;
use super::capture::Tap;
use ackord_daemon::monotonic_nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a gateway shows, and what it was asked.
///
/// No lock is held longer than it takes to swap a pointer.
#[derive(Debug)]
pub struct Shared {
    status: Mutex<Arc<Status>>,
    /// When the loop last came round, and the longest that it was away: nanoseconds.
    beat: AtomicU64,
    worst: AtomicU64,
    stop: AtomicBool,
    taps: Mutex<Vec<Tap>>,
    /// Whether there is one: so that a turn of the loop costs no lock.
    has_taps: AtomicBool,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            status: Mutex::default(),
            beat: AtomicU64::new(monotonic_nanos()),
            worst: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            taps: Mutex::default(),
            has_taps: AtomicBool::new(false),
        }
    }
}

impl Shared {
    /// The loop came round: to be called in each turn.
    pub fn beat(&self) {
        let now = monotonic_nanos();
        let before = self.beat.swap(now, Ordering::Relaxed);
        self.worst.fetch_max(now.saturating_sub(before), Ordering::Relaxed);
    }

    /// How it stands now: to be called once a second.
    pub fn publish(&self, status: Status) {
        let status = Arc::new(status);
        let before = std::mem::replace(&mut *lock(&self.status), status);
        // Whoever reads it may hold it still; it is freed outside of the lock.
        drop(before);
    }

    /// How it stood when it was last published, with the age of the heartbeat at this moment.
    pub fn status(&self) -> Status {
        let published = Arc::clone(&lock(&self.status));
        let age = monotonic_nanos().saturating_sub(self.beat.load(Ordering::Relaxed));
        let worst = self.worst.load(Ordering::Relaxed).max(age);
        Status {
            heartbeat_ms: age as f64 / 1e6,
            heartbeat_worst_ms: worst as f64 / 1e6,
            ..Status::clone(&published)
        }
    }

    /// Somebody wants it to end.
    pub fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Whether somebody wants it to end.
    pub fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub(super) fn offer(&self, tap: Tap) {
        lock(&self.taps).push(tap);
        self.has_taps.store(true, Ordering::Release);
    }

    /// The taps that were asked for since this was last called.
    pub(super) fn offered(&self) -> Vec<Tap> {
        match self.has_taps.swap(false, Ordering::Acquire) {
            true => std::mem::take(&mut *lock(&self.taps)),
            false => Vec::new(),
        }
    }
}

/// A thread that panicked left nothing half-done: every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_ages_until_the_loop_comes_round() {
        let shared = Shared::default();
        shared.publish(Status { flows: 7, heartbeat_ms: 1e9, ..Status::default() });
        let first = shared.status();
        assert_eq!(first.flows, 7);
        let later = shared.status();
        assert!(later.heartbeat_ms >= first.heartbeat_ms && later.heartbeat_ms < 1e9);
        shared.beat();
        let worst = shared.status().heartbeat_worst_ms;
        assert!(worst >= later.heartbeat_ms, "{worst} {later:?}");
    }

    #[test]
    fn a_wish_to_stop_stays() {
        let shared = Shared::default();
        assert!(!shared.is_to_stop());
        shared.ask_to_stop();
        assert!(shared.is_to_stop() && shared.is_to_stop());
    }
}
