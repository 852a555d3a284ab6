//! A capture file of either format, told by its first bytes.

use crate::byte_order::read_up_to;
use crate::pcap::PcapReader;
use crate::pcapng::{CapturedPacket, LinkType, PcapngReader, ReadError};
use std::io::{Chain, Cursor, Read};

/// The first bytes, already read, and the rest.
type Rejoined<R> = Chain<Cursor<[u8; 4]>, R>;

/// Reads a capture, pcapng or classic pcap, packet by packet.
#[derive(Debug)]
pub struct CaptureReader<R: Read>(Format<R>);

#[derive(Debug)]
enum Format<R: Read> {
    Pcap(PcapReader<Rejoined<R>>),
    Pcapng(PcapngReader<Rejoined<R>>),
}

impl<R: Read> CaptureReader<R> {
    /// Opens a capture.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::NotACapture`] if it is neither.
    pub fn new(mut input: R) -> Result<CaptureReader<R>, ReadError> {
        let mut first = [0; 4];
        let got = read_up_to(&mut input, &mut first)?;
        if got < first.len() {
            return Err(ReadError::NotACapture);
        }
        let whole = Cursor::new(first).chain(input);
        let format = if PcapReader::<R>::recognises(first) {
            Format::Pcap(PcapReader::new(whole)?)
        } else {
            let reader = PcapngReader::new(whole).map_err(|error| match error {
                ReadError::NotPcapng => ReadError::NotACapture,
                other => other,
            })?;
            Format::Pcapng(reader)
        };
        Ok(CaptureReader(format))
    }

    /// The next packet and what it begins with, or nothing at the end.
    ///
    /// # Errors
    /// [`ReadError`]; what was read before stays good.
    pub fn next_packet(&mut self) -> Result<Option<(LinkType, CapturedPacket)>, ReadError> {
        match &mut self.0 {
            Format::Pcap(reader) => {
                let link_type = reader.link_type();
                Ok(reader.next_packet()?.map(|packet| (link_type, packet)))
            }
            Format::Pcapng(reader) => {
                let Some(packet) = reader.next_packet()? else { return Ok(None) };
                Ok(Some((reader.interfaces()[packet.interface].link_type, packet)))
            }
        }
    }
}
