//! Segmentation offload as it shows on the wire: a kernel hands several segments over as one packet, and waits a
//! moment where one alone could leave (`tcp_tso_should_defer`). It sets PSH on each packet of two or more as it is
//! sent (`__tcp_transmit_skb`), not on what it keeps for retransmission; whoever cuts it up leaves that to the last
//! piece. A receiver that is a kernel, too, acknowledges such a piece by itself.
//!
//! Not modelled: where one write's buffer ends and the next one's begins, which a packet does not cross.

use super::sent::Sent;
use super::{FinProgress, Outgoing, Sender};
use crate::config::Config;
use ackord_events::SegmentKind;
use ackord_units::{Bytes, Seq, Span, Time};

/// Bytes of the largest packet that is handed over at once (GSO_LEGACY_MAX_SIZE).
const MOST_BYTES: u64 = 65_536;
/// net.ipv4.tcp_min_tso_segs.
const LEAST_SEGMENTS: u64 = 2;
/// A packet waits for more only so soon after the last one; to the nanosecond, a kernel has looked at its
/// clock once more.
const RECENT: Span = Span::from_millis(1);
/// It waits only for an acknowledgment that is expected so soon, or within half a round trip.
const SOON: Span = Span::from_millis(1);
/// The share of a window that leaves at once (net.ipv4.tcp_tso_win_divisor).
const WINDOW_DIVISOR: u64 = 3;

/// The packet that is being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPacket {
    /// Whether segments are handed over several at once, for others to cut up.
    offload: bool,
    /// Fewest segments of a packet, if as many may be sent.
    least: u64,
    /// Segments in it so far.
    segments: u64,
    /// Where its next segment begins.
    next: Seq,
}

impl OpenPacket {
    pub(super) fn new(config: &Config) -> OpenPacket {
        OpenPacket {
            offload: config.sending.offload,
            least: config.min_tso_segments.unwrap_or(LEAST_SEGMENTS),
            segments: 0,
            next: Seq(0),
        }
    }

    /// Whether segments are handed over several at once.
    pub(super) fn is_in_use(&self) -> bool {
        self.offload
    }

    /// Whether a segment that begins at `seq` would be its next.
    fn is_open_at(&self, seq: Seq) -> bool {
        self.segments > 0 && self.next == seq
    }

    fn add(&mut self, sent: &Outgoing) {
        self.segments = if self.is_open_at(sent.seq) { self.segments + 1 } else { 1 };
        self.next = sent.seq + sent.payload;
    }
}

impl Sender {
    /// Returns the segment just sent with PSH if it is the last of a packet of several. Segments of one packet that
    /// are retransmitted together are one packet again; PSH of a packet is not that of its segments, so that one
    /// retransmitted by itself carries it only at the end of what was written (`tso_fragment`, `tcp_fragment`).
    #[inline]
    pub(super) fn packed(&mut self, sent: Outgoing, room: Bytes) -> Outgoing {
        if self.packet.offload && sent.payload > 0 { self.in_packet(sent, room) } else { sent }
    }

    fn in_packet(&mut self, sent: Outgoing, room: Bytes) -> Outgoing {
        self.packet.add(&sent);
        let may_continue = if sent.kind == SegmentKind::Retransmission {
            self.packet.segments < self.autosized() && self.board.continues_packet(sent.seq)
        } else {
            let half = self.congestion.cwnd() / self.sizes.smss().get().max(1) / 2;
            let most = self.autosized().min(half.get()).max(1);
            let full = self.sizes.smss().min(room);
            self.packet.segments < most && Bytes(u64::from(sent.payload)) == full
        };
        let ends = !(may_continue && self.is_followed(&sent, room));
        self.board.note_packet(sent.seq, ends);
        if !ends {
            return sent;
        }
        let alone = std::mem::take(&mut self.packet.segments) < 2;
        Outgoing { push: sent.push || !alone, ..sent }
    }

    /// Whether what could leave now waits for more to leave with (`tcp_tso_should_defer`): soon after the last
    /// packet, while less can leave than a packet holds and a third of the window, if an acknowledgment is
    /// likely to come soon.
    pub(super) fn defers(&mut self, now: Time, room: Bytes) -> bool {
        let begins = self.packet.offload && !self.packet.is_open_at(self.queue.snd_nxt());
        if !begins || !self.recovery.is_open() {
            return false;
        }
        let (full, unsent) = (self.sizes.smss().min(room), self.queue.unsent());
        let recent = self.usage.last_sent_at().is_some_and(|at| now.saturating_since(at) < RECENT);
        if !recent || unsent <= full {
            return false;
        }
        let cwnd = self.congestion.cwnd();
        let by_cwnd = full * (self.budget() / full.get().max(1)).get();
        let limit = by_cwnd.min(self.peers_room());
        let third = cwnd.min(Bytes(u64::from(self.peer_window.size()))) / WINDOW_DIVISOR;
        let ends = self.queue.fin() == FinProgress::Queued && limit >= unsent;
        if limit >= full * self.autosized() || limit >= third || ends {
            return false;
        }
        // A round trip that was measured has a microsecond at least.
        let srtt =
            self.timer.rtt().srtt().map_or(Span::ZERO, |srtt| srtt.max(Span::from_micros(1)));
        let soon = |oldest: &Sent| oldest.sent_at + srtt <= now + SOON.min(srtt / 2);
        let defers = self.board.oldest().is_some_and(soon);
        if defers && by_cwnd <= self.peers_room() {
            self.usage.count_as_full();
        }
        defers
    }

    /// What the peer's window lets out beyond what was sent.
    fn peers_room(&self) -> Bytes {
        Bytes(u64::from(self.peer_window.room(&self.queue)))
    }

    /// How many segments a packet is to have.
    fn autosized(&self) -> u64 {
        let own = self.congestion.pacing_rate().map(|rate| rate.as_bits_per_sec() / 8);
        let rate = own.unwrap_or_else(|| {
            offload_rate(
                self.congestion.cwnd(),
                self.congestion.ssthresh(),
                self.timer.rtt().srtt(),
            )
        });
        offload_segments(self.sizes.smss(), rate, self.timer.rtt().min_rtt()).max(self.packet.least)
    }
}

/// How many segments of `smss` leave at once at this rate in bytes per second (`tcp_tso_autosize`): what
/// leaves in a millisecond (1/1024 s), more where the shortest round trip is short.
fn offload_segments(smss: Bytes, bytes_per_s: u64, min_rtt: Option<Span>) -> u64 {
    let halvings = min_rtt.map_or(u64::MAX, |rtt| (rtt.as_nanos() / 1_000) >> 9);
    let nearby = if halvings < 32 { MOST_BYTES >> halvings } else { 0 };
    let bytes = (bytes_per_s >> 10).saturating_add(nearby).min(MOST_BYTES - 1);
    bytes / smss.get().max(1)
}

/// The rate by which a kernel sizes packets where its congestion control names none, in bytes per second
/// (`tcp_update_pacing_rate`): cwnd in a round trip and a fifth more, twice that until half of ssthresh is
/// reached.
#[must_use]
pub fn offload_rate(cwnd: Bytes, ssthresh: Bytes, srtt: Option<Span>) -> u64 {
    let Some(srtt) = srtt.filter(|srtt| *srtt > Span::ZERO) else { return u64::MAX };
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let scaled = u128::from(cwnd.get()) * percent * 10_000_000;
    (scaled / u128::from(srtt.as_nanos())) as u64
}
