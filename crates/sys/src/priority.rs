//! Real-time scheduling for the driver's thread, where the system allows it.

#![allow(unsafe_code, reason = "setting a thread's scheduler has no safe wrapper in nix")]

use std::mem::zeroed;

/// How the driver's thread was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// SCHED_FIFO: it ran as soon as it had something to do.
    RealTime,
    /// Like every other program, because the system did not allow more: rootless runs, and control
    /// groups without a real-time share.
    Ordinary,
}

/// How a driver's thread is to be scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Priority {
    /// Before all ordinary threads, where the system allows it.
    RealTime,
    /// Like every other program.
    #[default]
    Ordinary,
}

/// Real-time scheduling of the thread that made it, until it is dropped there.
#[derive(Debug)]
pub struct Urgency(Scheduling);

impl Urgency {
    /// Asks for real-time scheduling. The driver waits whenever nothing is due, so it cannot lock
    /// a processor up; children are scheduled as usual.
    pub fn ask() -> Urgency {
        // The lowest real-time priority: before all ordinary threads, after the system's own.
        let set = set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1);
        Urgency(if set { Scheduling::RealTime } else { Scheduling::Ordinary })
    }

    /// As `priority` says.
    pub fn of(priority: Priority) -> Urgency {
        match priority {
            Priority::RealTime => Urgency::ask(),
            Priority::Ordinary => Urgency(Scheduling::Ordinary),
        }
    }

    /// What came of it.
    pub fn scheduling(&self) -> Scheduling {
        self.0
    }
}

impl Drop for Urgency {
    fn drop(&mut self) {
        if self.0 == Scheduling::RealTime {
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
