//! A value that threads use one after the other, in the order of what they work on.
//!
//! A panic in a turn, and [`InOrder::stop`], release the threads that wait: they get no more turns.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A turn that never comes.
const STOPPED: u64 = u64::MAX;

/// A value with turns, counted from 0.
pub(crate) struct InOrder<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    turn: u64,
    value: T,
}

impl<T> InOrder<T> {
    pub(crate) fn new(value: T) -> InOrder<T> {
        InOrder { state: Mutex::new(State { turn: 0, value }), changed: Condvar::new() }
    }

    /// Waits for a turn and uses the value. Returns nothing once turns have been stopped.
    pub(crate) fn take_turn<R>(&self, turn: u64, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut state = self.lock();
        while state.turn != turn {
            if state.turn == STOPPED {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut turn = Turn { state, next: STOPPED, changed: &self.changed };
        let result = work(&mut turn.state.value);
        turn.next = turn.state.turn + 1;
        Some(result)
    }

    /// Returns the value, after all turns.
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).value
    }

    /// Stops all turns.
    pub(crate) fn stop(&self) {
        self.lock().turn = STOPPED;
        self.changed.notify_all();
    }

    /// Locks the state. A panic in a turn stops all turns, so that no thread uses the value after it.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One turn. Its end, or a panic in it, wakes the threads that wait.
struct Turn<'a, T> {
    state: MutexGuard<'a, State<T>>,
    next: u64,
    changed: &'a Condvar,
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.state.turn = self.next;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn threads_use_the_value_in_the_order_of_their_turns() {
        let taken = InOrder::new(Vec::new());
        thread::scope(|scope| {
            for first in 0..3 {
                let taken = &taken;
                scope.spawn(move || {
                    for turn in (first..300).step_by(3) {
                        taken.take_turn(turn, |all| all.push(turn));
                    }
                });
            }
        });
        assert_eq!(taken.take_turn(300, |all| all.clone()), Some((0..300).collect()));
    }

    #[test]
    fn a_panic_and_a_stop_release_those_that_wait() {
        let failing = InOrder::new(0);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| failing.take_turn(1, |value| *value));
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                failing.take_turn(0, |_| panic!("as a test does"));
            }));
            assert!(panicked.is_err());
            assert_eq!(waiting.join().expect("released"), None);
        });
        let stopped = InOrder::new(0);
        stopped.stop();
        assert_eq!(stopped.take_turn(0, |value| *value), None);
    }
}
