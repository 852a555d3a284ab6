//! The bytes at hand: read in large pieces, looked at in place.

use std::io::{self, Read};

/// Bytes that can be at hand at once: more than any frame has.
pub(super) const CAPACITY: usize = 1 << 20;

/// A stretch of the input.
pub(super) struct Buffer {
    input: Box<dyn Read + Send>,
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    /// Where `start` is in the input.
    offset: u64,
    /// At most this much is asked of the input at once.
    piece: usize,
    /// How the input failed: it is not asked again.
    failed: Option<(io::ErrorKind, String)>,
}

impl Buffer {
    pub(super) fn new(input: Box<dyn Read + Send>, piece: usize) -> Buffer {
        let bytes = vec![0; CAPACITY].into_boxed_slice();
        Buffer { input, bytes, start: 0, end: 0, offset: 0, piece, failed: None }
    }

    /// What is at hand.
    #[inline]
    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where that begins in the input.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Where it ends.
    pub(super) fn end_offset(&self) -> u64 {
        self.offset + (self.end - self.start) as u64
    }

    /// The first `len` bytes at hand are done with.
    #[inline]
    pub(super) fn consume(&mut self, len: usize) {
        let len = len.min(self.end - self.start);
        self.start += len;
        self.offset += len as u64;
    }

    /// Reads on until `len` bytes are at hand; `false` if the input ends before that.
    pub(super) fn at_least(&mut self, len: usize) -> io::Result<bool> {
        debug_assert!(len <= CAPACITY);
        while self.end - self.start < len {
            if !self.refill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads and forgets `len` bytes; `false` if the input ends before that.
    pub(super) fn skip(&mut self, mut len: u64) -> io::Result<bool> {
        loop {
            let here = len.min((self.end - self.start) as u64);
            self.consume(here as usize);
            len -= here;
            if len == 0 {
                return Ok(true);
            }
            if !self.refill()? {
                return Ok(false);
            }
        }
    }

    /// One more piece; `false` at the end of the input, or if there is no room.
    fn refill(&mut self) -> io::Result<bool> {
        if let Some((kind, text)) = &self.failed {
            return Err(io::Error::new(*kind, text.clone()));
        }
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let to = self.end.saturating_add(self.piece).min(CAPACITY);
        loop {
            match self.input.read(&mut self.bytes[self.end..to]) {
                Ok(got) => {
                    self.end += got;
                    return Ok(got > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some((error.kind(), error.to_string()));
                    return Err(error);
                }
            }
        }
    }

    /// What is at hand, the rest of the input, and how much of it is to be asked for at once. Nothing is at hand
    /// any more then.
    pub(super) fn split(&mut self) -> (Vec<u8>, &mut (dyn Read + Send), usize) {
        let head = self.filled().to_vec();
        self.consume(head.len());
        (head, &mut *self.input, self.piece)
    }

    /// What is at hand, and the rest of the input.
    pub(super) fn into_input(self) -> Box<dyn Read + Send> {
        let head = self.filled().to_vec();
        Box::new(io::Cursor::new(head).chain(self.input))
    }
}

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The two bytes at `at`. Panics if they are not there.
    #[inline]
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let word = [bytes[at], bytes[at + 1]];
        match self {
            Order::Little => u16::from_le_bytes(word),
            Order::Big => u16::from_be_bytes(word),
        }
    }

    /// The four bytes at `at`. Panics if they are not there.
    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(word),
            Order::Big => u32::from_be_bytes(word),
        }
    }

    /// Eight bytes as a number.
    pub(super) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        }
    }
}
