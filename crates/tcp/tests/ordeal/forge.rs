//! Segments of an attacker who knows the sequence numbers, and how far beside them to aim.

use ackord_units::Seq;
use ackord_wire::{Flags, Options, SackBlock, Segment, Timestamps};

/// What the attacker knows of the end that is to believe a segment.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What it expects next.
    pub rcv_nxt: Seq,
    /// What it has sent, and how much of that is acknowledged.
    pub snd_una: Seq,
    pub snd_nxt: Seq,
    /// The latest timestamps under way to it.
    pub stamps: Option<Timestamps>,
}

/// How many kinds there are.
pub const KINDS: u8 = 26;

/// A segment of this kind; `by` says how far beside the mark, or how much.
pub fn segment(kind: u8, by: u16, known: &Known) -> Segment {
    let bytes = u32::from(by);
    let Known { rcv_nxt, snd_una, snd_nxt, .. } = *known;
    let stamps = known.stamps;
    let ack = Segment {
        seq: rcv_nxt,
        ack: snd_nxt,
        flags: Flags::ACK,
        window: 60_000,
        options: Options { timestamps: stamps, ..Options::default() },
        ..Segment::default()
    };
    let with = |flags| Segment { flags, ..ack };
    let block = |start: Seq, end: Seq| {
        let mut segment = ack;
        segment.options.sack.push(SackBlock { start, end });
        segment
    };
    match kind % KINDS {
        0 => with(Flags::RST),
        1 => Segment { seq: rcv_nxt + bytes, ..with(Flags::RST) },
        2 => Segment { seq: rcv_nxt - bytes - 1, ..with(Flags::RST | Flags::ACK) },
        3 => Segment { seq: rcv_nxt + bytes, ..with(Flags::SYN) },
        4 => Segment { seq: rcv_nxt - 1, ..with(Flags::SYN | Flags::ACK) },
        5 => Segment { seq: rcv_nxt + bytes, ..with(Flags::FIN | Flags::ACK) },
        6 => Segment { seq: rcv_nxt + bytes % 4_096, payload_len: bytes % 1_461, ..ack },
        7 => Segment { seq: rcv_nxt - bytes, payload_len: bytes % 3_000, ..ack },
        8 => Segment { ack: snd_nxt + bytes + 1, ..ack },
        9 => Segment { ack: snd_una - bytes, ..ack },
        10 => Segment { ack: snd_una, window: by, ..ack },
        11 => Segment { window: by, ..ack },
        12 => block(snd_una + bytes, snd_nxt + bytes),
        13 => block(snd_una + 1, snd_una + 1 + bytes),
        14 => block(snd_una - bytes, snd_una),
        15 => block(snd_nxt, snd_una),
        16 => Segment { payload_len: bytes % 1_461, ..with(Flags::ACK | Flags::URG) },
        17 => Segment { payload_len: bytes % 1_461, ..with(Flags::NONE) },
        odd => oddity(odd, by, known, ack),
    }
}

/// The stranger kinds: flags and numbers at random, timestamps moved, many blocks.
fn oddity(kind: u8, by: u16, known: &Known, ack: Segment) -> Segment {
    let bytes = u32::from(by);
    let Known { snd_una, snd_nxt, stamps, .. } = *known;
    let with = |flags| Segment { flags, ..ack };
    let moved = |by: i64| {
        stamps.map(|stamps| Timestamps {
            value: (i64::from(stamps.value) + by) as u32,
            echo: stamps.echo,
        })
    };
    match kind {
        18 => with(Flags::from_bits(by as u8)),
        19 => Segment {
            options: Options { timestamps: moved(-i64::from(by) * 99), ..ack.options },
            ..ack
        },
        20 => Segment {
            options: Options { timestamps: moved(i64::from(by) * 99), ..ack.options },
            ..ack
        },
        21 => with(Flags::ACK | Flags::ECE),
        22 => Segment { payload_len: bytes % 1_461, ..with(Flags::ACK | Flags::CWR | Flags::PSH) },
        23 => {
            let reach = snd_nxt.since(snd_una).max(1);
            Segment { ack: snd_una + bytes % reach, ..ack }
        }
        24 => Segment {
            seq: Seq(bytes << 16 | bytes),
            ack: Seq(bytes.wrapping_mul(0x9e37_79b9)),
            flags: Flags::from_bits(by as u8),
            ..ack
        },
        _ => {
            let mut many = ack;
            for place in 0..4 {
                let start = snd_una + bytes % 3_000 * place;
                many.options.sack.push(SackBlock { start, end: start + bytes % 1_000 });
            }
            many.options.timestamps = None;
            many
        }
    }
}
