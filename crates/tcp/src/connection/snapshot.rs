//! Where a connection stands, for whoever reports on it: `getsockopt(TCP_INFO)`, a script.
//!
//! A copy of what is known, made when asked; nothing here decides anything.

use super::Connection;
use crate::sender::{Phase, SentState};
use ackord_units::{Bytes, Rate, Span};

/// What a connection knows at one moment. Segments are counted as they were sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The recovery under way.
    pub recovery: RecoveryState,
    /// Retransmission timeouts in a row without new data acknowledged.
    pub timeouts_in_row: u32,
    /// Probes of a closed window in a row.
    pub probes: u32,
    /// How often the retransmission timeout has been doubled.
    pub backoff: u32,
    /// The retransmission timeout as it stands, backed off.
    pub rto: Span,
    /// Smoothed round-trip time (RFC 6298), once known.
    pub srtt: Option<Span>,
    /// Its variation (RFC 6298), once known.
    pub rttvar: Option<Span>,
    /// The shortest round trip seen.
    pub min_rtt: Option<Span>,
    /// How long the acknowledgment of a lone segment would wait, where the policy learns it.
    pub ato: Option<Span>,
    /// Options and notification in use.
    pub agreed: AgreedOptions,
    /// Payload of a full-sized segment sent, options taken off.
    pub smss: Bytes,
    /// The maximum segment size announced to the peer, options not taken off.
    pub announced_mss: Bytes,
    /// Payload of the largest segment received, or what one carries at least.
    pub rmss: Bytes,
    /// The congestion window.
    pub cwnd: Bytes,
    /// Where cwnd is on its way there, while a reduction that a mark brought is under way.
    pub reduced_so_far: Option<Bytes>,
    /// The slow-start threshold; [`Bytes::MAX`] while there is none.
    pub ssthresh: Bytes,
    /// The window the peer offers, scaled.
    pub snd_wnd: Bytes,
    /// The window announced last, from the next byte expected.
    pub rcv_wnd: Bytes,
    /// Bytes written and never sent.
    pub unsent: Bytes,
    /// What is outstanding, in segments as they were sent.
    pub segments: OutstandingSegments,
    /// DupThresh as it stands.
    pub duplicate_threshold: u32,
    /// From the end of a segment to that of one that overtook it, at most.
    pub overtaken_by: Bytes,
    /// The rate at which segments leave, where they are paced by the control.
    pub pacing_rate: Option<Rate>,
}

/// What is outstanding, in segments as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutstandingSegments {
    /// Sent and not cumulatively acknowledged.
    pub all: u32,
    /// Of those, selectively acknowledged.
    pub sacked: u32,
    /// Of those, lost and not yet retransmitted.
    pub lost: u32,
    /// Of those, in the network for the second time or more.
    pub retransmitted: u32,
}

/// The recovery that a sender is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// Nothing, and nothing looks lost.
    None,
    /// Nothing, but later segments have arrived than one that is missing.
    Doubtful,
    /// Nothing is missing; the window was reduced as marks that came back asked for (RFC 3168), and
    /// that reduction still holds.
    Notified,
    /// In fast recovery.
    Fast,
    /// After a retransmission timeout.
    Timeout,
}

/// What the two ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AgreedOptions {
    /// RFC 7323 §3.
    pub timestamps: bool,
    /// RFC 2018.
    pub sack: bool,
    /// RFC 7323 §2.
    pub window_scaling: bool,
    /// RFC 3168: our data may be marked.
    pub ecn: bool,
    /// The shift of the windows the peer sends.
    pub peers_shift: u8,
    /// The shift of the windows this end sends.
    pub own_shift: u8,
}

impl Connection {
    /// Where it stands now.
    pub fn snapshot(&self) -> Snapshot {
        let sender = &self.sender;
        let count = |wanted: SentState| {
            sender.outstanding().filter(|&(state, _)| state == wanted).count() as u32
        };
        let retransmitted = (SentState::InFlight, true);
        let segments = OutstandingSegments {
            all: sender.board().segments() as u32,
            sacked: count(SentState::Sacked),
            lost: count(SentState::Lost),
            retransmitted: sender.outstanding().filter(|&sent| sent == retransmitted).count()
                as u32,
        };
        let recovery = match sender.phase() {
            Phase::FastRecovery { .. } => RecoveryState::Fast,
            Phase::SlowStartRecovery { .. } => RecoveryState::Timeout,
            Phase::Open if sender.is_notified() => RecoveryState::Notified,
            Phase::Open if segments.sacked > 0 || sender.duplicate_acks() > 0 => {
                RecoveryState::Doubtful
            }
            Phase::Open => RecoveryState::None,
        };
        let edge = self.receiver.edge().max(self.receiver.rcv_nxt);
        Snapshot {
            recovery,
            timeouts_in_row: sender.timer().timeouts_in_row(),
            probes: sender.persist().probes(),
            backoff: sender.timer().rtt().doublings(),
            rto: sender.timer().rtt().rto(),
            srtt: sender.timer().rtt().srtt(),
            rttvar: sender.timer().rtt().rttvar(),
            min_rtt: sender.timer().rtt().min_rtt(),
            ato: self.receiver.ato(),
            agreed: AgreedOptions {
                timestamps: self.agreed.timestamps.is_some(),
                sack: self.agreed.sack,
                window_scaling: self.agreed.window_scaling,
                ecn: self.ecn.may_be_marked(),
                peers_shift: sender.peer_window().scale(),
                own_shift: self.receiver.scale,
            },
            smss: sender.smss(),
            announced_mss: self.config.mss,
            rmss: self.receiver.full_size,
            cwnd: sender.cwnd(),
            reduced_so_far: sender.reduced_so_far(),
            ssthresh: sender.ssthresh(),
            snd_wnd: Bytes(u64::from(sender.peer_window().size())),
            rcv_wnd: Bytes(u64::from(edge.since(self.receiver.rcv_nxt))),
            unsent: sender.queue().unsent(),
            segments,
            duplicate_threshold: sender.detector_view().duplicate_threshold,
            overtaken_by: sender.detector_view().overtaken_by,
            pacing_rate: sender.control_rate(),
        }
    }
}
