//! What a file is by its first octets.

use super::buffer::Buffer;
use super::pcap::Pcap;
use super::pcapng::{self, Pcapng};
use super::source::Source;
use super::{Format, OpenError};
use std::fmt::Write as _;

/// Octets by which a file is told.
const HEAD: usize = 512;

/// The format of a capture, and what is wrong with it if there is nothing behind its head.
pub(super) fn format(
    name: &str,
    buffer: &mut Buffer,
    source: &Source,
) -> Result<(Format, Option<String>), OpenError> {
    if let Err(error) = buffer.at_least(HEAD) {
        if source.failed() {
            return Err(OpenError::of_file(name, error));
        }
        if buffer.filled().len() < 4 {
            let what = source.packing_damage(buffer.end_offset(), &error);
            return Err(OpenError::Damaged { name: name.to_owned(), what });
        }
    }
    let head = buffer.filled();
    let damaged = |what| OpenError::Damaged { name: name.to_owned(), what };
    if let Some(opened) = Pcap::open(head) {
        let pcap = opened.map_err(|what| damaged(source.damage(0, what)))?;
        buffer.consume(Pcap::HEADER_LEN);
        return Ok((Format::Pcap(pcap), None));
    }
    if pcapng::recognises(head) {
        return Ok((Format::Pcapng(Pcapng::default()), None));
    }
    if head.is_empty() {
        return Err(OpenError::Empty { name: name.to_owned() });
    }
    let mut first = String::new();
    for octet in head.iter().take(8) {
        let _ = write!(first, "{octet:02x} ");
    }
    Err(OpenError::Unknown { name: name.to_owned(), first: first.trim_end().to_owned() })
}
