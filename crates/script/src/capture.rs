//! The exchange as a capture file, for Wireshark and for `ackord history import`.

use crate::notation::Direction;
use crate::run::{Ends, Outcome};
use ackord_units::Time;
use ackord_wire::{PacketRecord, PcapngWriter};
use std::io::{self, Write};

/// Where the timestamps begin: tools take a capture from 1970 for a broken clock.
const BEGINS: Time = Time::from_nanos(1_577_836_800_000_000_000);

/// Writes the exchange as pcapng. Each packet's remark is the segment as a script writes it.
///
/// # Errors
/// What the output answers.
pub fn write_pcapng<W: Write>(outcome: &Outcome, mut out: W) -> io::Result<W> {
    let mut writer = PcapngWriter::new(&mut out, "ackord script")?;
    let interface = writer.add_interface("script", "between the endpoint and the injected peer")?;
    let ends = Ends::new(outcome.ip);
    for each in &outcome.exchanged {
        let from = match each.direction {
            Direction::Out => outcome.side,
            Direction::In => outcome.side.other(),
        };
        let bytes = ends.packet(from, &each.segment, each.ecn).map_err(io::Error::other)?;
        let remark = format!("line {}: {}", each.line, each.text);
        writer.write_packet(&PacketRecord {
            interface,
            at: BEGINS + each.at.saturating_since(Time::ZERO),
            bytes: &bytes,
            original_len: bytes.len() as u32,
            comment: Some(&remark),
        })?;
    }
    writer.finish()?;
    Ok(out)
}
