//! Packed captures: gzip, xz and zstd, told by their first bytes and unpacked as they are read.
//!
//! The memory that unpacking takes is bounded, whatever a file asks for.

use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

/// An input that can be read by another thread than the one that opened it.
pub(super) type Input = Box<dyn Read + Send>;

/// A way of packing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Xz,
    Zstd,
}

/// Packed bytes that are asked for at once.
const PIECE: usize = 128 << 10;

/// What a dictionary of xz may take, KiB: `xz -9` asks for 64 MiB.
const MOST_XZ_KIB: u32 = 300 << 10;
/// What a window of zstd may take: `zstd --long` asks for 128 MiB.
const MOST_ZSTD: u64 = 256 << 20;

impl Packing {
    /// Tells it by the first bytes of a file.
    pub(super) fn of(head: &[u8]) -> Option<Packing> {
        match *head {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            // What a decoder is to skip (RFC 8878 §3.1.2).
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Xz => "xz",
            Packing::Zstd => "zstd",
        }
    }

    /// What was packed.
    pub(super) fn unpacked(self, input: Input) -> Input {
        let input = BufReader::with_capacity(PIECE, input);
        match self {
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Packing::Xz => {
                Box::new(Xz { input, stream: XzStream::new_mem_limit(true, MOST_XZ_KIB) })
            }
            Packing::Zstd => Box::new(Zstd::new(input)),
        }
    }
}

/// Streams of xz, one after the other. The library's own reader does not end where a file is cut off
/// within bytes that could not be packed, and drops what it unpacked before damage.
struct Xz {
    input: BufReader<Input>,
    stream: XzStream,
}

impl Read for Xz {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.input.fill_buf()?;
            let action = if input.is_empty() { Action::Finish } else { Action::Run };
            let done = self.stream.process(input, buf, action)?;
            self.input.consume(done.bytes_consumed);
            if done.bytes_produced > 0 || done.status == Status::StreamEnd {
                return Ok(done.bytes_produced);
            }
            if done.bytes_consumed == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Frames of zstd, one after the other.
struct Zstd {
    input: BufReader<Input>,
    decoder: FrameDecoder,
    within_frame: bool,
}

impl Zstd {
    fn new(input: BufReader<Input>) -> Zstd {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_ZSTD);
        Zstd { input, decoder, within_frame: false }
    }

    /// Reads the head of the next frame; `false` if there is none.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl Read for Zstd {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buf);
            }
            if self.within_frame && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.input, one).map_err(io::Error::other)?;
                continue;
            }
            if self.within_frame {
                self.within_frame = false;
                let [said, found] =
                    [self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()];
                if said.is_some() && said != found {
                    return Err(io::Error::other("a checksum is wrong"));
                }
            }
            self.within_frame = self.next_frame()?;
            if !self.within_frame {
                return Ok(0);
            }
        }
    }
}
