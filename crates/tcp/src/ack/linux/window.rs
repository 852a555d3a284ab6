//! The window a Linux receiver would offer. It grows with what arrives, and as long as it grows,
//! acknowledgments leave at once.
//!
//! The connection's own window does not follow this model: only the timing of acknowledgments does.
//! Its buffer grows by the same rule where that is asked for (`receiver/right_sizing.rs`).
//!
//! Not modelled: memory pressure, and the share of the buffer that packet headers take, which
//! depends on the network card; it is held at that of a full segment in a buffer of 2304 bytes.

use super::super::{Arrival, Order};
use crate::receiver::ReceiverRtt;
use ackord_units::{Bytes, Keyword, Span, Time};

/// What a buffer of tcp_rmem[1] = 131072 bytes holds of full-sized segments.
const INITIAL_CEILING: Bytes = Bytes(83_000);
/// The window at the start is the full segments in this.
const INITIAL_WINDOW: u64 = 65_535;
/// What a full segment takes in memory.
const TRUESIZE: u64 = 2304;
/// Smaller segments do not make the window grow.
const LEAST_TO_GROW: Bytes = Bytes(128);
/// Segments that a first round trip is expected to bring (TCP_INIT_CWND).
const INITIAL_SPACE_SEGMENTS: u64 = 10;

/// The model: `rcv_ssthresh`, `window_clamp`, `rcv_wnd` and the buffer's tuning.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowModel {
    /// The window as far as it has grown (rcv_ssthresh); zero before the first segment.
    grown: Bytes,
    /// As far as it may grow (window_clamp).
    ceiling: Bytes,
    /// What the last acknowledgment offered (rcv_wnd).
    offered: Bytes,
    /// What one sent now would offer.
    selected: Bytes,
    /// What the connection's own buffer holds.
    buffer: Bytes,
    /// Bytes that have come in order.
    received: u64,
    buffer_set: SoRcvbuf,
    tuning: Tuning,
    rtt: ReceiverRtt,
}

/// The buffer's tuning by what the application reads in a round trip (tcp_rcv_space_adjust).
#[derive(Clone, Copy, Debug)]
struct Tuning {
    since: Time,
    /// Bytes read when the round trip began.
    read: u64,
    /// The most read in a round trip.
    space: u64,
}

/// Whether the application has set the size of the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum SoRcvbuf {
    /// It has not: the kernel sizes it by what is read.
    Unset,
    /// It has: the window begins with all of it and grows to what it holds of full segments.
    Set,
}

/// Whether the window grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Grew,
    Still,
}

impl WindowModel {
    pub(super) fn new(so_rcvbuf: SoRcvbuf) -> WindowModel {
        WindowModel {
            grown: Bytes::ZERO,
            ceiling: INITIAL_CEILING,
            offered: Bytes::ZERO,
            selected: Bytes::ZERO,
            buffer: Bytes::ZERO,
            received: 0,
            buffer_set: so_rcvbuf,
            tuning: Tuning { since: Time::ZERO, read: 0, space: 0 },
            rtt: ReceiverRtt::default(),
        }
    }

    pub(super) fn open(&mut self, now: Time) {
        self.tuning.since = now;
    }

    /// rcv_wnd.
    pub(super) fn offered(&self) -> Bytes {
        self.offered
    }

    /// A segment has come in order.
    pub(super) fn on_data(&mut self, now: Time, arrival: &Arrival<'_>, rcv_mss: Bytes) -> Growth {
        self.buffer = arrival.window.free + arrival.window.unread;
        if self.grown == Bytes::ZERO {
            self.begin(rcv_mss.get());
        }
        self.measure_headers(rcv_mss);
        // One that fills a gap brings what waited beyond it.
        self.received += match arrival.order {
            Order::FillsGap => arrival.unacknowledged.get(),
            _ => arrival.payload.get(),
        };
        self.rtt.on_data(now, arrival, self.received, self.offered);
        self.tune(now, arrival);
        let growth = self.grow(arrival, rcv_mss);
        self.selected = self.select(arrival.window.unread);
        growth
    }

    /// The window before the first segment. SO_RCVBUF is doubled, and half of that taken for headers
    /// until a segment shows their share: so such a window begins at what was asked for, and grows.
    fn begin(&mut self, mss: u64) {
        self.tuning.space = INITIAL_SPACE_SEGMENTS * mss;
        self.grown = match self.buffer_set {
            SoRcvbuf::Unset => Bytes((INITIAL_WINDOW / mss).max(1) * mss).min(self.buffer),
            SoRcvbuf::Set => {
                self.ceiling = self.buffer;
                Bytes((self.buffer.get() / mss).max(1) * mss).min(self.buffer)
            }
        };
        self.offered = self.grown;
    }

    /// scaling_ratio, in parts of 256, and with it window_clamp (tcp_measure_rcv_mss).
    fn measure_headers(&mut self, mss: Bytes) {
        if self.buffer_set == SoRcvbuf::Set {
            let share = (mss.get() * 256 / TRUESIZE).min(256);
            self.ceiling = self.ceiling.max(self.buffer * 2 * share / 256);
        }
    }

    /// The receiver's own estimate of the round-trip time.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.rtt.estimate()
    }

    /// Whether an acknowledgment sent now would offer no less than the last one.
    pub(super) fn moves(&self) -> bool {
        self.selected >= self.offered
    }

    /// The application has read all but `left`.
    pub(super) fn on_read(&mut self, left: Bytes) {
        self.selected = self.select(left);
    }

    pub(super) fn on_ack_sent(&mut self) {
        self.offered = self.selected.max(Bytes(1));
    }

    fn space(&self, unread: Bytes) -> Bytes {
        let ceiling = match self.buffer_set {
            SoRcvbuf::Unset => self.ceiling.min(self.buffer),
            SoRcvbuf::Set => self.ceiling,
        };
        ceiling.saturating_sub(unread)
    }

    fn select(&self, unread: Bytes) -> Bytes {
        self.space(unread).min(self.grown)
    }

    /// tcp_grow_window: by two segments, or what is left.
    fn grow(&mut self, arrival: &Arrival<'_>, rcv_mss: Bytes) -> Growth {
        let room = self.space(arrival.window.unread).saturating_sub(self.grown);
        if arrival.payload < LEAST_TO_GROW || room == Bytes::ZERO {
            return Growth::Still;
        }
        self.grown += room.min(rcv_mss * 2);
        Growth::Grew
    }

    /// tcp_rcv_space_adjust: twice what was read in a round trip, and room for it to grow on as
    /// it has grown.
    fn tune(&mut self, now: Time, arrival: &Arrival<'_>) {
        let Some(rtt) = self.rtt.estimate() else { return };
        if self.buffer_set == SoRcvbuf::Set {
            return;
        }
        if now.saturating_since(self.tuning.since) < rtt {
            return;
        }
        let read = self.received.saturating_sub(arrival.window.unread.get());
        let copied = read.saturating_sub(self.tuning.read);
        if copied > self.tuning.space {
            let space = u128::from(self.tuning.space.max(1));
            let doubled = u128::from(copied) * 2;
            let ahead = doubled * (u128::from(copied) - space) / space * 2;
            let wanted = (doubled + ahead).min(u128::from(self.buffer.get())) as u64;
            self.ceiling = self.ceiling.max(Bytes(wanted));
            self.tuning.space = copied;
        }
        self.tuning.since = now;
        self.tuning.read = read;
    }
}
