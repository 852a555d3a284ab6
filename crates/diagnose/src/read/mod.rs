//! Capture files of all sorts into packets as [`Seen`].
//!
//! | file | what |
//! | --- | --- |
//! | `source.rs`, `packed.rs` | files and pipes, packed or not: how far reading has come |
//! | `buffer.rs` | the bytes at hand |
//! | `blocks.rs` | a capture in blocks that several threads parse |
//! | `sniff.rs` | what a file is by its first bytes, and what to do if it is no capture |
//! | `error.rs` | [`OpenError`]: why a capture cannot be read at all |
//! | `pcap.rs`, `pcapng.rs`, `block.rs` | the two formats: frames with their times |
//! | `layers.rs`, `link.rs`, `device.rs`, `tunnel.rs`, `transport.rs` | frames down to TCP |
//! | `radio.rs`, `wifi.rs`, `airtime.rs` | frames of 802.11, their rates and airtimes |
//! | `tally.rs` | [`Kind`](tally::Kind): what is not TCP, counted |
//!
//! No frame is copied, and nothing is allocated by a length that a file claims. Checksums are not
//! verified: where a network card fills them in they are wrong in the capture.
//! Not modelled: reassembly of IP fragments; fragments of 802.11, frames of USB and Bluetooth.

mod airtime;
mod block;
mod blocks;
mod buffer;
mod device;
mod error;
mod layers;
mod link;
mod packed;
mod pcap;
mod pcapng;
mod radio;
mod sniff;
mod source;
mod tally;
#[cfg(test)]
mod tests;
mod transport;
mod tunnel;
mod wifi;

pub(crate) use blocks::{Block, Blocks};
pub use error::OpenError;

use crate::{CaptureRead, Seen};
use buffer::Buffer;
use layers::Stamp;
use pcap::Pcap;
use pcapng::Pcapng;
use source::Source;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tally::{Outcome, Tally};

/// Reads one capture, from its beginning to its end or to where it is damaged.
pub struct Reader {
    name: String,
    /// The file's number, for [`Seen::file`].
    file: u16,
    /// The file, if any part of it can be read at any time: a regular one that is not packed.
    plain: Option<File>,
    source: Source,
    buffer: Buffer,
    format: Format,
    tally: Tally,
    damage: Option<String>,
    ended: bool,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Why reading a batch of frames ended.
enum Stop {
    /// There were as many as asked for.
    Enough,
    /// The capture ends here.
    End,
    /// It goes on, but not in a way that can be read.
    Damaged {
        /// Where, in bytes from the beginning of the capture (unpacked).
        offset: u64,
        /// What is wrong there.
        what: String,
    },
}

impl Reader {
    /// Opens a capture file; `-` is standard input. `file` is its number among those to be read.
    ///
    /// # Errors
    /// [`OpenError`], which says what is there instead of a capture and what to do.
    pub fn open(path: &Path, file: u16) -> Result<Reader, OpenError> {
        if path == Path::new("-") {
            return Reader::from_reader("standard input", Box::new(io::stdin()), file);
        }
        let name = path.display().to_string();
        let failed = |source| OpenError::of_file(&name, source);
        let about = std::fs::metadata(path).map_err(failed)?;
        if about.is_dir() {
            return Err(OpenError::Directory { name });
        }
        let len = about.is_file().then_some(about.len());
        let input = File::open(path).map_err(failed)?;
        let plain = if about.is_file() { input.try_clone().ok() } else { None };
        let mut reader = Reader::over(&name, Source::new(Box::new(input), len), file)?;
        reader.plain = plain.filter(|_| reader.source.packings().is_empty());
        Ok(reader)
    }

    /// Reads a capture from anywhere; `name` is what it is called in messages.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn from_reader(
        name: &str,
        input: Box<dyn Read + Send>,
        file: u16,
    ) -> Result<Reader, OpenError> {
        Reader::over(name, Source::new(input, None), file)
    }

    fn over(name: &str, mut source: Source, file: u16) -> Result<Reader, OpenError> {
        let mut buffer = source.unpacked().map_err(|error| OpenError::of_file(name, error))?;
        let format = sniff::format(name, &mut buffer, &source)?;
        let tally = Tally::default();
        Ok(Reader {
            name: name.to_owned(),
            file,
            plain: None,
            source,
            buffer,
            format,
            tally,
            damage: None,
            ended: false,
        })
    }

    /// Reads at most `limit` frames, appends their TCP packets to `out`, and returns whether there may be
    /// more. A frame has several packets if it is an A-MSDU of 802.11, and none if it is not of TCP.
    ///
    /// # Errors
    /// If the file or the pipe fails. Damage is no error: what stands before it counts, and
    /// [`finish`](Reader::finish) tells of it.
    pub fn read(&mut self, out: &mut Vec<Seen>, limit: usize) -> Result<bool, io::Error> {
        if self.ended || limit == 0 {
            return Ok(!self.ended);
        }
        let batch = Batch { tally: &mut self.tally, sink: out, file: self.file, limit };
        match self.format.read(&mut self.buffer, batch) {
            Ok(Stop::Enough) => return Ok(true),
            Ok(Stop::End) => {}
            Ok(Stop::Damaged { offset, what }) => {
                self.damage = Some(self.source.damage(offset, &what));
            }
            Err(error) => {
                let failed = self.source.failure(self.buffer.end_offset(), error);
                self.damage = Some(failed?);
            }
        }
        self.ended = true;
        Ok(false)
    }

    /// Splits the rest of the capture into blocks.
    pub(crate) fn blocks(&mut self) -> Blocks<'_> {
        Blocks::of(self, blocks::BLOCK)
    }

    /// Which share of the file has been read, 0 to 1, if its size is known.
    pub fn progress(&self) -> Option<f64> {
        self.source.progress().share()
    }

    /// What was read.
    pub fn finish(self) -> CaptureRead {
        let (base, snap_len, dropped) = match &self.format {
            Format::Pcap(pcap) => (pcap.name(), pcap.snap_len(), None),
            Format::Pcapng(pcapng) => ("pcapng", pcapng.snap_len(), pcapng.dropped()),
        };
        let format = self
            .source
            .packings()
            .iter()
            .fold(base.to_owned(), |format, packing| format + ", " + packing.name());
        self.tally.into_read(CaptureRead {
            name: self.name,
            format,
            snap_len,
            dropped,
            damage: self.damage,
            ..CaptureRead::default()
        })
    }
}

/// The bytes of a capture file, unpacked if it is packed.
///
/// # Errors
/// If the file or the pipe fails.
pub fn unpacked(input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    Ok(Source::new(input, None).unpacked()?.into_input())
}

impl Format {
    /// Reads frames from `buffer`.
    fn read<S: Sink>(&mut self, buffer: &mut Buffer, mut batch: Batch<'_, S>) -> io::Result<Stop> {
        loop {
            let (used, next) = self.at_hand(buffer.filled(), &mut batch);
            buffer.consume(used);
            let offset = buffer.offset();
            let cut = Stop::Damaged { offset, what: self.cut().to_owned() };
            match next {
                Next::Enough => return Ok(Stop::Enough),
                Next::Damaged(what) => return Ok(Stop::Damaged { offset, what }),
                Next::Need(len) => {
                    if !buffer.at_least(len)? {
                        return Ok(if buffer.filled().is_empty() { Stop::End } else { cut });
                    }
                }
                Next::Skip(len) => {
                    if !buffer.skip(len)? {
                        return Ok(cut);
                    }
                }
            }
        }
    }

    /// Reads the frames that are complete in `bytes`. Returns the bytes read, and why it stopped.
    fn at_hand<S: Sink>(&mut self, bytes: &[u8], batch: &mut Batch<'_, S>) -> (usize, Next) {
        match self {
            Format::Pcap(pcap) => pcap.at_hand(bytes, batch),
            Format::Pcapng(pcapng) => pcapng.at_hand(bytes, batch),
        }
    }

    /// The damage of a file that ends where more should follow.
    fn cut(&self) -> &'static str {
        match self {
            Format::Pcap(_) => "the file ends within a frame",
            Format::Pcapng(_) => "the file ends within a block",
        }
    }
}

/// Why no more frames are taken from the bytes at hand.
enum Next {
    /// There were as many as asked for.
    Enough,
    /// This many bytes are needed to go on.
    Need(usize),
    /// So many bytes are to be passed over.
    Skip(u64),
    Damaged(String),
}

/// Where frames go, and how many.
struct Batch<'a, S> {
    tally: &'a mut Tally,
    sink: &'a mut S,
    file: u16,
    limit: usize,
}

impl<S: Sink> Batch<'_, S> {
    /// Passes a frame to the sink.
    #[inline]
    fn frame(&mut self, frame: &FrameAt<'_>) {
        if let Some(outcome) = self.sink.take(frame) {
            self.tally.count(outcome);
        }
        self.limit -= 1;
    }
}

/// A frame of a capture file.
struct FrameAt<'a> {
    link: u16,
    /// Position of `bytes` in the bytes at hand.
    at: usize,
    /// The bytes kept.
    bytes: &'a [u8],
    /// Bytes on the wire.
    wire: u32,
    stamp: Stamp,
}

/// Where frames go: they are parsed, or noted for another thread to parse.
trait Sink {
    /// Takes a frame. Returns what it is, if it was parsed.
    fn take(&mut self, frame: &FrameAt<'_>) -> Option<Outcome>;
}

impl Sink for Vec<Seen> {
    #[inline]
    fn take(&mut self, frame: &FrameAt<'_>) -> Option<Outcome> {
        Some(layers::frame(frame.link, frame.bytes, frame.wire, frame.stamp, self))
    }
}
