//! When a stock Linux kernel acknowledges (5.10 to 6.18).
//!
//! | file | what |
//! | --- | --- |
//! | `rcv_mss.rs` | what the receiver takes for the peer's segment size |
//! | `window.rs` | the window it would offer, and the buffer's tuning |
//! | `ticks.rs` | the clock that its timeouts are counted with |
//!
//! In short: a budget of acknowledgments at once at the start, after pauses and as long as the
//! window grows; otherwise one for each two segments, at the latest when the application has read them; a lone segment waits for
//! the acknowledgment timeout (ATO), which adapts between 40 ms and the larger of 40 ms and the
//! round-trip time; a connection that answers promptly ("ping-pong") has no budget and lets the
//! answer carry the acknowledgment. What leaves at once leaves by itself: the stack sends it before
//! the application runs, or while it reads (tcp_cleanup_rbuf). docs/linux-receiver.md tells how each rule was verified.
//!
//! Not modelled: receive offload (one acknowledgment for a train of segments), the
//! deferral of acknowledgments while the application holds the socket, TCP_QUICKACK and the route's `quickack`.

mod rcv_mss;
mod ticks;
mod window;

use super::{
    AckConfig, AckDecision, AckOnRead, AckPolicy, Answering, Arrival, Carrier, Opening, Order,
    Reading,
};
use crate::ecn::MarkSeen;
use ackord_units::{Bytes, Knobs, Ratio, Span, Time};
use rcv_mss::{Measured, RcvMss};
use ticks::{TickClock, Ticks};
use window::{Growth, WindowModel};

pub use window::SoRcvbuf;

/// TCP_ATO_MIN and TCP_DELACK_MIN.
const ATO_MIN: Span = Span::from_millis(40);
/// TCP_DELACK_MAX, and TCP_RTO_MIN.
const DELACK_MAX: Span = Span::from_millis(200);
/// Duplicate acknowledgments that leave at once before compression begins
/// (TCP_FASTRETRANS_THRESH).
const UNCOMPRESSED_DUPACKS: u64 = 3;

/// A stock Linux kernel: quick at the start, adaptive timeout, ping-pong mode
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "ack",
    name = "linux",
    source = "Linux 5.10 to 6.18, measured on 6.18 (docs/linux-receiver.md)"
)]
pub struct LinuxAckConfig {
    /// Length of the kernel's tick, 1/HZ; timers expire on ticks
    #[knob(
        min = Span::from_millis(1), max = Span::from_millis(10), default = "4 ms",
        source = "CONFIG_HZ=250; others have 100, 300 or 1000"
    )]
    pub tick: Span,
    /// Largest budget of acknowledgments at once, at the start and after pauses
    #[knob(
        min = 0,
        max = 1_000_000,
        unit = "segments",
        default = "16",
        source = "TCP_MAX_QUICKACKS"
    )]
    pub quick_ack_limit: u64,
    /// Prompt answers after which a connection counts as interactive
    #[knob(
        min = 1,
        max = 255,
        unit = "answers",
        default = "1",
        source = "net.ipv4.tcp_pingpong_thresh (3 in kernels before 6.1)"
    )]
    pub pingpong_threshold: u64,
    /// How long duplicate acknowledgments beyond the third are held together
    #[knob(
        min = Span::ZERO, max = Span::from_millis(100), default = "1 ms",
        source = "net.ipv4.tcp_comp_sack_delay_ns"
    )]
    pub sack_compression_delay: Span,
    /// The same as a share of the round-trip time; the shorter counts
    #[knob(default = "5 %", source = "Linux since 4.18")]
    pub sack_compression_share: Ratio,
    /// Duplicate acknowledgments held together at most; 0 turns it off
    #[knob(
        min = 0,
        max = 255,
        unit = "acknowledgments",
        default = "44",
        source = "net.ipv4.tcp_comp_sack_nr"
    )]
    pub sack_compression_limit: u64,
    /// Whether the application has set the size of the receive buffer: then the window begins with all
    /// of it and grows by a quarter, acknowledging each segment at once
    #[knob(
        default = "unset",
        source = "SO_RCVBUF, tcp_grow_window; measured, see docs/linux-receiver.md"
    )]
    pub so_rcvbuf: SoRcvbuf,
}

impl AckConfig for LinuxAckConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(LinuxAck::new(*self))
    }
}

/// The receiver of a stock Linux kernel.
#[derive(Clone, Copy, Debug)]
pub struct LinuxAck {
    knobs: LinuxAckConfig,
    clock: TickClock,
    sack: bool,
    rcv_mss: RcvMss,
    window: WindowModel,
    /// The acknowledgment timeout, once a segment has come.
    ato: Option<Ticks>,
    /// When data last arrived in order (lrcvtime).
    last_data: Ticks,
    /// Acknowledgments still to be sent at once.
    quick: u64,
    /// Prompt answers in a row.
    pingpong: u64,
    pending: Option<Pending>,
    duplicates: Duplicates,
}

/// An acknowledgment that is owed.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Writes of the peer that seem to have ended since the last acknowledgment.
    pushed: u8,
    /// When its timer expires, and the tick it is set for.
    timer: Option<(Ticks, Time)>,
    /// The retransmission timeout when it was set.
    rto: Ticks,
}

/// Acknowledgments of the same byte in a row, for the compression.
#[derive(Clone, Copy, Debug, Default)]
struct Duplicates {
    sent: u64,
    held: u64,
    until: Option<Time>,
}

impl LinuxAck {
    /// The policy at the start of a connection.
    pub fn new(knobs: LinuxAckConfig) -> LinuxAck {
        LinuxAck {
            knobs,
            clock: TickClock(knobs.tick),
            sack: false,
            rcv_mss: RcvMss::new(),
            window: WindowModel::new(knobs.so_rcvbuf),
            ato: None,
            last_data: 0,
            quick: 0,
            pingpong: 0,
            pending: None,
            duplicates: Duplicates::default(),
        }
    }

    fn ato_min(&self) -> Ticks {
        self.clock.of(ATO_MIN)
    }

    fn is_pingpong(&self) -> bool {
        self.pingpong >= self.knobs.pingpong_threshold
    }

    /// Gives a budget of acknowledgments at once: half the window in segments, at least two
    /// (tcp_incr_quickack).
    fn raise_quick(&mut self, most: u64) {
        let segments = self.window.offered().get() / (2 * self.rcv_mss.get().get());
        let budget = if segments == 0 { 2 } else { segments };
        self.quick = self.quick.max(budget.min(most));
    }

    /// tcp_enter_quickack_mode: the peer may have lost our acknowledgments.
    fn enter_quick(&mut self, most: u64) {
        self.raise_quick(most);
        self.pingpong = 0;
        self.ato = Some(self.ato_min());
    }

    /// Data has come in order: segment size, timeout and budget follow (tcp_event_data_recv).
    fn on_data(&mut self, now: Time, arrival: &Arrival<'_>) {
        let measured = self.rcv_mss.measure(arrival);
        let pending = self.pending.get_or_insert_default();
        pending.pushed = match (measured, arrival.push) {
            (Measured::Small, _) => (pending.pushed + 1).min(2),
            // It may be the end of a write as well.
            (Measured::Full, true) => pending.pushed.max(1),
            _ => pending.pushed,
        };
        self.duplicates = Duplicates::default();
        let growth = self.window.on_data(now, arrival, self.rcv_mss.get());
        let now = self.clock.now(now);
        let gap = now - std::mem::replace(&mut self.last_data, now);
        let (least, rto) = (self.ato_min(), self.clock.of(arrival.rtt.rto()));
        match self.ato {
            None => {
                self.raise_quick(self.knobs.quick_ack_limit);
                self.ato = Some(least);
            }
            Some(ato) if gap <= least / 2 => self.ato = Some(ato / 2 + least / 2),
            Some(ato) if gap < ato => self.ato = Some((ato / 2 + gap).min(rto)),
            // Too long a pause: the sender may have started anew from a small window.
            Some(_) if gap > rto => self.raise_quick(self.knobs.quick_ack_limit),
            Some(_) => {}
        }
        self.on_mark(arrival.mark);
        if growth == Growth::Grew {
            // The sender is to hear of the larger window (tcp_grow_window).
            self.quick |= 1;
        }
    }

    /// The rule of __tcp_ack_snd_check.
    fn acknowledges_now(&self, arrival: &Arrival<'_>) -> bool {
        let two_segments = arrival.unacknowledged > self.rcv_mss.get();
        (two_segments && self.window.moves())
            || (self.quick > 0 && !self.is_pingpong())
            // The sender may be down to a segment (tcp_ecn_accept_cwr).
            || arrival.mark == MarkSeen::EchoEnds
    }

    /// tcp_ecn_check_ce: a mark that is to be echoed, or what looks like a retransmission, gets an
    /// acknowledgment at once. (The kernel's call says two; one is what 6.18 sends.)
    fn on_mark(&mut self, mark: MarkSeen) {
        if matches!(mark, MarkSeen::EchoBegins | MarkSeen::NotCapable) {
            self.enter_quick(1);
        }
    }

    /// tcp_send_delayed_ack.
    fn delay(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        let clock = self.clock;
        let least = self.ato_min();
        let pending = self.pending.unwrap_or_default();
        // Before any data has come there is no timeout: a lone FIN waits for the next tick only.
        let mut ato = self.ato.unwrap_or(0);
        if ato > least {
            let pushed = self.is_pingpong() || pending.pushed > 0;
            let ceiling = if pushed { DELACK_MAX } else { Span::from_millis(500) };
            let rtt = arrival.rtt.srtt().map_or(Ticks::MAX, |rtt| clock.of(rtt).max(least));
            ato = ato.min(clock.of(ceiling)).min(rtt);
        }
        // tcp_delack_max: a tick less than the least timeout, which the peer may have as well.
        ato = ato.min(clock.of(DELACK_MAX) - 1);
        let now = clock.now(now);
        let tick = match pending.timer {
            // It is about to expire anyway.
            Some((tick, _)) if tick <= now + ato / 4 => return AckDecision::BeforeAnswers,
            Some((tick, _)) => tick.min(now + ato),
            None => now + ato,
        };
        let strikes_at = clock.strikes_at(tick);
        let rto = clock.of(arrival.rtt.rto());
        self.pending = Some(Pending { timer: Some((tick, strikes_at)), rto, ..pending });
        AckDecision::NoLaterThan(strikes_at)
    }

    /// Beyond the third, acknowledgments of one byte are held together for a moment where they
    /// carry SACK blocks.
    fn compress(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        if !self.sack || self.duplicates.held >= self.knobs.sack_compression_limit {
            return AckDecision::BeforeAnswers;
        }
        if self.duplicates.sent < UNCOMPRESSED_DUPACKS {
            self.duplicates.sent += 1;
            return AckDecision::BeforeAnswers;
        }
        self.duplicates.held += 1;
        // Not held at all while the receiver has measured no round trip of its own.
        let rtt = self.window.rtt().unwrap_or(Span::ZERO);
        let rtt = arrival.rtt.srtt().map_or(rtt, |srtt| srtt.min(rtt)).as_secs_f64();
        let share = Span::from_secs_f64(rtt * self.knobs.sack_compression_share.get());
        let delay = share.min(self.knobs.sack_compression_delay);
        let until = *self.duplicates.until.get_or_insert(now + delay);
        let timer = self.pending.and_then(|pending| pending.timer);
        AckDecision::NoLaterThan(timer.map_or(until, |(_, at)| at.min(until)))
    }
}

impl AckPolicy for LinuxAck {
    fn on_open(&mut self, now: Time, opening: &Opening) {
        self.window.open(now);
        self.sack = opening.sack;
    }

    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        match arrival.order {
            Order::Duplicate => {
                self.pending.get_or_insert_default();
                self.enter_quick(self.knobs.quick_ack_limit);
                return AckDecision::BeforeAnswers;
            }
            Order::OutOfOrder => {
                self.pending.get_or_insert_default();
                self.on_mark(arrival.mark);
                return if self.acknowledges_now(arrival) {
                    AckDecision::BeforeAnswers
                } else {
                    self.compress(now, arrival)
                };
            }
            Order::FillsGap => {
                self.on_data(now, arrival);
                return AckDecision::BeforeAnswers;
            }
            Order::Final => {
                if arrival.payload > Bytes::ZERO {
                    self.on_data(now, arrival);
                }
                self.pending.get_or_insert_default();
                // tcp_fin: the application is expected to close soon, and its FIN acknowledges.
                self.pingpong = self.pingpong.max(self.knobs.pingpong_threshold);
            }
            Order::InOrder | Order::Overlapping => self.on_data(now, arrival),
        }
        if self.acknowledges_now(arrival) {
            AckDecision::BeforeAnswers
        } else {
            self.delay(now, arrival)
        }
    }

    /// tcp_cleanup_rbuf.
    fn on_read(&mut self, reading: &Reading) -> AckOnRead {
        self.window.on_read(reading.left);
        let pushed = self.pending.map_or(0, |pending| pending.pushed);
        let drained = reading.left == Bytes::ZERO;
        let one_way = pushed >= 1 && !self.is_pingpong();
        let ended = drained && (pushed >= 2 || one_way);
        if reading.unacknowledged > self.rcv_mss.get() || ended {
            AckOnRead::BeforeAnswers
        } else {
            AckOnRead::KeepsWaiting
        }
    }

    fn on_ack_sent(&mut self, now: Time, carrier: Carrier) {
        let pending = self.pending.take();
        self.window.on_ack_sent();
        let timer = pending.and_then(|pending| pending.timer).filter(|(_, at)| *at <= now);
        if carrier == Carrier::PureAck && timer.is_some() {
            // tcp_delack_timer_handler: nothing came in time.
            if self.is_pingpong() {
                self.pingpong = 0;
                self.ato = Some(self.ato_min());
            } else {
                let rto = pending.map_or(Ticks::MAX, |pending| pending.rto);
                self.ato = self.ato.map(|ato| (ato * 2).min(rto));
            }
        }
        if pending.is_some() && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = Some(self.ato_min());
            }
        }
        self.duplicates.held = 0;
        self.duplicates.until = None;
        if carrier == Carrier::Data {
            // tcp_event_data_sent: an answer within the timeout.
            let waited = self.clock.now(now).saturating_sub(self.last_data);
            if self.ato.is_some_and(|ato| waited < ato) {
                self.pingpong = (self.pingpong + 1).min(255);
            }
        }
    }

    /// __tcp_ack_snd_check and tcp_cleanup_rbuf send at once.
    fn answering(&self) -> Answering {
        Answering::FollowsAck
    }

    fn ato(&self) -> Option<Span> {
        Some(self.clock.span(self.ato.unwrap_or(self.ato_min())))
    }
}

#[cfg(test)]
mod tests;
