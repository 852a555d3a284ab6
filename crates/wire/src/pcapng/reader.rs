//! Reads pcapng.

use super::{
    BYTE_ORDER_MAGIC, ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_NAME, INTERFACE_TSOFFSET,
    INTERFACE_TSRESOL, LinkType, OPTION_COMMENT, OPTION_END, SECTION_HEADER, SIMPLE_PACKET,
};
use crate::byte_order::{ByteOrder, read_up_to};
use ackord_units::Time;
use std::io::{self, Read};

/// Blocks longer than this are taken for damage rather than read into memory.
const MAX_BLOCK_LEN: u32 = 64 << 20;

/// A place where packets of a capture were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedInterface {
    /// What its packets begin with.
    pub link_type: LinkType,
    /// Its name, or nothing if the file gives none.
    pub name: Option<String>,
    /// At most this many bytes of a packet were kept; zero for no limit.
    snap_len: u32,
    units: TimeUnits,
    /// Seconds to add to each timestamp.
    offset_secs: i64,
}

/// What a timestamp counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeUnits {
    /// Units of 10^-n s.
    Decimal(u32),
    /// Units of 2^-n s.
    Binary(u32),
}

/// One packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Index into [`PcapngReader::interfaces`].
    pub interface: usize,
    /// Since 1970; nothing where the file gives no time.
    pub at: Option<Time>,
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// How long the packet was.
    pub original_len: u32,
    /// The first remark.
    pub comment: Option<String>,
}

/// A capture cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin as a pcapng file does.
    #[error("not a pcapng file")]
    NotPcapng,
    /// The file begins neither as a pcapng nor as a pcap file does.
    #[error("neither a pcapng nor a pcap file")]
    NotACapture,
    /// A block is not as the format wants it.
    #[error("damaged capture at byte {offset}: {what}")]
    Damaged {
        /// Where the block begins.
        offset: u64,
        /// What is wrong with it.
        what: Damage,
    },
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file ends inside it.
    #[error("the file ends inside a block")]
    Truncated,
    /// Its length is impossible.
    #[error("a block of {0} bytes is impossible")]
    BadLength(u32),
    /// Its two lengths differ.
    #[error("the two lengths of a block differ")]
    LengthsDiffer,
    /// Its content is shorter than it says.
    #[error("a block is shorter than its content")]
    ShortContent,
    /// It speaks of an interface that the file has not described.
    #[error("a packet of the unknown interface {0}")]
    UnknownInterface(u32),
    /// Its byte order is neither.
    #[error("a section without byte order")]
    NoByteOrder,
}

/// Reads a capture file packet by packet.
#[derive(Debug)]
pub struct PcapngReader<R: Read> {
    input: R,
    offset: u64,
    order: ByteOrder,
    interfaces: Vec<CapturedInterface>,
    /// Where the interfaces of the section being read begin.
    section: usize,
}

impl<R: Read> PcapngReader<R> {
    /// Opens a capture; reads its first section header.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn new(input: R) -> Result<PcapngReader<R>, ReadError> {
        let mut reader = PcapngReader {
            input,
            offset: 0,
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            section: 0,
        };
        match reader.next_block() {
            Ok(Some((SECTION_HEADER, _))) => Ok(reader),
            Err(ReadError::Io(error)) => Err(error.into()),
            _ => Err(ReadError::NotPcapng),
        }
    }

    /// The interfaces described so far, those of all sections one after the other.
    pub fn interfaces(&self) -> &[CapturedInterface] {
        &self.interfaces
    }

    /// The next packet, or nothing at the end.
    ///
    /// # Errors
    /// [`ReadError`]; what was read before stays good.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket>, ReadError> {
        loop {
            let offset = self.offset;
            let Some((block_type, body)) = self.next_block()? else { return Ok(None) };
            let fields = Fields { bytes: &body, order: self.order };
            let read = match block_type {
                ENHANCED_PACKET => self.enhanced_packet(fields).map(Some),
                SIMPLE_PACKET => self.simple_packet(fields).map(Some),
                INTERFACE_DESCRIPTION => interface(fields).map(|interface| {
                    self.interfaces.push(interface);
                    None
                }),
                _ => Ok(None),
            };
            match read {
                Ok(Some(packet)) => return Ok(Some(packet)),
                Ok(None) => {}
                Err(what) => return Err(ReadError::Damaged { offset, what }),
            }
        }
    }

    /// The next block's type and body, or nothing at the end. A section header sets the byte order.
    fn next_block(&mut self) -> Result<Option<(u32, Vec<u8>)>, ReadError> {
        let offset = self.offset;
        let damaged = |what| ReadError::Damaged { offset, what };
        let mut head = [0; 8];
        let got = read_up_to(&mut self.input, &mut head)?;
        self.offset += got as u64;
        match got {
            0 => return Ok(None),
            8 => {}
            _ => return Err(damaged(Damage::Truncated)),
        }
        let [block_type, len] = halves(head);
        let mut body = Vec::new();
        // The type of a section header reads the same in both byte orders; its length does not.
        if u32::from_le_bytes(block_type) == SECTION_HEADER {
            body.resize(4, 0);
            let got = read_up_to(&mut self.input, &mut body)?;
            self.offset += got as u64;
            if got != 4 {
                return Err(damaged(Damage::Truncated));
            }
            self.order = match body.as_slice().try_into().map(u32::from_le_bytes) {
                Ok(BYTE_ORDER_MAGIC) => ByteOrder::Little,
                Ok(magic) if magic.swap_bytes() == BYTE_ORDER_MAGIC => ByteOrder::Big,
                _ => return Err(damaged(Damage::NoByteOrder)),
            };
            self.section = self.interfaces.len();
        }
        let total_len = self.order.u32(len);
        if total_len < 12 || !total_len.is_multiple_of(4) || total_len > MAX_BLOCK_LEN {
            return Err(damaged(Damage::BadLength(total_len)));
        }
        let already = body.len();
        let wanted = total_len as usize - 8;
        if wanted < already + 4 {
            return Err(damaged(Damage::BadLength(total_len)));
        }
        // A lying length costs no more memory than the file has bytes.
        let rest = (wanted - already) as u64;
        let got = self.input.by_ref().take(rest).read_to_end(&mut body)?;
        self.offset += got as u64;
        if got as u64 != rest {
            return Err(damaged(Damage::Truncated));
        }
        let trailer = body.split_off(wanted - 4);
        if trailer.as_slice() != len {
            return Err(damaged(Damage::LengthsDiffer));
        }
        Ok(Some((self.order.u32(block_type), body)))
    }

    fn interface_at(&self, index: u32) -> Result<usize, Damage> {
        let at = self.section + index as usize;
        if at < self.interfaces.len() { Ok(at) } else { Err(Damage::UnknownInterface(index)) }
    }

    fn enhanced_packet(&self, mut fields: Fields<'_>) -> Result<CapturedPacket, Damage> {
        let interface = self.interface_at(fields.u32()?)?;
        let units = u64::from(fields.u32()?) << 32 | u64::from(fields.u32()?);
        let (captured_len, original_len) = (fields.u32()?, fields.u32()?);
        let bytes = fields.padded(captured_len as usize)?.to_vec();
        let mut comment = None;
        while let Some((code, value)) = fields.option() {
            if code == OPTION_COMMENT && comment.is_none() {
                comment = Some(String::from_utf8_lossy(value).into_owned());
            }
        }
        let at = self.interfaces[interface].time(units);
        Ok(CapturedPacket { interface, at, bytes, original_len, comment })
    }

    /// A simple packet block has no interface (it is the first), no time and no captured length.
    fn simple_packet(&self, mut fields: Fields<'_>) -> Result<CapturedPacket, Damage> {
        let interface = self.interface_at(0)?;
        let original_len = fields.u32()?;
        let snap_len = self.interfaces[interface].snap_len;
        let captured_len = if snap_len == 0 { original_len } else { original_len.min(snap_len) };
        let bytes = fields.padded(captured_len as usize)?.to_vec();
        Ok(CapturedPacket { interface, at: None, bytes, original_len, comment: None })
    }
}

impl CapturedInterface {
    /// A timestamp as nanoseconds; nothing before 1970 or too far away.
    fn time(&self, units: u64) -> Option<Time> {
        let units = u128::from(units);
        let nanos = match self.units {
            TimeUnits::Decimal(exponent) if exponent <= 9 => units * 10_u128.pow(9 - exponent),
            TimeUnits::Decimal(exponent) => units / 10_u128.checked_pow(exponent - 9)?,
            TimeUnits::Binary(exponent) => (units * 1_000_000_000) >> exponent,
        };
        let nanos = i128::try_from(nanos).ok()?;
        let offset = i128::from(self.offset_secs) * 1_000_000_000;
        u64::try_from(nanos.checked_add(offset)?).ok().map(Time::from_nanos)
    }
}

fn interface(mut fields: Fields<'_>) -> Result<CapturedInterface, Damage> {
    let link_type = LinkType(fields.u16()?);
    fields.u16()?;
    let snap_len = fields.u32()?;
    let mut interface = CapturedInterface {
        link_type,
        name: None,
        snap_len,
        units: TimeUnits::Decimal(6),
        offset_secs: 0,
    };
    while let Some((code, value)) = fields.option() {
        match (code, value) {
            (INTERFACE_NAME, name) => {
                interface.name = Some(String::from_utf8_lossy(name).into_owned());
            }
            (INTERFACE_TSRESOL, [resolution]) => {
                let exponent = u32::from(resolution & 0x7f);
                let binary = resolution & 0x80 != 0;
                interface.units =
                    if binary { TimeUnits::Binary(exponent) } else { TimeUnits::Decimal(exponent) };
            }
            (INTERFACE_TSOFFSET, offset) if offset.len() == 8 => {
                let offset = offset.try_into().expect("eight bytes");
                interface.offset_secs = fields.order.i64(offset);
            }
            _ => {}
        }
    }
    Ok(interface)
}

/// What is left of a block's body.
struct Fields<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> Fields<'a> {
    fn u32(&mut self) -> Result<u32, Damage> {
        let (value, rest) = self.bytes.split_first_chunk().ok_or(Damage::ShortContent)?;
        self.bytes = rest;
        Ok(self.order.u32(*value))
    }

    fn u16(&mut self) -> Result<u16, Damage> {
        let (value, rest) = self.bytes.split_first_chunk().ok_or(Damage::ShortContent)?;
        self.bytes = rest;
        Ok(self.order.u16(*value))
    }

    /// `len` bytes and the padding after them, which a careless writer may have left out.
    fn padded(&mut self, len: usize) -> Result<&'a [u8], Damage> {
        let (value, rest) = self.bytes.split_at_checked(len).ok_or(Damage::ShortContent)?;
        let padding = len.next_multiple_of(4) - len;
        self.bytes = rest.get(padding..).unwrap_or(&[]);
        Ok(value)
    }

    /// The next option; damaged options end the list.
    fn option(&mut self) -> Option<(u16, &'a [u8])> {
        let code = self.u16().ok()?;
        let len = self.u16().ok()?;
        if code == OPTION_END {
            return None;
        }
        Some((code, self.padded(usize::from(len)).ok()?))
    }
}

fn halves(bytes: [u8; 8]) -> [[u8; 4]; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [[a, b, c, d], [e, f, g, h]]
}
