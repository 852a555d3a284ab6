//! One connection as somebody sees it who does nothing: what its sender retransmitted and when, and when a box
//! would have.

use super::REMEDIES;
use crate::{Progress, STALL};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Flags, Segment};
use std::collections::VecDeque;

/// Segments under way that are remembered of one connection.
const MOST: usize = 1_024;

/// A connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// Segments under way, in order of sequence number.
    under_way: VecDeque<Sent>,
    /// End of the sequence space that is known to be used: payload, SYN and FIN.
    highest: Option<Seq>,
    /// The acknowledgment before, and its window.
    last_ack: Option<(Seq, u16)>,
    /// When data last went towards the mobile host.
    data_at: Option<Time>,
    /// In the wait that is going on: the last time that data was retransmitted, and the time of the data before.
    retransmitted: Option<(Time, Time)>,
    /// What was sent before the end of the last stall belongs to that.
    stall_end: Option<Seq>,
    has_timestamps: bool,
    /// Until when each box has saved time.
    saved_until: [Time; REMEDIES],
    pub(super) figures: Figures,
}

/// What was seen of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) progress: Progress,
    pub(super) retransmissions: [Retransmissions; REMEDIES],
    /// Of the stalls, how many ended when the sender tried again.
    pub(super) stalls_by_retry: u32,
    /// The most that those would have been shorter.
    pub(super) stalls_shorter: Span,
    pub(super) duplicates_with_timestamps: u64,
    pub(super) duplicates_without: u64,
    pub(super) least_trip: Option<Span>,
    pub(super) trips: u64,
    pub(super) trips_sum: Span,
    pub(super) trips_longest: Span,
}

/// What a box would have done, for data outside of stalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retransmissions {
    /// Segments that it and the sender retransmitted, it first.
    pub(super) earlier: u64,
    /// How much earlier, added up.
    pub(super) earlier_by: Span,
    /// The same, but what was recovered side by side counted once.
    pub(super) saved: Span,
    /// Segments that the sender retransmitted before it would have.
    pub(super) not_earlier: u64,
    /// Segments that only it would have retransmitted.
    pub(super) needless: u64,
}

/// A segment under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: Seq,
    end: Seq,
    at: Time,
    /// When its sender retransmitted it.
    retransmitted: Option<Time>,
    /// When each box would have.
    by_box: [Option<Time>; REMEDIES],
}

impl Watched {
    /// Whether anything was seen that a new connection between the same ends would spoil.
    pub(super) fn has_data(&self) -> bool {
        self.highest.is_some()
    }

    /// Records a segment that passed towards the mobile host. Returns how many more segments are remembered.
    pub(super) fn sent(&mut self, now: Time, segment: &Segment, room: usize) -> usize {
        if segment.payload_len > 0 {
            let remembered = self.data(now, segment, room);
            self.use_up_to(segment.end_seq());
            return remembered;
        }
        // Without data before, control flags alone make no connection worth watching.
        if self.has_data() {
            self.use_up_to(segment.end_seq());
        }
        0
    }

    fn use_up_to(&mut self, end: Seq) {
        if self.highest.is_none_or(|highest| end.after(highest)) {
            self.highest = Some(end);
        }
    }

    /// Records the payload of a segment, which begins behind a SYN and ends before a FIN.
    fn data(&mut self, now: Time, segment: &Segment, room: usize) -> usize {
        let seq = segment.seq + u32::from(segment.flags.contains(Flags::SYN));
        let end = seq + segment.payload_len;
        self.has_timestamps = segment.options.timestamps.is_some();
        self.figures.progress.sent(now, seq, end);
        let mut is_known = false;
        for sent in self.under_way.iter_mut().filter(|one| one.end.after(seq) && end.after(one.seq))
        {
            sent.retransmitted.get_or_insert(now);
            is_known = true;
        }
        if is_known && let Some(before) = self.data_at {
            self.retransmitted = Some((before, now));
        }
        self.data_at = Some(now);
        if is_known || self.under_way.len() >= MOST || room == 0 {
            return 0;
        }
        let place = self.under_way.partition_point(|one| one.seq.before(seq));
        let new = Sent { seq, end, at: now, retransmitted: None, by_box: [None; REMEDIES] };
        self.under_way.insert(place, new);
        1
    }

    /// A box would have retransmitted what begins here.
    pub(super) fn would_retransmit(&mut self, which: usize, seq: Seq, at: Time) {
        let covers = |one: &&mut Sent| !one.seq.after(seq) && one.end.after(seq);
        if let Some(sent) = self.under_way.iter_mut().find(covers) {
            sent.by_box[which].get_or_insert(at);
        }
    }

    /// An acknowledgment passed from the mobile host. Answers how many segments are forgotten.
    pub(super) fn acknowledgment(&mut self, now: Time, segment: &Segment, is_pure: bool) -> usize {
        let ack = segment.ack;
        let repeats = self.last_ack == Some((ack, segment.window));
        if is_pure && repeats && !self.under_way.is_empty() {
            match self.has_timestamps {
                true => self.figures.duplicates_with_timestamps += 1,
                false => self.figures.duplicates_without += 1,
            }
        }
        if !self.has_data() {
            return 0;
        }
        // An acknowledgment of data that was not observed (lost captures, a watch that began late) covers all
        // that was observed before, so the state is resynchronised to it.
        self.use_up_to(ack);
        let is_progress = self.last_ack.is_none_or(|(last, _)| ack.after(last));
        if is_progress || self.last_ack.is_some_and(|(last, _)| last == ack) {
            self.last_ack = Some((ack, segment.window));
        }
        let stalls = self.figures.progress.stalls;
        self.figures.progress.acknowledged(now, ack);
        if self.figures.progress.stalls > stalls {
            self.end_stall();
        }
        if is_progress {
            self.retransmitted = None;
        }
        let known = self.under_way.len();
        while let Some(first) = self.under_way.front().copied().filter(|one| !one.end.after(ack)) {
            self.under_way.pop_front();
            let is_last = self.under_way.front().is_none_or(|next| next.end.after(ack));
            self.delivered(now, &first, is_last);
        }
        known - self.under_way.len()
    }

    /// A wait of [`STALL`] or longer is over. Where data was retransmitted meanwhile, the link came back at the
    /// earliest when the data before that was sent, and was lost.
    fn end_stall(&mut self) {
        self.stall_end = self.highest;
        if let Some((before, again)) = self.retransmitted {
            self.figures.stalls_by_retry += 1;
            self.figures.stalls_shorter += again.saturating_since(before);
        }
    }

    fn delivered(&mut self, now: Time, sent: &Sent, is_last: bool) {
        if sent.retransmitted.is_none() && is_last {
            self.trip(now.saturating_since(sent.at));
        }
        if self.stall_end.is_some_and(|end| !sent.end.after(end)) {
            return;
        }
        let each = self.figures.retransmissions.iter_mut().zip(&mut self.saved_until);
        for ((retransmissions, until), by_box) in each.zip(sent.by_box) {
            match (by_box, sent.retransmitted) {
                (Some(by_box), Some(again)) if by_box < again => {
                    retransmissions.earlier += 1;
                    retransmissions.earlier_by += again.saturating_since(by_box);
                    retransmissions.saved += again.saturating_since(by_box.max(*until));
                    *until = again.max(*until);
                }
                (_, Some(_)) => retransmissions.not_earlier += 1,
                (Some(_), None) => retransmissions.needless += 1,
                (None, None) => {}
            }
        }
    }

    fn trip(&mut self, trip: Span) {
        // One that took that long waited for more than a queue.
        if trip >= STALL {
            return;
        }
        let figures = &mut self.figures;
        figures.least_trip = Some(figures.least_trip.map_or(trip, |least| least.min(trip)));
        figures.trips += 1;
        figures.trips_sum += trip;
        figures.trips_longest = figures.trips_longest.max(trip);
    }

    /// Segments that are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.under_way.len()
    }
}

impl Figures {
    /// How much longer than the shortest the mean round trip over the link was.
    pub(super) fn waiting(&self) -> Option<Span> {
        let mean = Span::from_nanos(self.trips_sum.as_nanos().checked_div(self.trips)?);
        Some(mean.saturating_sub(self.least_trip?))
    }
}
