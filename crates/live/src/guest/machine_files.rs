//! The machine's own files on a kernel: programs read them, and what they write stays inside.
//!
//! ```text
//! /machine   hostfs of /, read-only ─┐
//! /written   tmpfs ──────────────────┴─► /root: an overlay, with proc, sys and dev of this kernel
//! ```
//!
//! From then on everything happens in `/root`, for this program too. It is no jail: programs are
//! administrators of the kernel, as far as its process may go on the machine.
//!
//! Not modelled: the machine's devices, its sockets with names, its extended attributes.

use super::messages::ProgramPlace;
use ackord_sys::replace_environment;
use nix::mount::{MsFlags, mount};
use nix::unistd::{chroot, dup2_stdin};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;

/// Where the machine's files are seen, and where what is written goes.
const MACHINE: &str = "/machine";
const WRITTEN: &str = "/written";
/// Both together.
const ROOT: &str = "/root";
/// What is this kernel's and not the machine's: what kind, where, with which options.
const OWN: [(&str, &str, &str); 5] = [
    ("proc", "/proc", ""),
    ("sysfs", "/sys", ""),
    ("devtmpfs", "/dev", ""),
    ("devpts", "/dev/pts", "mode=0620,ptmxmode=0666"),
    ("tmpfs", "/dev/shm", "mode=1777"),
];
/// Names of what a program has open.
const STREAMS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];
/// Characters of a host's name that Linux takes.
const LONGEST_NAME: usize = 64;

/// Brings this program, and with it all that it starts, among the machine's files.
pub(super) fn enter(place: &ProgramPlace, host: &str) -> io::Result<()> {
    for folder in [MACHINE, WRITTEN, ROOT] {
        fs::create_dir_all(folder)?;
    }
    mounted("hostfs", MACHINE, (MsFlags::MS_RDONLY, "/"))?;
    mounted("tmpfs", WRITTEN, (MsFlags::empty(), "mode=0755"))?;
    let (upper, work) = (format!("{WRITTEN}/upper"), format!("{WRITTEN}/work"));
    fs::create_dir(&upper)?;
    fs::create_dir(&work)?;
    let layers = format!("lowerdir={MACHINE},upperdir={upper},workdir={work}");
    mounted("overlay", ROOT, (MsFlags::empty(), &layers))?;
    chroot(ROOT)?;
    std::env::set_current_dir("/")?;
    for (kind, at, options) in OWN {
        fs::create_dir_all(at)?;
        mounted(kind, at, (MsFlags::empty(), options))?;
    }
    for (what, name) in STREAMS {
        symlink(what, name)?;
    }
    let name: String = host.chars().take(LONGEST_NAME).collect();
    fs::write("/proc/sys/kernel/hostname", name)?;
    // A program that is killed for want of memory would look like one that failed by itself.
    fs::write("/proc/sys/vm/panic_on_oom", "1")?;
    std::env::set_current_dir(&place.folder).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot enter {}: {error}", place.folder))
    })?;
    dup2_stdin(File::open("/dev/null")?)?;
    replace_environment(&place.environment)
}

fn mounted(kind: &str, at: &str, (flags, options): (MsFlags, &str)) -> io::Result<()> {
    mount(Some(kind), at, Some(kind), flags, Some(options)).map_err(|errno| {
        let error = io::Error::from(errno);
        io::Error::new(error.kind(), format!("cannot mount {kind} at {at}: {error}"))
    })
}
