//! What each loss was from.

use super::path::Path;
use crate::Cause;
use crate::flow::loss::{Loss, Trigger};

/// A window is whole, not small, from so many segments on.
const WHOLE: u32 = 5;
/// The least retransmission timeout of Linux, s; RFC 6298 asks for a second.
const SHORTEST_RTO: f64 = 0.2;
/// So many segments of a window in a row are lost where nothing gets through for a while.
const BURST: u32 = 20;
/// A sender below this part of what the path carries fills no queue.
const CARRIED: f64 = 0.6;
/// So many segments that arrive have their ACKs heard, unless these are lost.
const UNHEARD: f64 = 3.0;
/// Random loss seldom takes all of a window of this many segments.
const SURELY_OUTAGE: u32 = 8;

/// The cause of the time a recovery took, how sure it is, and the cause of what the window lost by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub(crate) recovery: Cause,
    pub(crate) after: Cause,
    pub(crate) confidence: f64,
}

pub(crate) fn verdict(loss: &Loss, path: &Path) -> Verdict {
    let of = |recovery, after, confidence| Verdict { recovery, after, confidence };
    if loss.is_closing() {
        return of(Cause::Unknown, Cause::Unknown, 0.8);
    }
    // A timer that waited this long had been backed off: earlier retransmissions were lost before they
    // came here.
    let backed_off = loss.silence.as_secs_f64() > 2.5 * (loss.rtt.as_secs_f64() + SHORTEST_RTO);
    let window = loss.under_way.max(loss.window).max(loss.skipped);
    // Most of the window had arrived: what was lost were its acknowledgments.
    let arrived = loss.under_way >= 3 && loss.distinct() * 3 <= loss.under_way;
    let unneeded = loss.unneeded > 0 && loss.unneeded * 5 >= loss.distinct() * 3;
    let acks_only = loss.unneeded >= 2 && loss.skipped < 2 && !loss.early;
    if loss.trigger == Trigger::Timer && (arrived || unneeded) && acks_only {
        return of(Cause::AckPath, Cause::AckPath, 0.75);
    }
    let unheard = loss.unheard.unwrap_or(0);
    let unheard = unheard as f64 >= UNHEARD * path.mss && unheard * 10 >= loss.under_way_bytes * 7;
    if loss.trigger == Trigger::Timer && unheard && !loss.early {
        return of(Cause::AckPath, Cause::AckPath, 0.85);
    }
    if (backed_off || loss.skipped >= WHOLE) && window >= WHOLE {
        return of(Cause::Outage, Cause::Outage, 0.85);
    }
    if unneeded || (loss.early && loss.trigger == Trigger::Timer) {
        return match (loss.trigger, loss.early) {
            // Nothing was waiting behind it.
            (Trigger::Timer, _) if loss.tail => of(Cause::PathLimited, Cause::PathLimited, 0.6),
            (Trigger::Acks, _) => of(Cause::SpuriousReordering, Cause::SpuriousReordering, 0.9),
            (Trigger::Timer, true) => of(Cause::SpuriousDelay, Cause::SpuriousDelay, 0.8),
            (Trigger::Timer, false) => of(Cause::AckPath, Cause::AckPath, 0.7),
        };
    }
    let congested = congested(loss, path);
    let after = if congested.0 { Cause::WindowGrowth } else { Cause::RandomLoss };
    if loss.trigger == Trigger::Acks {
        if is_burst(loss) && !congested.0 {
            return of(Cause::Outage, Cause::Outage, 0.7);
        }
        let recovery = if congested.0 { Cause::FastRecovery } else { Cause::RandomLoss };
        return of(recovery, after, congested.1);
    }
    let repeated = loss.repeated() > 0 || loss.timeouts >= 2 || backed_off;
    of_timeout(loss, repeated, congested.0, after)
}

/// Returns true if so many segments of a window were lost that nothing got through for a while.
pub(super) fn is_burst(loss: &Loss) -> bool {
    loss.distinct() >= BURST && loss.distinct() * 3 >= loss.under_way
}

/// Why a timer had to end the recovery.
fn of_timeout(loss: &Loss, repeated: bool, congested: bool, after: Cause) -> Verdict {
    let of = |recovery, after, confidence| Verdict { recovery, after, confidence };
    let nothing_got_through = loss.sacked == 0 && loss.distinct() * 5 >= loss.under_way * 4;
    if nothing_got_through && repeated && loss.under_way.max(loss.window).max(loss.skipped) >= WHOLE
    {
        return of(Cause::Outage, Cause::Outage, 0.8);
    }
    if nothing_got_through && loss.under_way >= WHOLE && !repeated {
        let sure = loss.under_way >= SURELY_OUTAGE && !congested;
        return match sure {
            true => of(Cause::Outage, Cause::Outage, 0.75),
            false => of(Cause::TimeoutWindow, after, 0.6),
        };
    }
    if repeated {
        return of(Cause::TimeoutLostRetransmission, after, 0.7);
    }
    if loss.tail {
        return of(Cause::TimeoutTail, after, 0.8);
    }
    match loss.under_way < WHOLE {
        true => of(Cause::TimeoutSmallWindow, after, 0.7),
        false => of(Cause::TimeoutWindow, after, 0.5),
    }
}

/// Whether a queue had been growing before the loss (Flach et al. 2016 ask for 1.3 times the round
/// trip; here it is most of the highest queue seen), and how sure that is.
fn congested(loss: &Loss, path: &Path) -> (bool, f64) {
    let queue = loss.rtt.as_secs_f64() - path.base;
    if path.queue_most < path.queue_least {
        // No queue was ever seen: too small a buffer, or none of ours.
        let full = loss.under_way_bytes as f64 >= 1.1 * path.bdp() && path.plateau > 0.5;
        return (full, 0.5);
    }
    let share = queue / path.queue_at_losses;
    // A queue grows where more comes than the path carries.
    let carries = if path.queued_rate > 0.0 { path.queued_rate } else { path.rate };
    let window =
        (f64::from(loss.window.max(loss.skipped)) * path.mss).max(loss.under_way_bytes as f64);
    let sent = window / loss.rtt.as_secs_f64().max(1e-6);
    if sent < CARRIED * carries {
        return (false, 0.7);
    }
    let confidence = (0.5 + (share - path.loss_share).abs()).min(0.95);
    (share >= path.loss_share && queue >= path.queue_least, confidence)
}
