//! Writes pcapng.

use super::{
    BYTE_ORDER_MAGIC, ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_DESCRIPTION_TEXT,
    INTERFACE_NAME, INTERFACE_TSRESOL, LinkType, OPTION_COMMENT, OPTION_END, SECTION_APPLICATION,
    SECTION_HEADER,
};
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

/// Writes a capture file, block by block.
#[derive(Debug)]
pub struct PcapngWriter<W: Write> {
    out: W,
    interfaces: u32,
    /// So many bytes of a packet are kept, where that is limited.
    snap_len: Option<NonZeroU32>,
    /// The body of the block that is being put together; kept to spare allocations.
    body: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a capture file that `application` writes.
    ///
    /// # Errors
    /// What `out` answers.
    pub fn new(out: W, application: &str) -> io::Result<PcapngWriter<W>> {
        let mut writer =
            PcapngWriter { out, interfaces: 0, snap_len: None, body: Vec::with_capacity(2048) };
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        // Version 1.0, length of the section not given.
        writer.put(&[1, 0, 0, 0]);
        writer.put(&[0xff; 8]);
        writer.put_option(SECTION_APPLICATION, application.as_bytes());
        writer.put_option(OPTION_END, &[]);
        writer.finish_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Keeps no more than the first so many bytes of a packet; for interfaces that are added afterwards.
    #[must_use]
    pub fn with_snap_len(self, snap_len: Option<NonZeroU32>) -> PcapngWriter<W> {
        PcapngWriter { snap_len, ..self }
    }

    /// Adds a place where bare IP packets are captured.
    ///
    /// # Errors
    /// What the output answers.
    pub fn add_interface(&mut self, name: &str, description: &str) -> io::Result<InterfaceIndex> {
        self.put(&LinkType::RAW.0.to_le_bytes());
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
        self.finish_block(INTERFACE_DESCRIPTION)?;
        let index = InterfaceIndex(self.interfaces);
        self.interfaces += 1;
        Ok(index)
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// What the output answers.
    pub fn write_packet(&mut self, packet: &PacketRecord<'_>) -> io::Result<()> {
        let nanos = packet.at.as_nanos();
        let most = self.snap_len.map_or(usize::MAX, |most| most.get() as usize);
        let bytes = &packet.bytes[..packet.bytes.len().min(most)];
        self.put(&packet.interface.0.to_le_bytes());
        self.put(&((nanos >> 32) as u32).to_le_bytes());
        self.put(&(nanos as u32).to_le_bytes());
        self.put(&(bytes.len() as u32).to_le_bytes());
        self.put(&packet.original_len.to_le_bytes());
        self.put(bytes);
        self.pad();
        if let Some(comment) = packet.comment {
            self.put_option(OPTION_COMMENT, comment.as_bytes());
            self.put_option(OPTION_END, &[]);
        }
        self.finish_block(ENHANCED_PACKET)
    }

    /// Hands everything written so far on to the system.
    ///
    /// # Errors
    /// What the output answers.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the capture and gives the output back, flushed.
    ///
    /// # Errors
    /// What the output answers.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Adds an option; a value too long for its length field is cut.
    fn put_option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    fn finish_block(&mut self, block_type: u32) -> io::Result<()> {
        // Type, length, body, length again.
        let total_len = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&block_type.to_le_bytes())?;
        self.out.write_all(&total_len)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&total_len)?;
        self.body.clear();
        Ok(())
    }
}
