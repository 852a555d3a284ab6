//! Packets that a box sends to the mobile host: repetitions of data that passed, and probes without
//! data.

use super::super::{NO_PAYLOAD, Observed};
use ackord_units::Seq;
use ackord_wire::{Ecn, Flags, Packet};

/// Data that passed, once more.
///
/// A TSval below the newest one that the mobile took in order would have it refused (RFC 7323 §5.3);
/// what the mobile echoes is that one. So it is raised to the echo where it is less, which happens
/// when the sender itself repeated something older in the meantime. Otherwise it stays what it
/// was: the echo of an old value tells a sender that its own retransmission was not needed
/// (RFC 3522).
pub(super) fn again(packet: &Packet, seen: &Observed) -> Packet {
    let mut copy = *packet;
    if let Some(segment) = &mut copy.tcp
        && let Some(stamps) = &mut segment.options.timestamps
        && let Some(echo) = seen.echo()
        && Seq(echo).after(Seq(stamps.value))
    {
        stamps.value = echo;
    }
    // RFC 3168 §6.1.5: retransmitted data is not ECN-capable.
    copy.ecn = Ecn::NotEct;
    copy
}

/// An empty segment just below what the mobile has acknowledged, made from the oldest data that it
/// has not. It is not acceptable, so any TCP answers it at once with what it has
/// (RFC 9293 §3.10.7.4; keep-alives do the same).
pub(super) fn question(oldest: &Packet, una: Seq, seen: &Observed) -> Packet {
    let mut packet = again(oldest, seen);
    if let Some(segment) = &mut packet.tcp {
        segment.seq = una - 1;
        segment.flags = Flags::ACK;
        segment.payload_len = 0;
        packet.ip_len = packet.ip.header_len() + segment.header_len();
    }
    packet.tag = NO_PAYLOAD;
    packet
}
