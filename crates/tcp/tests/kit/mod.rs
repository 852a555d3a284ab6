//! Two connections joined by a path of fixed delay in virtual time, with a hook that may drop,
//! and the bytes' positions checked on the way: every byte delivered must have been sent.
#![allow(unreachable_pub, reason = "a module of a program, not of a library")]

pub mod hand;
pub mod kernel;
pub mod lone;
pub mod outage;
pub mod script;
pub mod stack;

use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, Connection, Mechanisms, Outbound};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, Segment, Side};
use std::collections::BTreeMap;

/// Asked of every packet as it is sent.
type Marker = dyn FnMut(Side, &Segment) -> bool;

pub struct Pair {
    pub now: Time,
    pub client: Connection,
    pub server: Connection,
    pub delay: Span,
    /// What a segment takes longer, by its number: then others may overtake it.
    pub late_by: BTreeMap<u64, Span>,
    wire: BTreeMap<(Time, u64), (Side, Outbound)>,
    /// Which of the ECN-capable packets the path marks.
    marks: Box<Marker>,
    sent: u64,
    /// Every segment put on the path, dropped or not.
    pub log: Vec<Logged>,
    /// Whether each side's application reads what arrives.
    pub reads: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Logged {
    pub at: Time,
    pub from: Side,
    pub segment: Segment,
    pub ecn: Ecn,
}

pub fn mechanisms(congestion: &str, recovery: &str, ack: &str, nagle: &str) -> Mechanisms {
    let mut stack = Stack::default();
    let named =
        [("congestion", congestion), ("recovery", recovery), ("ack", ack), ("nagle", nagle)];
    for (key, name) in named {
        stack.set(key, name).expect(name);
    }
    stack.mechanisms()
}

pub fn endpoint(side: Side) -> EndpointId {
    EndpointId { flow: FlowId(0), side }
}

impl Pair {
    pub fn new(config: Config, choices: [Mechanisms; 2]) -> Pair {
        Pair::of([config.clone(), config], choices)
    }

    pub fn of([config, servers]: [Config; 2], choices: [Mechanisms; 2]) -> Pair {
        let [client, server] = choices;
        let (iss, irs) = (Seq(u32::MAX - 5_000), Seq(77));
        Pair {
            now: Time::ZERO,
            client: Connection::connect(config, client, endpoint(Side::Client), iss, Time::ZERO),
            server: Connection::listen(servers, server, endpoint(Side::Server), irs),
            delay: Span::from_millis(20),
            late_by: BTreeMap::new(),
            wire: BTreeMap::new(),
            marks: Box::new(|_, _| false),
            sent: 0,
            log: Vec::new(),
            reads: true,
        }
    }

    /// The path marks the ECN-capable packets of which `marks` says so.
    pub fn mark_if(&mut self, marks: impl FnMut(Side, &Segment) -> bool + 'static) {
        self.marks = Box::new(marks);
    }

    pub fn end(&mut self, side: Side) -> &mut Connection {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Lets both ends send what they have; `drop` decides by the segment's number.
    pub fn flush(&mut self, drop: &mut impl FnMut(u64, Side, &Segment) -> bool) {
        for side in [Side::Client, Side::Server] {
            let now = self.now;
            while let Some(mut outbound) = self.end(side).poll_segment(now, &mut NoSink) {
                let Outbound { segment, ecn } = outbound;
                let dropped = drop(self.sent, side, &segment);
                self.log.push(Logged { at: now, from: side, segment, ecn });
                if (self.marks)(side, &segment) && ecn != Ecn::NotEct {
                    outbound.ecn = Ecn::Ce;
                }
                if !dropped {
                    let late = self.late_by.get(&self.sent).copied().unwrap_or(Span::ZERO);
                    self.wire.insert((now + self.delay + late, self.sent), (side, outbound));
                }
                self.sent += 1;
            }
        }
    }

    /// Runs until nothing is left to do or `until` has passed.
    pub fn run(&mut self, until: Time, mut drop: impl FnMut(u64, Side, &Segment) -> bool) {
        loop {
            self.flush(&mut drop);
            let arrival = self.wire.keys().next().map(|key| key.0);
            let timer =
                [self.client.deadline(), self.server.deadline()].into_iter().flatten().min();
            let Some(next) = [arrival, timer].into_iter().flatten().min() else { return };
            if next > until {
                self.now = until;
                return;
            }
            assert!(next >= self.now || timer == Some(next), "time goes forward");
            self.now = self.now.max(next);
            self.step();
        }
    }

    /// One arrival, or the timers: an endpoint is polled after each.
    fn step(&mut self) {
        let now = self.now;
        let due = self.wire.first_key_value().is_some_and(|(key, _)| key.0 <= now);
        if due {
            let (_, (from, Outbound { segment, ecn })) = self.wire.pop_first().expect("just seen");
            let reads = self.reads;
            let end = self.end(from.other());
            if end.state() == TcpState::Closed {
                // What a host answers for which it has no connection any more.
                if !segment.flags.contains(Flags::RST) {
                    let segment = ackord_tcp::reset_for(&segment);
                    let reset = Outbound { segment, ecn: Ecn::NotEct };
                    self.wire.insert((now + self.delay, self.sent), (from.other(), reset));
                    self.sent += 1;
                }
                return;
            }
            end.handle_segment(now, &segment, ecn, &mut NoSink);
            if reads {
                let readable = end.readable();
                end.read(readable);
            }
            return;
        }
        for side in [Side::Client, Side::Server] {
            self.end(side).handle_deadline(now, &mut NoSink);
        }
    }

    pub fn lossless(&mut self, span: Span) {
        let until = self.now + span;
        self.run(until, |_, _, _| false);
    }

    pub fn states(&self) -> (TcpState, TcpState) {
        (self.client.state(), self.server.state())
    }

    pub fn established(config: Config, choices: [Mechanisms; 2]) -> Pair {
        let mut pair = Pair::new(config, choices);
        pair.lossless(Span::from_millis(100));
        assert_eq!(pair.states(), (TcpState::Established, TcpState::Established));
        pair
    }
}

pub fn simple() -> Config {
    let mut config = Config { mss: Bytes(1000), ..Config::default() };
    config.offers.timestamps = false;
    config
}
