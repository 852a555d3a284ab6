//! bpf(2), as far as test runs ask for it.

#![allow(unsafe_code, reason = "bpf(2) has no safe wrapper")]

use crate::assembler::Instruction;
use crate::frame::Template;
use crate::program::program;
use nix::errno::Errno;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd};

/// What is asked of the kernel (linux/bpf.h).
mod command {
    pub(super) const MAP_CREATE: u32 = 0;
    pub(super) const PROGRAM_LOAD: u32 = 5;
    pub(super) const PROGRAM_TEST_RUN: u32 = 10;
    pub(super) const LINK_CREATE: u32 = 28;
}

const MAP_TYPE_ARRAY: u32 = 2;
const PROGRAM_TYPE_XDP: u32 = 6;
/// BPF_F_TEST_XDP_LIVE_FRAMES (Linux 5.18): the packets go where the program sends them.
const LIVE_FRAMES: u32 = 1 << 1;

/// BPF_XDP, and XDP_FLAGS_SKB_MODE: a program sees what the stack has received already.
const AT_INTERFACE: u32 = 37;
const IN_THE_STACK: u32 = 1 << 1;
/// The loopback interface of any namespace.
const LOOPBACK: u32 = 1;

/// Packets of several kinds, which the kernel makes.
pub(crate) struct Offering {
    templates: Vec<Template>,
    program: OwnedFd,
    /// Where the program keeps whose turn it is.
    _kept: Vec<OwnedFd>,
    _link: OwnedFd,
}

impl Offering {
    /// # Errors
    /// Without CAP_BPF and CAP_NET_ADMIN.
    pub(crate) fn new(templates: Vec<Template>, connections: u32) -> io::Result<Offering> {
        let kept: Vec<OwnedFd> = templates.iter().map(|_| map()).collect::<io::Result<_>>()?;
        let maps = kept.iter().map(AsRawFd::as_raw_fd);
        let with_maps: Vec<(Template, i32)> = templates.into_iter().zip(maps).collect();
        let program = load(&program(&with_maps, connections))?;
        let link = keep_at_hand(&program)?;
        let templates = with_maps.into_iter().map(|(template, _)| template).collect();
        Ok(Offering { templates, program, _kept: kept, _link: link })
    }

    /// Offers so many of a kind, one right after the other.
    ///
    /// # Errors
    /// Before Linux 5.18.
    pub(crate) fn run(&self, kind: usize, count: u64) -> io::Result<()> {
        #[repr(C)]
        struct TestRun {
            prog_fd: u32,
            retval: u32,
            data_size_in: u32,
            data_size_out: u32,
            data_in: u64,
            data_out: u64,
            repeat: u32,
            duration: u32,
            ctx_size_in: u32,
            ctx_size_out: u32,
            ctx_in: u64,
            ctx_out: u64,
            flags: u32,
            cpu: u32,
            batch_size: u32,
        }
        if count == 0 {
            return Ok(());
        }
        let Template { interface, frame, .. } = &self.templates[kind];
        // struct xdp_md: where data begins and ends, its metadata, by which interface and queue it came and goes.
        let context = [0, frame.len() as u32, 0, *interface, 0, 0];
        let mut run = TestRun {
            prog_fd: self.program.as_raw_fd() as u32,
            retval: 0,
            data_size_in: frame.len() as u32,
            data_size_out: 0,
            data_in: frame.as_ptr() as u64,
            data_out: 0,
            repeat: count as u32,
            duration: 0,
            ctx_size_in: size_of_val(&context) as u32,
            ctx_size_out: 0,
            ctx_in: context.as_ptr() as u64,
            ctx_out: 0,
            flags: LIVE_FRAMES,
            cpu: 0,
            batch_size: 0,
        };
        bpf(command::PROGRAM_TEST_RUN, &mut run, "a test run with live frames").map(drop)
    }
}

/// A map of two numbers, both zero.
fn map() -> io::Result<OwnedFd> {
    #[repr(C)]
    struct MapCreate {
        map_type: u32,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
        map_flags: u32,
    }
    let (map_type, key_size, value_size) = (MAP_TYPE_ARRAY, 4, 8);
    let mut map = MapCreate { map_type, key_size, value_size, max_entries: 1, map_flags: 0 };
    bpf(command::MAP_CREATE, &mut map, "a map").map(descriptor)
}

fn load(code: &[Instruction]) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct ProgramLoad {
        prog_type: u32,
        insn_cnt: u32,
        insns: u64,
        license: u64,
        log_level: u32,
        log_size: u32,
        log_buf: u64,
    }
    let mut log = vec![0_u8; 1 << 16];
    let mut load = ProgramLoad {
        prog_type: PROGRAM_TYPE_XDP,
        insn_cnt: code.len() as u32,
        insns: code.as_ptr() as u64,
        license: c"MIT".as_ptr() as u64,
        log_level: 1,
        log_size: log.len() as u32,
        log_buf: log.as_mut_ptr() as u64,
    };
    let answer = bpf(command::PROGRAM_LOAD, &mut load, "a program").map_err(|error| {
        let said = String::from_utf8_lossy(&log);
        io::Error::other(format!("{error}: {}", said.trim_end_matches('\0')))
    })?;
    Ok(descriptor(answer))
}

/// Puts the program where it is in nobody's way. A kernel calls the programs that are attached anywhere more directly;
/// for one that is not it prepares that for each test run anew, and each time waits some ten milliseconds until no
/// processor can be in the middle of it.
fn keep_at_hand(program: &OwnedFd) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct LinkCreate {
        prog_fd: u32,
        target_ifindex: u32,
        attach_type: u32,
        flags: u32,
    }
    let mut link = LinkCreate {
        prog_fd: program.as_raw_fd() as u32,
        target_ifindex: LOOPBACK,
        attach_type: AT_INTERFACE,
        flags: IN_THE_STACK,
    };
    bpf(command::LINK_CREATE, &mut link, "a program at an interface").map(descriptor)
}

/// Carries out a command; the structure is the part of `union bpf_attr` that it reads.
fn bpf<T>(command: u32, attributes: &mut T, what: &str) -> io::Result<i32> {
    let size = size_of::<T>() as u32;
    // SAFETY: the attributes are a structure of this size whose pointers live through the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size) };
    let refused = |errno: Errno| io::Error::other(format!("the kernel refuses {what}: {errno}"));
    Errno::result(answer).map(|answer| answer as i32).map_err(refused)
}

fn descriptor(answer: i32) -> OwnedFd {
    // SAFETY: the kernel answers a new descriptor, which is nobody else's.
    unsafe { OwnedFd::from_raw_fd(answer) }
}
