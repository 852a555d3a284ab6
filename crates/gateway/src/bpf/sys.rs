//! bpf(2): maps, programs and links, each behind a descriptor, with which it goes.

#![allow(unsafe_code, reason = "bpf(2) and a shared mapping have no safe wrapper")]

use super::assembler::Instruction;
use nix::errno::Errno;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// What is asked of the kernel (linux/bpf.h).
mod command {
    pub(super) const MAP_CREATE: u32 = 0;
    pub(super) const MAP_LOOKUP: u32 = 1;
    pub(super) const MAP_UPDATE: u32 = 2;
    pub(super) const MAP_DELETE: u32 = 3;
    pub(super) const PROGRAM_LOAD: u32 = 5;
    #[cfg(test)]
    pub(super) const PROGRAM_TEST_RUN: u32 = 10;
    pub(super) const LINK_CREATE: u32 = 28;
}

const MAP_TYPE_ARRAY: u32 = 2;
const MAP_TYPE_LRU_HASH: u32 = 9;
/// BPF_F_MMAPABLE (Linux 5.5).
const SHARED_WITH_PROCESS: u32 = 1 << 10;
/// BPF_PROG_TYPE_SCHED_CLS: programs of tc.
const PROGRAM_TYPE_TC: u32 = 3;
/// What of the helpers is for GPL programs alone is not used (bpf_ktime_get_ns since Linux 5.8).
const LICENSE: &std::ffi::CStr = c"MIT";
/// Room for what the verifier says.
const LOG: usize = 1 << 16;
/// Bytes of a mapping of an array with one value.
const PAGE: usize = 4096;

/// Carries out a command; the structure is the part of `union bpf_attr` that it reads.
fn bpf<T>(command: u32, attributes: &mut T) -> Result<i32, Errno> {
    let size = size_of::<T>() as u32;
    // SAFETY: the attributes are a structure of this size whose pointers live through the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size) };
    Errno::result(answer).map(|answer| answer as i32)
}

fn descriptor(answer: i32) -> OwnedFd {
    // SAFETY: a command that makes something answers a new descriptor, which is nobody else's.
    unsafe { OwnedFd::from_raw_fd(answer) }
}

fn failed(what: &str, errno: Errno) -> io::Error {
    io::Error::new(io::Error::from(errno).kind(), format!("{what}: {}", errno.desc()))
}

fn name_of(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let len = name.len().min(15);
    bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
    bytes
}

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
    inner_map_fd: u32,
    numa_node: u32,
    map_name: [u8; 16],
}

fn create(map: MapCreate) -> io::Result<OwnedFd> {
    allow_locked_memory();
    let mut map = map;
    bpf(command::MAP_CREATE, &mut map)
        .map(descriptor)
        .map_err(|errno| failed("the kernel makes no map", errno))
}

/// Before Linux 5.11 maps count as locked memory of the process. Where this is refused the map is too, and
/// says so.
fn allow_locked_memory() {
    let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain structure that lives through the call.
    let _ = unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const all) };
}

/// One number of 64 bits, which programs and this process see in the same memory.
#[derive(Debug)]
pub(crate) struct SharedWord {
    map: OwnedFd,
    memory: NonNull<c_void>,
}

// SAFETY: the memory is only touched as an atomic.
unsafe impl Send for SharedWord {}
// SAFETY: as above.
unsafe impl Sync for SharedWord {}

impl SharedWord {
    /// Zero.
    pub(crate) fn new(name: &str) -> io::Result<SharedWord> {
        let map = create(MapCreate {
            map_type: MAP_TYPE_ARRAY,
            key_size: 4,
            value_size: 8,
            max_entries: 1,
            map_flags: SHARED_WITH_PROCESS,
            map_name: name_of(name),
            ..MapCreate::default()
        })?;
        let len = NonZeroUsize::new(PAGE).expect("more than nothing");
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of the map's first page; an array's values begin there.
        let memory = unsafe { mmap(None, len, access, MapFlags::MAP_SHARED, &map, 0)? };
        Ok(SharedWord { map, memory })
    }

    /// The number.
    pub(crate) fn get(&self) -> &AtomicU64 {
        // SAFETY: the beginning of a page that stays mapped as long as this, only used as an atomic.
        unsafe { AtomicU64::from_ptr(self.memory.cast().as_ptr()) }
    }

    /// For programs.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.map.as_raw_fd()
    }
}

impl Drop for SharedWord {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, of the same length; nothing refers to it any more.
        let _ = unsafe { munmap(self.memory, PAGE) };
    }
}

/// Types that are read and written byte by byte.
///
/// # Safety
/// Without padding, and any bytes are a value.
pub(crate) unsafe trait Plain: Copy {}

/// A map of at most so many entries; where there is no room for another one, one that was not looked up for
/// long makes room.
#[derive(Debug)]
pub(crate) struct HashMap<K, V> {
    map: OwnedFd,
    kinds: PhantomData<fn(K) -> V>,
}

#[repr(C)]
struct MapAccess {
    map_fd: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl<K: Plain, V: Plain> HashMap<K, V> {
    pub(crate) fn new(name: &str, capacity: u32) -> io::Result<HashMap<K, V>> {
        let map = create(MapCreate {
            map_type: MAP_TYPE_LRU_HASH,
            key_size: size_of::<K>() as u32,
            value_size: size_of::<V>() as u32,
            max_entries: capacity.max(1),
            map_name: name_of(name),
            ..MapCreate::default()
        })?;
        Ok(HashMap { map, kinds: PhantomData })
    }

    fn access(&self, command: u32, key: &K, value: u64) -> Result<(), Errno> {
        let map_fd = self.map.as_raw_fd() as u32;
        let key = std::ptr::from_ref(key) as u64;
        bpf(command, &mut MapAccess { map_fd, key, value, flags: 0 }).map(drop)
    }

    /// The value of a key, as it was a moment ago.
    pub(crate) fn get(&self, key: &K) -> Result<Option<V>, Errno> {
        let mut value = std::mem::MaybeUninit::<V>::uninit();
        match self.access(command::MAP_LOOKUP, key, value.as_mut_ptr() as u64) {
            // SAFETY: the kernel has written all of its bytes, and any bytes are a value.
            Ok(()) => Ok(Some(unsafe { value.assume_init() })),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    pub(crate) fn set(&self, key: &K, value: &V) -> Result<(), Errno> {
        self.access(command::MAP_UPDATE, key, std::ptr::from_ref(value) as u64)
    }

    /// Whether it was there.
    pub(crate) fn remove(&self, key: &K) -> Result<bool, Errno> {
        match self.access(command::MAP_DELETE, key, 0) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// For programs.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.map.as_raw_fd()
    }
}

/// The end of a verifier's log: the last instruction and what is wrong with it, without its statistics.
fn complaint(log: &str) -> String {
    let lines = log.trim_end_matches('\0').lines().map(str::trim);
    let is_reason = |line: &&str| !line.is_empty() && !line.starts_with("processed ");
    let lines: Vec<&str> = lines.filter(is_reason).collect();
    lines[lines.len().saturating_sub(2)..].join(": ")
}

/// A program of tc that the kernel has verified.
#[derive(Debug)]
pub(crate) struct Program {
    program: OwnedFd,
    name: &'static str,
}

#[repr(C)]
struct ProgramLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
}

impl Program {
    /// # Errors
    /// EPERM without CAP_BPF and CAP_NET_ADMIN; otherwise what the verifier says.
    pub(crate) fn load(name: &'static str, code: &[Instruction]) -> io::Result<Program> {
        let mut log = Vec::new();
        let load = |log: &mut Vec<u8>| {
            bpf(
                command::PROGRAM_LOAD,
                &mut ProgramLoad {
                    prog_type: PROGRAM_TYPE_TC,
                    insn_cnt: code.len() as u32,
                    insns: code.as_ptr() as u64,
                    license: LICENSE.as_ptr() as u64,
                    log_level: u32::from(!log.is_empty()),
                    log_size: log.len() as u32,
                    log_buf: if log.is_empty() { 0 } else { log.as_mut_ptr() as u64 },
                    kern_version: 0,
                    prog_flags: 0,
                    prog_name: name_of(name),
                },
            )
        };
        match load(&mut log) {
            Ok(program) => Ok(Program { program: descriptor(program), name }),
            Err(errno @ (Errno::EINVAL | Errno::EACCES)) => {
                log.resize(LOG, 0);
                // For its log alone.
                let _ = load(&mut log).map(descriptor);
                let log = String::from_utf8_lossy(&log);
                Err(failed(&format!("the verifier refuses {name}: {}", complaint(&log)), errno))
            }
            Err(errno) => Err(failed(&format!("the kernel does not load {name}"), errno)),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.program.as_raw_fd()
    }

    /// Attaches it to an interface by TCX (Linux 6.6); it is there as long as what is answered.
    pub(crate) fn attach_by_tcx(&self, index: u32, attach_type: u32) -> Result<OwnedFd, Errno> {
        #[repr(C)]
        struct LinkCreate {
            prog_fd: u32,
            target_ifindex: u32,
            attach_type: u32,
            flags: u32,
            relative: u64,
            expected_revision: u64,
        }
        let mut create = LinkCreate {
            prog_fd: self.descriptor() as u32,
            target_ifindex: index,
            attach_type,
            flags: 0,
            relative: 0,
            expected_revision: 0,
        };
        bpf(command::LINK_CREATE, &mut create).map(descriptor)
    }

    /// Runs it on a frame: what it answers, and the frame afterwards.
    #[cfg(test)]
    pub(crate) fn run(&self, frame: &[u8], mark: u32) -> io::Result<(i32, Vec<u8>)> {
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
        }
        // A `__sk_buff` of which only the mark is set.
        let mut context = [0_u32; 48];
        context[2] = mark;
        let mut after = vec![0_u8; frame.len() + 64];
        let mut run = TestRun {
            prog_fd: self.descriptor() as u32,
            retval: 0,
            data_size_in: frame.len() as u32,
            data_size_out: after.len() as u32,
            data_in: frame.as_ptr() as u64,
            data_out: after.as_mut_ptr() as u64,
            repeat: 1,
            duration: 0,
            ctx_size_in: size_of_val(&context) as u32,
            ctx_size_out: 0,
            ctx_in: context.as_ptr() as u64,
            ctx_out: 0,
        };
        bpf(command::PROGRAM_TEST_RUN, &mut run).map_err(|errno| failed("no test run", errno))?;
        after.truncate(run.data_size_out as usize);
        Ok((run.retval as i32, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_the_last_instruction_and_its_defect() {
        let log = "0: (bf) r6 = r1\n109: (62) *(u32 *)(r10 -4) = 0\nattempt to corrupt spilled pointer on stack\n\
                   processed 79 insns (limit 1000000)\n\0\0";
        assert_eq!(
            complaint(log),
            "109: (62) *(u32 *)(r10 -4) = 0: attempt to corrupt spilled pointer on stack"
        );
        assert_eq!(complaint(""), "");
    }
}
