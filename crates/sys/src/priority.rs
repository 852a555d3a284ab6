//! Real-time scheduling for the driver's thread, where the system allows it.

#![allow(unsafe_code, reason = "setting a thread's scheduler has no safe wrapper in nix")]

use std::mem::zeroed;

/// Real-time scheduling of the thread that made it, until it is dropped there.
#[derive(Debug)]
pub struct Urgency(bool);

impl Urgency {
    /// Asks for SCHED_FIFO, if that is `wanted`: the thread runs as soon as it has something to do. It
    /// waits whenever nothing is due, so it cannot lock a processor up; children are scheduled as usual.
    pub fn of(wanted: bool) -> Urgency {
        // The lowest real-time priority: before all ordinary threads, after the system's own.
        Urgency(wanted && set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1))
    }

    /// Whether the system allowed it: not in rootless runs, and not in control groups without a
    /// real-time share.
    pub fn is_granted(&self) -> bool {
        self.0
    }
}

impl Drop for Urgency {
    fn drop(&mut self) {
        if self.0 {
            set_scheduler(libc::SCHED_OTHER, 0);
        }
    }
}

/// Sets the calling thread's scheduler and says whether the system agreed.
fn set_scheduler(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: the parameter is a plain structure that lives through the call; thread 0 is the
    // calling one.
    unsafe {
        let mut parameter: libc::sched_param = zeroed();
        parameter.sched_priority = priority;
        libc::sched_setscheduler(0, policy, &parameter) == 0
    }
}
