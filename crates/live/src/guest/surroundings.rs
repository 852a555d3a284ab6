//! What a kernel needs before anything runs on it: file systems, a line to tell on.

use nix::mount::{MsFlags, mount};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::{File, create_dir_all};
use std::io;
use std::path::Path;

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

/// The serial line, on which every octet is as it was written.
fn line() -> io::Result<File> {
    let line = File::options().write(true).open("/dev/ttyS0")?;
    if let Ok(mut settings) = tcgetattr(&line) {
        cfmakeraw(&mut settings);
        tcsetattr(&line, SetArg::TCSANOW, &settings)?;
    }
    Ok(line)
}
