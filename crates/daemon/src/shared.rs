//! Between a daemon's loop, which waits for nobody, and the threads that answer.

use crate::monotonic_nanos;
use crate::status::Process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A daemon described: plain data with units in the names, filled in once a second.
pub trait Published: Clone + Default {
    /// Its process, whose heartbeat is of the moment of the answer.
    fn process(&mut self) -> &mut Process;
}

/// What a daemon shows, and whether it was asked to end.
///
/// No lock is held longer than it takes to swap a pointer.
#[derive(Debug)]
pub struct Shared<S> {
    status: Mutex<Arc<S>>,
    /// When the loop last came round, and the longest that it was away: nanoseconds.
    beat: AtomicU64,
    worst: AtomicU64,
    stop: AtomicBool,
}

impl<S: Default> Default for Shared<S> {
    fn default() -> Shared<S> {
        Shared {
            status: Mutex::default(),
            beat: AtomicU64::new(monotonic_nanos()),
            worst: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }
    }
}

impl<S> Shared<S> {
    /// The loop came round: to be called in each turn.
    pub fn beat(&self) {
        let now = monotonic_nanos();
        let before = self.beat.swap(now, Ordering::Relaxed);
        self.worst.fetch_max(now.saturating_sub(before), Ordering::Relaxed);
    }

    /// How it stands now: to be called once a second.
    pub fn publish(&self, status: S) {
        let status = Arc::new(status);
        let before = std::mem::replace(&mut *lock(&self.status), status);
        // Whoever reads it may hold it still; it is freed outside of the lock.
        drop(before);
    }

    /// Somebody wants it to end.
    pub fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Whether somebody wants it to end.
    pub fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

impl<S: Published> Shared<S> {
    /// How it stood when it was last published, with the age of the heartbeat at this moment.
    pub fn status(&self) -> S {
        let mut status = S::clone(&Arc::clone(&lock(&self.status)));
        let age = monotonic_nanos().saturating_sub(self.beat.load(Ordering::Relaxed));
        let worst = self.worst.load(Ordering::Relaxed).max(age);
        let process = status.process();
        process.heartbeat_ms = age as f64 / 1e6;
        process.heartbeat_worst_ms = worst as f64 / 1e6;
        status
    }
}

/// A thread that panicked left nothing half-done: every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Status {
        flows: u32,
        process: Process,
    }

    impl Published for Status {
        fn process(&mut self) -> &mut Process {
            &mut self.process
        }
    }

    #[test]
    fn a_heartbeat_ages_until_the_loop_comes_round() {
        let shared = Shared::default();
        let process = Process { heartbeat_ms: 1e9, ..Process::default() };
        shared.publish(Status { flows: 7, process });
        let first = shared.status();
        assert_eq!(first.flows, 7);
        let (first, later) = (first.process, shared.status().process);
        assert!(later.heartbeat_ms >= first.heartbeat_ms && later.heartbeat_ms < 1e9);
        shared.beat();
        let worst = shared.status().process.heartbeat_worst_ms;
        assert!(worst >= later.heartbeat_ms, "{worst} {later:?}");
    }

    #[test]
    fn a_wish_to_stop_stays() {
        let shared = Shared::<Status>::default();
        assert!(!shared.is_to_stop());
        shared.ask_to_stop();
        assert!(shared.is_to_stop() && shared.is_to_stop());
    }
}
