//! The marks of a stack on its packets: identification fields, timestamps, keep-alives.

use super::connection::{Kind, MS, Sent, Shape};
use ackord_diagnose::{Address, Sacks, Seen};
use ackord_units::{Time, mix64};
use ackord_wire::Flags;

/// Ends of every connection.
pub(crate) const ENDS: [Address; 2] = [
    Address { ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1], port: 50_000 },
    Address { ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 1, 1], port: 80 },
];

/// How a host numbers its packets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ids {
    PerSocket,
    /// One counter for all traffic, of which others take so many numbers a second.
    HostWide(u32),
    /// The same in the wrong byte order.
    Swapped(u32),
    /// Two counters.
    PerCpu,
    Random,
    Zero,
}

/// Keep-alives of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeepAlive {
    /// Bytes of garbage: 0 or 1.
    pub(crate) bytes: u32,
    pub(crate) every_ms: u32,
}

/// What the packets of both ends carry besides their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stack {
    pub(crate) ids: Ids,
    /// Ticks per second of the clock behind TSval; 0 without the option.
    pub(crate) hz: u32,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) seed: u64,
}

/// Where each end's clock and counters begin.
const BEGINS: [u64; 2] = [3_000_000_007, 71];

impl Stack {
    /// Adds keep-alives and their answers to the pauses of the connection.
    pub(crate) fn keep_alive(&self, shape: &Shape, sent: &mut Vec<Sent>) {
        let Some(KeepAlive { bytes, every_ms }) = self.keep_alive else { return };
        let every = u64::from(every_ms) * MS;
        let mut added = Vec::new();
        let mut next = [0_u32; 2];
        for pair in sent.windows(2) {
            let end = pair[0].seq + pair[0].len + u32::from(pair[0].kind != Kind::Segment);
            next[pair[0].side] = next[pair[0].side].max(end);
            if pair.iter().any(|it| it.kind == Kind::Fin) || next[1] < 2 {
                continue;
            }
            let mut at = pair[0].at + every;
            while at + 4 * shape.way() + MS < pair[1].at {
                let probe = Sent {
                    at,
                    side: 1,
                    kind: Kind::Segment,
                    seq: next[1] - 1,
                    ack: next[0],
                    len: bytes,
                };
                let at_peer = at + shape.way();
                let answer =
                    Sent { at: at_peer, side: 0, seq: next[0], ack: next[1], len: 0, ..probe };
                added.extend([probe, answer]);
                at += every;
            }
        }
        sent.extend(added);
        sent.sort_by_key(|it| it.at);
    }

    /// Returns the packets as they leave their hosts.
    pub(crate) fn dress(&self, shape: &Shape, sent: &[Sent]) -> Vec<(Sent, Seen)> {
        let all = sent;
        let mut counters = BEGINS.map(|begins| [begins as u16, (begins >> 7) as u16]);
        let mut last = [0_u64; 2];
        let dress = |(number, sent): (usize, &Sent)| {
            let dice = mix64(self.seed ^ number as u64);
            let elapsed = sent.at.saturating_sub(last[sent.side]) as f64 / 1e9;
            last[sent.side] = sent.at;
            let ip_id = self.id(&mut counters[sent.side], elapsed, dice);
            // The echo is of the last packet that had arrived.
            let heard = sent.at.saturating_sub(shape.way());
            let arrived = |one: &&Sent| one.side != sent.side && one.at <= heard;
            let echoed = all[..number].iter().rfind(arrived).map(|one| one.at);
            (*sent, self.packet(sent, echoed, (shape.mss, ip_id)))
        };
        sent.iter().enumerate().map(dress).collect()
    }

    fn id(&self, counters: &mut [u16; 2], elapsed: f64, dice: u64) -> u16 {
        let share = (dice >> 11) as f64 / (1_u64 << 53) as f64;
        let mut count = |which: usize, rate: u32| {
            let others = elapsed * f64::from(rate) * 2.0 * share;
            counters[which] = counters[which].wrapping_add(1 + others as u64 as u16);
            counters[which]
        };
        match self.ids {
            Ids::PerSocket => count(0, 0),
            Ids::HostWide(rate) => count(0, rate),
            Ids::Swapped(rate) => count(0, rate).swap_bytes(),
            Ids::PerCpu => count((dice & 1) as usize, 0),
            Ids::Random => dice as u16,
            Ids::Zero => 0,
        }
    }

    fn packet(&self, sent: &Sent, echoed: Option<u64>, (mss, ip_id): (u32, u16)) -> Seen {
        let tick = |at: u64, side: usize| {
            let ticks = u128::from(at) * u128::from(self.hz) / 1_000_000_000;
            (BEGINS[side] as u32).wrapping_add(ticks as u32)
        };
        let flags = match sent.kind {
            Kind::Syn => Flags::SYN,
            Kind::SynAck => Flags::SYN | Flags::ACK,
            Kind::Segment => Flags::ACK,
            Kind::Fin => Flags::FIN | Flags::ACK,
        };
        let syn = flags.contains(Flags::SYN);
        let echo = echoed.map_or(0, |at| tick(at, 1 - sent.side));
        let stamps_len = if self.hz > 0 { 12 } else { 0 };
        let stamps = (tick(sent.at, sent.side), echo);
        Seen {
            frame: 0,
            at: Time::from_nanos(sent.at),
            file: 0,
            interface: 0,
            src: ENDS[sent.side],
            dst: ENDS[1 - sent.side],
            seq: sent.seq,
            ack: sent.ack,
            window: if syn { 65_535 } else { 60_000 },
            flags,
            payload_len: sent.len,
            ip_len: sent.len + 40 + stamps_len,
            ip_id,
            ttl: 64,
            ecn: 0,
            mss: syn.then_some((mss + stamps_len) as u16),
            wscale: syn.then_some(7),
            sack_permitted: syn,
            timestamps: (self.hz > 0).then_some(stamps),
            sacks: Sacks::default(),
            options_cut: false,
            hop: 0,
            radio: None,
        }
    }
}
