//! The recoveries of a sender: from when to when, of which kind, and what was really lost.

use super::facts::{Facts, Sent};
use super::view::View;
use ackord_diagnose::Cause;
use ackord_events::DropReason;
use ackord_live::{CaState, TcpInfo};

/// A recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    /// When the sender came to a stand (a timeout), or began to recover.
    pub(super) from: f64,
    /// When it was over.
    pub(super) to: f64,
    pub(super) kind: Kind,
    /// What it is put down to.
    pub(super) cause: Cause,
    /// What else may be said.
    pub(super) also: Option<Cause>,
    /// What the window it took is put down to; nothing where it took none.
    pub(super) after: Option<Cause>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Recovery,
    Timeout,
}

/// What has been lost, by who took it.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    queue: u32,
    chance: u32,
    outage: u32,
    policed: u32,
}

impl Losses {
    fn count(&mut self, packet: &Sent) {
        match packet.dropped.map(|dropped| dropped.reason) {
            Some(DropReason::QueueFull | DropReason::EarlyDrop | DropReason::OverShare) => {
                self.queue += 1;
            }
            Some(DropReason::Outage) => self.outage += 1,
            Some(DropReason::Policed) => self.policed += 1,
            Some(_) => self.chance += 1,
            None => {}
        }
    }

    fn of<'a>(packets: impl Iterator<Item = &'a Sent>) -> Losses {
        let mut losses = Losses::default();
        packets.for_each(|packet| losses.count(packet));
        losses
    }

    /// The most frequent, and the next.
    fn causes(self) -> [Option<Cause>; 2] {
        let mut all = [
            (self.outage, Cause::Outage),
            (self.policed, Cause::Policer),
            (self.queue, Cause::FastRecovery),
            (self.chance, Cause::RandomLoss),
        ];
        all.sort_by_key(|one| std::cmp::Reverse(one.0));
        [0, 1].map(|place: usize| (all[place].0 > 0).then_some(all[place].1))
    }
}

/// Every recovery of a sender, in order.
pub(super) fn episodes(facts: &Facts, view: &View<'_>, base_rtt: f64) -> Vec<Episode> {
    let mut found = Vec::new();
    let samples = view.samples;
    let mut number = 0;
    while number < samples.len() {
        let state = samples[number].1.ca_state;
        let before = number.checked_sub(1).map(|last| &samples[last]);
        let since = before.map_or(samples[number].0, |sample| sample.0);
        let timed_out = before.is_some_and(|last| timeouts(&last.1) < timeouts(&samples[number].1));
        let mut end = number + 1;
        match state {
            CaState::Recovery | CaState::Loss => {
                while samples.get(end).is_some_and(|sample| sample.1.ca_state == state) {
                    end += 1;
                }
                let to = samples.get(end).map_or(facts.last_seen, |sample| sample.0);
                let began = view.again.iter().map(|again| again.0);
                let began =
                    began.clone().find(|at| *at > since).filter(|at| *at <= samples[number].0);
                let began = began.unwrap_or(samples[number].0);
                found.push(match state {
                    CaState::Recovery => recovery(view, began, to),
                    _ => timeout(facts, view, (began, to), base_rtt),
                });
            }
            // A timeout whose recovery was over before the kernel was asked again.
            _ if timed_out => {
                found.push(timeout(facts, view, (since, samples[number].0), base_rtt));
            }
            _ => {}
        }
        number = end;
    }
    found
}

fn timeouts(info: &TcpInfo) -> u16 {
    info.timeouts.map_or(0, |timeouts| timeouts.total)
}

/// What a fast recovery recovered.
fn recovery(view: &View<'_>, from: f64, to: f64) -> Episode {
    let una = view.una.at(from);
    let nxt = view.nxt.at(to);
    // What was sent before it was over, and not known to have arrived when it began.
    let lost = view.sent.iter().filter(|it| it.at <= to && it.to > una && it.from < nxt);
    let [first, second] = Losses::of(lost.clone()).causes();
    let spurious =
        if overtaken(view, from) { Cause::SpuriousReordering } else { Cause::SpuriousDelay };
    let undone = lost.clone().all(|packet| packet.dropped.is_none());
    Episode {
        from,
        to,
        kind: Kind::Recovery,
        cause: first.unwrap_or(spurious),
        also: second,
        after: Some(match first {
            Some(Cause::FastRecovery) => Cause::WindowGrowth,
            Some(cause) => cause,
            None => spurious,
        })
        .filter(|_| !undone || !was_given_back(view, from, to)),
    }
}

/// Whether the window after a recovery is no smaller than the one before.
fn was_given_back(view: &View<'_>, from: f64, to: f64) -> bool {
    let window = |at| view.around(at)[0].map_or(0, |sample| sample.1.cwnd_segments);
    window(to + 1e-6) * 10 >= window(from - 0.01) * 9
}

/// Whether packets that were sent in the second before arrived in another order.
fn overtaken(view: &View<'_>, at: f64) -> bool {
    let lately = view.sent.iter().filter(|it| it.to > it.from && it.at <= at && it.at > at - 1.0);
    let mut latest = 0.0;
    lately.filter_map(|packet| packet.arrived).any(|arrived| {
        let overtaken = arrived < latest;
        latest = arrived.max(latest);
        overtaken
    })
}

/// What a timeout was about.
fn timeout(facts: &Facts, view: &View<'_>, (fired, to): (f64, f64), base_rtt: f64) -> Episode {
    let from = stood_since(view, fired);
    let una = view.una.at(fired - 1e-6);
    let outstanding =
        || view.sent.iter().filter(move |it| it.at < fired && it.to > una && it.to > it.from);
    let losses = Losses::of(outstanding());
    let acks = view.back.iter().filter(|it| it.at > from - base_rtt && it.at < fired);
    let acks_lost = Losses::of(acks);
    let faded = facts.outages.iter().any(|out| out.began < fired && out.ends > from - base_rtt);
    // Where the peer has what is retransmitted, only its acknowledgment is missing.
    let head_there = view.delivered.at(fired) > una;
    let first = losses.causes()[0].filter(|_| !head_there);
    let chance = match first {
        Some(Cause::FastRecovery) => Cause::WindowGrowth,
        Some(cause) => cause,
        None => Cause::AckPath,
    };
    let (cause, also) = if faded && losses.outage + acks_lost.outage > 0 {
        (Cause::Outage, None)
    } else if let Some(first) = first {
        let is_head = |it: &&Sent| it.from <= una && it.to > una;
        let kind = kind_of(view, una, fired, outstanding().filter(is_head).count());
        // A policer takes what comes too fast until the sender is slower, recoveries and all.
        match first == Cause::Policer {
            true => (first, Some(kind)),
            false => (kind, Some(first)),
        }
    } else if acks_lost.chance + acks_lost.queue > 0 {
        (Cause::AckPath, None)
    } else {
        (Cause::SpuriousDelay, faded.then_some(Cause::Outage))
    };
    let after = match cause {
        Cause::Outage | Cause::Policer | Cause::AckPath | Cause::SpuriousDelay => cause,
        _ => chance,
    };
    let undone = cause == Cause::SpuriousDelay && was_given_back(view, from, to);
    Episode { from, to, kind: Kind::Timeout, cause, also, after: (!undone).then_some(after) }
}

/// Which of the timeouts by loss.
fn kind_of(view: &View<'_>, una: u64, fired: f64, times_sent: usize) -> Cause {
    let firsts = |it: &&Sent| it.at < fired && it.from >= una && it.to > it.from;
    let outstanding = view.sent.iter().filter(firsts);
    let mut ranges: Vec<u64> = outstanding.clone().map(|it| it.from).collect();
    ranges.sort_unstable();
    ranges.dedup();
    let arrived = outstanding.filter(|it| it.arrived.is_some_and(|at| at < fired)).count();
    // A segment that was retransmitted before the timer ran out, and lost again.
    if times_sent > 1 && arrived > 0 {
        return Cause::TimeoutLostRetransmission;
    }
    if !view.has_more(fired - 1e-6) && (ranges.len() < 4 || arrived == 0) {
        return Cause::TimeoutTail;
    }
    if ranges.len() < 4 {
        return Cause::TimeoutSmallWindow;
    }
    match (arrived, times_sent) {
        (0, _) => Cause::TimeoutWindow,
        (1 | 2, 1) => Cause::TimeoutSmallWindow,
        _ => Cause::TimeoutLostRetransmission,
    }
}

/// Since when the sender stood still when its timer ran out: since the last acknowledgment, or since
/// it sent the first bytes that were not acknowledged.
fn stood_since(view: &View<'_>, fired: f64) -> f64 {
    let Some(ack) = view.last_ack_before(fired) else { return fired };
    if view.una.at(ack) < view.nxt.at(ack) {
        return ack;
    }
    view.next_first(ack).map_or(ack, |first| first.min(fired))
}
