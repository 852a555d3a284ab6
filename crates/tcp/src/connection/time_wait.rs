//! TIME-WAIT: what keeps it going, and who may end it (RFC 9293 §3.6.1, RFC 6191).

use super::Connection;
use crate::receiver::Owed;
use crate::trace::Trace;
use ackord_events::{RefusalReason, Sink, TcpState};
use ackord_units::{Seq, Time};
use ackord_wire::{Flags, Segment};

/// How far above the last connection's numbers those of the next one begin: beyond any window that
/// was offered without scaling, as common stacks have it.
const DISTANCE: u32 = 65_535 + 2;

impl Connection {
    /// RFC 9293 §3.10.7.4, eighth check: a retransmission of the peer's FIN restarts the wait. It
    /// lies below the window, so that the sequence check has refused it already.
    pub(super) fn look_for_repeated_fin(&mut self, now: Time, segment: &Segment) {
        let fin = segment.flags.contains(Flags::FIN) && !segment.flags.contains(Flags::SYN);
        if fin && segment.end_seq() == self.receiver.rcv_nxt {
            self.timers.end_state(Some(now + self.config.closing.time_wait));
        }
    }

    /// The same for a FIN that lies in the window: there is nothing left for it to end, but whoever
    /// sent it waits for an acknowledgment.
    pub(super) fn on_fin_in_time_wait(&mut self, now: Time) {
        self.timers.end_state(Some(now + self.config.closing.time_wait));
        self.receiver.owed = Owed::Now;
    }

    /// Takes in a segment without RST and SYN where TIME-WAIT answers all others than an empty one that is next in
    /// sequence (`tcp_timewait_state_process`). One that acknowledges restarts the wait. `passed` is true if the first
    /// six checks have let it pass: they have answered what they refuse, except a segment without ACK.
    pub(super) fn on_other_in_time_wait<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        passed: bool,
    ) {
        let is_next = segment.seq == self.receiver.rcv_nxt && segment.seq_len() == 0;
        if is_next || segment.flags.intersects(Flags::RST | Flags::SYN) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.timers.end_state(Some(trace.now + self.config.closing.time_wait));
        }
        let lacks_only_ack = || {
            !segment.flags.contains(Flags::ACK)
                && self.receiver.acceptable(segment.seq, segment.seq_len())
                && self.refused_for_timestamp(trace.now, segment).is_none()
        };
        if passed || lacks_only_ack() {
            self.refuse(trace, segment, RefusalReason::OutsideWindow);
        }
    }

    /// Whether a SYN may open a new connection between the same ports while this one is in
    /// TIME-WAIT (RFC 9293 §3.6.1 MAY-2, RFC 6191 §2): the least initial sequence number that the
    /// new one may then begin with. This connection is to be dropped, and the SYN handed to the
    /// new one.
    ///
    /// Not modelled: going back to TIME-WAIT if the SYN proves to be an old duplicate.
    pub fn may_be_succeeded_by(&self, syn: &Segment) -> Option<Seq> {
        let opens = syn.flags.contains(Flags::SYN)
            && !syn.flags.intersects(Flags::ACK | Flags::RST | Flags::FIN);
        if self.state != TcpState::TimeWait || !opens {
            return None;
        }
        let later_seq = syn.seq.after(self.receiver.rcv_nxt);
        let newer = match (self.ts_recent(), syn.options.timestamps) {
            (Some(recent), Some(stamps)) => match stamps.value.wrapping_sub(recent) as i32 {
                0 => later_seq,
                ahead => ahead > 0,
            },
            // With timestamps, PAWS keeps old segments from the new connection.
            (None, Some(_)) => self.offers_timestamps() || later_seq,
            (_, None) => later_seq,
        };
        newer.then(|| self.sender.queue().snd_nxt() + DISTANCE)
    }
}
