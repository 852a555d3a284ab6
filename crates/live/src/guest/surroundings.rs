//! What a kernel needs before anything runs on it: file systems, limits, a line to tell on.

use nix::mount::{MsFlags, mount};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::{self, File, create_dir_all};
use std::io;
use std::path::Path;

/// Pages that all sockets of TCP may take: what a kernel with 768 MiB allows.
const TCP_MEM: &str = "9216 12288 18432";
/// Where the largest receive buffer is in bytes, and since 6.16.
const LARGEST_RECEIVE_BUFFER: [u32; 2] = [6 << 20, 32 << 20];
const SINCE: (u32, u32) = (6, 16);

/// All that has to be there before anything can be told; the line to tell it on.
///
/// # Panics
/// If the kernel has not even that: its console says so.
pub(super) fn prepare() -> File {
    mount_all().expect("file systems");
    fix_limits().expect("limits of TCP's memory");
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

/// A kernel bounds TCP's memory by what was free when it started, and this program's own size decides on
/// that: windows would be others with each of its versions. They are those of a machine with enough.
fn fix_limits() -> io::Result<()> {
    let most = LARGEST_RECEIVE_BUFFER[usize::from(release() >= SINCE)];
    let set =
        |name: &str, value: &str| fs::write(Path::new("/proc/sys/net/ipv4").join(name), value);
    set("tcp_mem", TCP_MEM)?;
    set("tcp_rmem", &format!("4096 131072 {most}"))
}

/// The kernel's version, of which two numbers are enough.
fn release() -> (u32, u32) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The serial line, on which every byte is as it was written.
fn line() -> io::Result<File> {
    let line = File::options().write(true).open("/dev/ttyS0")?;
    if let Ok(mut settings) = tcgetattr(&line) {
        cfmakeraw(&mut settings);
        tcsetattr(&line, SetArg::TCSANOW, &settings)?;
    }
    Ok(line)
}
