//! What a connection counts for TCP_INFO that its endpoint does not keep.

use ackord_units::{Span, Time};
use ackord_wire::Segment;

/// Plain counters, and how long something was so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) segments_in: u32,
    pub(crate) segments_out: u32,
    pub(crate) data_segments_in: u32,
    pub(crate) data_segments_out: u32,
    pub(crate) data_bytes_out: u64,
    pub(crate) data_sent_at: Option<Time>,
    pub(crate) data_came_at: Option<Time>,
    pub(crate) ack_came_at: Option<Time>,
    pub(crate) established_at: Option<Time>,
    /// How long there was data on its way or waiting, before now.
    busy: Span,
    busy_since: Option<Time>,
    /// How long only the peer's window held data back, before now.
    window_limited: Span,
    window_limited_since: Option<Time>,
}

impl Tally {
    /// A segment has left.
    pub(super) fn note_sent(&mut self, now: Time, segment: &Segment) {
        self.segments_out += 1;
        if segment.payload_len > 0 {
            self.data_segments_out += 1;
            self.data_bytes_out += u64::from(segment.payload_len);
            self.data_sent_at = Some(now);
        }
    }

    /// How long only the peer's window held data back.
    pub(crate) fn window_limited_for(&self, now: Time) -> Span {
        self.window_limited + self.window_limited_since.map_or(Span::ZERO, |since| now - since)
    }

    /// How long there was data on its way or waiting to be.
    pub(crate) fn busy_for(&self, now: Time) -> Span {
        self.busy + self.busy_since.map_or(Span::ZERO, |since| now - since)
    }

    /// Whether from `now` on there is data on its way or waiting, and whether only the peer's window
    /// holds data back.
    pub(super) fn note_busy(&mut self, now: Time, is_busy: bool, is_window_limited: bool) {
        note_span((&mut self.busy, &mut self.busy_since), is_busy, now);
        let sum = (&mut self.window_limited, &mut self.window_limited_since);
        note_span(sum, is_window_limited, now);
    }
}

/// Adds up how long something is so.
fn note_span((sum, since): (&mut Span, &mut Option<Time>), is_so: bool, now: Time) {
    match (is_so, *since) {
        (true, None) => *since = Some(now),
        (false, Some(began)) => {
            *sum += now - began;
            *since = None;
        }
        _ => {}
    }
}
