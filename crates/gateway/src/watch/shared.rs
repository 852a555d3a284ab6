//! Between the gateway's loop, which waits for nobody, and the threads that answer.

use super::capture::Tap;
use super::{Reloaded, Status};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Captures at once.
pub(super) const CAPTURES: usize = 4;

/// What a gateway shows, and what it was asked.
///
/// No lock is held longer than it takes to swap a pointer or to add a tap.
#[derive(Debug, Default)]
pub struct Shared {
    told: ackord_daemon::Shared<Status>,
    taps: Mutex<Vec<Tap>>,
    /// Whether there is one: so that a turn of the loop costs no lock.
    has_taps: AtomicBool,
    captures: Arc<AtomicUsize>,
    reloads: Mutex<Vec<SyncSender<Reloaded>>>,
    has_reloads: AtomicBool,
}

impl Deref for Shared {
    type Target = ackord_daemon::Shared<Status>;

    fn deref(&self) -> &ackord_daemon::Shared<Status> {
        &self.told
    }
}

impl Shared {
    pub(super) fn offer(&self, tap: Tap) {
        self.taps().push(tap);
        self.has_taps.store(true, Ordering::Release);
    }

    /// The taps that were asked for since this was last called.
    pub(super) fn offered(&self) -> Vec<Tap> {
        match self.has_taps.swap(false, Ordering::Acquire) {
            true => std::mem::take(&mut *self.taps()),
            false => Vec::new(),
        }
    }

    /// Requests a reload from the loop; its outcome arrives here.
    pub(super) fn request_reload(&self) -> Receiver<Reloaded> {
        let (outcome, arrives) = sync_channel(1);
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
        self.has_reloads.store(true, Ordering::Release);
        arrives
    }

    /// Returns the requests for a reload since the last call. Each expects one outcome.
    pub fn reload_requests(&self) -> Vec<SyncSender<Reloaded>> {
        match self.has_reloads.swap(false, Ordering::Acquire) {
            true => {
                let mut reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *reloads)
            }
            false => Vec::new(),
        }
    }

    /// A thread that panicked left nothing half-done: every change is one assignment.
    fn taps(&self) -> std::sync::MutexGuard<'_, Vec<Tap>> {
        self.taps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more capture, if there is one.
    pub(super) fn place(&self) -> Option<Place> {
        if self.captures.fetch_add(1, Ordering::AcqRel) < CAPTURES {
            return Some(Place(Arc::clone(&self.captures)));
        }
        self.captures.fetch_sub(1, Ordering::AcqRel);
        None
    }
}

/// One of the captures that may be under way at once.
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
