//! The straight ways against the ones with all the questions: the same state after every step.

use super::*;
use crate::ack::{AckPolicy, Delayed, Immediate};
use crate::congestion::Congestion;
use crate::loss::{Fixed, LimitedTransmit};
use crate::nagle;
use crate::receiver::Owed;
use crate::recovery::{NewReno, PartialAckTimer, Recovery, SackRecovery};
use crate::sender::Next;
use ackord_units::{Choice, Span};
use ackord_wire::{Ecn, FlowId, Side};
use proptest::prelude::*;
use std::collections::VecDeque;

impl Connection {
    /// [`Connection::handle_segment`] with all the questions.
    fn handle_generally(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        let (sink, id) = (&mut NoSink, self.id);
        let trace = &mut Trace::new(now, id, sink);
        self.stats.segments_received += 1;
        self.take_in(trace, segment, ecn);
        if self.receiver.owed == Owed::BeforeAnswers && self.sender.has_something_to_send() {
            self.receiver.owed = Owed::Now;
        }
    }
}

/// How often each straight way was gone.
#[derive(Clone, Copy, Debug, Default)]
struct Gone {
    acks: u32,
    nothing: u32,
    data: u32,
    sent: u32,
    held_back: u32,
    last: u32,
}

/// Two ends, and what is under way to each.
struct Pair {
    now: Time,
    ends: [Connection; 2],
    under_way: [VecDeque<Segment>; 2],
    gone: Gone,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Deliver(usize),
    Drop(usize),
    /// The first packet is overtaken by the one behind it.
    Swap(usize),
    Read(usize, u64),
    Write(usize, u64),
    Wait(u64),
    Timer,
}

impl Pair {
    fn new(config: &Config, cubic: bool, sack: bool, delayed: bool) -> Pair {
        let end = |side| {
            let recovery: Box<dyn Recovery> = match sack {
                true => Box::new(SackRecovery::new(true)),
                false => Box::new(NewReno::new(PartialAckTimer::First)),
            };
            let ack: Box<dyn AckPolicy> = match delayed {
                true => Box::new(Delayed::new(2, Span::from_millis(40))),
                false => Box::new(Immediate),
            };
            let congestion = Congestion::named(if cubic { "cubic" } else { "reno" });
            let congestion = congestion.expect("it is listed");
            let choices = Mechanisms {
                congestion: congestion.config().build(),
                loss: Box::new(Fixed::new(3, LimitedTransmit::On)),
                recovery,
                ack,
                nagle: Box::new(nagle::On),
            };
            let id = EndpointId { flow: FlowId(0), side };
            Connection::listen(config.clone(), choices, id, Seq(u32::MAX - 20_000))
        };
        let mut ends = [end(Side::Client), end(Side::Server)];
        ends[0].open(Time::ZERO, &mut NoSink);
        let mut pair =
            Pair { now: Time::ZERO, ends, under_way: Default::default(), gone: Gone::default() };
        pair.send(0);
        for end in [1, 0, 1] {
            pair.step(Step::Deliver(end));
        }
        pair
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Deliver(end) => {
                if let Some(segment) = self.under_way[end].pop_front() {
                    self.deliver(end, &segment);
                }
            }
            Step::Drop(end) => drop(self.under_way[end].pop_front()),
            Step::Swap(end) if self.under_way[end].len() > 1 => self.under_way[end].swap(0, 1),
            Step::Swap(_) => {}
            Step::Read(end, bytes) => {
                self.ends[end].read(Bytes(bytes));
                self.send(end);
            }
            Step::Write(end, bytes) => {
                self.ends[end].write(Bytes(bytes));
                self.send(end);
            }
            Step::Wait(micros) => self.now += Span::from_micros(micros),
            Step::Timer => {
                let due = self.ends.iter().filter_map(Connection::deadline).min();
                self.now = due.map_or(self.now, |due| due.max(self.now));
                for end in [0, 1] {
                    self.ends[end].handle_deadline(self.now, &mut NoSink);
                    self.send(end);
                }
            }
        }
    }

    fn deliver(&mut self, end: usize, segment: &Segment) {
        let connection = &mut self.ends[end];
        if connection.state == TcpState::Established && segment.payload_len > 0 {
            let (data, rtt) = (connection.data_of(segment), connection.sender.timer().rtt());
            let acceptable = connection.receiver.acceptable(segment.seq, segment.seq_len());
            if acceptable && connection.receiver.is_next(&data) {
                let (mut straight, mut general) =
                    (connection.receiver.clone(), connection.receiver.clone());
                let accepted = straight.accept(self.now, data, rtt);
                let as_asked = general.accept_any(self.now, data, rtt);
                assert_eq!(
                    format!("{accepted:?} {straight:?}"),
                    format!("{as_asked:?} {general:?}")
                );
                self.gone.data += 1;
            }
        }
        if connection.is_as_expected(segment) && segment.options.sack.is_empty() {
            let window = connection.scaled_window(segment);
            self.gone.acks += u32::from(connection.sender.expects_ack(segment.ack, window));
            self.gone.nothing += u32::from(connection.sender.expects_no_ack(segment.ack, window));
        }
        let mut general = connection.clone();
        connection.handle_segment(self.now, segment, Ecn::NotEct, &mut NoSink);
        general.handle_generally(self.now, segment, Ecn::NotEct);
        assert_eq!(format!("{connection:?}"), format!("{general:?}"), "{segment:?}");
        self.send(end);
    }

    fn send(&mut self, end: usize) {
        let connection = &mut self.ends[end];
        loop {
            if let Some(whole) = connection.receiver.whole_buffer() {
                let scale = connection.receiver.scale;
                assert_eq!(whole >> scale, connection.receiver.clone().field(scale));
            }
            match connection.sender.next_at_a_glance() {
                Next::FullSized => self.gone.sent += 1,
                Next::HeldBack => self.gone.held_back += 1,
                Next::Nothing | Next::Other => {}
            }
            let mut general = connection.clone();
            let mut sent = None;
            let polled = connection.poll_segment_into(self.now, &mut sent, &mut NoSink);
            let (sink, id) = (&mut NoSink, general.id);
            let trace = &mut Trace::new(self.now, id, sink);
            let left = general.segment_that_leaves(trace);
            assert_eq!(polled.map(|polled| polled.ecn), left.map(|left| left.ecn));
            assert_eq!(sent, left.map(|left| left.segment));
            assert_eq!(format!("{connection:?}"), format!("{general:?}"), "after {sent:?}");
            if polled.is_some_and(|polled| polled.is_last) {
                assert_eq!(general.segment_that_leaves(trace), None, "after the last one");
                assert_eq!(format!("{connection:?}"), format!("{general:?}"), "nothing has left");
                self.gone.last += 1;
            }
            let Some(segment) = sent else { return };
            self.under_way[1 - end].push_back(segment);
        }
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => (0..2_usize).prop_map(Step::Deliver),
        2 => (0..2_usize).prop_map(Step::Drop),
        2 => (0..2_usize).prop_map(Step::Swap),
        6 => (0..2_usize, 0..9_000_u64).prop_map(|(end, bytes)| Step::Read(end, bytes)),
        8 => (0..2_usize, 1..20_000_u64).prop_map(|(end, bytes)| Step::Write(end, bytes)),
        10 => (1..20_000_u64).prop_map(Step::Wait),
        1 => Just(Step::Timer),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_straight_ways_lead_where_all_the_questions_lead(
        (cubic, sack, timestamps, delayed) in any::<(bool, bool, bool, bool)>(),
        (buffer, reads_at_once) in (6_000..400_000_u64, any::<bool>()),
        steps in prop::collection::vec(any_step(), 50..400),
    ) {
        let mut config = Config::default();
        (config.offers.sack, config.offers.timestamps) = (sack, timestamps);
        config.buffers.receive = Bytes(buffer);
        let mut pair = Pair::new(&config, cubic, sack, delayed);
        for step in steps {
            pair.step(step);
            for end in [0, 1] {
                let readable = pair.ends[end].readable();
                if reads_at_once && readable > Bytes::ZERO {
                    pair.step(Step::Read(end, readable.get()));
                }
            }
        }
    }
}

/// A bulk transfer is what the straight ways are for: nearly all of it goes them.
#[test]
fn a_bulk_transfer_goes_straight() {
    let mut pair = Pair::new(&Config::default(), false, true, false);
    for _ in 0..200 {
        pair.step(Step::Write(0, 100_000));
        pair.step(Step::Wait(1_000));
        for end in [1, 0] {
            while !pair.under_way[end].is_empty() {
                pair.step(Step::Deliver(end));
                let readable = pair.ends[end].readable().get();
                pair.step(Step::Read(end, readable));
            }
        }
    }
    let Gone { acks, nothing, data, sent, held_back, last } = pair.gone;
    let segments = pair.ends[0].stats().data_segments_sent as u32;
    assert!(segments > 5_000, "{segments} segments");
    for (what, count) in
        [("acks", acks), ("nothing", nothing), ("data", data), ("sent", sent), ("last", last)]
    {
        assert!(count > segments / 10 * 8, "{what}: {count} of {segments}");
    }
    assert!(held_back > 0);
}
