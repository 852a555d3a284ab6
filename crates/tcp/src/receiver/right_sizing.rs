//! A receive buffer that grows with what the application takes (dynamic right-sizing).
//!
//! In each round trip the bytes that the application has read are compared with the most it had read
//! in one before. If they are more, the buffer is to hold twice as much, so that a sender in slow
//! start is not held back in the next round trip, and more in proportion to the growth (Weigle and
//! Feng 2001; Linux's tcp_rcv_space_adjust). It never shrinks.
//!
//! Not modelled: what packets take beside their payload, and memory pressure. Sizes are bytes of
//! payload.

use super::round_trip::ReceiverRtt;
use crate::ack::Arrival;
use ackord_units::{Bytes, Time};

/// Segments that a first round trip is expected to bring (TCP_INIT_CWND).
const FIRST_ROUND_SEGMENTS: u64 = 10;
/// Room for segments on their way beyond twice what was read.
const SPARE_SEGMENTS: u64 = 16;

/// How far the application's reading has brought the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RightSizing {
    most: Bytes,
    segment: Bytes,
    rtt: ReceiverRtt,
    /// When the round trip began, and what had been read by then.
    since: Time,
    read_before: u64,
    /// The most read in a round trip.
    space: u64,
}

/// What has come and gone by now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Bytes received in order.
    pub(super) received: u64,
    /// Bytes of those that the application has read.
    pub(super) read: u64,
    /// What the buffer holds.
    pub(super) buffer: Bytes,
}

impl RightSizing {
    /// Returns the sizing of a buffer that holds `first` bytes and may grow to `most`, for segments of this size.
    ///
    /// A first round trip is expected to bring ten segments, or half the buffer if these are more: a window that lets
    /// no more through than is expected would never grow. Linux takes the least of ten segments, its window and its
    /// threshold (tcp_init_buffer_space); there the window grows past these by itself.
    pub(super) fn new(most: Bytes, segment: Bytes, first: Bytes) -> RightSizing {
        RightSizing {
            most,
            segment,
            rtt: ReceiverRtt::default(),
            since: Time::ZERO,
            read_before: 0,
            space: (FIRST_ROUND_SEGMENTS * segment.get()).min(first.get() / 2),
        }
    }

    pub(super) fn open(&mut self, now: Time) {
        self.since = now;
    }

    /// Data has arrived in order; what the buffer is to hold from now on.
    pub(super) fn on_data(&mut self, now: Time, arrival: &Arrival<'_>, flow: Flow) -> Bytes {
        let Flow { received, read, buffer } = flow;
        self.rtt.on_data(now, arrival, received, arrival.window.offered);
        let Some(rtt) = self.rtt.estimate() else { return buffer };
        if now.saturating_since(self.since) < rtt {
            return buffer;
        }
        let copied = read - self.read_before;
        (self.since, self.read_before) = (now, read);
        if copied <= self.space {
            return buffer;
        }
        let doubled = u128::from(copied) * 2 + u128::from(SPARE_SEGMENTS * self.segment.get());
        let space = u128::from(self.space.max(1));
        let ahead = doubled * (u128::from(copied) - space) / space * 2;
        self.space = copied;
        let wanted = (doubled + ahead).min(u128::from(self.most.get())) as u64;
        buffer.max(Bytes(wanted))
    }
}
