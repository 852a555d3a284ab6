//! The capture again, as pcapng, with comments that Wireshark shows (`frame.comment`).
//!
//! A pcapng file is copied block by block, with comments added to packets; of a pcap file the frames are
//! copied with their times and their link type. Nothing else changes.
//! Not modelled: comments of packets in blocks without options (simple packet blocks).

use super::summary::by_loss;
use ackord_diagnose::{Diagnosis, PointKind, Trace};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const JOURNAL_ENTRY: u32 = 9;
const OPTION_COMMENT: u16 = 1;
const OPTION_END: u16 = 0;
const TIME_RESOLUTION: u16 = 9;
/// Longer blocks are damage.
const LONGEST: usize = 16 << 20;
/// Longer frames are.
const LONGEST_FRAME: usize = 1 << 20;

/// A comment by frame: where an interval begins its cause and why, and what is retransmitted.
pub fn comments_of(diagnosis: &Diagnosis, traces: &[Trace]) -> BTreeMap<u64, String> {
    let mut comments: BTreeMap<u64, String> = BTreeMap::new();
    let mut add = |frame: u64, text: String| {
        let comment = comments.entry(frame).or_default();
        if !comment.is_empty() {
            comment.push('\n');
        }
        comment.push_str(&text);
    };
    for connection in by_loss(diagnosis) {
        let id = connection.id;
        for interval in &connection.intervals {
            let text = format!(
                "connection {id}: {} from {:.6} s to {:.6} s (confidence {:.2}): {}",
                interval.cause.title(),
                interval.from_s,
                interval.to_s,
                interval.confidence,
                interval.reason
            );
            add(interval.frames[0], text);
        }
        let trace = traces.iter().find(|trace| trace.connection == id);
        let again = trace.into_iter().flat_map(|trace| &trace.points);
        for point in again.filter(|point| point.kind == PointKind::Retransmission) {
            let within = connection.intervals.partition_point(|interval| interval.to_s < point.t);
            let cause = connection.intervals.get(within).map_or("", |found| found.cause.title());
            add(point.frame, format!("connection {id}: retransmission; {cause}"));
        }
    }
    comments
}

/// Copies a capture (unpacked) to `out` as pcapng, with `comments` by the number of the frame. Where the
/// file is damaged the copy ends, with what stands before. Gives the number of comments written.
///
/// # Errors
/// If reading or writing fails, or the input is no capture.
pub fn annotate(
    mut input: impl Read,
    mut out: impl Write,
    comments: &BTreeMap<u64, String>,
) -> io::Result<u64> {
    let Some(magic) = bytes::<4>(&mut input)? else {
        return Err(io::Error::new(ErrorKind::InvalidData, "no capture"));
    };
    let mut copy = Copy { out: &mut out, comments, frame: 0, written: 0, order: Order::Little };
    if u32::from_le_bytes(magic) == SECTION_HEADER {
        copy.pcapng(magic, &mut input)?;
    } else {
        copy.pcap(magic, &mut input)?;
    }
    let written = copy.written;
    out.flush()?;
    Ok(written)
}

#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    fn at(self, bytes: &[u8], place: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(place..)?.first_chunk::<4>()?))
    }

    fn put32(self, into: &mut Vec<u8>, value: u32) {
        match self {
            Order::Little => into.extend(value.to_le_bytes()),
            Order::Big => into.extend(value.to_be_bytes()),
        }
    }

    fn put16(self, into: &mut Vec<u8>, value: u16) {
        match self {
            Order::Little => into.extend(value.to_le_bytes()),
            Order::Big => into.extend(value.to_be_bytes()),
        }
    }

    fn option(self, into: &mut Vec<u8>, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX) - 3)];
        self.put16(into, code);
        self.put16(into, value.len() as u16);
        into.extend(value);
        into.resize(into.len().next_multiple_of(4), 0);
    }
}

struct Copy<'a, W: Write> {
    out: &'a mut W,
    comments: &'a BTreeMap<u64, String>,
    frame: u64,
    written: u64,
    order: Order,
}

impl<W: Write> Copy<'_, W> {
    /// The comment of the next frame.
    fn next_comment(&mut self) -> Option<&str> {
        self.frame += 1;
        self.comments.get(&self.frame).map(String::as_str)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let mut whole = Vec::with_capacity(body.len() + 12);
        let len = body.len() as u32 + 12;
        self.order.put32(&mut whole, kind);
        self.order.put32(&mut whole, len);
        whole.extend(body);
        self.order.put32(&mut whole, len);
        self.out.write_all(&whole)
    }

    fn pcapng(&mut self, magic: [u8; 4], input: &mut impl Read) -> io::Result<()> {
        let mut kind = magic;
        loop {
            let Some(len) = bytes::<4>(input)? else { return Ok(()) };
            let mut start = Vec::new();
            if u32::from_le_bytes(kind) == SECTION_HEADER {
                let Some(order) = bytes::<4>(input)? else { return Ok(()) };
                start.extend(order);
                self.order = match u32::from_le_bytes(order) {
                    BYTE_ORDER_MAGIC => Order::Little,
                    _ => Order::Big,
                };
            }
            let len = self.order.u32(len) as usize;
            if !(12 + start.len()..=LONGEST).contains(&len) {
                return Ok(());
            }
            let Some(body) = body(input, start, len - 12)? else { return Ok(()) };
            let Some(_) = bytes::<4>(input)? else { return Ok(()) };
            let kind_number = self.order.u32(kind);
            let body = self.with_comment(kind_number, body);
            self.block(kind_number, &body)?;
            let Some(next) = bytes::<4>(input)? else { return Ok(()) };
            kind = next;
        }
    }

    /// The block's body, with its comment if it is a packet that gets one.
    fn with_comment(&mut self, kind: u32, body: Vec<u8>) -> Vec<u8> {
        if ![ENHANCED_PACKET, OLD_PACKET, SIMPLE_PACKET, JOURNAL_ENTRY].contains(&kind) {
            return body;
        }
        let order = self.order;
        let Some(comment) = self.next_comment() else { return body };
        if ![ENHANCED_PACKET, OLD_PACKET].contains(&kind) {
            return body;
        }
        let options = order.at(&body, 12).map(|kept| 20 + (kept as usize).next_multiple_of(4));
        let Some(options) = options.filter(|at| *at <= body.len()) else { return body };
        let mut with = body[..options].to_vec();
        order.option(&mut with, OPTION_COMMENT, comment.as_bytes());
        if options == body.len() {
            order.option(&mut with, OPTION_END, &[]);
        }
        with.extend(&body[options..]);
        self.written += 1;
        with
    }

    fn pcap(&mut self, magic: [u8; 4], input: &mut impl Read) -> io::Result<()> {
        let known = [Order::Little, Order::Big].into_iter().find_map(|order| {
            let (record, resolution) = match order.u32(magic) {
                0xa1b2_c3d4 => (16, 6),
                0xa1b2_3c4d => (16, 9),
                0xa1b2_cd34 => (24, 6),
                _ => return None,
            };
            Some((order, record, resolution))
        });
        let (order, record, resolution) =
            known.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "no capture"))?;
        let Some(rest) = bytes::<20>(input)? else { return Ok(()) };
        let field = |at: usize| order.at(&rest, at).unwrap_or_default();
        self.begin(field(16) as u16, field(12), resolution)?;
        let units = 10_u64.pow(resolution.into());
        loop {
            let Some(head) = body(input, Vec::new(), record)? else { return Ok(()) };
            let [secs, fraction, kept, wire] =
                [0, 4, 8, 12].map(|at| order.at(&head, at).unwrap_or_default());
            if kept as usize > LONGEST_FRAME {
                return Ok(());
            }
            let Some(frame) = body(input, Vec::new(), kept as usize)? else { return Ok(()) };
            let stamp = u64::from(secs) * units + u64::from(fraction);
            let mut packet = Vec::with_capacity(frame.len() + 64);
            for value in [0, (stamp >> 32) as u32, stamp as u32, kept, wire] {
                self.order.put32(&mut packet, value);
            }
            packet.extend(frame);
            packet.resize(packet.len().next_multiple_of(4), 0);
            let packet = self.with_comment(ENHANCED_PACKET, packet);
            self.block(ENHANCED_PACKET, &packet)?;
        }
    }

    /// Section and interface for the frames of a pcap file.
    fn begin(&mut self, link: u16, snap_len: u32, resolution: u8) -> io::Result<()> {
        let mut section = BYTE_ORDER_MAGIC.to_le_bytes().to_vec();
        section.extend([1, 0, 0, 0]);
        section.extend([0xff; 8]);
        self.block(SECTION_HEADER, &section)?;
        let mut interface = Vec::new();
        self.order.put16(&mut interface, link);
        self.order.put16(&mut interface, 0);
        self.order.put32(&mut interface, snap_len);
        self.order.option(&mut interface, TIME_RESOLUTION, &[resolution]);
        self.order.option(&mut interface, OPTION_END, &[]);
        self.block(INTERFACE_DESCRIPTION, &interface)
    }
}

/// So many bytes, or nothing where the input ends before.
fn bytes<const N: usize>(input: &mut impl Read) -> io::Result<Option<[u8; N]>> {
    let read = body(input, Vec::new(), N)?;
    Ok(read.and_then(|read| read.try_into().ok()))
}

/// Reads on until `start` has `len` bytes; nothing where the input ends or breaks before.
fn body(input: &mut impl Read, mut start: Vec<u8>, len: usize) -> io::Result<Option<Vec<u8>>> {
    let missing = len.saturating_sub(start.len());
    match input.take(missing as u64).read_to_end(&mut start) {
        Ok(got) => Ok((got == missing).then_some(start)),
        // A packed file that is damaged ends there.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidData
                    | ErrorKind::UnexpectedEof
                    | ErrorKind::InvalidInput
                    | ErrorKind::Other
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{CaptureReader, LinkType};

    fn comments() -> BTreeMap<u64, String> {
        BTreeMap::from([(2, "outage".to_owned())])
    }

    /// Link type, time, bytes, comment.
    type Read = (LinkType, Option<u64>, Vec<u8>, Option<String>);

    fn read(bytes: &[u8]) -> Vec<Read> {
        let mut reader = CaptureReader::new(bytes).expect("a capture");
        let mut all = Vec::new();
        while let Some((link, packet)) = reader.next_packet().expect("whole") {
            all.push((link, packet.at.map(|at| at.as_nanos()), packet.bytes, packet.comment));
        }
        all
    }

    #[test]
    fn a_pcap_keeps_its_times_and_link_type_in_either_byte_order() {
        for big in [false, true] {
            let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
            let mut file = Vec::new();
            for value in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 96, 113] {
                file.extend(word(value));
            }
            for number in 0..3_u8 {
                for value in [1_700_000_000, 999_999, 5, 1_500] {
                    file.extend(word(value));
                }
                file.extend([number; 5]);
            }
            let mut out = Vec::new();
            assert_eq!(annotate(&file[..], &mut out, &comments()).expect("in memory"), 1);
            let frames = read(&out);
            assert_eq!(frames.len(), 3);
            let at = Some(1_700_000_000_999_999_000);
            let comment = Some("outage".to_owned());
            assert_eq!(frames[1], (LinkType(113), at, vec![1; 5], comment));
            assert_eq!(frames[2].3, None);
            // Again, now from pcapng: the new comment stands before the old one.
            let mut again = Vec::new();
            annotate(&out[..], &mut again, &BTreeMap::from([(2, "new".to_owned())]))
                .expect("in memory");
            assert_eq!(read(&again)[1].3.as_deref(), Some("new"));
            let cut = &out[..out.len() - 3];
            let mut short = Vec::new();
            annotate(cut, &mut short, &comments()).expect("ends before the cut frame");
            assert_eq!(read(&short).len(), 2);
        }
    }
}
