//! Nothing of a kernel's by chance: from outside no random numbers and no addresses of chance, from within
//! numbers that follow from a word.

#![allow(unsafe_code, reason = "bare system calls, and an ioctl that has no wrapper in nix")]

use nix::errno::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// 2023-11-14 22:13:20 UTC: what time of day it is at a kernel when it starts.
pub(crate) const FIRST_NANOSECOND: u64 = 1_700_000_000_000_000_000;
/// `RNDADDENTROPY` of `linux/random.h`.
const RNDADDENTROPY: libc::c_ulong = 0x4008_5203;
/// Words of random numbers that a kernel begins with.
const WORDS: usize = 8;

/// `struct rand_pool_info`, with room.
#[repr(C)]
struct Pool {
    bits: i32,
    bytes: i32,
    words: [u64; WORDS],
}

/// Takes chance from this process and what it becomes: between fork and exec. It neither allocates nor
/// takes a lock.
pub(crate) fn take_away() -> io::Result<()> {
    let mut filter = no_random_numbers();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain system calls; the filter lives through the call.
    unsafe {
        Errno::result(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong))?;
        Errno::result(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        let mode = libc::SECCOMP_MODE_FILTER;
        Errno::result(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program))?;
    }
    Ok(())
}

/// getrandom(2) is not there, all else is as it was.
fn no_random_numbers() -> [libc::sock_filter; 4] {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let number = libc::SYS_getrandom as u32;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    [
        // The number of the system call is the first word of what the filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Gives the kernel that this process runs on its random numbers: until it has some, whoever asks for one
/// waits for ever.
///
/// # Errors
/// Of `/dev/random`.
pub fn seed(text: &str) -> io::Result<()> {
    // FNV-1a, then SplitMix64: any function will do that spreads its bits.
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut pool = Pool { bits: 64 * WORDS as i32, bytes: 8 * WORDS as i32, words: [0; WORDS] };
    for word in &mut pool.words {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = mixed ^ (mixed >> 31);
    }
    let random = File::options().read(true).write(true).open("/dev/random")?;
    // SAFETY: the request is of the form that this ioctl asks for and lives through the call.
    let done = unsafe { libc::ioctl(random.as_raw_fd(), RNDADDENTROPY, &raw const pool) };
    Errno::result(done)?;
    Ok(())
}
