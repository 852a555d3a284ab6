//! Captures made here, byte by byte, and read.
//!
//! | file | what |
//! | --- | --- |
//! | `frames.rs` | one packet in every link layer and tunnel |
//! | `devices.rs`, `wireless.rs` | the same in rarer link layers, and in 802.11 |
//! | `files.rs` | frames in every format of file |
//! | `layers.rs` | every way down to TCP, cut at every length; what is not TCP |
//! | `nesting.rs` | tunnels within tunnels, in any order and cut anywhere |
//! | `hop.rs` | fingerprints of capture points |
//! | `formats.rs` | every format, cut at every length; sections, times, counts of losses |
//! | `packing.rs` | packed files, whole, in parts and cut |
//! | `opening.rs` | what is said of files that are no captures |
//! | `blocks.rs` | the same in blocks, by several threads |
//! | `damage.rs` | any bytes, and sound captures with some bytes changed |
//! | `tshark.rs` | the same captures as tshark reads them |

mod blocks;
mod damage;
mod devices;
mod files;
mod formats;
mod frames;
mod hop;
mod layers;
mod nesting;
mod opening;
mod packing;
mod tshark;
mod wireless;

use super::{OpenError, Reader};
use crate::{CaptureRead, Seen};
use std::io::{Cursor, Read};

/// A capture read as a whole, in batches of a few.
fn read(bytes: &[u8]) -> Result<(Vec<Seen>, CaptureRead), OpenError> {
    let mut reader = Reader::from_reader("test", Box::new(Cursor::new(bytes.to_vec())), 3)?;
    let mut seen = Vec::new();
    while reader.read(&mut seen, 2).expect("memory does not fail") {}
    assert!(!reader.read(&mut seen, 2).expect("memory does not fail"), "the end is the end");
    Ok((seen, reader.finish()))
}

/// The same for a capture that can be opened.
fn sound(bytes: &[u8]) -> (Vec<Seen>, CaptureRead) {
    read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// An input that gives one byte at a time.
struct Trickle<R>(R);

impl<R: Read> Read for Trickle<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let one = buf.len().min(1);
        self.0.read(&mut buf[..one])
    }
}
