//! What the packets look like, but for what the program makes of each.

use ackord_units::Seq;
use ackord_wire::{Endpoints, Flags, IpFields, Payload, Segment, Timestamps, encode};
use nix::net::if_::if_nametoindex;
use std::io;
use std::net::SocketAddr;

/// The Ethernet and IP headers: where TCP begins.
pub(crate) const TCP: usize = 14 + 20;
/// All headers, TCP's with timestamps.
pub(crate) const HEADERS: usize = TCP + 32;
/// The ports of the mobile host begin here.
pub(crate) const FIRST_PORT: u32 = 1_024;

/// A frame, and what is another in each.
pub(crate) struct Template {
    pub(crate) interface: u32,
    /// Ports, numbers and times that differ are zero, and the TCP checksum goes with that.
    pub(crate) frame: Vec<u8>,
    pub(crate) differs: Differs,
}

/// What differs, and where it is.
#[derive(Clone, Copy)]
pub(crate) struct Differs {
    /// The mobile host's port.
    pub(crate) port_at: i16,
    /// What is sent or acknowledged: a number that goes on by `step` when all connections had their turn.
    pub(crate) number_at: i16,
    pub(crate) first: u32,
    pub(crate) step: u32,
    /// A timestamp: about the kilobytes up to this long before the number.
    pub(crate) time_at: i16,
    pub(crate) before: u32,
}

const TCP_AT: i16 = TCP as i16;
/// Where the timestamps are: behind the header and two bytes of nothing, and kind and length of the option.
const TIMES_AT: i16 = TCP_AT + 20 + 4;

/// Segments with so many bytes of data, which come in by this interface.
pub(crate) fn data(wan: &str, len: u32) -> io::Result<Template> {
    let differs = Differs {
        port_at: TCP_AT + 2,
        number_at: TCP_AT + 4,
        first: 1,
        step: len,
        time_at: TIMES_AT,
        before: 0,
    };
    template(wan, (fixed(), mobile()), len, differs)
}

/// Acknowledgments of two segments each.
pub(crate) fn acknowledgments(lan: &str, len: u32) -> io::Result<Template> {
    let differs = Differs {
        port_at: TCP_AT,
        number_at: TCP_AT + 8,
        first: 1 + 2 * len,
        step: 2 * len,
        // The echo of the first of the two.
        time_at: TIMES_AT + 4,
        before: 2 * len,
    };
    template(lan, (mobile(), fixed()), 0, differs)
}

fn template(
    interface: &str,
    (src, dst): (SocketAddr, SocketAddr),
    payload_len: u32,
    differs: Differs,
) -> io::Result<Template> {
    let mut frame = address_of(interface)?.to_vec();
    frame.extend([0x02, 0, 0, 0, 0, 0x77, 0x08, 0x00]);
    let mut segment = Segment {
        seq: Seq(u32::from(payload_len == 0)),
        ack: Seq(u32::from(payload_len > 0)),
        flags: Flags::ACK,
        window: 60_000,
        payload_len,
        ..Segment::default()
    };
    segment.options.timestamps = Some(Timestamps { value: 0, echo: 0 });
    let payload = Payload::Zeros(payload_len);
    encode(Endpoints { src, dst }, IpFields::default(), &segment, payload, &mut frame)
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Template { interface: if_nametoindex(interface)?, frame, differs })
}

fn fixed() -> SocketAddr {
    SocketAddr::from(([10, 1, 0, 2], 443))
}

fn mobile() -> SocketAddr {
    SocketAddr::from(([10, 2, 0, 2], 0))
}

/// The link-layer address of an interface: what comes in there is sent to it.
fn address_of(interface: &str) -> io::Result<[u8; 6]> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{interface}/address"))?;
    let mut bytes = text.trim().split(':').map(|byte| u8::from_str_radix(byte, 16));
    let mut address = [0; 6];
    for byte in &mut address {
        *byte = bytes
            .next()
            .and_then(Result::ok)
            .ok_or_else(|| io::Error::other(format!("`{interface}` is no Ethernet")))?;
    }
    Ok(address)
}
