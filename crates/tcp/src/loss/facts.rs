//! What the sender tells a loss detector.

use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::{Bytes, Seq, Span, Time};

/// What the sender knows when an acknowledgment arrives, or a timer expires.
#[derive(Clone, Copy, Debug)]
pub struct LossFacts {
    /// What the acknowledgment at hand ended, if it covers new data; nothing for a duplicate.
    pub advance: Option<Advance>,
    /// Duplicate acknowledgments in a row.
    pub duplicate_acks: u32,
    /// DupAcks of RFC 6675 §5: the same, and with SACK the acknowledgment that began the run, if it
    /// advanced and reported something new at once.
    pub reports: u32,
    /// Bytes known to have arrived above the oldest segment (zero without SACK).
    pub sacked: Bytes,
    /// The discontiguous sequences they form.
    pub sacked_sequences: u32,
    /// The byte after the highest of them.
    pub highest_sacked: Option<Seq>,
    /// The sender's segment size.
    pub smss: Bytes,
    /// Oldest byte not acknowledged.
    pub snd_una: Seq,
    /// Next byte to be sent.
    pub snd_nxt: Seq,
    /// Bytes sent and not acknowledged.
    pub flight_size: Bytes,
    /// The congestion window.
    pub cwnd: Bytes,
    /// When the oldest outstanding segment was last sent; nothing if none is outstanding.
    pub oldest_sent_at: Option<Time>,
    /// The smoothed round-trip time, once known.
    pub srtt: Option<Span>,
    /// Its mean deviation, once known.
    pub rttvar: Option<Span>,
    /// The smallest round-trip time seen.
    pub min_rtt: Option<Span>,
    /// When the retransmission timer expires, if it runs.
    pub rto_at: Option<Time>,
    /// The recovery under way: fast, or slow start after a timeout.
    pub recovery: Option<RecoveryKind>,
    /// Whether the receiver can report duplicates by SACK (RFC 2883): by that, or by timestamps, a
    /// spurious recovery can be told without the detector's help.
    pub dsack: bool,
    /// Whether acknowledgments echo timestamps (RFC 3522).
    pub timestamps: bool,
}

impl LossFacts {
    /// Whether the oldest segment may be missing: by a duplicate acknowledgment or, outside recovery,
    /// by what was SACKed before above the new oldest one.
    pub fn leave_doubt(&self) -> bool {
        self.advance.is_none() || (self.recovery.is_none() && self.sacked > Bytes::ZERO)
    }

    /// SRTT + 4 RTTVAR without floor or back-off: the fine-grained timeout of Vegas
    /// (Brakmo and Peterson 1995 §3.1).
    pub fn fine_timeout(&self) -> Option<Span> {
        Some(self.srtt? + self.rttvar? * 4)
    }

    /// RFC 6675 §5 (1) and (2): whether DupThresh duplicate acknowledgments came, or what was SACKed
    /// makes the segment lost (IsLost: more than (DupThresh - 1) * SMSS bytes above it, or DupThresh
    /// discontiguous sequences).
    pub fn reaches(&self, threshold: u32) -> bool {
        let bytes = u64::from(threshold.saturating_sub(1)) * self.smss.get();
        self.reports >= threshold
            || self.sacked.get() > bytes
            || self.sacked_sequences >= threshold.max(1)
    }

    /// Segments known, or believed, to have arrived above the oldest one: each duplicate
    /// acknowledgment stands for one, and so do as many bytes SACKed.
    pub fn arrived_above(&self) -> u32 {
        let sacked = self.sacked.get().div_ceil(self.smss.get().max(1));
        self.duplicate_acks.max(u32::try_from(sacked).unwrap_or(u32::MAX))
    }
}

/// What an acknowledgment of new data ended.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// Bytes newly acknowledged.
    pub acked: Bytes,
    /// Duplicate acknowledgments of the run it ended.
    pub duplicate_acks: u32,
    /// Segments that had arrived above the hole it filled: by SACK, or else one for each duplicate
    /// acknowledgment.
    pub extent_segments: u32,
    /// What had become of the segment that was the oldest.
    pub hole: Hole,
}

/// What had become of the oldest segment when it was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// It was sent once: this acknowledgment is the original's.
    SentOnce,
    /// It was retransmitted, last at this time.
    Retransmitted(Time),
}

/// A recovery that turned out to have been unnecessary.
#[derive(Clone, Copy, Debug)]
pub struct Spurious {
    /// What showed it.
    pub evidence: SpuriousEvidence,
    /// Which kind of recovery it was.
    pub recovery: RecoveryKind,
    /// How many segments had arrived above the hole when it was filled.
    pub extent_segments: u32,
    /// How long after the first sign of the hole it was filled.
    pub delay: Span,
    /// Bytes in flight when the recovery began.
    pub flight_size: Bytes,
    /// The sender's segment size.
    pub smss: Bytes,
    /// What else the acknowledgment says that shows it.
    pub context: AckContext,
}

/// What else the acknowledgment says that shows a recovery to be spurious: where timestamps are the
/// evidence, RFC 3522 and RFC 4015 ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckContext {
    /// Bytes outstanding after it.
    pub outstanding: Bytes,
    /// Whether the receiver has reported duplicates.
    pub duplicates: Duplicates,
    /// Whether it echoes a mark: ECE, where ECN is in use (RFC 3168).
    pub marked: bool,
}

/// Whether the receiver has reported duplicates (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Never on this connection.
    Never,
    /// Earlier on this connection, not now.
    Earlier,
    /// By the acknowledgment at hand.
    Now,
}

/// A segment that has newly been reported to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// When it was last sent.
    pub sent_at: Time,
    /// The byte after its last.
    pub end_seq: Seq,
    /// Whether it was ever retransmitted.
    pub hole: Hole,
    /// How long ago it was last sent.
    pub rtt: Span,
    /// Whether the acknowledgment echoes a timestamp older than the last transmission: then it
    /// was an earlier one that arrived (RFC 8985 §6.2 step 2).
    pub echo: Echo,
    /// The smallest round-trip time seen.
    pub min_rtt: Option<Span>,
    /// The smoothed round-trip time, once known.
    pub srtt: Option<Span>,
}

/// What the echoed timestamp says of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// No timestamps are in use.
    Absent,
    /// It is older than the transmission.
    Older,
    /// It is of the transmission's tick, or younger.
    NotOlder,
}
