//! Where a capture comes from: a file or a pipe, packed or not, and how far reading has come.

use super::buffer::{Buffer, CAPACITY};
use super::packed::{Input, Packing};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Packed in packed files is unpacked this often.
const MOST_PACKINGS: usize = 2;

/// Packed bytes, unpacked at once: what stands before damage is known but for such a piece.
const PIECE: usize = 32 << 10;

/// The input below all unpacking.
pub(super) struct Source {
    input: Option<Input>,
    /// Its length, where that is known.
    len: Option<u64>,
    came: Arc<Came>,
    packings: Vec<Packing>,
}

/// What has come of the input.
#[derive(Default)]
struct Came {
    bytes: AtomicU64,
    failed: AtomicBool,
}

/// How far reading has come, for any thread to see.
pub(super) struct Progress {
    len: Option<u64>,
    came: Arc<Came>,
}

impl Progress {
    /// The share of the input that was read, 0 to 1, if its length is known.
    pub(super) fn share(&self) -> Option<f64> {
        let bytes = self.came.bytes.load(Ordering::Relaxed);
        match self.len? {
            0 => Some(1.0),
            len => Some((bytes as f64 / len as f64).min(1.0)),
        }
    }

    /// Notes bytes that were read past the input: a part of a file, at its place.
    pub(super) fn came(&self, bytes: usize) {
        self.came.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that the file failed.
    pub(super) fn failed(&self) {
        self.came.failed.store(true, Ordering::Relaxed);
    }
}

/// An input that is watched.
struct Watched {
    input: Input,
    came: Arc<Came>,
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buf);
        match &got {
            Ok(got) => {
                self.came.bytes.fetch_add(*got as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.came.failed.store(true, Ordering::Relaxed),
        }
        got
    }
}

impl Source {
    pub(super) fn new(input: Input, len: Option<u64>) -> Source {
        let came = Arc::new(Came::default());
        let input: Input = Box::new(Watched { input, came: Arc::clone(&came) });
        Source { input: Some(input), len, came, packings: Vec::new() }
    }

    /// The input, unpacked if it is packed.
    pub(super) fn unpacked(&mut self) -> io::Result<Buffer> {
        let input = self.input.take().unwrap_or_else(|| Box::new(io::empty()));
        let mut buffer = Buffer::new(input, CAPACITY);
        while self.packings.len() < MOST_PACKINGS {
            // What is too short or broken is told by whoever looks at it next.
            let read = buffer.at_least(6);
            if self.failed() {
                read?;
            }
            let Some(packing) = Packing::of(buffer.filled()) else { break };
            self.packings.push(packing);
            buffer = Buffer::new(packing.unpacked(buffer.into_input()), PIECE);
        }
        Ok(buffer)
    }

    /// How it was packed, outermost last.
    pub(super) fn packings(&self) -> &[Packing] {
        &self.packings
    }

    /// Whether the input itself failed, not what is packed in it.
    pub(super) fn failed(&self) -> bool {
        self.came.failed.load(Ordering::Relaxed)
    }

    /// How far reading has come.
    pub(super) fn progress(&self) -> Progress {
        Progress { len: self.len, came: Arc::clone(&self.came) }
    }

    /// The damage that a failure to read on means, `offset` bytes behind the beginning of the capture.
    ///
    /// # Errors
    /// The failure itself, if the file or the pipe failed: a packed file that is damaged is no failure of the
    /// file system.
    pub(super) fn failure(&self, offset: u64, error: io::Error) -> io::Result<String> {
        if self.failed() { Err(error) } else { Ok(self.packing_damage(offset, &error)) }
    }

    /// Where and why the capture cannot be read on.
    pub(super) fn damage(&self, offset: u64, what: &str) -> String {
        let unpacked = if self.packings.is_empty() { "" } else { " of the unpacked capture" };
        format!("{what}, at byte {offset}{unpacked}")
    }

    /// The same where unpacking failed.
    pub(super) fn packing_damage(&self, offset: u64, error: &io::Error) -> String {
        let packing = self.packings.last().map_or("file", |packing| packing.name());
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof => "ends early".to_owned(),
            _ => format!("is damaged ({error})"),
        };
        format!("the {packing} data {why}, behind byte {offset} of the unpacked capture")
    }
}
