//! One operation, four bytes: so a list of them is what a fuzzer mutates best, and what a finding
//! is kept as.

use ackord_units::Span;
use ackord_wire::Side;

/// What happens next. Masks speak of the next sixteen packets of a direction, lowest bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Write {
        side: Side,
        bytes: u16,
    },
    Read {
        side: Side,
        bytes: u16,
    },
    Close {
        side: Side,
    },
    Abort {
        side: Side,
    },
    Wait(Span),
    /// The application reads all that comes, or nothing until it is asked to.
    Reads {
        side: Side,
        eagerly: bool,
    },
    Lose {
        from: Side,
        mask: u16,
    },
    Late {
        from: Side,
        by: Span,
        mask: u16,
    },
    /// A shorter delay lets packets overtake those under way.
    Delay {
        from: Side,
        to: Span,
    },
    Duplicate {
        from: Side,
        mask: u16,
    },
    /// The next packet is damaged in one place.
    Corrupt {
        from: Side,
        at: u16,
    },
    /// The next packet ends early.
    Cut {
        from: Side,
        at: u16,
    },
    /// A box makes two sound segments of the next one with data.
    Split {
        from: Side,
        at: u16,
    },
    /// A box keeps only the head of the next segment with data, and mends the checksums.
    Shorten {
        from: Side,
        at: u16,
    },
    /// A box takes these options out of the next packets.
    Strip {
        from: Side,
        what: u8,
        packets: u16,
    },
    /// Congestion experienced, on packets that allow it.
    Mark {
        from: Side,
        mask: u16,
    },
    Blackout {
        both: bool,
        from: Side,
        length: Span,
    },
    /// A packet of the past comes again.
    Replay {
        from: Side,
        back: u16,
    },
    /// A box lowers the window of the next packets to this value.
    Narrow {
        from: Side,
        packets: u8,
        to: u16,
    },
    /// A box raises it: a promise nobody made.
    Widen {
        from: Side,
        packets: u8,
        to: u16,
    },
    /// The timers are looked at although none is due.
    Poke {
        side: Side,
    },
    /// The attacker sends a segment of this kind.
    Forge {
        to: Side,
        kind: u8,
        by: u16,
    },
}

/// The number of a kind, for a list of operations written by hand.
pub mod kind {
    pub const WRITE: u8 = 0;
    pub const WAIT: u8 = 4;
    pub const READS: u8 = 5;
    pub const LATE: u8 = 7;
    pub const BLACKOUT: u8 = 16;
    pub const FORGE: u8 = 21;
}

/// How many kinds there are.
pub const KINDS: u8 = 22;

/// Operations of a path and applications that lie to nobody and give up on nothing.
pub const HONEST: [u8; 27] =
    [0, 0, 0, 0, 1, 2, 4, 4, 4, 4, 5, 6, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];

impl Op {
    /// The operation that these bytes stand for; every four bytes stand for one.
    pub fn of([kind, a, low, high]: [u8; 4]) -> Op {
        let b = u16::from_le_bytes([low, high]);
        let side = if a & 1 == 0 { Side::Client } else { Side::Server };
        let rest = a >> 1;
        let from = side;
        match kind % KINDS {
            0 => Op::Write { side, bytes: b },
            1 => Op::Read { side, bytes: b },
            2 => Op::Close { side },
            3 => Op::Abort { side },
            4 => {
                let unit = [1, 100, 1_000, 10_000][usize::from(a % 4)];
                Op::Wait(Span::from_micros(u64::from(b) * unit))
            }
            5 => Op::Reads { side, eagerly: rest & 1 == 1 },
            6 => Op::Lose { from, mask: b },
            7 => Op::Late { from, by: Span::from_millis(u64::from(rest) * 5), mask: b },
            8 => Op::Delay { from, to: Span::from_millis(u64::from(b % 2_000)) },
            9 => Op::Duplicate { from, mask: b },
            10 => Op::Corrupt { from, at: b },
            11 => Op::Cut { from, at: b },
            12 => Op::Split { from, at: b },
            13 => Op::Shorten { from, at: b },
            14 => {
                // Timestamps seldom: without them nothing that is promised can be asked for.
                let what = if rest >> 5 == 3 { rest } else { rest & !(1 << 3) };
                Op::Strip { from, what, packets: b % 16 + 1 }
            }
            15 => Op::Mark { from, mask: b },
            16 => {
                let length = Span::from_millis(u64::from(b % 20_000));
                Op::Blackout { both: rest & 1 == 1, from, length }
            }
            17 => Op::Replay { from, back: b },
            18 => Op::Narrow { from, packets: rest % 16 + 1, to: b },
            19 => Op::Widen { from, packets: rest % 16 + 1, to: b },
            20 => Op::Poke { side },
            _ => Op::Forge { to: side, kind: rest, by: b },
        }
    }
}
