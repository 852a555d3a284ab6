//! What was lost on the wireless link while it works, segment by segment.
//!
//! Everything rests on one observation: the hop is a queue, so what was sent before something that
//! has arrived, and has not arrived itself, is lost (RFC 8985 calls the same RACK). It holds for
//! every hole at once and for repetitions as well as originals, since a repetition counts as sent
//! when it was repeated. A hop that does reorder gives itself away by acknowledgments of
//! repetitions that are too early to be theirs; the box then waits, longer each time.
//!
//! Without SACK only the oldest segment is known to be missing: by a duplicate, or because an
//! acknowledgment that a repetition brought about stops in front of it.
//!
//! Losses are a signal to the sender where a queue overflows. Then they come crowded: of a sender that
//! offers more than the link carries, a share is lost that grows with the excess, and in slow start
//! every second segment. [`CROWD`] losses among [`CROWD_SEGMENTS`] segments are therefore taken for
//! an overflow; of a sender whose holes can only be filled one by one, [`FULL`] in one window while
//! the queue is as long as it gets. A sender that goes by duplicates is then let see them once, until all that was sent by
//! then is acknowledged, while the box goes on recovering; one that would undo its answer to a
//! recovered loss (by SACK or timestamps) is left to recover for itself. The first loss of a connection
//! is shown likewise: a sender that has seen none is in slow start, and would never leave it.
//!
//! Where recoveries would not lead on, the whole flight is the sender's (`stance.rs`): at a crowd in which
//! every second segment is lost ([`PACKED_SEGMENTS`]), and after [`HOLE_BY_HOLE`] holes of one flight
//! that met a full queue, where they can only be filled one by one. (Not of a sender with timestamps
//! and no SACK: it takes its answer back at the first repetition that arrives, and then waits.)
//!
//! What was sent before a fade was over and has not arrived when something later has was lost to the
//! fade: that is no overflow, however crowded, and all of it is repeated, as often as it takes. A sender
//! that sees the first of it acknowledged takes its answer to a timeout back, and Linux then no longer looks
//! for what it had taken for lost before: a hole left to it would wait for its next timeout.
//!
//! Two more losses are left to the sender:
//! - while the wireless queue holds more than twice the round trip of the whole path. A sender that
//!   halves its window then still keeps the link busy, with a queue to spare for a second loss; so
//!   hiding the loss would win nothing, and the queue would never be asked to shrink;
//! - a segment that was repeated [`MOST_RESENT`] times. Independent losses hardly ever come so often
//!   in a row; a queue that overflows does it all the time.
//!
//! Not told apart at once: a queue that overflows by a segment now and then, and a lossy link. Such
//! losses are recovered like others, until they crowd, or `stance.rs` has seen enough of them.

use super::super::{Cached, Mark, Repeater, SegmentCache};
use super::detect::WirelessTrip;
use super::stance::{Spells, Stance};
use ackord_units::{Seq, Span, Time};
use ackord_wire::Segment;
use std::collections::VecDeque;

/// How often one segment is repeated.
pub(super) const MOST_RESENT: u32 = 3;

/// Repetitions in a row that were needed, after which one step of patience is given up.
const FORGIVEN_AFTER: u32 = 16;

/// So many losses close together are an overflow: independent losses of one in twenty come so close
/// once in 240 times.
const CROWD: usize = 5;

/// How close: a third of them is lost.
const CROWD_SEGMENTS: u32 = 15;

/// Where they lie this close, at least every second segment is lost: what slow start makes of a full
/// queue, and errors of one in twenty once in 1600 times.
const PACKED_SEGMENTS: u32 = 10;

/// So many losses in one window while the queue is full are an overflow too: each takes a round trip
/// to fill where nothing reports the next, so that hiding more of them wins nothing.
const FULL: usize = 3;

/// And where twice as many of one flight had to be filled one by one, the sender's own timeout gets
/// further than going on: it repeats all of the flight at once.
const HOLE_BY_HOLE: u32 = 2 * FULL as u32;

/// One sending of a segment: those of one instant are in order of sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sending {
    at: Time,
    seq: Seq,
}

impl Sending {
    fn of(cached: &Cached) -> Sending {
        Sending { at: cached.sent_at, seq: cached.segment().seq }
    }

    fn before(&self, other: &Sending) -> bool {
        self.at < other.at || (self.at == other.at && self.seq.before(other.seq))
    }
}

/// Whether a connection reports what arrived above a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sack {
    /// The handshake was not seen, nor any report.
    #[default]
    Unknown,
    /// It does.
    Agreed,
    /// It does not.
    Absent,
}

/// Which sending of a segment has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// The one at this time.
    At(Time),
    /// A repetition, unless it comes too early for one: the first, at this time and by whom, or a
    /// later one.
    NotBefore(Time, Repeater),
    /// It cannot be said.
    Unclear,
}

/// The state of recovery of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowRecovery {
    /// The last sent of what has arrived.
    newest: Option<Sending>,
    /// How much later than what was sent after it a segment may arrive: none, until reordering
    /// was seen.
    patience: Span,
    needed_in_row: u32,
    /// When something becomes lost by time alone.
    look_again_at: Option<Time>,
    /// Where the latest losses of first sendings were, the oldest first.
    lost_at: VecDeque<Seq>,
    /// The same for those that were lost while the queue was full.
    lost_full: VecDeque<Seq>,
    /// A queue has overflowed, or nothing had been lost before: the sender is to see it until this
    /// is acknowledged.
    signal_up_to: Option<Seq>,
    /// Whether anything was lost before.
    has_lost: bool,
}

/// The facts that tell what to do about a loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) now: Time,
    pub(super) sack: Sack,
    /// The wireless queue holds more than twice the path's round trip.
    pub(super) congested: bool,
    /// Whether the sender can tell, by SACK or timestamps, that its answer to a recovered loss was not
    /// needed, and takes it back.
    pub(super) undoes: bool,
    /// The largest segment so far.
    pub(super) largest: u32,
    /// The end of what was sent.
    pub(super) sent_up_to: Option<Seq>,
    /// The wireless queue is as long as it gets.
    pub(super) full: bool,
    /// The end of what had been sent when the latest fade was over, until all of it is acknowledged.
    pub(super) faded_up_to: Option<Seq>,
}

impl FlowRecovery {
    /// A segment has arrived.
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        cached: &Cached,
        trip: &WirelessTrip,
        answered: Answered,
    ) {
        let seq = cached.segment().seq;
        let at = match answered {
            Answered::At(at) => at,
            Answered::NotBefore(at, _) if trip.can_be_answered_after(now - at) => {
                self.on_needed();
                at
            }
            Answered::NotBefore(_, Repeater::Box) => return self.on_reordered(trip),
            Answered::NotBefore(_, Repeater::Sender) | Answered::Unclear => return,
        };
        let sending = Sending { at, seq };
        if self.newest.is_none_or(|newest| newest.before(&sending)) {
            self.newest = Some(sending);
        }
    }

    /// A repetition was needed.
    fn on_needed(&mut self) {
        self.needed_in_row += 1;
        if self.needed_in_row >= FORGIVEN_AFTER {
            self.patience = self.patience / 2;
            self.needed_in_row = 0;
        }
    }

    /// What was repeated had been on its way.
    fn on_reordered(&mut self, trip: &WirelessTrip) {
        let step = trip.least().unwrap_or(Span::ZERO) / 4;
        let most = trip.smoothed().unwrap_or(Span::ZERO);
        self.patience = (self.patience + step).min(most);
        self.needed_in_row = 0;
    }

    /// Takes in the blocks of an acknowledgment; tells `delivered` what they report that was not
    /// reported before.
    pub(super) fn mark_sacked(
        cache: &mut SegmentCache,
        acknowledgment: &Segment,
        mut delivered: impl FnMut(&Cached),
    ) {
        for block in acknowledgment.options.sack.as_slice() {
            for cached in cache.iter_mut().filter(|cached| !cached.sacked) {
                let (start, end) = (cached.segment().seq, cached.segment().end_seq());
                if start.at_or_after(block.start) && end.at_or_before(block.end) {
                    delivered(cached);
                    cached.sacked = true;
                }
            }
        }
    }

    /// Marks what is lost by now, oldest first.
    pub(super) fn find_lost(
        &mut self,
        (cache, spells): (&mut SegmentCache, &mut Spells),
        trip: &WirelessTrip,
        facts: &Circumstances,
    ) {
        self.look_again_at = None;
        let Some(newest) = self.newest else { return };
        let patience = self.patience;
        let reported = if facts.sack == Sack::Agreed { usize::MAX } else { 1 };
        let waiting = cache.iter_mut().take(reported);
        for cached in waiting.filter(|cached| !cached.sacked && cached.mark == Mark::None) {
            if !Sending::of(cached).before(&newest) {
                continue;
            }
            let lost_at = match patience {
                Span::ZERO => facts.now,
                patience => cached.sent_at + trip.smoothed().unwrap_or(Span::ZERO) + patience,
            };
            if lost_at > facts.now {
                let soonest = self.look_again_at.map_or(lost_at, |at| at.min(lost_at));
                self.look_again_at = Some(soonest);
                continue;
            }
            self.lost(cached, facts, spells);
        }
    }

    /// Decides about a lost segment.
    fn lost(&mut self, cached: &mut Cached, facts: &Circumstances, spells: &mut Spells) {
        let seq = cached.segment().seq;
        if facts.faded_up_to.is_some_and(|up_to| seq.before(up_to)) {
            cached.mark = Mark::Wanted;
            return;
        }
        lose(cached, facts, self.crowds(cached, facts), spells);
    }

    /// Whether this loss and those before it are an overflow.
    fn crowds(&mut self, cached: &Cached, facts: &Circumstances) -> Crowd {
        let seq = cached.segment().seq;
        if cached.resent > 0 || self.lost_at.back().is_some_and(|last| seq.at_or_before(*last)) {
            return Crowd::No;
        }
        if !std::mem::replace(&mut self.has_lost, true) {
            self.signal_up_to = facts.sent_up_to;
        }
        let within = CROWD_SEGMENTS.saturating_mul(facts.largest);
        let dense = are_close(&mut self.lost_at, seq, CROWD, within);
        let packed = seq.since(self.lost_at[0]) < PACKED_SEGMENTS.saturating_mul(facts.largest);
        let flight = facts.sent_up_to.map_or(0, |end| end.since(seq));
        let counts = facts.full && !facts.undoes;
        let overflows = counts && are_close(&mut self.lost_full, seq, FULL, flight);
        if !dense && !overflows {
            return Crowd::No;
        }
        // The next crowd is another one.
        self.lost_at.clear();
        self.lost_full.clear();
        self.signal_up_to = facts.sent_up_to;
        match (dense && packed, overflows) {
            (true, _) => Crowd::Packed,
            (false, true) => Crowd::AtFullQueue,
            (false, false) => Crowd::Loose,
        }
    }

    /// Whether the sender is to see the duplicates: a queue has overflowed in front of `una`.
    pub(super) fn signals(&self, una: Seq) -> bool {
        self.signal_up_to.is_some_and(|up_to| una.before(up_to))
    }

    /// A duplicate acknowledgment, the `count`-th in a row, of a connection without SACK.
    pub(super) fn on_duplicate(
        &mut self,
        (cache, spells): (&mut SegmentCache, &mut Spells),
        trip: &WirelessTrip,
        facts: &Circumstances,
        count: u32,
    ) {
        let Some(oldest) = cache.first_mut().filter(|cached| cached.mark == Mark::None) else {
            return;
        };
        // As long as a repetition can be on its way, duplicates are due to what was sent with the
        // original. A hop that reorders makes one or two by itself.
        let lost = match oldest.resent {
            0 => self.patience == Span::ZERO || count >= 3,
            _ => facts.now >= oldest.sent_at + trip.timeout(),
        };
        if lost {
            self.lost(oldest, facts, spells);
        }
    }

    /// When something may be lost by time alone.
    pub(super) fn look_again_at(&self) -> Option<Time> {
        self.look_again_at
    }
}

/// Whether losses come too close together to be independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crowd {
    No,
    Loose,
    /// At least every second segment is lost.
    Packed,
    /// In one flight, all of them while the queue was full.
    AtFullQueue,
}

/// Adds a loss; answers whether the latest `many` lie within so many bytes.
fn are_close(losses: &mut VecDeque<Seq>, newest: Seq, many: usize, within: u32) -> bool {
    if losses.len() == many {
        losses.pop_front();
    }
    losses.push_back(newest);
    losses.len() == many && newest.since(losses[0]) <= within
}

/// Decides about a segment that was lost while the link worked.
fn lose(cached: &mut Cached, facts: &Circumstances, crowd: Crowd, spells: &mut Spells) {
    let speaks_sack = facts.sack == Sack::Agreed;
    if cached.resent == 0 && cached.passed == 1 {
        spells.on_loss(facts.now, cached.segment().seq, facts.sent_up_to, !speaks_sack);
    }
    let hole_by_hole = spells.losses() >= HOLE_BY_HOLE;
    match crowd {
        Crowd::Packed if speaks_sack || !facts.undoes => spells.leave(),
        Crowd::AtFullQueue if hole_by_hole => spells.leave(),
        _ => {}
    }
    let aside = spells.stance() == Stance::Aside;
    let overflowed = crowd != Crowd::No && facts.undoes;
    let left = aside || facts.congested || overflowed || cached.resent >= MOST_RESENT;
    cached.mark = if left { Mark::Left } else { Mark::Wanted };
}
