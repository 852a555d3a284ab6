//! Round-trip samples: by every acknowledgment, or of one segment at a time.

use super::Sender;
use super::scoreboard::Acked;
use crate::rtt::Sampling;
use crate::trace::Trace;
use ackord_events::{Event, Sink};
use ackord_units::{Seq, Span, Time};

/// A segment whose round trip is being timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// The octet after its last.
    end: Seq,
    sent_at: Time,
}

/// What a spurious timeout leaves to be done (RFC 4015 §3 step 11).
#[derive(Clone, Copy, Debug)]
pub(super) struct Conservative {
    /// Samples of data beyond this count.
    pub(super) after: Seq,
    /// SRTT_prev and RTTVAR_prev.
    pub(super) srtt: Span,
    pub(super) rttvar: Span,
}

impl Sender {
    /// A new segment, the one that ends at snd_nxt, has left.
    #[inline]
    pub(super) fn time_segment(&mut self, now: Time) {
        if self.rtt.sampling() == Sampling::OneAtATime {
            self.timed.get_or_insert(Timed { end: self.snd_nxt, sent_at: now });
        }
    }

    /// RFC 6298 §4 and Karn's rule: a sample by the sender's own clock, or else by timestamps.
    pub(super) fn sample_rtt<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        acked: &Acked,
        timestamp_rtt: Option<Span>,
    ) {
        let sample = match self.rtt.sampling() {
            Sampling::EveryAck => {
                let own = acked.earliest_sent_at.filter(|_| !acked.ambiguous);
                own.map(|sent_at| trace.now - sent_at).or(timestamp_rtt)
            }
            Sampling::OneAtATime => self.end_timing(trace.now),
        };
        let Some(rtt) = sample else { return };
        let window = self.window();
        match self.conservative.take_if(|pending| window.snd_una.after(pending.after)) {
            None => self.rtt.on_sample(rtt, window),
            Some(previous) => self.rtt.on_late_sample(rtt, previous.srtt, previous.rttvar, window),
        }
        if let Some(tail) = &mut self.tail {
            tail.tlp.on_rtt_sample();
        }
        let estimate = &self.rtt;
        trace.emit(|endpoint| {
            let (srtt, rto) = (estimate.srtt().unwrap_or(rtt), estimate.rto());
            Event::RttSampled { endpoint, rtt, srtt, rto }
        });
    }

    /// The ticks between the timed segment and its acknowledgment, if that has come. A repair ends
    /// the timing of a segment without a sample.
    fn end_timing(&mut self, now: Time) -> Option<Span> {
        let timed = self.timed.filter(|timed| self.snd_una.at_or_after(timed.end))?;
        self.timed = None;
        let tick = self.rtt.granularity().as_nanos();
        let ticks = now.as_nanos() / tick - timed.sent_at.as_nanos() / tick;
        Some(Span::from_nanos(ticks.max(1) * tick))
    }
}
