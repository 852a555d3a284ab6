//! Tail loss probes (RFC 8985 §7): after two round trips without an acknowledgment the last
//! segment, or a new one, is sent so that an acknowledgment shows what is missing.

use ackord_units::{Seq, Span, Time};

/// What the length of the probe timer depends on (§7.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeFacts {
    pub(crate) now: Time,
    pub(crate) srtt: Option<Span>,
    /// Whether one segment is outstanding: its acknowledgment may be delayed.
    pub(crate) lone: bool,
    /// When the retransmission timer is due.
    pub(crate) rto_at: Time,
}

/// What a probe consisted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeKind {
    New,
    /// The last segment, once more.
    Retransmission,
}

/// An acknowledgment, as far as a probe is concerned (§7.4.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeAck {
    pub(crate) ack: Seq,
    pub(crate) report: Report,
}

/// What the acknowledgment reports beside its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// A DSACK block ending where the probe ended.
    ProbeTwice,
    /// A duplicate acknowledgment without any SACK block.
    PlainDuplicate,
    Other,
}

/// What an acknowledgment says about the outstanding probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeOutcome {
    /// Nothing yet, or there is no probe.
    Open,
    /// Nothing was lost that only the probe made good.
    NoLoss,
    /// The probe made a loss good, which congestion control has to hear of.
    MadeGood,
}

/// The probe's variables (§5.4).
#[derive(Clone, Debug)]
pub(crate) struct Tlp {
    /// TLP.max_ack_delay.
    max_ack_delay: Span,
    /// What the timer adds where no delayed acknowledgment is allowed for.
    timer_slack: Span,
    /// TLP.end_seq and TLP.is_retrans: the one outstanding probe.
    outstanding: Option<(Seq, ProbeKind)>,
    /// Whether a round trip was measured since the last probe: §7.3, no second probe without.
    sampled: bool,
}

/// §7.2: the timer before the first round-trip sample.
const UNSAMPLED_PTO: Span = Span::from_secs(1);

/// After round trips of no time a probe would be due as its segment leaves: a timer has a length.
const MIN_PTO: Span = Span::from_micros(1);

impl Tlp {
    /// `max_ack_delay` is how long the peer may hold back the acknowledgment of one segment;
    /// `timer_slack` is added to the timer for more than one.
    pub(crate) fn new(max_ack_delay: Span, timer_slack: Span) -> Tlp {
        Tlp { max_ack_delay, timer_slack, outstanding: None, sampled: true }
    }

    /// When the probe is due that a segment sent, or an acknowledgment received, at `facts.now`
    /// calls for: TLP_calc_PTO of §7.2.
    pub(crate) fn due(&self, facts: &ProbeFacts) -> Time {
        let pto = match (facts.srtt, facts.lone) {
            (None, _) => UNSAMPLED_PTO,
            (Some(srtt), true) => srtt * 2 + self.max_ack_delay,
            (Some(srtt), false) => srtt * 2 + self.timer_slack,
        };
        (facts.now + pto.max(MIN_PTO)).min(facts.rto_at)
    }

    /// Whether a probe may leave (§7.3).
    pub(crate) fn may_probe(&self) -> bool {
        self.outstanding.is_none() && self.sampled
    }

    /// A probe left; `snd_nxt` is the end of what was sent then.
    pub(crate) fn on_probe_sent(&mut self, snd_nxt: Seq, kind: ProbeKind) {
        self.outstanding = Some((snd_nxt, kind));
        self.sampled = false;
    }

    /// A round-trip time was measured.
    pub(crate) fn on_rtt_sample(&mut self) {
        self.sampled = true;
    }

    /// Where the outstanding probe ended.
    pub(crate) fn probe_end(&self) -> Option<Seq> {
        self.outstanding.map(|(end, _)| end)
    }

    /// §7.4.2, for every acknowledgment.
    pub(crate) fn on_ack(&mut self, ack: &ProbeAck) -> ProbeOutcome {
        let Some((end, kind)) = self.outstanding else { return ProbeOutcome::Open };
        if ack.ack.before(end) {
            return ProbeOutcome::Open;
        }
        let outcome = match (kind, ack.report) {
            (ProbeKind::New, _) | (ProbeKind::Retransmission, Report::ProbeTwice) => {
                ProbeOutcome::NoLoss
            }
            // It advances beyond the probe and no DSACK came for it: one of the two was lost.
            _ if ack.ack.after(end) => ProbeOutcome::MadeGood,
            (ProbeKind::Retransmission, Report::PlainDuplicate) => ProbeOutcome::NoLoss,
            (ProbeKind::Retransmission, Report::Other) => return ProbeOutcome::Open,
        };
        self.outstanding = None;
        outcome
    }

    /// Recovery has begun: what the probe was for is under way by other means.
    pub(crate) fn forget(&mut self) {
        self.outstanding = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn tlp() -> Tlp {
        Tlp::new(MS(200), Span::ZERO)
    }

    fn facts(srtt: Option<u64>, lone: bool) -> ProbeFacts {
        let now = Time::ZERO + MS(1_000);
        ProbeFacts { now, srtt: srtt.map(MS), lone, rto_at: now + MS(5_000) }
    }

    fn due_in(facts: &ProbeFacts) -> Span {
        tlp().due(facts) - facts.now
    }

    fn ack(tlp: &mut Tlp, ack: u32, report: Report) -> ProbeOutcome {
        tlp.on_ack(&ProbeAck { ack: Seq(ack), report })
    }

    #[test]
    fn two_round_trips_and_for_a_lone_segment_the_delayed_acknowledgment_too() {
        assert_eq!(due_in(&facts(Some(40), false)), MS(80));
        assert_eq!(due_in(&facts(Some(40), true)), MS(280));
        assert_eq!(due_in(&facts(None, true)), MS(1_000));
    }

    /// Found by fuzzing: an acknowledgment at the instant at which its segment had left.
    #[test]
    fn a_probe_is_never_due_as_its_segment_leaves() {
        assert_eq!(due_in(&facts(Some(0), false)), MIN_PTO);
    }

    #[test]
    fn never_later_than_the_retransmission_timer() {
        let facts = facts(Some(3_000), false);
        assert_eq!(tlp().due(&facts), facts.rto_at);
    }

    #[test]
    fn one_probe_at_a_time_and_one_per_round_trip_sample() {
        let mut tlp = tlp();
        assert!(tlp.may_probe());
        tlp.on_probe_sent(Seq(1000), ProbeKind::New);
        assert!(!tlp.may_probe());
        assert_eq!(ack(&mut tlp, 1000, Report::Other), ProbeOutcome::NoLoss);
        assert!(!tlp.may_probe(), "no sample since");
        tlp.on_rtt_sample();
        assert!(tlp.may_probe());
    }

    /// §7.4.1's three cases and the acknowledgment that leaves it open.
    #[test]
    fn a_loss_made_good_by_the_probe_is_told_from_a_probe_in_vain() {
        let probed = || {
            let mut tlp = tlp();
            tlp.on_probe_sent(Seq(1000), ProbeKind::Retransmission);
            tlp
        };
        let mut twice = probed();
        assert_eq!(ack(&mut twice, 1000, Report::Other), ProbeOutcome::Open);
        assert_eq!(ack(&mut twice, 1000, Report::ProbeTwice), ProbeOutcome::NoLoss);
        let mut plain = probed();
        assert_eq!(ack(&mut plain, 1000, Report::PlainDuplicate), ProbeOutcome::NoLoss);
        let mut made_good = probed();
        assert_eq!(ack(&mut made_good, 900, Report::Other), ProbeOutcome::Open);
        assert_eq!(ack(&mut made_good, 1000, Report::Other), ProbeOutcome::Open);
        assert_eq!(ack(&mut made_good, 2000, Report::Other), ProbeOutcome::MadeGood);
        assert_eq!(ack(&mut made_good, 3000, Report::Other), ProbeOutcome::Open);
    }

    #[test]
    fn a_probe_of_new_data_makes_nothing_good_by_itself() {
        let mut tlp = tlp();
        tlp.on_probe_sent(Seq(1000), ProbeKind::New);
        assert_eq!(ack(&mut tlp, 2000, Report::Other), ProbeOutcome::NoLoss);
    }
}
