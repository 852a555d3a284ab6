//! The allocator of the programs: when the system has no memory left, it says so.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. Where that returns nothing the process ends with a message and exit code 1:
/// Rust's own end is an abort, which looks like a defect.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: every call is passed on to the system's allocator as it came, and what that returns is
// returned. A null pointer, which callers must be ready for, is never returned.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller answers for the layout.
        present(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller answers for the layout.
        present(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller answers for the pointer, which the system's allocator made.
        unsafe { System.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller answers for the pointer, which the system's allocator made, and the size.
        present(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

#[inline]
fn present(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end_process(size);
    }
    pointer
}

/// Ends the process. Nothing here may ask for memory: standard error has no buffer.
#[cold]
fn end_process(size: usize) -> ! {
    eprintln!(
        "error: out of memory: the system refused {size} bytes\n  \
         = help: fewer flows, a shorter duration, smaller queues and buffers, or no captures and plots take less"
    );
    std::process::exit(1)
}
