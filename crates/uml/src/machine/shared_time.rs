//! The page of memory in which a kernel and its calendar tell each other the time.
//!
//! Layout: `struct um_timetravel_schedshm` of `linux/um_timetravel.h` (since Linux 6.12). A header of a
//! page, then a place for each client; the calendar is client 0 and the kernel client 1. Each machine
//! has a page of its own, since only one of them runs at a time.

use super::MachineError;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

/// The layout's version.
const VERSION: u32 = 2;
/// Two pages: the header, and the places of the clients.
const LEN: usize = 8192;
/// Where the fields are.
mod at {
    pub(super) const VERSION: usize = 0;
    pub(super) const LEN: usize = 4;
    pub(super) const FREE_UNTIL: usize = 8;
    pub(super) const CURRENT_TIME: usize = 16;
    pub(super) const RUNNING: usize = 24;
    pub(super) const CLIENTS: usize = 26;
    /// Of the calendar, and of the kernel: capabilities, then flags, then the time asked for.
    pub(super) const CALENDAR: usize = 4096;
    pub(super) const KERNEL: usize = CALENDAR + 128;
    pub(super) const FLAGS: usize = 4;
    pub(super) const REQUEST: usize = 8;
}
/// The number under which the kernel finds its place.
pub(super) const KERNEL_ID: u64 = 1;
/// A client that looks at the page instead of sending messages.
const SHARES_TIME: u32 = 1;
/// A client that wants to run.
const WANTS_TO_RUN: u32 = 1;

/// The page.
pub(super) struct SharedTime {
    file: Arc<File>,
    memory: MmapRegion,
}

impl SharedTime {
    pub(super) fn new() -> Result<SharedTime, MachineError> {
        let file = File::from(memfd_create(c"ackord-time", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(LEN as u64)?;
        let file = Arc::new(file);
        let place = FileOffset::from_arc(Arc::clone(&file), 0);
        let memory = MmapRegion::from_file(place, LEN).map_err(std::io::Error::other)?;
        let page = SharedTime { file, memory };
        page.put(at::VERSION, VERSION);
        page.put(at::LEN, LEN as u32);
        page.put(at::CLIENTS, 2_u16);
        page.put(at::CALENDAR, SHARES_TIME);
        Ok(page)
    }

    /// What the kernel is given to see the page.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Whether the kernel looks at the page; known once it has got it.
    pub(super) fn is_used(&self) -> bool {
        self.get::<u32>(at::KERNEL) & SHARES_TIME != 0
    }

    /// The kernel's turn: it is `now`, and up to `free_until` nothing happens but what it does itself.
    pub(super) fn kernel_runs(&self, now: u64, free_until: u64) {
        self.put(at::CURRENT_TIME, now);
        self.put(at::FREE_UNTIL, free_until);
        self.put(at::RUNNING, KERNEL_ID as u16);
    }

    /// The calendar's turn.
    pub(super) fn calendar_runs(&self) {
        self.put(at::RUNNING, 0_u16);
    }

    /// When the kernel wants to run.
    pub(super) fn request(&self) -> Option<u64> {
        let wants = self.get::<u32>(at::KERNEL + at::FLAGS) & WANTS_TO_RUN != 0;
        wants.then(|| self.get(at::KERNEL + at::REQUEST))
    }

    /// The calendar's turn: it is `now`.
    pub(super) fn set_now(&self, now: u64) {
        self.put(at::CURRENT_TIME, now);
    }

    /// What time the kernel has reached.
    pub(super) fn now(&self) -> u64 {
        self.get(at::CURRENT_TIME)
    }

    fn put<T: vm_memory::ByteValued>(&self, at: usize, value: T) {
        self.memory.get_ref(at).expect("within the page").store(value);
    }

    fn get<T: vm_memory::ByteValued>(&self, at: usize) -> T {
        self.memory.get_ref(at).expect("within the page").load()
    }
}
