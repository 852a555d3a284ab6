//! What a segment costs a sender and its receiver at a window of 100 and of 10,000 segments: without loss,
//! with one in a hundred lost, and with one in ten overtaken by the next fifty.
//!
//! Two connections over a bottleneck that lets one segment pass per step; the time is that of a step,
//! with all acknowledgments that it causes. A scoreboard that looked at its whole window would
//! make the large window a hundred times as dear. `cargo bench -p ackord-tcp --bench scoreboard`.

use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::Connection;
use ackord_tcp::registry::Stack;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, FlowId, Segment, Side};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::collections::VecDeque;

/// From one segment at the bottleneck to the next.
const STEP: Span = Span::from_micros(10);
/// How many segments overtake one that is late.
const OVERTAKERS: usize = 50;

#[derive(Clone, Copy)]
enum Trouble {
    None,
    Loss,
    Reordering,
}

struct Path {
    now: Time,
    sender: Connection,
    receiver: Connection,
    /// Segments before the bottleneck.
    queue: VecDeque<Segment>,
    /// Segments behind it, each a step later than the one before; a gap where one was late or lost.
    flight: VecDeque<Option<Segment>>,
    /// A late segment, and how many have still to overtake it.
    late: Option<(Segment, usize)>,
    passed: u64,
    trouble: Trouble,
}

impl Path {
    /// Established, with `window` segments under way.
    fn of(window: usize, trouble: Trouble) -> Path {
        let mut stack = Stack::default();
        let buffer = format!("{} B", 1_460 * window);
        let settings = [
            ("congestion", "bbr"),
            ("loss", "rack"),
            ("recovery", "sack"),
            ("ack", "immediate"),
            ("nagle", "off"),
            ("send_buffer", buffer.as_str()),
            ("receive_buffer", buffer.as_str()),
        ];
        for (key, value) in settings {
            stack.set(key, value).unwrap_or_else(|error| panic!("{key}: {error:?}"));
        }
        let id = |side| EndpointId { flow: FlowId(0), side };
        let (client, server) = (id(Side::Client), id(Side::Server));
        let choices = || stack.mechanisms();
        let mut path = Path {
            now: Time::ZERO,
            sender: Connection::connect(stack.config(), choices(), client, Seq(1), Time::ZERO),
            receiver: Connection::listen(stack.config(), choices(), server, Seq(7)),
            queue: VecDeque::new(),
            flight: vec![None; window].into(),
            late: None,
            passed: 0,
            trouble: Trouble::None,
        };
        // Until the window is as large as the path: then the queue has always something to pass.
        for _ in 0..400 * window {
            path.step();
        }
        path.trouble = trouble;
        let before = path.receiver.bytes_received();
        for _ in 0..20 * window {
            path.step();
        }
        assert_eq!(path.sender.state(), TcpState::Established);
        assert!(path.receiver.bytes_received() > before, "window {window}: nothing arrives");
        path
    }

    /// One segment passes the bottleneck, and another arrives.
    fn step(&mut self) {
        self.now += STEP;
        let passing = self.queue.pop_front();
        let passing = passing.and_then(|segment| self.disturbed(segment));
        self.flight.push_back(passing);
        self.arrives();
        for end in [&mut self.sender, &mut self.receiver] {
            if end.deadline().is_some_and(|at| at <= self.now) {
                end.handle_deadline(self.now, &mut NoSink);
            }
        }
        self.sender.write(Bytes(u64::MAX));
        while let Some(out) = self.sender.poll_segment(self.now, &mut NoSink) {
            self.queue.push_back(out.segment);
        }
    }

    /// The segment as it leaves the bottleneck: itself, nothing, or a late one in its place.
    fn disturbed(&mut self, segment: Segment) -> Option<Segment> {
        self.passed += u64::from(segment.payload_len > 0);
        match (self.trouble, &mut self.late) {
            (Trouble::Loss, _) if self.passed.is_multiple_of(100) => None,
            (Trouble::Reordering, None) if self.passed.is_multiple_of(10) => {
                self.late = Some((segment, OVERTAKERS));
                None
            }
            (Trouble::Reordering, Some((_, overtakers))) if *overtakers > 0 => {
                *overtakers -= 1;
                Some(segment)
            }
            (Trouble::Reordering, Some(_)) => {
                let (late, _) = self.late.take().expect("just seen");
                self.queue.push_front(segment);
                Some(late)
            }
            _ => Some(segment),
        }
    }

    /// The oldest segment arrives, is read, and its acknowledgments are back at once.
    fn arrives(&mut self) {
        let Some(segment) = self.flight.pop_front().flatten() else { return };
        self.receiver.handle_segment(self.now, &segment, Ecn::NotEct, &mut NoSink);
        self.receiver.read(self.receiver.readable());
        while let Some(back) = self.receiver.poll_segment(self.now, &mut NoSink) {
            self.sender.handle_segment(self.now, &back.segment, Ecn::NotEct, &mut NoSink);
        }
    }
}

fn scoreboard(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scoreboard");
    group.throughput(Throughput::Elements(1));
    let troubles =
        [("clean", Trouble::None), ("1 % lost", Trouble::Loss), ("reordered", Trouble::Reordering)];
    for (name, trouble) in troubles {
        for window in [100, 10_000] {
            let mut path = Path::of(window, trouble);
            let id = BenchmarkId::new(name, window);
            group.bench_function(id, |bencher| bencher.iter(|| path.step()));
        }
    }
    group.finish();
}

criterion_group!(benches, scoreboard);
criterion_main!(benches);
