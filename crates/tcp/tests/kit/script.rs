//! One receiver against an injected sender: the test plays the sender, a segment at a time, and the
//! application that reads.

use super::endpoint;
use ackord_events::{Event, Sink};
use ackord_tcp::ack::Ack;
use ackord_tcp::nagle::Off;
use ackord_tcp::{Config, Connection, Mechanisms};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, Segment, Side, Timestamps};

const ISS: Seq = Seq(1_000);
const IRS: Seq = Seq(77);

/// What the receiving application does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    Leaves,
    Reads,
    /// Reads, and answers each so many bytes with ten.
    Answers(u64),
}

/// Whether the segments carry timestamps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    Sent,
    Absent,
}

/// Takes the acknowledgment timeouts from the events.
#[derive(Default)]
pub struct Atos(pub Vec<Span>);

impl Sink for Atos {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        if let Event::AckTimeoutChanged { ato, .. } = event {
            self.0.push(ato);
        }
    }
}

/// The sending peer, played by the test: times are counted from the end of the handshake.
pub struct Script {
    pub host: Connection,
    habit: Habit,
    rtt: Span,
    pub start: Time,
    stamps: Stamps,
    /// When each of the kernel's timestamps was seen, for the echo a round trip later.
    clocks: Vec<(Time, u32)>,
    answered: u64,
    /// When each segment came, and the byte after its last.
    pub sent: Vec<(Time, u32)>,
    /// When each acknowledgment left, and the next byte it asks for.
    pub acks: Vec<(Time, u32)>,
    /// The acknowledgment timeouts told of.
    pub atos: Atos,
}

impl Script {
    pub fn new(ack: &Ack, habit: Habit, rtt: Span, stamps: Stamps) -> Script {
        let mechanisms =
            Mechanisms { ack: ack.config().build(), nagle: Box::new(Off), ..Mechanisms::default() };
        let mut config = Config { mss: Bytes(1460), ..Config::default() };
        config.rto.min = Span::from_millis(200);
        config.offers.timestamps = match stamps {
            Stamps::Sent => true,
            Stamps::Absent => false,
        };
        let host = Connection::listen(config, mechanisms, endpoint(Side::Server), IRS);
        let opened = Time::ZERO + Span::from_millis(1);
        let mut script = Script {
            host,
            habit,
            rtt,
            start: opened + rtt,
            stamps,
            clocks: Vec::new(),
            answered: 0,
            sent: Vec::new(),
            acks: Vec::new(),
            atos: Atos::default(),
        };
        let mut syn = script.segment(opened, ISS, Flags::SYN, 0);
        syn.options.mss = Some(1460);
        syn.options.sack_permitted = true;
        syn.options.window_scale = Some(7);
        script.arrive(opened, syn);
        let start = script.start;
        let ack = script.segment(start, ISS + 1, Flags::ACK, 0);
        script.arrive(start, ack);
        script.acks.clear();
        script
    }

    pub fn segment(&self, now: Time, seq: Seq, flags: Flags, payload_len: u32) -> Segment {
        let seen = |came: Time| came + self.rtt <= now;
        let echo = self.clocks.iter().rfind(|(came, _)| seen(*came));
        let echo = echo.or(self.clocks.first()).map_or(0, |(_, value)| *value);
        let value = (now.as_nanos() / 1_000_000) as u32 + 5;
        let timestamps = (self.stamps == Stamps::Sent).then_some(Timestamps { value, echo });
        let options = Options { timestamps, ..Options::default() };
        let ack = IRS + 1 + (self.answered * 10) as u32;
        let flags = if flags.contains(Flags::SYN) { flags } else { flags | Flags::ACK };
        Segment { seq, ack, flags, window: 60_000, payload_len, options }
    }

    pub fn arrive(&mut self, now: Time, segment: Segment) {
        self.host.handle_segment(now, &segment, Ecn::NotEct, &mut self.atos);
        if self.habit != Habit::Leaves {
            self.host.read(self.host.readable());
        }
        if let Habit::Answers(each) = self.habit
            && self.host.bytes_received() >= (self.answered + 1) * each
        {
            self.host.write(Bytes(10));
            // The peer has it at once, as over the TUN device.
            self.answered += 1;
        }
        self.poll(now);
    }

    pub fn poll(&mut self, now: Time) {
        while let Some(outbound) = self.host.poll_segment(now, &mut self.atos) {
            let segment = outbound.segment;
            if let Some(stamps) = segment.options.timestamps {
                self.clocks.push((now, stamps.value));
            }
            self.acks.push((now, segment.ack.since(ISS + 1)));
        }
    }

    /// Lets timers expire up to then.
    pub fn until(&mut self, time: Time) {
        while let Some(at) = self.host.deadline().filter(|at| *at <= time) {
            self.host.handle_deadline(at, &mut self.atos);
            self.poll(at);
        }
    }

    pub fn send(&mut self, at_us: u64, offset: u32, payload: u32, flags: Flags) {
        let now = self.start + Span::from_micros(at_us);
        self.until(now);
        let segment = self.segment(now, ISS + 1 + offset, flags, payload);
        self.sent.push((now, offset + payload));
        self.arrive(now, segment);
    }

    /// `count` segments in a row, `gap_ms` apart, the first at 5 ms.
    pub fn writes(&mut self, count: u32, payload: u32, gap_ms: u64, flags: Flags) {
        for number in 0..count {
            let at_us = 5_000 + u64::from(number) * gap_ms * 1_000;
            self.send(at_us, number * payload, payload, flags);
        }
    }

    /// So many rounds of two small writes, the second a millisecond after the acknowledgment of the
    /// first as Nagle's algorithm has it, and 20 ms from one round to the next.
    pub fn write_write_read(&mut self, rounds: u32) {
        let mut at_us = 5_000;
        for number in 0..rounds {
            self.send(at_us, number * 200, 100, Flags::PSH);
            let limit = self.start + Span::from_micros(at_us) + Span::from_millis(600);
            while !self.acks.iter().any(|(_, ack)| *ack >= number * 200 + 100) {
                let at = self.host.deadline().filter(|at| *at <= limit).expect("a timer");
                self.until(at);
            }
            let acked = self.acks.last().expect("acknowledged").0;
            at_us = acked.saturating_since(self.start).as_nanos() / 1_000 + 1_000;
            self.send(at_us, number * 200 + 100, 100, Flags::PSH);
            at_us += 20_000;
        }
    }

    /// How long each segment waited for its acknowledgment, in milliseconds.
    pub fn waits(&mut self) -> Vec<f64> {
        let last = self.sent.last().expect("something was sent").0;
        self.until(last + Span::from_millis(500));
        let wait = |(at, end): &(Time, u32)| {
            let acked = self.acks.iter().find(|(when, ack)| when >= at && ack >= end);
            let acked = acked.expect("everything is acknowledged in half a second").0;
            acked.saturating_since(*at).as_secs_f64() * 1e3
        };
        self.sent.iter().map(wait).collect()
    }
}
