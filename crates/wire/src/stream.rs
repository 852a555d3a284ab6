//! The bytes of a connection by their offset in the stream, for drivers that move real ones. The TCP
//! endpoint holds none itself: it deals in offsets, and asks for or hands over the bytes at them.

use std::collections::VecDeque;

/// Bytes written by the application and not yet acknowledged by the peer.
#[derive(Debug, Default)]
pub struct SendBuffer {
    bytes: VecDeque<u8>,
    /// Stream offset of the first byte kept.
    start: u64,
}

impl SendBuffer {
    /// Appends bytes at the end of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Stream offset after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Copies the `len` bytes at stream offset `at` to the end of `out`; nothing, and `out` as it
    /// was, if they are not all here.
    pub fn copy(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Option<()> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(len).filter(|to| *to <= self.bytes.len())?;
        let (front, back) = self.bytes.as_slices();
        let cut = front.len();
        out.extend_from_slice(&front[from.min(cut)..to.min(cut)]);
        out.extend_from_slice(&back[from.max(cut) - cut..to.max(cut) - cut]);
        Some(())
    }

    /// Forgets everything below stream offset `acked`.
    pub fn forget_below(&mut self, acked: u64) {
        let count = acked.saturating_sub(self.start).min(self.bytes.len() as u64);
        self.bytes.drain(..count as usize);
        self.start += count;
    }
}

/// Bytes received and not yet read by the application, in order or not.
///
/// A ring that grows up to the length of the receive window: the endpoint accepts nothing beyond it,
/// so every byte it accepts has its place; a connection whose reader keeps up needs a small part of
/// a large window.
#[derive(Debug)]
pub struct ReceiveBuffer {
    ring: Vec<u8>,
    window: usize,
    /// Stream offset of the next byte to be read.
    start: u64,
}

/// Length of a ring that has something in it.
const SMALLEST_RING: usize = 4096;

impl ReceiveBuffer {
    /// A buffer for a receive window of `window` bytes.
    pub fn new(window: usize) -> ReceiveBuffer {
        ReceiveBuffer { ring: Vec::new(), window, start: 0 }
    }

    /// Puts bytes at stream offset `at`; what is already read or beyond the window is left out.
    pub fn put(&mut self, at: u64, bytes: &[u8]) {
        let old = self.start.saturating_sub(at).min(bytes.len() as u64);
        let bytes = &bytes[old as usize..];
        let at = at + old;
        let room = (self.start + self.window as u64).saturating_sub(at);
        let bytes = &bytes[..bytes.len().min(room as usize)];
        if bytes.is_empty() {
            return;
        }
        self.grow((at - self.start) as usize + bytes.len());
        let from = self.place(at);
        let to_end = bytes.len().min(self.ring.len() - from);
        self.ring[from..from + to_end].copy_from_slice(&bytes[..to_end]);
        self.ring[..bytes.len() - to_end].copy_from_slice(&bytes[to_end..]);
    }

    /// Moves the next `len` bytes of the stream to the end of `out`.
    ///
    /// # Panics
    /// If the window is shorter than that.
    pub fn read(&mut self, len: usize, out: &mut Vec<u8>) {
        self.peek(len, out);
        self.start += len as u64;
    }

    /// Copies the next `len` bytes of the stream to the end of `out`; they stay to be read.
    ///
    /// # Panics
    /// If the window is shorter than that.
    pub fn peek(&self, len: usize, out: &mut Vec<u8>) {
        let from = self.place(self.start);
        let to_end = len.min(self.ring.len() - from);
        out.extend_from_slice(&self.ring[from..from + to_end]);
        out.extend_from_slice(&self.ring[..len - to_end]);
    }

    /// As many of the next `len` bytes of the stream as lie side by side, at least one if `len` and
    /// the window are not zero; they stay to be read.
    pub fn front(&self, len: usize) -> &[u8] {
        let from = self.place(self.start);
        &self.ring[from..from + len.min(self.ring.len() - from)]
    }

    /// The next `len` bytes of the stream have been read.
    pub fn skip(&mut self, len: usize) {
        self.start += len as u64;
    }

    /// Makes room for `len` bytes from the next one to be read on.
    fn grow(&mut self, len: usize) {
        let old = self.ring.len();
        if len <= old {
            return;
        }
        let new = len.next_power_of_two().max(SMALLEST_RING).min(self.window);
        let mut kept = Vec::with_capacity(old);
        self.peek(old, &mut kept);
        self.ring.clear();
        self.ring.resize(new, 0);
        let from = self.place(self.start);
        let to_end = old.min(new - from);
        self.ring[from..from + to_end].copy_from_slice(&kept[..to_end]);
        self.ring[..old - to_end].copy_from_slice(&kept[to_end..]);
    }

    fn place(&self, offset: u64) -> usize {
        if self.ring.is_empty() { 0 } else { (offset % self.ring.len() as u64) as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 251) as u8).collect()
    }

    #[test]
    fn sent_bytes_are_found_by_offset_until_they_are_acknowledged() {
        let stream = stream(10_000);
        let mut buffer = SendBuffer::default();
        let mut out = Vec::new();
        for (i, chunk) in stream.chunks(700).enumerate() {
            buffer.push(chunk);
            buffer.forget_below(500 * i as u64);
            out.clear();
            let at = 500 * i as u64;
            let len = (buffer.end() - at) as usize;
            buffer.copy(at, len, &mut out).expect("all there");
            assert_eq!(out, stream[at as usize..at as usize + len]);
        }
        assert_eq!(buffer.copy(0, 1, &mut out), None, "acknowledged");
        assert_eq!(buffer.copy(buffer.end(), 1, &mut out), None, "not written yet");
        assert_eq!(buffer.copy(buffer.end() - 5, usize::MAX, &mut out), None);
        buffer.forget_below(u64::MAX);
        assert_eq!(buffer.end(), 10_000);
    }

    #[test]
    fn out_of_order_and_repeated_segments_come_out_as_the_stream() {
        let stream = stream(5_000);
        let mut buffer = ReceiveBuffer::new(1_000);
        let mut read = Vec::new();
        for base in (0..5_000).step_by(500) {
            for (from, to) in [(300, 500), (0, 200), (100, 400), (0, 500)] {
                let (from, to) = (base + from, base + to);
                buffer.put(from as u64, &stream[from..to]);
            }
            // Bytes from before the window are left out.
            buffer.put(base.saturating_sub(50) as u64, &stream[base.saturating_sub(50)..base + 10]);
            buffer.read(500, &mut read);
        }
        assert_eq!(read, stream);
    }

    #[test]
    fn a_ring_that_grows_keeps_what_is_in_it_and_stays_small_while_it_is_read() {
        let stream = stream(1_000_000);
        let mut buffer = ReceiveBuffer::new(200_000);
        let mut read = Vec::new();
        for chunk in stream[..500_000].chunks(1_460) {
            buffer.put(read.len() as u64, chunk);
            buffer.read(chunk.len(), &mut read);
        }
        assert_eq!(buffer.ring.len(), SMALLEST_RING);
        // A hole of one byte, and what is behind it in pieces: the ring grows around both.
        let mut end = read.len() + 1;
        while end < 690_000 {
            let to = end + 1_460;
            buffer.put(end as u64, &stream[end..to]);
            end = to;
        }
        assert_eq!(buffer.ring.len(), 200_000, "no longer than the window");
        buffer.put(read.len() as u64, &stream[read.len()..read.len() + 1]);
        while read.len() < end {
            let front = buffer.front(end - read.len());
            assert!(!front.is_empty());
            read.extend_from_slice(front);
            buffer.skip(read.len() - buffer.start as usize);
        }
        assert_eq!(read, stream[..end]);
    }

    #[test]
    fn what_lies_beyond_the_window_does_not_overwrite_it() {
        let mut buffer = ReceiveBuffer::new(4);
        buffer.put(0, b"abcdefgh");
        buffer.put(4, b"xyz");
        buffer.put(u64::MAX - 1, b"z");
        let mut read = Vec::new();
        buffer.read(4, &mut read);
        assert_eq!(read, b"abcd");
    }

    #[test]
    fn what_is_peeked_at_is_still_there_to_be_read() {
        let mut buffer = ReceiveBuffer::new(8);
        buffer.put(0, b"abcdef");
        let mut out = Vec::new();
        buffer.read(4, &mut out);
        buffer.put(6, b"ghij");
        buffer.peek(6, &mut out);
        buffer.read(6, &mut out);
        assert_eq!(out, b"abcdefghijefghij");
    }
}
