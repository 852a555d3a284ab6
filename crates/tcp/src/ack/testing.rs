//! Segments to put before a policy in unit tests.

use super::{AckDecision, AckOnRead, AckPolicy, Arrival, Carrier, Order, Reading, ReceiveWindow};
use crate::ecn::MarkSeen;
use crate::rtt::{RtoBounds, RttEstimator, Sampling, Variance, Window};
use crate::ts_clock::TimestampEcho;
use ackord_units::{Bytes, Seq, Span, Time};

pub(super) fn at_ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

pub(super) fn at_us(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// A segment and its circumstances: 1000 bytes are full-sized, the window is wide, and the round
/// trip of the handshake was 40 ms with a least timeout of 200 ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) payload: u64,
    pub(super) unacknowledged: u64,
    pub(super) order: Order,
    pub(super) push: bool,
    pub(super) window: ReceiveWindow,
    pub(super) rtt: Span,
    pub(super) echo: Option<TimestampEcho>,
    pub(super) mark: MarkSeen,
}

impl Fit {
    pub(super) fn in_order(unacknowledged: u64) -> Fit {
        Fit {
            payload: 1000,
            unacknowledged,
            order: Order::InOrder,
            push: false,
            window: ReceiveWindow {
                offered: Bytes(1_000_000),
                free: Bytes(1_000_000),
                unread: Bytes(1000),
            },
            rtt: Span::from_millis(40),
            echo: None,
            mark: MarkSeen::Nothing,
        }
    }

    pub(super) fn ask(self, policy: &mut dyn AckPolicy, now: Time) -> AckDecision {
        let mut rtt = RttEstimator::new(RtoBounds {
            initial: Span::from_secs(1),
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            granularity: Span::from_millis(1),
            variance: Variance::EverySample,
            sampling: Sampling::EveryAck,
        });
        rtt.on_sample(self.rtt, Window { snd_una: Seq(0), snd_nxt: Seq(0) });
        let Fit { payload, unacknowledged, order, push, window, .. } = self;
        let arrival = Arrival {
            payload: Bytes(payload),
            full_size: Bytes(1000),
            unacknowledged: Bytes(unacknowledged),
            order,
            push,
            window,
            rtt: &rtt,
            echo: self.echo,
            mark: self.mark,
        };
        policy.on_segment(now, &arrival)
    }
}

/// A receiver reduced to its policy: takes full-sized segments in order, acknowledges when told,
/// lets timers expire.
#[derive(Clone, Debug)]
pub(super) struct Bench<P> {
    pub(super) policy: P,
    unacknowledged: u64,
    due: Option<Time>,
    /// When each acknowledgment left.
    pub(super) acks: Vec<Time>,
}

impl<P: AckPolicy> Bench<P> {
    pub(super) fn new(policy: P) -> Bench<P> {
        Bench { policy, unacknowledged: 0, due: None, acks: Vec::new() }
    }

    /// A segment of 1000 bytes.
    pub(super) fn arrive(&mut self, now: Time) {
        self.take(now, Fit::in_order(0));
    }

    pub(super) fn take(&mut self, now: Time, fit: Fit) {
        self.timer(now);
        if matches!(fit.order, Order::InOrder | Order::FillsGap | Order::Final) {
            self.unacknowledged += fit.payload;
        }
        let fit = Fit { unacknowledged: self.unacknowledged, ..fit };
        match fit.ask(&mut self.policy, now) {
            AckDecision::Now | AckDecision::BeforeAnswers => self.ack(now, Carrier::PureAck),
            AckDecision::NoLaterThan(at) => self.due = Some(at),
        }
    }

    /// The application reads all there is.
    pub(super) fn read(&mut self, now: Time) {
        let reading = Reading { left: Bytes::ZERO, unacknowledged: Bytes(self.unacknowledged) };
        if self.due.is_some() && self.policy.on_read(&reading) != AckOnRead::KeepsWaiting {
            self.ack(now, Carrier::PureAck);
        }
    }

    /// This end sends data, and the acknowledgment with it.
    pub(super) fn send_data(&mut self, now: Time) {
        self.timer(now);
        self.unacknowledged = 0;
        self.due = None;
        self.policy.on_ack_sent(now, Carrier::Data);
    }

    /// What is due by `now` leaves.
    pub(super) fn timer(&mut self, now: Time) {
        if let Some(at) = self.due.filter(|at| *at <= now) {
            self.ack(at, Carrier::PureAck);
        }
    }

    fn ack(&mut self, now: Time, carrier: Carrier) {
        self.unacknowledged = 0;
        self.due = None;
        self.acks.push(now);
        self.policy.on_ack_sent(now, carrier);
    }
}
