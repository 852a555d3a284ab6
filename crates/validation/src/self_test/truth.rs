//! To which cause each instant of the flow under test belongs, by what really happened.
//!
//! The table and what may be said against it stand in the [module's](super) description.

use super::bottleneck::Bottleneck;
use super::episodes::{Episode, Kind, episodes};
use super::facts::{Facts, index};
use super::plan::Plan;
use super::view::View;
use ackord_diagnose::Cause;
use ackord_live::Direction;
use ackord_live::TcpInfo;
use ackord_wire::{Flags, Side};
use serde::{Deserialize, Serialize};

/// A stretch of a connection's life and what it is truly spent on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrueInterval {
    /// Since the connection's first packet left, s.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The cause.
    pub cause: Cause,
    /// Another that may as well be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Cause>,
}

/// A cause, and another that may as well be said.
type Named = (Cause, Option<Cause>);

/// Instants are looked at this far apart, s.
const STEP: f64 = 0.001;

/// Queues are standing once nothing waits less, s: 100 ms, or the base round trip where that is more.
const STANDING: f64 = 0.1;

/// Busy for this share of a round trip is busy all the time: the rest is between two packets.
const FULL: f64 = 0.95;

/// The intervals of a run.
pub(super) fn truth(plan: &Plan, facts: &Facts) -> Vec<TrueInterval> {
    let Some(judge) = Judge::of(plan, facts) else { return Vec::new() };
    let began = judge.began;
    let steps = ((facts.last_seen - began) / STEP).ceil().max(1.0) as u64;
    let mut intervals: Vec<TrueInterval> = Vec::new();
    for step in 0..steps {
        let from_s = step as f64 * STEP;
        let to_s = (from_s + STEP).min(facts.last_seen - began);
        let (cause, also) = judge.judge(began + (from_s + to_s) / 2.0);
        let also = reading(plan, cause).or(also).filter(|also| *also != cause);
        match intervals.last_mut().filter(|last| (last.cause, last.also) == (cause, also)) {
            Some(last) => last.to_s = to_s,
            None => intervals.push(TrueInterval { from_s, to_s, cause, also }),
        }
    }
    intervals
}

/// Returns the other view of a receiver window in cases whose application reads slowly: its window is zero for
/// want of reading, whether the last bytes of it can be used or not.
fn reading(plan: &Plan, cause: Cause) -> Option<Cause> {
    (plan.reader.is_some() && cause == Cause::ReceiverWindow).then_some(Cause::ZeroWindow)
}

struct Judge<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
    began: f64,
    base_rtt: f64,
    /// When the last SYN that mattered was sent, and when the connection was established: for the
    /// client, and for the server.
    last_syn: f64,
    established: f64,
    server_established: f64,
    main: View<'a>,
    other: View<'a>,
    episodes: [Vec<Episode>; 2],
    bottleneck: Bottleneck<'a>,
}

impl<'a> Judge<'a> {
    fn of(plan: &'a Plan, facts: &'a Facts) -> Option<Judge<'a>> {
        let began = facts.packets[index(Side::Client)].first()?.at;
        let main_side = match plan.direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Client,
        };
        let base_rtt = plan.base_rtt_s();
        let main = View::of(facts, main_side, main_side);
        let other = View::of(facts, main_side.other(), main_side);
        let episodes = [&main, &other].map(|view| episodes(facts, view, base_rtt));
        let (last_syn, established) = handshake(facts, began);
        let answered = facts.packets[index(Side::Client)].iter();
        let answered = answered.filter(|it| it.flags.contains(Flags::ACK));
        let server_established =
            answered.filter_map(|it| it.arrived).fold(f64::INFINITY, f64::min).max(established);
        let bottleneck = Bottleneck::of(plan, facts);
        Some(Judge {
            plan,
            facts,
            began,
            base_rtt,
            last_syn,
            established,
            server_established,
            main,
            other,
            episodes,
            bottleneck,
        })
    }

    fn judge(&self, at: f64) -> Named {
        if at < self.established {
            return match at < self.last_syn {
                true => (Cause::SynLoss, None),
                false => (Cause::SetUp, None),
            };
        }
        let busy = [(&self.main, &self.episodes[0]), (&self.other, &self.episodes[1])]
            .into_iter()
            .find(|(view, _)| view.is_active(at));
        match busy {
            // The server cannot speak yet, and the client does not.
            Some((View { side: Side::Server, .. }, _)) | None if at < self.server_established => {
                // The client's answer was lost: the server's timer brings it about again.
                match self.server_established - self.established > self.base_rtt {
                    true => (Cause::SynLoss, Some(Cause::AckPath)),
                    false => (Cause::SetUp, Some(Cause::PathLimited)),
                }
            }
            Some((view, episodes)) => self.of_sender(view, episodes, at),
            None => self.of_applications(at),
        }
    }

    /// All that was written has arrived: who has to say something next?
    fn of_applications(&self, at: f64) -> Named {
        let idle = |view: &View<'_>| match view.side {
            Side::Client => Cause::ClientIdle,
            Side::Server => Cause::ServerIdle,
        };
        let next = |view: &View<'_>| view.next_first(at).unwrap_or(f64::INFINITY);
        let (main, other) = (next(&self.main), next(&self.other));
        let on_its_way = self.main.waits_for_ack(at) || self.other.waits_for_ack(at);
        let also = on_its_way.then_some(Cause::PathLimited);
        if main.is_infinite() && other.is_infinite() {
            return (Cause::PathLimited, Some(idle(&self.main)));
        }
        (idle(if main <= other { &self.main } else { &self.other }), also)
    }

    fn of_sender(&self, view: &View<'_>, episodes: &[Episode], at: f64) -> Named {
        let full = self.path_full(view, at);
        if let Some(named) = self.out(episodes, at).or_else(|| self.recovering(episodes, full, at))
        {
            return named;
        }
        if let Some(named) = self.tail_waits(view, episodes, at) {
            return named;
        }
        if view.window.at(at) == 0 && view.unsent(at) {
            return (Cause::ZeroWindow, Some(Cause::ReceiverWindow));
        }
        let limited = limited_by(view, at);
        if let Some((cause, also)) = full {
            return (cause, limited.or(also));
        }
        if let Some(cause) = limited {
            let also = self.held_ack(view, at).then_some(Cause::DelayedAck);
            return (cause, also);
        }
        self.of_window(view, episodes, at)
    }

    /// A link is out, and somebody waits for it.
    fn out(&self, episodes: &[Episode], at: f64) -> Option<Named> {
        let out = self.facts.outages.iter().find(|out| out.began <= at && at < out.ends)?;
        let spurious = |one: &&Episode| {
            one.cause == Cause::SpuriousDelay && one.from < out.ends && out.began < one.to
        };
        Some((Cause::Outage, episodes.iter().find(spurious).map(|one| one.cause)))
    }

    /// The sender recovers, or waits for the timer that lets it.
    fn recovering(&self, episodes: &[Episode], full: Option<Named>, at: f64) -> Option<Named> {
        let within = |one: &&Episode| one.from <= at && at < one.to;
        let found = episodes.iter().filter(within);
        let found = found.max_by_key(|one| one.kind == Kind::Timeout)?;
        let also = match found.kind {
            // The round trip that anything would have taken.
            Kind::Timeout if at < found.from + self.base_rtt => Some(Cause::PathLimited),
            Kind::Timeout => found.also,
            // Nothing is lost where the bottleneck never rests.
            Kind::Recovery => found.also.or(full.map(|it| it.0)),
        };
        Some((found.cause, also))
    }

    /// The last segments are lost, and the probe that shows it has not been sent yet.
    fn tail_waits(&self, view: &View<'_>, episodes: &[Episode], at: f64) -> Option<Named> {
        if !view.waits_for_ack(at) || view.has_more(at) {
            return None;
        }
        let una = view.una.at(at);
        let quiet_since = view.last_ack_before(at)?;
        let head = |it: &&super::facts::Sent| it.at < at && it.from <= una && it.to > una;
        let head = view.sent.iter().rev().find(head)?;
        let waits = head.dropped.is_some() && at > quiet_since.max(head.at) + self.base_rtt;
        let next = episodes.iter().find(|one| one.from >= at)?;
        waits.then_some((next.cause, Some(Cause::TimeoutTail)))
    }

    /// The bottleneck never rests around an instant: then nothing the sender does would help. What
    /// waits there, whose it is, and whether this flow has its share.
    fn path_full(&self, view: &View<'_>, at: f64) -> Option<Named> {
        if view.side != self.main.side {
            return None;
        }
        let there = at + self.base_rtt / 4.0;
        let span = self.base_rtt.max(20.0 * 12_000.0 / self.plan.rate_at(at)).max(0.005);
        let around = self.bottleneck.between(there - span / 2.0, there + span / 2.0);
        if around.busy < FULL {
            return None;
        }
        let lower =
            |(from, rate): &(u64, u64)| *from as f64 / 1e3 <= at && *rate < self.plan.rate_kbit;
        let shaped = self.plan.rates.iter().any(lower) || around.held > around.busy / 2.0;
        let longer = self.bottleneck.share(there);
        if around.standing >= STANDING.max(self.base_rtt) {
            let cause = match longer.own >= 0.5 {
                true => Cause::QueueingOwn,
                false => Cause::QueueingOthers,
            };
            return Some((cause, shaped.then_some(Cause::Shaper)));
        }
        if shaped {
            return Some((Cause::Shaper, Some(Cause::PathLimited)));
        }
        let fair = 1.0 / longer.flows.max(1) as f64;
        if view.has_more(at) && longer.flows > 1 && longer.own < fair / 2.0 {
            return Some((Cause::UnfairShare, Some(Cause::WindowGrowth)));
        }
        Some((Cause::PathLimited, None))
    }

    /// Nothing is lost, the path has room, and neither buffer is full.
    fn of_window(&self, view: &View<'_>, episodes: &[Episode], at: f64) -> Named {
        if self.ack_lost(view, at) {
            return (Cause::AckPath, None);
        }
        if view.has_more(at) && !view.unsent(at) {
            // In slow start the buffer grows with the window.
            let grows = episodes.iter().all(|one| one.from > at);
            return (Cause::SendBuffer, grows.then_some(Cause::WindowGrowth));
        }
        if !view.unsent(at) {
            // What is under way takes its time; a stream that never has more is its application's.
            let also = view.next_first(at).map(|_| match view.side {
                Side::Client => Cause::ClientIdle,
                Side::Server => Cause::ServerIdle,
            });
            return (Cause::PathLimited, also);
        }
        let held = self.held_ack(view, at);
        if self.nagle_holds(view, at) {
            return (Cause::NagleDelayedAck, (!held).then_some(Cause::PathLimited));
        }
        let last = episodes.iter().rev().filter(|one| one.to <= at).find_map(|one| one.after);
        if held {
            // A larger window would not have had to wait: what took it may be said, too.
            return (Cause::DelayedAck, last);
        }
        match last {
            None | Some(Cause::WindowGrowth) => (Cause::WindowGrowth, None),
            Some(cause @ (Cause::RandomLoss | Cause::Policer)) => (cause, None),
            Some(cause) => (Cause::WindowGrowth, Some(cause)),
        }
    }

    /// The peer has all that was sent, in order, and has not said so.
    fn held_ack(&self, view: &View<'_>, at: f64) -> bool {
        let nxt = view.nxt.at(at);
        view.una.at(at) < nxt && view.delivered.at(at) >= nxt && view.told.at(at) < nxt
    }

    /// The peer has said that it has more than the sender knows, and that was lost.
    fn ack_lost(&self, view: &View<'_>, at: f64) -> bool {
        let una = view.una.at(at);
        let said = view.told.at(at - self.base_rtt / 2.0 - 2.0 * STEP);
        let Some(since) = view.told.reaches(una + 1).filter(|_| said > una) else { return false };
        let first = view.back.partition_point(|it| it.at < since);
        view.back[first..].iter().take_while(|it| it.at < at).any(|it| it.dropped.is_some())
    }

    /// A segment that is not full waits although both windows would let it go.
    fn nagle_holds(&self, view: &View<'_>, at: f64) -> bool {
        let [Some(before), Some(after)] = view.around(at) else { return false };
        let small = |info: &TcpInfo| info.notsent.get() > 0 && info.notsent < info.snd_mss;
        let open = |info: &TcpInfo| info.unacked_segments < info.cwnd_segments;
        [before, after].into_iter().any(|it| small(&it.1) && open(&it.1)) && view.waits_for_ack(at)
    }
}

/// What the kernel counts as holding it back, by more than half of the time.
fn limited_by(view: &View<'_>, at: f64) -> Option<Cause> {
    if view.share_of(at, |info| info.rwnd_limited_for) >= 0.5 {
        return Some(Cause::ReceiverWindow);
    }
    (view.share_of(at, |info| info.sndbuf_limited_for) >= 0.5).then_some(Cause::SendBuffer)
}

/// When the SYN, or SYN-ACK, that made it was sent, and when the client had its answer.
fn handshake(facts: &Facts, began: f64) -> (f64, f64) {
    let syn =
        |side: Side| facts.packets[index(side)].iter().filter(|it| it.flags.contains(Flags::SYN));
    let answers = syn(Side::Server).filter_map(|it| Some((it.at, it.arrived?)));
    let Some((answered, established)) =
        answers.min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
    else {
        return (facts.last_seen, f64::INFINITY);
    };
    // The answer was retransmitted by the server's own timer, or because a SYN came again.
    let asked = syn(Side::Client).filter_map(|it| Some((it.at, it.arrived?)));
    let asked = asked.filter(|(_, arrived)| *arrived <= answered).map(|(at, _)| at);
    let asked = asked.fold(began, f64::max);
    let first_answer = syn(Side::Server).map(|it| it.at).fold(f64::INFINITY, f64::min);
    let by_timer = answered > first_answer && answered - asked > 2.0 * (established - answered);
    (if by_timer { answered } else { asked }, established)
}
