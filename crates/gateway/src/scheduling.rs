//! Real-time scheduling of the calling thread, where the system allows it.

#![allow(unsafe_code, reason = "setting a thread's scheduler has no safe wrapper in nix")]

use nix::errno::Errno;
use std::mem::zeroed;

/// Asks that the calling thread go before all ordinary ones, and that its timers be exact. It has to wait
/// whenever nothing is due; its children are scheduled as usual.
///
/// # Errors
/// EPERM without CAP_SYS_NICE and without a real-time share.
pub(crate) fn go_first() -> Result<(), Errno> {
    // Where this is refused, timers are late by 50 µs.
    let _ = nix::sys::prctl::set_timerslack(1);
    // The lowest real-time priority: before all ordinary threads, after the system's own.
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Asks that the calling thread, and threads that it begins, go before most: by niceness, so that what forwards
/// packets in the kernel goes on being served however much there is to observe. Without CAP_SYS_NICE nothing
/// changes.
pub fn go_before_most() {
    // SAFETY: plain numbers; 0 is the calling thread.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) };
}

/// Whether the calling thread may go first; it does not afterwards.
///
/// # Errors
/// As of [`go_first`].
pub(crate) fn may_go_first() -> Result<(), Errno> {
    go_first()?;
    set(libc::SCHED_OTHER, 0)
}

fn set(policy: libc::c_int, priority: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the parameter is a plain structure that lives through the call; thread 0 is the calling one.
    unsafe {
        let mut parameter: libc::sched_param = zeroed();
        parameter.sched_priority = priority;
        Errno::result(libc::sched_setscheduler(0, policy, &raw const parameter)).map(drop)
    }
}
