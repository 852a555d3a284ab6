//! The quantities that a script may ask an endpoint for.

use crate::facts::{Asked, Fact, Kind, Quantity};
use ackord_events::TcpState;
use ackord_tcp::{CloseReason, RecoveryState};
use ackord_units::{Bytes, Span, Time};

impl Asked<'_> {
    fn left(&self, until: Option<Time>) -> Fact {
        until.map_or(Fact::None, |at| Fact::Span(at.saturating_since(self.now)))
    }
}

fn bytes(bytes: Bytes) -> Fact {
    if bytes == Bytes::MAX { Fact::None } else { Fact::Bytes(bytes.get()) }
}

fn span(span: Option<Span>) -> Fact {
    span.map_or(Fact::None, Fact::Span)
}

fn yes_no(yes: bool) -> Fact {
    Fact::Word(if yes { "yes" } else { "no" })
}

const YES_NO: Kind = Kind::Word(&["yes", "no"]);
const STATES: &[&str] = &[
    "LISTEN",
    "SYN-SENT",
    "SYN-RECEIVED",
    "ESTABLISHED",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "CLOSE-WAIT",
    "CLOSING",
    "LAST-ACK",
    "TIME-WAIT",
    "CLOSED",
];
const REASONS: &[&str] = &["orderly", "reset", "aborted", "timed-out", "refused"];
const RECOVERY_STATES: &[&str] = &["none", "doubtful", "notified", "fast", "timeout"];

const fn quantity(
    name: &'static str,
    kind: Kind,
    doc: &'static str,
    value: fn(&Asked<'_>) -> Fact,
) -> Quantity {
    Quantity { name, kind, doc, value }
}

/// Everything that can be asserted.
pub static QUANTITIES: &[Quantity] = &[
    quantity("state", Kind::Word(STATES), "State of RFC 9293", |a| {
        Fact::Word(state_name(a.connection.state()))
    }),
    quantity("close_reason", Kind::Word(REASONS), "Why it is closed, once it is", |a| {
        a.connection.close_reason().map_or(Fact::None, |reason| Fact::Word(reason_name(reason)))
    }),
    quantity("cwnd", Kind::Bytes, "Congestion window", |a| bytes(a.connection.cwnd())),
    quantity("ssthresh", Kind::Bytes, "Slow-start threshold; `none` while there is none", |a| {
        bytes(a.connection.ssthresh())
    }),
    quantity("in_flight", Kind::Bytes, "Bytes sent and not acknowledged (FlightSize)", |a| {
        bytes(a.connection.flight_size())
    }),
    quantity("pipe", Kind::Bytes, "Bytes believed to be under way (RFC 6675)", |a| {
        bytes(a.connection.pipe())
    }),
    quantity("sacked", Kind::Bytes, "Bytes reported by SACK", |a| bytes(a.connection.sacked())),
    quantity("unsent", Kind::Bytes, "Bytes written and never sent", |a| {
        bytes(a.connection.snapshot().unsent)
    }),
    quantity("outstanding", Kind::Count, "Segments sent and not acknowledged", |a| {
        Fact::Count(u64::from(a.connection.snapshot().segments.all))
    }),
    quantity("lost", Kind::Count, "Of those, lost and not yet retransmitted", |a| {
        Fact::Count(u64::from(a.connection.snapshot().segments.lost))
    }),
    quantity("probes", Kind::Count, "Probes of a closed window in a row", |a| {
        Fact::Count(u64::from(a.connection.snapshot().probes))
    }),
    quantity("rmss", Kind::Bytes, "Payload of the peer's full-sized segments", |a| {
        bytes(a.connection.snapshot().rmss)
    }),
    quantity("smss", Kind::Bytes, "Payload of a full-sized segment", |a| {
        bytes(a.connection.smss())
    }),
    quantity("snd_wnd", Kind::Bytes, "The window the peer offers", |a| {
        bytes(a.connection.snapshot().snd_wnd)
    }),
    quantity("rcv_wnd", Kind::Bytes, "The window announced to the peer", |a| {
        bytes(a.connection.snapshot().rcv_wnd)
    }),
    quantity("snd_una", Kind::Relative, "Oldest byte not acknowledged", |a| {
        Fact::Count(u64::from(a.connection.snd_una().since(a.iss)))
    }),
    quantity("snd_nxt", Kind::Relative, "Next byte to send", |a| {
        Fact::Count(u64::from(a.connection.snd_nxt().since(a.iss)))
    }),
    quantity("rcv_nxt", Kind::Relative, "Next byte expected", |a| {
        Fact::Count(u64::from(a.connection.rcv_nxt().since(a.irs)))
    }),
    quantity("recovery", Kind::Word(RECOVERY_STATES), "The recovery under way", |a| {
        Fact::Word(match a.connection.snapshot().recovery {
            RecoveryState::None => "none",
            RecoveryState::Doubtful => "doubtful",
            RecoveryState::Notified => "notified",
            RecoveryState::Fast => "fast",
            RecoveryState::Timeout => "timeout",
        })
    }),
    quantity("dupacks", Kind::Count, "Duplicate acknowledgments in a row", |a| {
        Fact::Count(u64::from(a.connection.duplicate_acks()))
    }),
    quantity("dupthresh", Kind::Count, "DupThresh as loss detection has it now", |a| {
        Fact::Count(u64::from(a.connection.snapshot().duplicate_threshold))
    }),
    quantity("srtt", Kind::Span, "Smoothed round-trip time", |a| span(a.connection.srtt())),
    quantity("rttvar", Kind::Span, "Its mean deviation", |a| span(a.connection.snapshot().rttvar)),
    quantity("min_rtt", Kind::Span, "Smallest round-trip time measured", |a| {
        span(a.connection.snapshot().min_rtt)
    }),
    quantity("rto", Kind::Span, "Retransmission timeout, backed off", |a| {
        Fact::Span(a.connection.rto())
    }),
    quantity("rto_timer", Kind::Span, "Time left on the retransmission timer", |a| {
        a.left(a.connection.rto_at())
    }),
    quantity("persist_timer", Kind::Span, "Time left to the next window probe", |a| {
        a.left(a.connection.persist_at())
    }),
    quantity("ack_timer", Kind::Span, "Time left until a waiting acknowledgment leaves", |a| {
        a.left(a.connection.ack_due_at())
    }),
    quantity("ato", Kind::Span, "Acknowledgment timeout of a policy that adapts it", |a| {
        span(a.connection.snapshot().ato)
    }),
    quantity("timeouts", Kind::Count, "Retransmission timeouts", |a| {
        Fact::Count(a.connection.stats().timeouts)
    }),
    quantity("timeouts_in_row", Kind::Count, "Of those, since the last new acknowledgment", |a| {
        Fact::Count(u64::from(a.connection.snapshot().timeouts_in_row))
    }),
    quantity("retransmissions", Kind::Count, "Segments retransmitted", |a| {
        Fact::Count(a.connection.stats().retransmitted_segments)
    }),
    quantity("data_segments", Kind::Count, "Segments sent with data, SYN or FIN", |a| {
        Fact::Count(a.connection.stats().data_segments_sent)
    }),
    quantity("pure_acks", Kind::Count, "Segments sent that only acknowledge", |a| {
        Fact::Count(a.connection.stats().pure_acks_sent)
    }),
    quantity("segments_received", Kind::Count, "Segments that arrived", |a| {
        Fact::Count(a.connection.stats().segments_received)
    }),
    quantity("refused", Kind::Count, "Segments discarded as unacceptable or by PAWS", |a| {
        Fact::Count(a.connection.stats().segments_refused)
    }),
    quantity("challenge_acks", Kind::Count, "Challenge acknowledgments (RFC 5961)", |a| {
        Fact::Count(a.connection.stats().challenge_acks)
    }),
    quantity("throttled", Kind::Count, "Refused segments left without an answer", |a| {
        Fact::Count(a.connection.stats().answers_throttled)
    }),
    quantity("old_timestamps", Kind::Count, "Segments refused by PAWS", |a| {
        Fact::Count(a.connection.stats().old_timestamps)
    }),
    quantity("keepalive_probes", Kind::Count, "Probes of a silent peer", |a| {
        Fact::Count(a.connection.stats().keepalive_probes)
    }),
    quantity("delivery_troubles", Kind::Count, "How often R1 was reached", |a| {
        Fact::Count(a.connection.stats().delivery_troubles)
    }),
    quantity("state_timer", Kind::Span, "Time left in TIME-WAIT, or an orphan's FIN-WAIT-2", |a| {
        a.left(a.connection.state_ends_at())
    }),
    quantity("readable", Kind::Bytes, "Bytes in order that wait to be read", |a| {
        bytes(a.connection.readable())
    }),
    quantity("writable", Kind::Bytes, "Bytes that a write would take", |a| {
        bytes(a.connection.writable())
    }),
    quantity("bytes_acked", Kind::Bytes, "Bytes of the stream acknowledged", |a| {
        Fact::Bytes(a.connection.bytes_acked())
    }),
    quantity("bytes_received", Kind::Bytes, "Bytes received in order", |a| {
        Fact::Bytes(a.connection.bytes_received())
    }),
    quantity("peer_finished", YES_NO, "All of the peer's data and its FIN are here", |a| {
        yes_no(a.connection.peer_finished())
    }),
    quantity("all_acknowledged", YES_NO, "Everything written, and the FIN, is acknowledged", |a| {
        yes_no(a.connection.all_acknowledged())
    }),
    quantity("sack", YES_NO, "Both ends speak SACK", |a| {
        yes_no(a.connection.snapshot().agreed.sack)
    }),
    quantity("timestamps", YES_NO, "Both ends use timestamps", |a| {
        yes_no(a.connection.snapshot().agreed.timestamps)
    }),
    quantity("window_scaling", YES_NO, "Both ends scale their windows", |a| {
        yes_no(a.connection.snapshot().agreed.window_scaling)
    }),
    quantity("ecn", YES_NO, "Data leaves in packets that may be marked", |a| {
        yes_no(a.connection.snapshot().agreed.ecn)
    }),
];

/// The quantity of this name.
pub fn quantity_of(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

/// A state as RFC 9293 writes it.
pub(crate) fn state_name(state: TcpState) -> &'static str {
    match state {
        TcpState::Listen => "LISTEN",
        TcpState::SynSent => "SYN-SENT",
        TcpState::SynReceived => "SYN-RECEIVED",
        TcpState::Established => "ESTABLISHED",
        TcpState::FinWait1 => "FIN-WAIT-1",
        TcpState::FinWait2 => "FIN-WAIT-2",
        TcpState::CloseWait => "CLOSE-WAIT",
        TcpState::Closing => "CLOSING",
        TcpState::LastAck => "LAST-ACK",
        TcpState::TimeWait => "TIME-WAIT",
        TcpState::Closed => "CLOSED",
    }
}

fn reason_name(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Orderly => "orderly",
        CloseReason::ResetByPeer => "reset",
        CloseReason::Aborted => "aborted",
        CloseReason::TimedOut => "timed-out",
        CloseReason::Refused => "refused",
    }
}
