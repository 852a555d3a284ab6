//! What both ends of a connection do, and when they send which packet.

use super::Truth;
use std::collections::VecDeque;

/// Nanoseconds in a microsecond and in a millisecond.
pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;

/// What the applications do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Traffic {
    /// Requests of the client and responses of the server.
    Requests {
        count: u32,
        request: u32,
        response: u32,
        /// Time that the server computes, ms.
        think_ms: u32,
        /// Time from a response to the next request, ms.
        gap_ms: u32,
    },
    /// One transfer from the server.
    Bulk { bytes: u32 },
    /// Transfers of one end with pauses, which nobody requests.
    Pushes {
        side: usize,
        count: u32,
        bytes: u32,
        /// Time from the last ACK of one to the next, ms.
        gap_ms: u32,
    },
    /// A request, a response, a long pause, and a last request without a response.
    Idle { pause_ms: u32 },
}

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) traffic: Traffic,
    /// Round trip, us.
    pub(crate) rtt_us: u32,
    /// Bytes of payload in a full segment: the MSS without the timestamps option. 65483 on a loopback
    /// interface.
    pub(crate) mss: u32,
    /// Time from one segment to the next of a burst, us.
    pub(crate) spacing_us: u32,
    /// Most segments in flight.
    pub(crate) window: u32,
    /// How often the client's FIN is retransmitted without an answer; nothing without a close.
    pub(crate) fins: Option<u32>,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Syn,
    SynAck,
    Segment,
    Fin,
}

/// A packet when it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Time of sending, ns since the SYN.
    pub(crate) at: u64,
    /// 0 for the client, 1 for the server.
    pub(crate) side: usize,
    pub(crate) kind: Kind,
    /// Sequence and acknowledgment numbers, the SYN being 0.
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Bytes of payload.
    pub(crate) len: u32,
}

/// The ends while they send.
struct Ends<'a> {
    shape: &'a Shape,
    sent: Vec<Sent>,
    /// Next sequence number of each end.
    next: [u32; 2],
    /// Congestion windows in segments.
    cwnd: [u32; 2],
}

impl Shape {
    /// Time from one end to the other, ns.
    pub(crate) fn way(&self) -> u64 {
        u64::from(self.rtt_us) * US / 2
    }

    /// Returns all packets in order of sending, and the truth.
    pub(crate) fn packets(&self) -> (Vec<Sent>, Truth) {
        let mut ends = Ends { shape: self, sent: Vec::new(), next: [1, 1], cwnd: [10, 10] };
        let mut truth = Truth::default();
        let way = self.way();
        let first = |at, side, kind, ack| Sent { at, side, kind, seq: 0, ack, len: 0 };
        ends.sent.push(first(0, 0, Kind::Syn, 0));
        ends.sent.push(first(way, 1, Kind::SynAck, 1));
        ends.sent.push(Sent { seq: 1, ..first(2 * way, 0, Kind::Segment, 1) });
        let mut now = 2 * way + 20 * US;
        match self.traffic {
            Traffic::Bulk { bytes } => now = ends.transfer(1, bytes, now + way),
            Traffic::Pushes { side, count, bytes, gap_ms } => {
                now += way;
                for number in 0..count {
                    if number > 0 {
                        // What has arrived is known to the sender half a round trip later.
                        now += way + u64::from(gap_ms) * MS;
                        truth.idle_s[side] += f64::from(gap_ms) / 1e3;
                        truth.acks_s += way as f64 / 1e9;
                    }
                    now = ends.transfer(side, bytes, now);
                }
            }
            Traffic::Idle { pause_ms } => {
                now = ends.exchange(200, 900, 1, now);
                truth.idle_s[1] += 0.001;
                truth.idle_s[0] += f64::from(pause_ms) / 1e3;
                now = ends.transfer(0, 200, now + u64::from(pause_ms) * MS);
            }
            Traffic::Requests { count, request, response, think_ms, gap_ms } => {
                for number in 0..count {
                    if number > 0 {
                        now += u64::from(gap_ms) * MS;
                        truth.idle_s[0] += f64::from(gap_ms) / 1e3;
                    }
                    now = ends.exchange(request, response, think_ms, now);
                    truth.idle_s[1] += f64::from(think_ms) / 1e3;
                }
            }
        }
        truth.bytes = ends.sent.iter().map(|it| u64::from(it.len)).sum();
        self.close(&mut ends, now + way);
        ends.sent.sort_by_key(|it| it.at);
        (ends.sent, truth)
    }

    fn close(&self, ends: &mut Ends<'_>, now: u64) {
        let Some(fins) = self.fins else { return };
        let [seq, ack] = ends.next;
        let fin = Sent { at: now, side: 0, kind: Kind::Fin, seq, ack, len: 0 };
        ends.sent.push(fin);
        if fins == 0 {
            let back = Sent {
                at: now + self.way(),
                side: 1,
                kind: Kind::Fin,
                seq: ack,
                ack: seq + 1,
                len: 0,
            };
            let last = Sent {
                at: now + 2 * self.way(),
                kind: Kind::Segment,
                seq: seq + 1,
                ack: ack + 1,
                ..fin
            };
            ends.sent.extend([back, last]);
        }
        let (mut at, mut timer) = (now, 200 * MS + 2 * self.way());
        for _ in 0..fins {
            at += timer;
            timer *= 2;
            ends.sent.push(Sent { at, ..fin });
        }
    }
}

impl Ends<'_> {
    /// A request of the client at `now`, and its response. Returns when the client has all of that.
    fn exchange(&mut self, request: u32, response: u32, think_ms: u32, now: u64) -> u64 {
        let there = self.transfer(0, request, now);
        self.transfer(1, response, there + u64::from(think_ms) * MS)
    }

    /// Sends bytes of one end from `now` on. Returns when the other end has them all.
    fn transfer(&mut self, side: usize, bytes: u32, now: u64) -> u64 {
        let (way, mss) = (self.shape.way(), self.shape.mss);
        let spacing = u64::from(self.shape.spacing_us) * US;
        let (mut unsent, mut free, mut at, mut arrived) = (bytes, now, now, now);
        let mut acks: VecDeque<(u64, u32)> = VecDeque::new();
        let (mut flight, mut pending) = (0, 0);
        while unsent > 0 {
            if flight >= self.cwnd[side] {
                let (heard, acked) = acks.pop_front().unwrap_or((at, 1));
                at = at.max(heard);
                flight -= acked.min(flight);
                self.cwnd[side] = (self.cwnd[side] + acked).min(self.shape.window);
                continue;
            }
            let len = unsent.min(mss);
            unsent -= len;
            let sent = at.max(free);
            free = sent + spacing;
            self.push(sent, side, len);
            flight += 1;
            pending += 1;
            arrived = sent + way;
            if pending == 2 || unsent == 0 {
                self.push(arrived, 1 - side, 0);
                acks.push_back((arrived + way, pending));
                pending = 0;
            }
        }
        arrived
    }

    fn push(&mut self, at: u64, side: usize, len: u32) {
        let (seq, ack) = (self.next[side], self.next[1 - side]);
        self.sent.push(Sent { at, side, kind: Kind::Segment, seq, ack, len });
        self.next[side] += len;
    }
}
