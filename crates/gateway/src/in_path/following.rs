//! The rate of a shaper that follows the link behind it: the meter and the control law of `path`, and a log of the
//! decisions.

use super::shaper::Shaper;
use ackord_path::follow::{LinkMeter, RateControl, RateDecision, RateLimits, RateReason};
use ackord_units::{Rate, Span, Time};
use ackord_wire::Packet;
use std::collections::VecDeque;

/// Entries of the log that are kept.
const KEPT: usize = 64;
/// Intervals without a change of the rate that do not end an entry of the log.
const PAUSES: u32 = 10;

/// How a queue follows the link behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Lowest, highest and first rate.
    pub limits: RateLimits,
    /// Whether decisions are applied.
    pub decisions: Decisions,
}

/// Whether decisions set the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decisions {
    /// They set the rate.
    Apply,
    /// They are reported, and the rate stays at the start: a dry run.
    Report,
}

/// Decisions in a row that changed the rate for the same reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// Its number, counted from the start of the queue.
    pub number: u64,
    /// Time of the first decision.
    pub began_at: Time,
    /// Time of the last one.
    pub ended_at: Time,
    /// The rate before.
    pub from: Rate,
    /// The last decision.
    pub last: RateDecision,
}

/// Decisions of a queue that follows its link: the last ones, and counts of all.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowStats {
    /// How the link is followed.
    pub follow: Follow,
    /// The last decision; `None` before the first.
    pub last: Option<RateDecision>,
    /// The last delay behind the queue that was measured.
    pub delay: Option<Span>,
    /// Decisions by reason, in the order of [`RateReason::ALL`].
    pub counts: [u64; RateReason::ALL.len()],
    /// The last changes of the rate, the newest last.
    pub changes: VecDeque<RateChange>,
}

/// Follows the link behind a shaper.
#[derive(Debug)]
pub(super) struct Following {
    meter: LinkMeter,
    control: RateControl,
    decide_at: Time,
    /// Decisions since the last change of the rate.
    paused: u32,
    number: u64,
    pub(super) stats: FollowStats,
}

impl Following {
    pub(super) fn new(now: Time, follow: Follow) -> Following {
        let stats = FollowStats {
            follow,
            last: None,
            delay: None,
            counts: [0; RateReason::ALL.len()],
            changes: VecDeque::new(),
        };
        Following {
            meter: LinkMeter::new(now),
            control: RateControl::new(follow.limits),
            decide_at: now + RateControl::EVERY,
            paused: 0,
            number: 0,
            stats,
        }
    }

    /// Follows within other limits from now on, and returns the rate that the shaper is to have.
    pub(super) fn change(&mut self, follow: Follow) -> Rate {
        self.stats.follow = follow;
        self.control.set_limits(follow.limits);
        match follow.decisions {
            Decisions::Apply => self.control.rate(),
            Decisions::Report => follow.limits.start,
        }
    }

    /// Begins anew, with nothing outstanding: the interface was gone, and may have another link now.
    pub(super) fn restart(&mut self, now: Time) {
        self.meter = LinkMeter::new(now);
        self.control = RateControl::new(self.stats.follow.limits);
        self.decide_at = now + RateControl::EVERY;
    }

    /// Records a packet that was handed to the interface.
    pub(super) fn depart(&mut self, now: Time, packet: &Packet) {
        self.meter.depart(now, packet);
    }

    /// Records a packet that arrived by the interface.
    pub(super) fn arrive(&mut self, now: Time, packet: &Packet) {
        self.meter.arrive(now, packet);
    }

    /// Decides if it is time, and sets the shaper's rate.
    pub(super) fn decide(&mut self, now: Time, shaper: &mut Shaper) {
        if now < self.decide_at {
            return;
        }
        self.decide_at = now + RateControl::EVERY;
        let before = self.control.rate();
        let decision = self.control.decide(&self.meter.facts(now), shaper.rate());
        self.log(now, before, decision);
        if self.stats.follow.decisions == Decisions::Apply {
            shaper.set_rate(decision.rate);
        }
    }

    fn log(&mut self, now: Time, before: Rate, decision: RateDecision) {
        self.stats.last = Some(decision);
        self.stats.delay = decision.delay.or(self.stats.delay);
        self.stats.counts[decision.reason as usize] += 1;
        if decision.rate == before {
            self.paused = self.paused.saturating_add(1);
            return;
        }
        let goes_on = self.paused <= PAUSES;
        self.paused = 0;
        let changes = &mut self.stats.changes;
        if let Some(newest) =
            changes.back_mut().filter(|newest| newest.last.reason == decision.reason && goes_on)
        {
            (newest.ended_at, newest.last) = (now, decision);
            return;
        }
        self.number += 1;
        let change = RateChange {
            number: self.number,
            began_at: now,
            ended_at: now,
            from: before,
            last: decision,
        };
        changes.push_back(change);
        if changes.len() > KEPT {
            changes.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_path::registry::{QueueChoice, QueuePlace};
    use ackord_units::{Choice, RandomStream};
    use ackord_wire::{Ecn, Flags, FlowId, IpVersion, NodeId, Segment, Side};

    const START: Rate = Rate::from_mbits_per_sec(8);

    fn following(decisions: Decisions) -> (Following, Shaper) {
        let limits = RateLimits {
            min: Rate::from_mbits_per_sec(1),
            max: Rate::from_mbits_per_sec(64),
            start: START,
        };
        let context = QueuePlace {
            rate: START,
            delay: Span::ZERO,
            flow_named: &|_| None,
            stream: RandomStream::for_element(1, "queue"),
        };
        let queue = QueueChoice::named("drop-tail").expect("listed");
        let queue = queue.config().build(&context).expect("it names no flows");
        (Following::new(Time::ZERO, Follow { limits, decisions }), Shaper::new(queue, START))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn packet(from: Side, segment: Segment) -> Packet {
        Packet {
            flow: FlowId(1),
            from,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 40 + segment.payload_len,
            tag: 0,
            tcp: Some(segment),
        }
    }

    /// A packet per millisecond up to `until`, of which each is acknowledged after 20 ms, up to `acknowledged`.
    fn run(
        following: &mut Following,
        shaper: &mut Shaper,
        millis: std::ops::Range<u64>,
        acknowledged: u64,
    ) {
        for now in millis {
            let seq = |number: u64| ackord_units::Seq(1) + (number * 1_460) as u32;
            let (flags, payload_len) = (Flags::ACK, 1_460);
            let data = Segment { seq: seq(now), flags, payload_len, ..Segment::default() };
            following.depart(at(now), &packet(Side::Server, data));
            if now >= 20 && now < acknowledged {
                let ack = Segment { ack: seq(now - 19), flags, ..Segment::default() };
                following.arrive(at(now), &packet(Side::Client, ack));
            }
            following.decide(at(now), shaper);
        }
    }

    #[test]
    fn sets_the_rate_or_reports_what_it_would_be() {
        for (decisions, is_applied) in [(Decisions::Apply, true), (Decisions::Report, false)] {
            let (mut following, mut shaper) = following(decisions);
            run(&mut following, &mut shaper, 0..1_500, 1_500);
            assert_eq!(shaper.rate() > START, is_applied);
            assert!(following.stats.last.expect("decisions").rate > START);
            assert_eq!(following.stats.counts.iter().sum::<u64>(), 37);
            // All raises are one change of the log.
            let raises =
                following.stats.changes.iter().filter(|one| one.last.reason == RateReason::Raise);
            assert_eq!(raises.count(), 1, "{:?}", following.stats.changes);
        }
    }

    #[test]
    fn begins_anew_with_nothing_outstanding_after_its_interface_was_gone() {
        let (mut following, mut shaper) = following(Decisions::Apply);
        run(&mut following, &mut shaper, 0..600, 200);
        let stalls = following.stats.counts[RateReason::Stall as usize];
        assert!(stalls > 0, "nothing was acknowledged for 400 ms");
        following.restart(at(5_000));
        for now in 5_001..5_400 {
            following.decide(at(now), &mut shaper);
        }
        assert_eq!(following.stats.counts[RateReason::Stall as usize], stalls);
        assert_eq!(shaper.rate(), START);
    }
}
