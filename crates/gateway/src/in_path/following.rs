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
    /// Between which rates.
    pub limits: RateLimits,
    /// What becomes of decisions.
    pub decisions: Decisions,
}

/// What becomes of decisions.
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

/// What following the link has led to.
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
            counts: [0; 8],
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
