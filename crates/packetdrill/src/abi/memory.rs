//! The caller's memory, read and written through slices that live no longer than a call.
#![allow(unsafe_code, reason = "this is where pointers of C become slices")]

use libc::{iovec, msghdr, socklen_t};
use nix::errno::Errno;
use std::ffi::{c_int, c_void};

/// Most pieces of a vectored call (UIO_MAXIOV).
const MOST_PIECES: c_int = 1_024;

/// A copy of what lies at `at`: a slice would outlive the call that the caller answers for.
///
/// # Safety
/// `at` is null or points to `len` bytes that nobody changes during the call.
pub(super) unsafe fn bytes(at: *const c_void, len: usize) -> Result<Vec<u8>, Errno> {
    if len == 0 {
        return Ok(Vec::new());
    }
    if at.is_null() || len > isize::MAX as usize {
        return Err(Errno::EFAULT);
    }
    // SAFETY: not null, and the caller says that it is so long.
    Ok(unsafe { std::slice::from_raw_parts(at.cast(), len) }.to_vec())
}

/// Copies `bytes` to `at`.
///
/// # Safety
/// `at` is null or points to room for them.
pub(super) unsafe fn put(at: *mut c_void, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    if at.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: not null; the caller says that there is room; `bytes` is ours, so nothing overlaps.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast(), bytes.len()) };
    Ok(())
}

/// Reads one value, however it lies.
///
/// # Safety
/// `at` is null or points to a value of this type, of which every pattern of bits is one.
pub(super) unsafe fn get<T: Copy>(at: *const T) -> Result<T, Errno> {
    if at.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: not null, and the caller says that it is there.
    Ok(unsafe { at.read_unaligned() })
}

/// Writes one value, however it lies.
///
/// # Safety
/// `at` is null or points to room for a value of this type.
pub(super) unsafe fn set<T: Copy>(at: *mut T, value: T) -> Result<(), Errno> {
    if at.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: not null, and the caller says that there is room.
    unsafe { at.write_unaligned(value) };
    Ok(())
}

/// The pieces of a vectored call.
///
/// # Safety
/// `at` is null or points to `count` values of `struct iovec`.
pub(super) unsafe fn pieces(at: *const iovec, count: c_int) -> Result<Vec<iovec>, Errno> {
    if !(0..=MOST_PIECES).contains(&count) {
        return Err(Errno::EINVAL);
    }
    // SAFETY: as the caller says.
    (0..count as usize).map(|index| unsafe { get(at.wrapping_add(index)) }).collect()
}

/// Everything that the pieces hold, one after another.
///
/// # Safety
/// As for [`bytes`], of each piece.
pub(super) unsafe fn gather(pieces: &[iovec]) -> Result<Vec<u8>, Errno> {
    let mut all = Vec::new();
    for piece in pieces {
        // SAFETY: as the caller says.
        all.append(&mut unsafe { bytes(piece.iov_base, piece.iov_len) }?);
    }
    Ok(all)
}

/// Bytes that the pieces have room for.
pub(super) fn room(pieces: &[iovec]) -> Result<usize, Errno> {
    let add = |sum: usize, piece: &iovec| sum.checked_add(piece.iov_len);
    let sum = pieces.iter().try_fold(0, add).filter(|&sum| sum <= isize::MAX as usize);
    sum.ok_or(Errno::EINVAL)
}

/// Fills the pieces, one after another.
///
/// # Safety
/// As for [`put`], of each piece.
pub(super) unsafe fn scatter(pieces: &[iovec], mut bytes: &[u8]) -> Result<(), Errno> {
    for piece in pieces {
        let (here, rest) = bytes.split_at(piece.iov_len.min(bytes.len()));
        // SAFETY: as the caller says; `here` is no longer than the piece.
        unsafe { put(piece.iov_base, here) }?;
        bytes = rest;
    }
    Ok(())
}

/// Copies as much of `bytes` as `*len` has room for to `at`, and says in `*len` how long it is: with
/// `Said::Whole` all of it, with `Said::Copied` what was copied.
///
/// # Safety
/// `len` is null or points to a length, `at` is null or points to as many bytes.
pub(super) unsafe fn put_within(
    at: *mut c_void,
    len: *mut socklen_t,
    (bytes, said): (&[u8], Said),
) -> Result<(), Errno> {
    // SAFETY: as the caller says.
    let room = unsafe { get(len) }?;
    if room > i32::MAX as socklen_t {
        return Err(Errno::EINVAL);
    }
    let copied = &bytes[..bytes.len().min(room as usize)];
    // SAFETY: as the caller says; no more is copied than there is room for.
    unsafe { put(at, copied) }?;
    let told = if said == Said::Whole { bytes.len() } else { copied.len() };
    // SAFETY: as the caller says.
    unsafe { set(len, told as socklen_t) }
}

/// Puts a control message that is an integer, if there is one and room for it; the answer is how
/// many bytes of control messages there are.
///
/// # Safety
/// `header` has room for control messages as it says.
pub(super) unsafe fn put_control(
    header: &msghdr,
    (level, kind): (c_int, c_int),
    value: Option<c_int>,
) -> Result<usize, Errno> {
    // A struct cmsghdr (16 bytes), the integer, and padding to a multiple of eight.
    const USED: usize = 20;
    const SPACE: usize = 24;
    let room = header.msg_controllen;
    let Some(value) = value.filter(|_| room >= USED) else { return Ok(0) };
    let mut message = [0_u8; SPACE];
    message[..8].copy_from_slice(&(USED as u64).to_ne_bytes());
    message[8..12].copy_from_slice(&level.to_ne_bytes());
    message[12..16].copy_from_slice(&kind.to_ne_bytes());
    message[16..20].copy_from_slice(&value.to_ne_bytes());
    let len = room.min(SPACE);
    // SAFETY: as the caller says; no more than there is room for.
    unsafe { put(header.msg_control, &message[..len]) }?;
    Ok(len)
}

/// Which length a caller is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Whole,
    Copied,
}
