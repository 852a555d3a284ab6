//! Blocks of memory that a kernel fills with packets (packet(7), TPACKET_V3).

use super::filter::Wanted;
use super::seen::Seen;
use super::set;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::mem::offset_of;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// How long a block waits for more, milliseconds.
const BLOCK_TIMEOUT_MS: u32 = 1;

/// The blocks of a socket.
#[derive(Debug)]
pub(super) struct Blocks {
    memory: NonNull<u8>,
    /// Bytes of a block.
    len: usize,
    count: usize,
    /// The block that is read next.
    next: usize,
}

// SAFETY: the memory is this ring's alone, but for the kernel.
unsafe impl Send for Blocks {}

impl Blocks {
    /// For a socket that hears nothing yet.
    pub(super) fn new(socket: &OwnedFd, wanted: Wanted) -> io::Result<Blocks> {
        set(socket, libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V3 as libc::c_int)?;
        let (len, count) = (wanted.block(), wanted.blocks());
        let request = libc::tpacket_req3 {
            tp_block_size: len as u32,
            tp_block_nr: count as u32,
            tp_frame_size: len as u32,
            tp_frame_nr: count as u32,
            tp_retire_blk_tov: BLOCK_TIMEOUT_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(socket, libc::PACKET_RX_RING, request)?;
        let all = NonZeroUsize::new(len * count).expect("more than nothing");
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of the ring that was just asked for, of its length.
        let memory = unsafe { mmap(None, all, access, MapFlags::MAP_SHARED, socket, 0)? }.cast();
        Ok(Blocks { memory, len, count, next: 0 })
    }

    /// Shows every packet of the blocks that are full. Answers how many there were.
    pub(super) fn read(&mut self, show: &mut impl FnMut(&Seen<'_>)) -> u32 {
        let mut shown = 0;
        for _ in 0..self.count {
            let Some(block) = self.full_block() else { break };
            shown += self.show_block(block, show);
            // SAFETY: the status word of a block, in the mapping and aligned. What was read of the block
            // was read before.
            let status = unsafe { AtomicU32::from_ptr(block_header(block, status_at()).as_ptr()) };
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.count;
        }
        shown
    }

    /// The next block, if it is ours.
    fn full_block(&self) -> Option<NonNull<u8>> {
        // SAFETY: `next` is below the number of blocks, so this is inside of the mapping; the status is aligned.
        let block = unsafe { self.memory.add(self.next * self.len) };
        let status = unsafe { AtomicU32::from_ptr(block_header(block, status_at()).as_ptr()) };
        (status.load(Ordering::Acquire) & libc::TP_STATUS_USER != 0).then_some(block)
    }

    fn show_block(&self, block: NonNull<u8>, show: &mut impl FnMut(&Seen<'_>)) -> u32 {
        let header = offset_of!(libc::tpacket_block_desc, hdr);
        let word = |at| {
            let word = block_header(block, header + at);
            // SAFETY: a word of the block's header, aligned. The block is ours until its status says
            // otherwise: nobody writes there meanwhile.
            unsafe { word.read() }
        };
        let count = word(offset_of!(libc::tpacket_hdr_v1, num_pkts));
        let first = word(offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt)) as usize;
        // A slice over the status, which is stored to later, would have to outlive that store.
        let packets = first.clamp(size_of::<libc::tpacket_block_desc>(), self.len);
        // SAFETY: behind the header and inside of the block, which is ours until its status says otherwise.
        let bytes =
            unsafe { std::slice::from_raw_parts(block.add(packets).as_ptr(), self.len - packets) };
        let mut at = first.saturating_sub(packets);
        for _ in 0..count {
            let Some((packet, next)) = bytes.get(at..).and_then(Seen::in_block) else { break };
            show(&packet);
            at += next;
        }
        count
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, of the same length; nothing refers to it any more.
        let _ = unsafe { munmap(self.memory.cast::<c_void>(), self.len * self.count) };
    }
}

fn status_at() -> usize {
    offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status)
}

fn block_header(block: NonNull<u8>, at: usize) -> NonNull<u32> {
    // SAFETY: `at` is inside of a block's header.
    unsafe { block.add(at) }.cast()
}
