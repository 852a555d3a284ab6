//! From what was waited for to why: the context of a whole connection.
//!
//! | file | what |
//! | --- | --- |
//! | `path.rs` | what the connection shows of its path |
//! | `losses.rs` | what each loss was from |
//! | `air.rs` | what 802.11 frames show of a cause |
//! | `policer.rs` | whether losses are those of a token bucket |
//! | `sharing.rs` | what other connections to the same receiver get meanwhile |
//! | `words.rs` | the reasons, as sentences |

mod air;
mod losses;
mod path;
mod policer;
mod sharing;
mod words;

use crate::Cause;
use crate::account::{Measured, NO_LOSS, Stretch, Wait};
use crate::flow::Connection;
use crate::flow::loss::{Loss, Trigger};
use ackord_units::Span;
use air::Airs;
use losses::{Verdict, verdict};
pub(crate) use path::Path;
pub(crate) use policer::Policer;
use policer::{Others, is_queue, policer};
pub(crate) use sharing::Sharing;
use sharing::{Share, Shares};

/// Whoever has less than this share of the highest rate, with a queue standing, shares it.
const SHARES: f64 = 0.6;

/// Bytes under way that would take this part of a queue's delay at the path's rate may have filled it.
const OWN_PART: f64 = 0.5;
/// Stretches before one in which its bytes under way were counted.
const NEIGHBOURS: usize = 3;
/// Several that get this part of the most they ever got together fill their link.
const FULL: f64 = 0.9;

/// One stretch with its cause.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) stretch: Stretch,
    pub(crate) cause: Cause,
    pub(crate) confidence: f64,
    pub(crate) reason: String,
}

/// All that judging a stretch takes.
struct Context<'a> {
    connection: &'a Connection,
    paths: [Path; 2],
    policers: [Option<Policer>; 2],
    verdicts: Vec<Verdict>,
    shares: Option<Shares<'a>>,
    airs: Airs<'a>,
}

/// Every stretch of a connection with its cause, and what is known of its paths.
pub(crate) struct Verdicts {
    pub(crate) judged: Vec<Judged>,
    /// By direction.
    pub(crate) paths: [Path; 2],
    pub(crate) policers: [Option<Policer>; 2],
}

/// Judges every stretch of a connection.
pub(crate) fn judge(connection: &Connection, sharing: &Sharing) -> Verdicts {
    let paths = [0, 1].map(|side| Path::of(connection, side));
    let shares = sharing.shares(connection);
    let others = Others { shared: sharing.policed(connection), send: shares.is_some() };
    let policed = [0, 1].map(|side| {
        let others = if side == connection.sender() { others } else { Others::default() };
        policer(connection, side, &paths[side], others)
    });
    let of_loss = |(number, loss): (usize, &Loss)| {
        let side = usize::from(loss.side);
        let verdict = verdict(loss, &paths[side]);
        let verdict =
            policed[side].as_ref().map_or(verdict, |policed| policed.verdict(number, verdict));
        air::lost(connection, loss).map_or(verdict, |lost| lost.verdict(loss, verdict))
    };
    let verdicts = connection.losses.iter().enumerate().map(of_loss).collect();
    let policers = policed.map(|policed| policed.map(|policed| policed.policer));
    let airs = Airs::of(connection);
    let context = Context { connection, paths, policers, verdicts, shares, airs };
    let stretches = connection.account.stretches();
    let judged = (0..stretches.len()).flat_map(|at| context.parts(at));
    let judged = judged.map(|stretch| context.judge(&stretch)).collect();
    Verdicts { judged, paths: context.paths, policers }
}

impl Context<'_> {
    /// A stretch, in two parts where the path fills up meanwhile: until then it had room, and from there on
    /// it carried what was acknowledged.
    fn parts(&self, at: usize) -> impl Iterator<Item = Stretch> {
        let stretches = self.connection.account.stretches();
        let stretch = stretches[at];
        let grows = |one: &Stretch| matches!(one.wait, Wait::SlowStart | Wait::Window);
        let rate = self.paths[usize::from(stretch.side)].rate;
        let fills = |next: &&Stretch| {
            next.side == stretch.side && grows(next) && self.is_full(next) && rate > 0.0
        };
        let carried = match stretches.get(at + 1).filter(fills) {
            Some(_) if grows(&stretch) && !stretch.is_folded() && !self.is_full(&stretch) => {
                Span::from_secs_f64(stretch.seen.acked as f64 / rate)
            }
            _ => stretch.span(),
        };
        let room = stretch.span().saturating_sub(carried);
        let full_from = stretch.from + room;
        let seen = Measured { flight: stretch.seen.flight, ..Measured::default() };
        let before = Stretch { to: full_from, own: room, seen, ..stretch };
        let after = Stretch { from: full_from, own: carried, ..stretch };
        let (before, after) = match room == Span::ZERO {
            true => (None, Some(stretch)),
            false => (Some(before), Some(after)),
        };
        [before, after].into_iter().flatten().filter(|part| part.own > Span::ZERO)
    }

    fn judge(&self, stretch: &Stretch) -> Judged {
        let (cause, confidence) = self.cause(stretch);
        let loss = self.connection.losses.get(stretch.loss as usize);
        let path = &self.paths[usize::from(stretch.side)];
        let recovers = stretch.wait == Wait::Recovery;
        let on_air = match cause {
            Cause::Outage => self.airs.outage_words(stretch, loss.filter(|_| recovers)),
            _ => None,
        };
        let reason = match (self.policers[usize::from(stretch.side)], on_air) {
            (_, Some(reason)) => reason,
            (Some(policer), _) if cause == Cause::Policer => words::policed(policer),
            _ => words::reason(cause, stretch, loss, path, self.connection),
        };
        let reason = reason + &self.airs.words(cause, stretch);
        Judged { stretch: *stretch, cause, confidence, reason }
    }

    fn cause(&self, stretch: &Stretch) -> (Cause, f64) {
        if self.connection.is_one_way() || self.connection.is_unanswered() {
            return (Cause::Unknown, 0.9);
        }
        if self.waits_behind_others(stretch) {
            return (Cause::QueueingOthers, 0.7);
        }
        if self.airs.is_outage(stretch) {
            return (Cause::Outage, 0.9);
        }
        match stretch.wait {
            Wait::Handshake => (Cause::SetUp, 0.95),
            Wait::SynLoss => (Cause::SynLoss, 0.95),
            Wait::Idle(0) => (Cause::ClientIdle, 0.85),
            Wait::Idle(_) => (Cause::ServerIdle, 0.85),
            Wait::Transit => self.transit(stretch),
            Wait::Queued => self.queued(stretch),
            Wait::ReceiverWindow => self.receiver_window(stretch),
            Wait::ZeroWindow => (Cause::ZeroWindow, 0.95),
            Wait::SlowReader => self.slow_reader(stretch),
            Wait::Nagle => (Cause::NagleDelayedAck, 0.85),
            Wait::DelayedAck => (Cause::DelayedAck, 0.75),
            Wait::Recovery => self.recovery(stretch),
            Wait::Unfilled => self.unfilled(stretch),
            Wait::Stalled => self.stalled(stretch),
            Wait::Uncaptured => (Cause::CaptureArtefact, 0.9),
            Wait::SlowStart | Wait::Window => self.window(stretch),
        }
    }

    /// Others measure a long queue, and this connection waits for less than a round trip through it.
    fn waits_behind_others(&self, stretch: &Stretch) -> bool {
        let path = &self.paths[usize::from(stretch.side)];
        let Some(share) = self.share(stretch) else { return false };
        let bloated = path.is_bloated(share.queue) && share.own < 0.5;
        bloated
            && match stretch.wait {
                Wait::Transit | Wait::Queued | Wait::Window | Wait::SlowStart => true,
                Wait::Idle(_) => stretch.span().as_secs_f64() <= share.queue,
                _ => false,
            }
    }

    /// Loss is recovered. Where the path is full meanwhile nothing is lost by it.
    fn recovery(&self, stretch: &Stretch) -> (Cause, f64) {
        let by_acks = |loss: &Loss| loss.trigger == Trigger::Acks;
        let by_acks = self.connection.losses.get(stretch.loss as usize).is_some_and(by_acks);
        match self.verdicts.get(stretch.loss as usize) {
            Some(verdict) if verdict.recovery == Cause::Policer => {
                (verdict.recovery, verdict.confidence)
            }
            _ if by_acks && self.is_full(stretch) => self.full(stretch),
            Some(verdict) => self.beside_others(stretch, verdict),
            None => (Cause::Unknown, 0.3),
        }
    }

    /// Returns the cause of a recovery, corrected by what others at the same queue measured meanwhile.
    fn beside_others(&self, stretch: &Stretch, verdict: &Verdict) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        let queue = self.share(stretch).map_or(0.0, |share| share.queue);
        let bloated = path.is_bloated(queue);
        match verdict.recovery {
            // A timer that a queue outlasted.
            Cause::AckPath | Cause::SpuriousDelay | Cause::SpuriousReordering if bloated => {
                (Cause::QueueingOthers, 0.7)
            }
            Cause::Outage if self.serves_others(stretch) => match bloated {
                true => (Cause::FastRecovery, 0.6),
                false => (Cause::RandomLoss, 0.5),
            },
            Cause::Outage
            | Cause::RandomLoss
            | Cause::TimeoutTail
            | Cause::TimeoutWindow
            | Cause::TimeoutSmallWindow
            | Cause::TimeoutLostRetransmission
                if self.connection.halves[usize::from(stretch.side)].is_black_hole() =>
            {
                (Cause::MtuBlackHole, 0.85)
            }
            recovery => (recovery, verdict.confidence),
        }
    }

    /// Returns true if the link served other connections during a stretch.
    fn serves_others(&self, stretch: &Stretch) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.served_others(stretch))
    }

    /// Returns the cause of a long time without ACKs while bytes were under way: an outage, unless the link served
    /// others or nothing was lost.
    fn stalled(&self, stretch: &Stretch) -> (Cause, f64) {
        if self.serves_others(stretch) {
            return self.full(stretch);
        }
        match self.connection.lacks_bytes() {
            true => (Cause::Outage, 0.6),
            // The path delivered late.
            false => (Cause::PathLimited, 0.5),
        }
    }

    /// Returns the cause of a standing queue: others', if this connection's bytes under way cannot have filled
    /// it, or its own.
    fn queue_of(&self, stretch: &Stretch, queue: f64) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        let stretches = self.connection.account.stretches();
        let at = stretches.partition_point(|other| other.to <= stretch.from);
        let before = &stretches[at.saturating_sub(NEIGHBOURS)..at];
        let mine = before.iter().filter(|other| other.side == stretch.side);
        let flight = mine.map(|other| other.seen.flight).fold(stretch.seen.flight, u64::max);
        let rate = path.rate / self.airs.growth(stretch);
        match rate > 0.0 && flight as f64 >= OWN_PART * queue * rate {
            true => (Cause::QueueingOwn, 0.6),
            false => (Cause::QueueingOthers, 0.6),
        }
    }

    /// Bytes on their way: as long as the path takes, or longer behind others' queue.
    fn transit(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        match path.standing(stretch) {
            Some(queue) if path.stands(stretch) && path.is_bloated(queue) => {
                self.queue_of(stretch, queue)
            }
            _ => (Cause::PathLimited, 0.7),
        }
    }

    /// A packet waited on its way here.
    fn queued(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        let waited = stretch.span().as_secs_f64();
        match path.is_bloated(waited) {
            true => self.queue_of(stretch, waited),
            false => (Cause::PathLimited, 0.7),
        }
    }

    /// The receiver's window held the sender; a larger one would only have filled a queue where the path
    /// carried what it can.
    fn receiver_window(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        match path.stands(stretch) {
            true => self.full(stretch),
            false => (Cause::ReceiverWindow, 0.9),
        }
    }

    /// Returns zero window for a receiver whose application reads slowly, unless the path carried what it can.
    fn slow_reader(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        match path.stands(stretch) {
            true => self.full(stretch),
            false => (Cause::ZeroWindow, 0.8),
        }
    }

    /// A sender that stops for want of bytes and goes on when enough of them have been acknowledged, time
    /// and again, waits for its buffer; one that does so seldom, for its application.
    fn unfilled(&self, stretch: &Stretch) -> (Cause, f64) {
        let same = |other: &&Stretch| other.wait == Wait::Unfilled && other.side == stretch.side;
        let times = self.connection.account.stretches().iter().filter(same);
        let times: u32 = times.map(|stretch| stretch.count).sum();
        match (times >= 3, stretch.side) {
            (true, _) => (Cause::SendBuffer, 0.7),
            (false, 0) => (Cause::ClientIdle, 0.5),
            (false, _) => (Cause::ServerIdle, 0.5),
        }
    }

    /// A congestion window held the sender.
    fn window(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        let policed = |it: &&Verdict| it.after == Cause::Policer;
        let last = self.verdicts.get(stretch.loss as usize).filter(policed);
        let standing = path.standing(stretch).unwrap_or_default();
        if let Some(verdict) = last.filter(|_| !is_queue(standing, path)) {
            return (verdict.after, verdict.confidence * 0.9);
        }
        if !path.stands(stretch) && self.is_flat(stretch) {
            return (Cause::SendBuffer, 0.6);
        }
        if self.is_full(stretch) {
            return self.full(stretch);
        }
        match self.verdicts.get(stretch.loss as usize) {
            Some(verdict) if stretch.loss != NO_LOSS => (verdict.after, verdict.confidence * 0.9),
            _ => (Cause::WindowGrowth, 0.6),
        }
    }

    fn share(&self, stretch: &Stretch) -> Option<Share> {
        self.shares.as_ref()?.at(stretch)
    }

    /// Whether the path carries what it can, by itself or with others.
    fn is_full(&self, stretch: &Stretch) -> bool {
        let path = &self.paths[usize::from(stretch.side)];
        match self.share(stretch) {
            Some(share) => share.full >= FULL || path.stands(stretch),
            None => path.is_full(stretch),
        }
    }

    /// The bottleneck has a queue, or carries what it can.
    fn full(&self, stretch: &Stretch) -> (Cause, f64) {
        let path = &self.paths[usize::from(stretch.side)];
        let standing = path.standing(stretch).unwrap_or_default();
        let bloated = path.is_bloated(standing);
        if let Some(share) = self.share(stretch) {
            let fair = 1.0 / f64::from(share.flows);
            return match bloated {
                true if share.own < 0.5 => (Cause::QueueingOthers, 0.85),
                true => (Cause::QueueingOwn, 0.85),
                false if share.own < fair / 2.0 => (Cause::UnfairShare, 0.8),
                false => (Cause::PathLimited, 0.85),
            };
        }
        // The air carries less where bytes take more airtime.
        let growth = self.airs.growth(stretch);
        let slow = stretch.rate() * growth < SHARES * path.rate && stretch.wait != Wait::SlowStart;
        let held = slow && growth <= 1.0 && path.holds(stretch);
        let fills = path.is_bloated(standing - path.transmission());
        match (slow || path.sparse, if slow { bloated } else { fills }) {
            (true, _) if held => (Cause::Shaper, 0.5),
            (true, true) => self.queue_of(stretch, standing),
            (true, false) => (Cause::PathLimited, 0.5),
            (false, true) => (Cause::QueueingOwn, 0.8),
            (false, false) => (Cause::PathLimited, 0.8),
        }
    }

    /// A window that neither grows nor shrinks for many round trips: as much as the sender's buffer holds.
    fn is_flat(&self, stretch: &Stretch) -> bool {
        let path = &self.paths[usize::from(stretch.side)];
        let window = |other: &&Stretch| other.wait == Wait::Window && other.side == stretch.side;
        let same = |other: &&Stretch| {
            other.seen.flight * 20 >= stretch.seen.flight * 19
                && other.seen.flight * 19 <= stretch.seen.flight * 20
        };
        let all = self.connection.account.stretches();
        // Answers of one length are sent as one burst each, and nothing follows.
        let at = all.partition_point(|other| other.to <= stretch.from);
        let beside = [at.checked_sub(1), Some(at + 1)];
        let mut beside = beside.into_iter().flatten().filter_map(|at| all.get(at));
        if !beside.any(|it| it.wait == Wait::Unfilled || (window(&it) && same(&it))) {
            return false;
        }
        let all = all.iter().filter(window);
        let seconds = |other: &Stretch| other.span().as_secs_f64();
        let level: f64 = all.clone().filter(same).map(seconds).sum();
        let whole: f64 = all.map(seconds).sum();
        stretch.wait == Wait::Window
            && level >= (10.0 * path.base).max(0.2)
            && level >= 0.85 * whole
    }
}
