//! What a queue in the path did, as others are told it.

use super::FollowStats;
use crate::Attached;
use ackord_events::DropReason;
use ackord_units::{Bytes, Rate, Span, Time};
use hdrhistogram::Histogram;

/// What a queue in the path did so far, and how it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct InPathStats {
    /// Whether packets go through it.
    pub state: InPathState,
    /// How its program is attached; nothing while it is not.
    pub attached: Option<Attached>,
    /// Whether its thread goes before all ordinary ones.
    pub is_real_time: bool,
    /// How long ago it gave its last sign of life.
    pub heartbeat_age: Span,
    /// How often that came so late that packets passed beside it meanwhile.
    pub lapses: u64,
    /// Packets that came to it; what offloading has put together is one.
    pub packets_in: u64,
    /// Bytes of these, link headers included.
    pub bytes_in: u64,
    /// Packets that it sent, after it has cut up what it does not leave whole.
    pub packets_out: u64,
    /// Bytes of these, link headers included.
    pub bytes_out: u64,
    /// Packets that did not wait: neighbour discovery, and what is not IP.
    pub control: u64,
    /// Packets that were cut up, since their transmission takes more than a millisecond.
    pub cut_up: u64,
    /// Packets marked "congestion experienced".
    pub marked: u64,
    /// Packets that came the other way and were shown to the queue.
    pub reverse: u64,
    /// What was dropped.
    pub drops: Drops,
    /// Packets waiting.
    pub waiting: u32,
    /// Bytes of these, as IP counts them.
    pub waiting_bytes: Bytes,
    /// From the reading of a packet to its sending, of the last half minute or so.
    pub delay: Quantiles,
    /// The rate at which it is emptied now.
    pub rate: Rate,
    /// What following the link has led to; `None` for a constant rate.
    pub follow: Option<FollowStats>,
}

/// How a queue in the path stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPathState {
    /// Packets go through it.
    Steering,
    /// The kernel forwards past it, for this reason; it tries again.
    Waiting(String),
    /// It was stopped.
    Stopped,
}

/// Packets dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    queue: [u64; DropReason::ALL.len()],
    /// They waited in the TAP device, whose place was full before they were read.
    pub tap: u64,
    /// All packets that wait were as many bytes as may be kept.
    pub memory: u64,
    /// The interface's own queue was full.
    pub interface_queue: u64,
    /// The interface does not send such a frame.
    pub refused: u64,
    /// The interface was down or gone.
    pub interface_gone: u64,
    /// They had waited while the process was stopped, and were late by too much.
    pub stale: u64,
}

impl Drops {
    pub(super) fn count(&mut self, reason: DropReason) {
        self.queue[reason as usize] += 1;
    }

    /// Every reason with its count; those of the queue as reports name them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let queue = DropReason::ALL.into_iter().map(|one| (one.name(), self.queue[one as usize]));
        queue.chain([
            ("tap", self.tap),
            ("memory", self.memory),
            ("interface-queue", self.interface_queue),
            ("refused", self.refused),
            ("interface-gone", self.interface_gone),
            ("stale", self.stale),
        ])
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }
}

/// Quantiles of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Half were as long at most.
    pub p50: Span,
    /// 99 of a hundred were.
    pub p99: Span,
    /// The longest.
    pub max: Span,
}

/// Times of the last while.
#[derive(Debug)]
pub(super) struct Recent {
    now: Histogram<u64>,
    before: Histogram<u64>,
    turned_at: Time,
}

/// For how long times are taken together.
const TURN: Span = Span::from_secs(15);
/// The longest time that is told apart from longer ones, nanoseconds.
const LONGEST: u64 = 60_000_000_000;

impl Recent {
    pub(super) fn new() -> Recent {
        let empty = Histogram::new_with_bounds(1_000, LONGEST, 2).expect("sound bounds");
        Recent { now: empty.clone(), before: empty, turned_at: Time::ZERO }
    }

    pub(super) fn record(&mut self, span: Span) {
        self.now.saturating_record(span.as_nanos());
    }

    pub(super) fn quantiles(&mut self, now: Time) -> Quantiles {
        if now.saturating_since(self.turned_at) >= TURN {
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.reset();
            self.turned_at = now;
        }
        let mut all = self.before.clone();
        if all.add(&self.now).is_err() || all.is_empty() {
            return Quantiles::default();
        }
        let at = |quantile| Span::from_nanos(all.value_at_quantile(quantile));
        Quantiles { p50: at(0.5), p99: at(0.99), max: Span::from_nanos(all.max()) }
    }
}
