//! What a kernel needs before anything runs on it: file systems, random numbers, a line to tell on.

#![allow(unsafe_code, reason = "an ioctl of the random number generator has no wrapper in nix")]

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::{File, create_dir_all};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// `RNDADDENTROPY` of `linux/random.h`.
const RNDADDENTROPY: libc::c_ulong = 0x4008_5203;
/// Words of random numbers that a kernel begins with.
const WORDS: usize = 8;

/// `struct rand_pool_info`, with room.
#[repr(C)]
struct Pool {
    bits: i32,
    octets: i32,
    words: [u64; WORDS],
}

/// All that has to be there before anything can be told; the line to tell it on.
///
/// # Panics
/// If the kernel has not even that: its console says so.
pub(super) fn prepare() -> File {
    mount_all().expect("file systems");
    line().expect("a serial line")
}

/// Mounts what programs expect to find.
fn mount_all() -> io::Result<()> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp"), ("tmpfs", "/run")] {
        create_dir_all(at)?;
        mount(Some(kind), Path::new(at), Some(kind), MsFlags::empty(), None::<&str>)?;
    }
    Ok(())
}

/// Gives the kernel its random numbers: until it has some, whoever asks for one waits for ever.
pub(super) fn seed(text: &str) -> io::Result<()> {
    // FNV-1a, then SplitMix64: any function will do that spreads its bits.
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut pool = Pool { bits: 64 * WORDS as i32, octets: 8 * WORDS as i32, words: [0; WORDS] };
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

/// The serial line, on which every octet is as it was written.
fn line() -> io::Result<File> {
    let line = File::options().write(true).open("/dev/ttyS0")?;
    if let Ok(mut settings) = tcgetattr(&line) {
        cfmakeraw(&mut settings);
        tcsetattr(&line, SetArg::TCSANOW, &settings)?;
    }
    Ok(line)
}
