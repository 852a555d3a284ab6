//! A capture in blocks that several threads parse at the same time.
//!
//! ```text
//! fill ──────────► locate ──────────► parse
//! of a file: at    in order: where    at the same time:
//! the same time    frames begin       headers
//! ```
//!
//! Each thread takes one block through all three steps. What frames depend on each other by (where the next
//! one begins, their numbers, the interfaces of pcapng) is read while they are located, in a few instructions
//! for each; all else is in the frame itself. The result is that of [`Reader::read`], whatever the number of
//! threads.

use super::buffer::CAPACITY;
use super::layers::{self, Stamp};
use super::source::{Progress, Source};
use super::tally::{Outcome, Tally};
use super::{Batch, Format, FrameAt, Next, Reader, Sink};
use crate::Seen;
use crate::in_order::InOrder;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a capture that are read at once. Shorter blocks make threads wait for each other more often.
pub(super) const BLOCK: usize = 1 << 20;

/// The rest of a capture.
pub(crate) struct Blocks<'a> {
    input: Input<'a>,
    /// Bytes of a block.
    len: usize,
    locator: InOrder<Locator<'a>>,
    /// Counts of what the frames of all blocks are.
    outcomes: Mutex<Tally>,
    progress: Progress,
    file: u16,
}

/// Where blocks come from.
enum Input<'a> {
    /// A file of which any part can be read at any time: from this position on, and the next block.
    File { file: &'a File, from: u64, next: AtomicU64 },
    /// Anything else, read by one thread at a time.
    Stream(Mutex<Stream<'a>>),
}

struct Stream<'a> {
    input: &'a mut (dyn Read + Send),
    /// At most this much is asked of the input at once.
    piece: usize,
    next: u64,
    ended: bool,
}

/// State from one block to the next.
struct Locator<'a> {
    format: &'a mut Format,
    tally: &'a mut Tally,
    source: &'a mut Source,
    damage: &'a mut Option<String>,
    ended: &'a mut bool,
    /// Bytes of a frame that is not complete yet.
    left: Vec<u8>,
    /// Position of the next byte in the capture.
    offset: u64,
    /// Bytes to be passed over, and the position at which they begin.
    skip: Option<(u64, u64)>,
}

/// A block of a capture, and the memory for the next one.
pub(crate) struct Block {
    /// Its number.
    pub(crate) index: u64,
    /// Its TCP packets.
    pub(crate) seen: Vec<Seen>,
    /// Room for the incomplete frame of the block before, then the block.
    bytes: Box<[u8]>,
    /// Bytes of the block.
    len: usize,
    /// Whether none follows, and the failure that ended the input.
    last: bool,
    failed: Option<io::Error>,
    frames: Vec<Located>,
}

/// A frame that is not parsed yet.
struct Located {
    at: usize,
    len: usize,
    link: u16,
    wire: u32,
    stamp: Stamp,
}

/// Notes frames that are found `base` bytes behind the beginning of a block's memory.
struct Notes<'a> {
    base: usize,
    frames: &'a mut Vec<Located>,
}

impl Sink for Notes<'_> {
    #[inline]
    fn take(&mut self, frame: &FrameAt<'_>) -> Option<Outcome> {
        let FrameAt { link, at, bytes, wire, stamp } = *frame;
        self.frames.push(Located { at: self.base + at, len: bytes.len(), link, wire, stamp });
        None
    }
}

impl Default for Block {
    fn default() -> Block {
        Block {
            index: 0,
            seen: Vec::new(),
            bytes: vec![0; CAPACITY + BLOCK].into_boxed_slice(),
            len: 0,
            last: false,
            failed: None,
            frames: Vec::new(),
        }
    }
}

impl Blocks<'_> {
    /// Splits the rest of what `reader` reads into blocks of `len` bytes.
    pub(super) fn of(reader: &mut Reader, len: usize) -> Blocks<'_> {
        let offset = reader.buffer.offset();
        let from = reader.buffer.end_offset();
        let progress = reader.source.progress();
        let (left, input, piece) = reader.buffer.split();
        let input = match &reader.plain {
            Some(file) => Input::File { file, from, next: AtomicU64::new(0) },
            None => Input::Stream(Mutex::new(Stream { input, piece, next: 0, ended: false })),
        };
        let locator = InOrder::new(Locator {
            format: &mut reader.format,
            tally: &mut reader.tally,
            source: &mut reader.source,
            damage: &mut reader.damage,
            ended: &mut reader.ended,
            left,
            offset,
            skip: None,
        });
        Blocks { input, len, locator, outcomes: Mutex::default(), progress, file: reader.file }
    }

    /// Reads the next block into `block`. Returns whether there was one.
    ///
    /// # Errors
    /// If the file or the pipe fails.
    pub(crate) fn next(&self, block: &mut Block) -> io::Result<bool> {
        if !self.fill(block) {
            return Ok(false);
        }
        let located =
            self.locator.take_turn(block.index, |locator| locator.locate(block, self.file));
        if !located.unwrap_or(Ok(false))? {
            return Ok(false);
        }
        let outcomes = block.parse();
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).add(&outcomes);
        Ok(true)
    }

    /// Reads the bytes of a block. Returns whether there may be any.
    fn fill(&self, block: &mut Block) -> bool {
        match &self.input {
            Input::File { file, from, next } => {
                block.index = next.fetch_add(1, Ordering::Relaxed);
                let from = from + block.index * self.len as u64;
                block.fill(self.len, self.len, |bytes, at| file.read_at(bytes, from + at));
                self.progress.came(block.len);
                if block.failed.is_some() {
                    self.progress.failed();
                }
                true
            }
            Input::Stream(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                if stream.ended {
                    return false;
                }
                block.index = stream.next;
                stream.next += 1;
                let piece = stream.piece;
                block.fill(self.len, piece, |bytes, _| stream.input.read(bytes));
                stream.ended = block.last;
                true
            }
        }
    }

    /// Stops all threads that wait for their block's turn.
    pub(crate) fn stop(&self) {
        self.locator.stop();
    }

    /// Adds the counts of all blocks to those of the reader.
    pub(crate) fn finish(self) {
        let outcomes = self.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.locator.into_inner().tally.add(&outcomes);
    }

    /// Returns the share of the file that has been read, 0 to 1, if its size is known.
    pub(crate) fn progress(&self) -> Option<f64> {
        self.progress.share()
    }
}

impl Block {
    /// Reads until there are `len` bytes or the input ends, at most `piece` bytes at once.
    fn fill(
        &mut self,
        len: usize,
        piece: usize,
        mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    ) {
        (self.len, self.last, self.failed) = (0, false, None);
        while self.len < len && !self.last {
            let from = CAPACITY + self.len;
            let to = CAPACITY + len.min(self.len + piece);
            match read(&mut self.bytes[from..to], self.len as u64) {
                Ok(got) => {
                    self.len += got;
                    self.last = got == 0;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.last = true;
                    self.failed = Some(error);
                }
            }
        }
    }

    /// Parses the frames that were located. Returns the counts of what they are.
    fn parse(&mut self) -> Tally {
        let mut outcomes = Tally::default();
        self.seen.clear();
        for Located { at, len, link, wire, stamp } in self.frames.drain(..) {
            let bytes = &self.bytes[at..at + len];
            outcomes.count(layers::frame(link, bytes, wire, stamp, &mut self.seen));
        }
        outcomes
    }
}

impl Locator<'_> {
    /// Finds the frames of a block. Returns false if the capture ended before it.
    fn locate(&mut self, block: &mut Block, file: u16) -> io::Result<bool> {
        if *self.ended {
            return Ok(false);
        }
        let mut from = CAPACITY - self.left.len();
        let to = CAPACITY + block.len;
        block.bytes[from..CAPACITY].copy_from_slice(&self.left);
        self.left.clear();
        loop {
            if let Some((len, _)) = &mut self.skip {
                let here = (*len).min((to - from) as u64);
                from += here as usize;
                self.offset += here;
                *len -= here;
                if *len > 0 {
                    break;
                }
                self.skip = None;
            }
            let mut sink = Notes { base: from, frames: &mut block.frames };
            let mut batch = Batch { tally: self.tally, sink: &mut sink, file, limit: usize::MAX };
            let (used, next) = self.format.at_hand(&block.bytes[from..to], &mut batch);
            from += used;
            self.offset += used as u64;
            match next {
                Next::Need(_) | Next::Enough => break,
                Next::Skip(len) => self.skip = Some((len, self.offset)),
                Next::Damaged(what) => {
                    *self.damage = Some(self.source.damage(self.offset, &what));
                    *self.ended = true;
                    return Ok(true);
                }
            }
        }
        if block.last {
            *self.ended = true;
            self.end((to - from) as u64, block.failed.take())?;
        }
        self.left.extend_from_slice(&block.bytes[from..to]);
        Ok(true)
    }

    /// Notes how the input ended, with `rest` bytes that are no complete frame.
    fn end(&mut self, rest: u64, failed: Option<io::Error>) -> io::Result<()> {
        *self.damage = match (failed, self.skip) {
            (Some(error), _) => Some(self.source.failure(self.offset + rest, error)?),
            (None, Some((_, began))) => Some(self.source.damage(began, self.format.cut())),
            (None, None) if rest > 0 => Some(self.source.damage(self.offset, self.format.cut())),
            (None, None) => None,
        };
        Ok(())
    }
}
