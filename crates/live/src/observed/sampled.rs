//! The kernel's own view of a socket, as events.

use crate::tcp_info::{CaState, TcpInfo};
use ackord_events::{CwndReason, EndpointId, Event, RecoveryKind, Sink};
use ackord_units::{Bytes, Span, Time};

/// The recovery that a congestion state stands for.
fn recovery(state: CaState) -> Option<RecoveryKind> {
    match state {
        CaState::Recovery => Some(RecoveryKind::Fast),
        CaState::Loss => Some(RecoveryKind::Timeout),
        CaState::Open | CaState::Disorder | CaState::Cwr => None,
    }
}

/// What was sampled last, and round-trip times until something is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampled {
    last: Option<TcpInfo>,
    own: Option<Estimate>,
}

/// RFC 6298 §2, for sockets that nobody can ask.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    rttvar: Span,
}

/// RFC 6298 §2.4.
const RTO_FLOOR: Span = Span::from_secs(1);

impl Estimate {
    fn first(rtt: Span) -> Estimate {
        Estimate { srtt: rtt, rttvar: rtt / 2 }
    }

    fn next(self, rtt: Span) -> Estimate {
        let deviation = self.srtt.abs_diff(rtt);
        Estimate { rttvar: self.rttvar * 3 / 4 + deviation / 4, srtt: self.srtt * 7 / 8 + rtt / 8 }
    }

    fn rto(self) -> Span {
        (self.srtt + self.rttvar * 4).max(RTO_FLOOR)
    }
}

impl Sampled {
    /// An acknowledgment came `rtt` after what it acknowledges.
    pub(super) fn round_trip<S: Sink>(
        &mut self,
        at: Time,
        endpoint: EndpointId,
        rtt: Span,
        sink: &mut S,
    ) {
        let own = self.own.map_or_else(|| Estimate::first(rtt), |own| own.next(rtt));
        self.own = Some(own);
        let (srtt, rto) = match self.last {
            Some(kernel) if kernel.srtt > Span::ZERO => (kernel.srtt, kernel.rto),
            _ => (own.srtt, own.rto()),
        };
        sink.emit(at, Event::RttSampled { endpoint, rtt, srtt, rto });
    }

    /// Tells what has changed since the sample before.
    pub(super) fn take<S: Sink>(
        &mut self,
        at: Time,
        endpoint: EndpointId,
        sample: &TcpInfo,
        sink: &mut S,
    ) {
        let before = self.last.replace(*sample);
        let timeouts = timeouts_between(before.as_ref(), sample);
        for number in 1..=timeouts {
            let in_row = u32::from(sample.retransmits);
            let consecutive = (in_row + number).saturating_sub(timeouts).max(1);
            let next_rto = sample.rto;
            sink.emit(at, Event::RetransmissionTimeout { endpoint, next_rto, consecutive });
        }
        let was = before.and_then(|before| recovery(before.ca_state));
        let is = recovery(sample.ca_state);
        if was != is {
            if let Some(kind) = was {
                sink.emit(at, Event::RecoveryExited { endpoint, kind });
            }
            if let Some(kind) = is {
                sink.emit(at, Event::RecoveryEntered { endpoint, kind });
            }
        }
        let (cwnd, ssthresh) = windows(sample);
        if before.as_ref().map(windows) != Some((cwnd, ssthresh)) {
            let reason = reason(before.as_ref(), sample);
            sink.emit(at, Event::CwndChanged { endpoint, cwnd, ssthresh, reason });
        }
    }
}

fn windows(info: &TcpInfo) -> (Bytes, Bytes) {
    (info.cwnd(), info.ssthresh().unwrap_or(Bytes::MAX))
}

/// Timeouts between two samples. Kernels before 6.7 do not count them: then only those in a row
/// are seen, and a row that ended between the samples is not.
fn timeouts_between(before: Option<&TcpInfo>, after: &TcpInfo) -> u32 {
    match after.timeouts {
        Some(all) => {
            let earlier = before.and_then(|before| before.timeouts).map_or(0, |it| it.total);
            u32::from(all.total.saturating_sub(earlier))
        }
        None => {
            let earlier = before.map_or(0, |before| before.retransmits);
            u32::from(after.retransmits.saturating_sub(earlier))
        }
    }
}

/// What made the window change, as far as the congestion state shows it.
fn reason(before: Option<&TcpInfo>, after: &TcpInfo) -> CwndReason {
    let Some(before) = before else { return CwndReason::Initial };
    let ((cwnd_before, ssthresh_before), (cwnd, ssthresh)) = (windows(before), windows(after));
    match after.ca_state {
        CaState::Recovery => CwndReason::Recovery,
        CaState::Loss => CwndReason::Timeout,
        CaState::Cwr => CwndReason::Ecn,
        // After an idle time Linux takes the window back, and may lift the threshold with it.
        _ if cwnd < cwnd_before && ssthresh >= ssthresh_before => CwndReason::Idle,
        // A threshold that rises while the window does not fall gives a reduction back.
        _ if ssthresh > ssthresh_before => CwndReason::Undo,
        _ => CwndReason::Ack,
    }
}
