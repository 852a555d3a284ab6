//! Resets: those that arrive (RFC 9293 §3.10.7, RFC 5961 §3) and those that leave.

use super::{CloseReason, Connection, Opened};
use crate::config::TimeWaitResets;
use crate::trace::Trace;
use ackord_events::{RefusalReason, Sink, TcpState};
use ackord_units::{Seq, Time};
use ackord_wire::{Flags, Options, Segment};

impl Connection {
    /// A reset inside the window: RFC 9293 §3.10.7.4 second check, with RFC 5961 §3.
    pub(super) fn on_reset<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        if segment.seq != self.receiver.rcv_nxt {
            return self.challenge(trace, segment, RefusalReason::InexactReset);
        }
        match (self.state, self.opened) {
            (TcpState::SynReceived, Opened::Passively) => self.return_to_listen(trace),
            (TcpState::SynReceived, Opened::Actively) => self.fail(trace, CloseReason::Refused),
            (TcpState::TimeWait, _)
                if self.config.closing.time_wait_resets == TimeWaitResets::Ignore =>
            {
                self.refuse_silently(trace, segment, RefusalReason::ResetInTimeWait);
            }
            (TcpState::TimeWait | TcpState::LastAck | TcpState::Closing, _) => {
                self.fail(trace, CloseReason::Orderly);
            }
            _ => self.fail(trace, CloseReason::ResetByPeer),
        }
    }

    /// The reset this end sends of its own accord. RFC 7323 §3.2: with timestamps where they are
    /// in use.
    pub(super) fn reset_segment(&self, now: Time) -> Segment {
        let timestamps = self.agreed.timestamps.is_some().then(|| self.timestamps(now));
        Segment {
            seq: self.sender.queue().snd_nxt(),
            ack: self.receiver.rcv_nxt,
            flags: Flags::RST | Flags::ACK,
            options: Options { timestamps, ..Options::default() },
            ..Segment::default()
        }
    }
}

/// Whether the peer has to be told when a connection in this state is given up
/// (RFC 9293 §3.10.5): later ones end by themselves, and earlier ones the peer knows nothing of.
pub(super) fn peer_is_to_be_told(state: TcpState) -> bool {
    use TcpState::*;
    matches!(state, SynReceived | Established | FinWait1 | FinWait2 | CloseWait)
}

/// The reset that answers a segment for which there is no connection (RFC 9293 §3.10.7.1). The
/// driver sends it for segments that match no connection of its own.
pub fn reset_for(segment: &Segment) -> Segment {
    if segment.flags.contains(Flags::ACK) {
        return Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() };
    }
    Segment {
        seq: Seq(0),
        ack: segment.end_seq(),
        flags: Flags::RST | Flags::ACK,
        options: Options::default(),
        ..Segment::default()
    }
}
