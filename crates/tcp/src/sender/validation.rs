//! Whether what cwnd says of the path is borne out by what is sent: RFC 7661, and RFC 2861 before it.
//!
//! RFC 7661 measures pipeACK, the most that was acknowledged in a round trip lately. While that is
//! less than half of cwnd, cwnd is not validated: it stays, but a loss is answered by what was really
//! in the network, and after five minutes of that it falls. RFC 2861 lowers a window that is used in
//! part for a whole timeout half of the way towards what was used.
//!
//! Not modelled: pacing of the bursts that a kept window may let out, which RFC 7661 §4.4.2 leaves
//! open (`pacing = "on"` does it), and a pipeACK learnt from earlier connections.

use super::Sender;
use crate::config::IdleRestart;
use crate::trace::Trace;
use ackord_events::Sink;
use ackord_units::{Bytes, Seq, Span, Time};

/// The non-validated period (RFC 7661 §4.4.3, §5).
const NON_VALIDATED_PERIOD: Span = Span::from_secs(300);
/// The pipeACK sampling period is at least so long (RFC 7661 §4.2).
const LEAST_SAMPLING_PERIOD: Span = Span::from_secs(1);
/// Measurement periods that a sampling period is kept in.
const MEASUREMENT_PERIODS: usize = 4;

/// What is kept to judge whether cwnd is in use.
#[derive(Clone, Debug)]
pub(super) enum Validation {
    /// Nothing.
    No,
    /// RFC 2861.
    PartUse(PartUse),
    /// RFC 7661.
    PipeAck(Box<PipeAck>),
}

/// T_prev and W_used of RFC 2861 §3.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartUse {
    /// When the window was last full, or lowered.
    since: Time,
    /// The most outstanding since then.
    used: Bytes,
}

/// The state of RFC 7661.
#[derive(Clone, Debug)]
pub(super) struct PipeAck {
    /// The round trip that is being measured.
    round: Option<Round>,
    /// The largest sample of each measurement period, the latest first; pipeACK is undefined while
    /// there is none (§4.2).
    samples: [Option<Sample>; MEASUREMENT_PERIODS],
    /// When cwnd was last validated, or lowered for not having been.
    validated_at: Time,
    /// The recovery under way, if it began while cwnd was not validated.
    recovery: Option<UnvalidatedRecovery>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// Bytes acknowledged when it began.
    from: u64,
    until: Seq,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    began_at: Time,
    bytes: Bytes,
}

/// What a recovery is judged by that began while cwnd was not validated (§4.4.1).
#[derive(Clone, Copy, Debug)]
struct UnvalidatedRecovery {
    /// max(pipeACK, LossFlightSize).
    pipe: Bytes,
    /// R: bytes retransmitted.
    resent: Bytes,
}

impl Validation {
    pub(super) fn new(rule: IdleRestart) -> Validation {
        match rule {
            IdleRestart::Rfc2861 => {
                Validation::PartUse(PartUse { since: Time::ZERO, used: Bytes::ZERO })
            }
            IdleRestart::Rfc7661 => Validation::PipeAck(Box::new(PipeAck {
                round: None,
                samples: [None; MEASUREMENT_PERIODS],
                validated_at: Time::ZERO,
                recovery: None,
            })),
            IdleRestart::Off | IdleRestart::InitialWindow | IdleRestart::Decay => Validation::No,
        }
    }

    pub(super) fn establish(&mut self, now: Time) {
        match self {
            Validation::No => {}
            Validation::PartUse(part) => part.since = now,
            Validation::PipeAck(pipe) => pipe.validated_at = now,
        }
    }

    /// A segment was retransmitted.
    #[inline]
    pub(super) fn on_resent(&mut self, payload: u32) {
        if let Validation::PipeAck(pipe) = self
            && let Some(recovery) = &mut pipe.recovery
        {
            recovery.resent += Bytes(u64::from(payload));
        }
    }

    /// An idle time has been answered: a period of use in part begins now.
    pub(super) fn restart_part_use(&mut self, now: Time) {
        if let Validation::PartUse(part) = self {
            *part = PartUse { since: now, used: Bytes::ZERO };
        }
    }

    /// A timeout: what was measured before says nothing any more.
    pub(super) fn on_timeout(&mut self) {
        if let Validation::PipeAck(pipe) = self {
            pipe.forget();
        }
    }
}

impl PipeAck {
    fn forget(&mut self) {
        self.round = None;
        self.samples = [None; MEASUREMENT_PERIODS];
        self.recovery = None;
    }

    fn sampling_period(srtt: Span) -> Span {
        (srtt * 3).max(LEAST_SAMPLING_PERIOD)
    }

    /// pipeACK; nothing while it is undefined, zero after a sampling period without a sample.
    fn value(&self, now: Time, srtt: Span) -> Option<Bytes> {
        self.samples[0]?;
        let period = PipeAck::sampling_period(srtt);
        let recent = self.samples.iter().flatten();
        let recent = recent.filter(|sample| now.saturating_since(sample.began_at) < period);
        Some(recent.map(|sample| sample.bytes).max().unwrap_or(Bytes::ZERO))
    }

    fn take(&mut self, now: Time, bytes: Bytes, srtt: Span) {
        let length = PipeAck::sampling_period(srtt) / MEASUREMENT_PERIODS as u64;
        match &mut self.samples[0] {
            Some(latest) if now.saturating_since(latest.began_at) < length => {
                latest.bytes = latest.bytes.max(bytes);
            }
            _ => {
                self.samples.rotate_right(1);
                self.samples[0] = Some(Sample { began_at: now, bytes });
            }
        }
    }

    /// New data has left that ends at `snd_nxt`: what leaves before the first acknowledgment of a
    /// round is part of it.
    fn on_sent(&mut self, una_offset: u64, snd_nxt: Seq) {
        match &mut self.round {
            Some(round) if round.from != una_offset => {}
            round => *round = Some(Round { from: una_offset, until: snd_nxt }),
        }
    }
}

impl Sender {
    /// The smoothed round-trip time, or the timeout while none is known.
    fn round_trip(&self) -> Span {
        self.timer.rtt().srtt().unwrap_or_else(|| self.timer.rtt().rto())
    }

    /// New data was acknowledged outside recovery.
    #[inline]
    pub(super) fn validate_by_ack(&mut self, now: Time) {
        if let Validation::PipeAck(_) = self.usage.validation() {
            self.measure_pipe(now);
        }
    }

    #[inline(never)]
    fn measure_pipe(&mut self, now: Time) {
        let (srtt, cwnd) = (self.round_trip(), self.congestion.cwnd());
        let (una_offset, snd_una, snd_nxt) =
            (self.queue.una_offset(), self.queue.snd_una(), self.queue.snd_nxt());
        let Validation::PipeAck(pipe) = self.usage.validation_mut() else { return };
        if let Some(round) = pipe.round.filter(|round| snd_una.at_or_after(round.until)) {
            pipe.take(now, Bytes(una_offset - round.from), srtt);
            let outstanding = snd_nxt.after(snd_una);
            pipe.round = outstanding.then_some(Round { from: una_offset, until: snd_nxt });
        }
        if !is_unvalidated(pipe.value(now, srtt), cwnd) {
            pipe.validated_at = now;
        }
    }

    /// New data has left.
    #[inline]
    pub(crate) fn validate_by_sending<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        match self.usage.validation_mut() {
            Validation::No => {}
            Validation::PartUse(part) => {
                let part = *part;
                self.note_part_use(trace, part);
            }
            Validation::PipeAck(pipe) => {
                pipe.on_sent(self.queue.una_offset(), self.queue.snd_nxt());
                self.end_unvalidated_period(trace);
            }
        }
    }

    /// RFC 2861 §3, after a segment was sent.
    #[inline(never)]
    fn note_part_use<S: Sink>(&mut self, trace: &mut Trace<'_, S>, mut part: PartUse) {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let win = cwnd.min(Bytes(u64::from(self.peer_window.max())));
        let flight = self.queue.flight_size();
        let starts_anew = PartUse { since: trace.now, used: Bytes::ZERO };
        if flight + self.sizes.smss() > win || !self.recovery.is_open() {
            part = starts_anew;
        } else {
            if self.queue.unsent() == Bytes::ZERO {
                part.used = part.used.max(flight);
            }
            if trace.now.saturating_since(part.since) >= self.timer.rtt().rto() {
                let cwnd_then = Bytes((win + part.used).get() / 2).max(self.sizes.smss());
                self.restart(trace, cwnd_then, ssthresh.max(Bytes(cwnd.get() / 4 * 3)));
                part = starts_anew;
            }
        }
        *self.usage.validation_mut() = Validation::PartUse(part);
    }

    /// RFC 7661 §4.4.3: five minutes without validation lower cwnd to half, the initial window at
    /// least, and ssthresh remembers three quarters.
    pub(super) fn end_unvalidated_period<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let srtt = self.round_trip();
        let least = self.sizes.initial_window();
        loop {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            let Validation::PipeAck(pipe) = self.usage.validation_mut() else { return };
            if !is_unvalidated(pipe.value(trace.now, srtt), cwnd) {
                return;
            }
            let lapsed = trace.now.saturating_since(pipe.validated_at);
            if lapsed < NON_VALIDATED_PERIOD {
                return;
            }
            pipe.validated_at += NON_VALIDATED_PERIOD;
            if cwnd <= least {
                continue;
            }
            let halved = Bytes(cwnd.get() / 2).max(least);
            self.restart(trace, halved, ssthresh.max(Bytes(cwnd.get() / 4 * 3)));
        }
    }

    /// Whether cwnd is not validated at present (RFC 7661 §4.3).
    pub(super) fn is_not_validated(&self, now: Time) -> bool {
        let Validation::PipeAck(pipe) = self.usage.validation() else { return false };
        is_unvalidated(pipe.value(now, self.round_trip()), self.congestion.cwnd())
    }

    /// What a loss is answered by. While cwnd is not validated that is what the path has carried
    /// lately, if it is more than FlightSize (RFC 7661 §4.4.1).
    pub(super) fn flight_size_at_loss(&mut self, now: Time, flight_size: Bytes) -> Bytes {
        let srtt = self.round_trip();
        let cwnd = self.congestion.cwnd();
        let Validation::PipeAck(pipe) = self.usage.validation_mut() else { return flight_size };
        let value = pipe.value(now, srtt);
        if !is_unvalidated(value, cwnd) {
            pipe.recovery = None;
            return flight_size;
        }
        let safe = value.unwrap_or(Bytes::ZERO).max(flight_size);
        pipe.recovery = Some(UnvalidatedRecovery { pipe: safe, resent: Bytes::ZERO });
        safe
    }

    /// Fast recovery is over: what cwnd may be at most if it began while cwnd was not validated, less
    /// by the share that was lost (RFC 7661 §4.4.1). pipeACK is undefined from here on.
    pub(super) fn bound_after_unvalidated_recovery(&mut self) -> Option<Bytes> {
        let ssthresh = self.congestion.ssthresh();
        let smss = self.sizes.smss();
        let Validation::PipeAck(pipe) = self.usage.validation_mut() else { return None };
        let recovery = pipe.recovery;
        pipe.forget();
        let UnvalidatedRecovery { pipe, resent } = recovery?;
        let left = pipe.saturating_sub(resent);
        // Eq. of §4.4.1 with the control's own factor, which ssthresh has in it, for one half.
        let share = u128::from(ssthresh.get()) * u128::from(left.get());
        Some(Bytes((share / u128::from(pipe.get().max(1))) as u64).max(smss))
    }
}

/// RFC 7661 §4.3: pipeACK is defined and less than half of cwnd.
fn is_unvalidated(pipe_ack: Option<Bytes>, cwnd: Bytes) -> bool {
    pipe_ack.is_some_and(|pipe_ack| pipe_ack * 2 < cwnd)
}
