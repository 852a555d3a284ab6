//! Writes pcapng.

use super::{
    BYTE_ORDER_MAGIC, ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_DESCRIPTION_TEXT,
    INTERFACE_NAME, INTERFACE_TSRESOL, LinkType, OPTION_COMMENT, OPTION_END, SECTION_APPLICATION,
    SECTION_HEADER,
};
use crate::codec::{EncodeError, encode_beginning};
use crate::{Endpoints, Packet};
use ackord_units::Time;
use std::io::{self, Write};
use std::num::NonZeroU32;

/// An interface of one capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceIndex(u32);

/// One packet for a capture.
#[derive(Clone, Copy, Debug)]
pub struct PacketRecord<'a> {
    /// Where it was seen.
    pub interface: InterfaceIndex,
    /// When. Readers show it as nanoseconds since 1970.
    pub at: Time,
    /// The IP packet, or its beginning.
    pub bytes: &'a [u8],
    /// How long the packet was; more than `bytes` if it was cut.
    pub original_len: u32,
    /// A remark for the reader.
    pub comment: Option<&'a str>,
}

/// Blocks are handed on to the output in pieces of this many bytes: long enough that the call does not count, short
/// enough to stay in the processor's cache. A power of two, so that a file grows by whole pages, which costs the system
/// two thirds of what it costs to fill pages up.
const PIECE: usize = 1 << 17;

/// Writes a capture file, block by block. Keeps some of it back, so that the output needs no buffer of its own.
#[derive(Debug)]
pub struct PcapngWriter<W: Write> {
    out: W,
    interfaces: u32,
    /// So many bytes of a packet are kept, where that is limited.
    snap_len: Option<NonZeroU32>,
    /// Blocks that have not been handed on, and the one that is being put together.
    blocks: Vec<u8>,
    /// Where that one begins.
    begins: usize,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a capture file that `application` writes.
    ///
    /// # Errors
    /// What `out` answers.
    pub fn new(out: W, application: &str) -> io::Result<PcapngWriter<W>> {
        let blocks = Vec::with_capacity(PIECE + 2048);
        let mut writer = PcapngWriter { out, interfaces: 0, snap_len: None, blocks, begins: 0 };
        writer.begin_block(SECTION_HEADER);
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        // Version 1.0, length of the section not given.
        writer.put(&[1, 0, 0, 0]);
        writer.put(&[0xff; 8]);
        writer.put_option(SECTION_APPLICATION, application.as_bytes());
        writer.put_option(OPTION_END, &[]);
        writer.finish_block()?;
        Ok(writer)
    }

    /// Keeps no more than the first so many bytes of a packet; for interfaces that are added afterwards.
    #[must_use]
    pub fn with_snap_len(mut self, snap_len: Option<NonZeroU32>) -> PcapngWriter<W> {
        self.snap_len = snap_len;
        self
    }

    /// Adds a place where bare IP packets are captured.
    ///
    /// # Errors
    /// What the output answers.
    pub fn add_interface(&mut self, name: &str, description: &str) -> io::Result<InterfaceIndex> {
        self.add_interface_of(LinkType::RAW, name, description)
    }

    /// Adds an interface whose packets begin with the header of this link type.
    ///
    /// # Errors
    /// Those of the output.
    pub fn add_interface_of(
        &mut self,
        link: LinkType,
        name: &str,
        description: &str,
    ) -> io::Result<InterfaceIndex> {
        self.begin_block(INTERFACE_DESCRIPTION);
        self.put(&link.0.to_le_bytes());
        // Two bytes reserved, then the limit on the captured length, or zero.
        self.put(&[0; 2]);
        self.put(&self.snap_len.map_or(0, NonZeroU32::get).to_le_bytes());
        self.put_option(INTERFACE_NAME, name.as_bytes());
        if !description.is_empty() {
            self.put_option(INTERFACE_DESCRIPTION_TEXT, description.as_bytes());
        }
        // Timestamps count units of 10^-9 s.
        self.put_option(INTERFACE_TSRESOL, &[9]);
        self.put_option(OPTION_END, &[]);
        self.finish_block()?;
        let index = InterfaceIndex(self.interfaces);
        self.interfaces += 1;
        Ok(index)
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// What the output answers.
    pub fn write_packet(&mut self, packet: &PacketRecord<'_>) -> io::Result<()> {
        let bytes = &packet.bytes[..packet.bytes.len().min(self.most_kept())];
        self.begin_packet((packet.interface, packet.at), bytes.len(), packet.original_len);
        self.put(bytes);
        self.pad();
        if let Some(comment) = packet.comment {
            self.put_option(OPTION_COMMENT, comment.as_bytes());
            self.put_option(OPTION_END, &[]);
        }
        self.finish_block()
    }

    /// Adds a simulated packet, with zeros for payload, seen at an interface at a time.
    ///
    /// # Errors
    /// What the output answers; within, that the packet cannot exist as bytes, and nothing is written then.
    pub fn write_simulated(
        &mut self,
        seen: (InterfaceIndex, Time),
        packet: &Packet,
        identification: u16,
    ) -> io::Result<Result<(), EncodeError>> {
        let most = self.most_kept();
        self.begin_packet(seen, most.min(packet.ip_len as usize), packet.ip_len);
        let endpoints = &Endpoints::of(packet);
        let blocks = &mut self.blocks;
        if let Err(error) = encode_beginning(packet, endpoints, identification, most, blocks) {
            self.blocks.truncate(self.begins);
            return Ok(Err(error));
        }
        self.pad();
        self.finish_block().map(Ok)
    }

    fn most_kept(&self) -> usize {
        self.snap_len.map_or(usize::MAX, |most| most.get() as usize)
    }

    /// Hands everything written so far on to the system.
    ///
    /// # Errors
    /// What the output answers.
    pub fn flush(&mut self) -> io::Result<()> {
        self.hand_on(self.blocks.len())?;
        self.out.flush()
    }

    /// Ends the capture, flushed. Dropping it does the same, and nobody learns of an error.
    ///
    /// # Errors
    /// What the output answers.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.blocks.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        // The blocks before are padded too.
        self.blocks.resize(self.blocks.len().next_multiple_of(4), 0);
    }

    /// Begins a packet's block, up to its bytes.
    #[inline]
    fn begin_packet(
        &mut self,
        (interface, at): (InterfaceIndex, Time),
        captured_len: usize,
        original_len: u32,
    ) {
        let nanos = at.as_nanos();
        self.begin_block(ENHANCED_PACKET);
        let mut fixed = [0; 20];
        fixed[..4].copy_from_slice(&interface.0.to_le_bytes());
        fixed[4..8].copy_from_slice(&((nanos >> 32) as u32).to_le_bytes());
        fixed[8..12].copy_from_slice(&(nanos as u32).to_le_bytes());
        fixed[12..16].copy_from_slice(&(captured_len as u32).to_le_bytes());
        fixed[16..].copy_from_slice(&original_len.to_le_bytes());
        self.put(&fixed);
    }

    /// Adds an option; a value too long for its length field is cut.
    fn put_option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    /// Type and length, which is not known yet.
    #[inline]
    fn begin_block(&mut self, block_type: u32) {
        self.begins = self.blocks.len();
        self.put(&u64::from(block_type).to_le_bytes());
    }

    /// The length, again behind the body.
    #[inline]
    fn finish_block(&mut self) -> io::Result<()> {
        let total_len = ((self.blocks.len() - self.begins) as u32 + 4).to_le_bytes();
        self.blocks[self.begins + 4..self.begins + 8].copy_from_slice(&total_len);
        self.put(&total_len);
        if self.blocks.len() >= PIECE { self.hand_on(PIECE) } else { Ok(()) }
    }

    #[inline(never)]
    fn hand_on(&mut self, len: usize) -> io::Result<()> {
        let handed_on = self.out.write_all(&self.blocks[..len]);
        // What the output has refused it is not offered again.
        self.blocks.drain(..len);
        handed_on
    }
}

impl<W: Write> Drop for PcapngWriter<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
