//! Capture files of all sorts into packets as [`Seen`].
//!
//! | file | what |
//! | --- | --- |
//! | `source.rs`, `packed.rs` | files and pipes, packed or not: how far reading has come |
//! | `buffer.rs` | the bytes at hand |
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

pub use error::OpenError;

use crate::{CaptureRead, Seen};
use buffer::Buffer;
use pcap::Pcap;
use pcapng::Pcapng;
use source::Source;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tally::Tally;

/// Reads one capture, from its beginning to its end or to where it is damaged.
pub struct Reader {
    name: String,
    /// The file's number, for [`Seen::file`].
    file: u16,
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
            return Reader::over("standard input", Source::new(Box::new(io::stdin()), None), file);
        }
        let name = path.display().to_string();
        let failed = |source| OpenError::of_file(&name, source);
        let about = std::fs::metadata(path).map_err(failed)?;
        if about.is_dir() {
            return Err(OpenError::Directory { name });
        }
        let len = about.is_file().then_some(about.len());
        let input = File::open(path).map_err(failed)?;
        Reader::over(&name, Source::new(Box::new(input), len), file)
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
        let batch = Batch { tally: &mut self.tally, out, file: self.file, limit };
        let stop = match &mut self.format {
            Format::Pcap(pcap) => pcap.read(&mut self.buffer, batch),
            Format::Pcapng(pcapng) => pcapng.read(&mut self.buffer, batch),
        };
        match stop {
            Ok(Stop::Enough) => return Ok(true),
            Ok(Stop::End) => {}
            Ok(Stop::Damaged { offset, what }) => {
                self.damage = Some(self.source.damage(offset, &what));
            }
            // A packed file that is damaged is no failure of the file system.
            Err(error) if self.source.failed() => return Err(error),
            Err(error) => {
                self.damage = Some(self.source.packing_damage(self.buffer.end_offset(), &error));
            }
        }
        self.ended = true;
        Ok(false)
    }

    /// Which share of the file has been read, 0 to 1, if its size is known.
    pub fn progress(&self) -> Option<f64> {
        self.source.progress()
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

/// Where frames go, and how many.
struct Batch<'a> {
    tally: &'a mut Tally,
    out: &'a mut Vec<Seen>,
    file: u16,
    limit: usize,
}
