//! What a middlebox does to the bytes of a packet. Where it means well it mends the checksums.

use ackord_units::Bytes;
use ackord_wire::{
    Decoded, Ecn, Flags, IpFields, Options, Payload, SackBlocks, Segment, decode, encode, set_ecn,
};

/// The packet with this segment and payload in place of its own.
fn rewritten(of: &Decoded, segment: &Segment, payload: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let fields = IpFields { ecn: of.ip.ecn, ..IpFields::default() };
    let segment = Segment { payload_len: payload.len() as u32, ..*segment };
    encode(of.endpoints, fields, &segment, Payload::Bytes(payload), &mut bytes).ok()?;
    Some(bytes)
}

/// Flips bits of one byte, never all of those that the checksum cannot tell apart.
pub fn corrupt(bytes: &mut [u8], at: u16) {
    let place = usize::from(at) % bytes.len();
    bytes[place] ^= 1 << (at % 8);
}

/// Keeps the first bytes only.
pub fn cut(bytes: &mut Vec<u8>, at: u16) {
    bytes.truncate(usize::from(at) % bytes.len());
}

/// Two sound packets with the payload of one; nothing if it has too little.
pub fn split(bytes: &[u8], at: u16) -> Option<[Vec<u8>; 2]> {
    let decoded = decode(bytes).ok()?;
    let segment = decoded.segment;
    let payload = &bytes[decoded.payload.clone()];
    if payload.len() < 2 || segment.flags.contains(Flags::SYN) {
        return None;
    }
    let (head, tail) = payload.split_at(usize::from(at) % (payload.len() - 1) + 1);
    let early = Flags::from_bits(segment.flags.bits() & !(Flags::FIN | Flags::PSH).bits());
    let first = rewritten(&decoded, &Segment { flags: early, ..segment }, head)?;
    let seq = segment.seq + head.len() as u32;
    let second = rewritten(&decoded, &Segment { seq, ..segment }, tail)?;
    Some([first, second])
}

/// Only the first of those two.
pub fn shorten(bytes: &[u8], at: u16) -> Option<Vec<u8>> {
    split(bytes, at).map(|[head, _]| head)
}

/// Takes options out; one bit of `what` for each kind.
pub fn strip(bytes: &[u8], what: u8) -> Option<Vec<u8>> {
    let decoded = decode(bytes).ok()?;
    let keeps = |bit: u8| what >> bit & 1 == 0;
    let had = decoded.segment.options;
    let options = Options {
        mss: had.mss.filter(|_| keeps(0)),
        window_scale: had.window_scale.filter(|_| keeps(1)),
        sack_permitted: had.sack_permitted && keeps(2),
        timestamps: had.timestamps.filter(|_| keeps(3)),
        sack: if keeps(4) { had.sack } else { SackBlocks::default() },
    };
    let segment = Segment { options, ..decoded.segment };
    rewritten(&decoded, &segment, &bytes[decoded.payload.clone()])
}

/// How a box changes a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Lower,
    Raise,
}

/// Writes another window, where that lowers or raises it.
pub fn rewindow(bytes: &[u8], turn: Turn, to: u16) -> Option<Vec<u8>> {
    let decoded = decode(bytes).ok()?;
    let had = decoded.segment.window;
    let window = match turn {
        Turn::Lower => had.min(to),
        Turn::Raise => had.max(to),
    };
    let segment = Segment { window, ..decoded.segment };
    rewritten(&decoded, &segment, &bytes[decoded.payload.clone()])
}

/// Marks the packet if it allows that.
pub fn mark(bytes: &mut [u8]) {
    if decode(bytes).is_ok_and(|decoded| matches!(decoded.ip.ecn, Ecn::Ect0 | Ecn::Ect1)) {
        set_ecn(bytes, Ecn::Ce);
    }
}

/// Bytes of payload in a packet.
pub fn payload(bytes: &[u8]) -> Bytes {
    Bytes(decode(bytes).map_or(0, |decoded| decoded.payload.len() as u64))
}
