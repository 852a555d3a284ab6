//! The beginning and the end of a process that only makes system calls.

#![allow(unsafe_code, reason = "a fork without what glibc and Rust do around one")]

use libc::c_int;

/// The bare system call: glibc's `fork` would take its allocator's locks, which another thread may
/// have held at the instant of the clone.
///
/// # Safety
/// No memory may be shared, and the child must only make system calls.
pub(super) unsafe fn clone(flags: c_int) -> c_int {
    // SAFETY: forwarded from the callers: a fork-like clone with no shared memory.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::c_long::from(flags), 0, 0, 0, 0) };
    pid as c_int
}

/// Ends the process without what a program does at its end, which is the driver's.
pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: nothing of this process is used any more.
    unsafe { libc::_exit(code) }
}
