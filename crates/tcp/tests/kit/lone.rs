//! One endpoint against injected segments, whatever they are: sequence numbers count from the
//! SYNs of both ends, so that the first byte of either stream has number 1.

use super::endpoint;
use super::stack::stack;
use ackord_events::{Event, Sink, TcpState};
use ackord_tcp::Connection;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, Segment, Side, Timestamps};

pub const ISS: Seq = Seq(u32::MAX - 40);
pub const IRS: Seq = Seq(u32::MAX - 7);

pub const ACK: Flags = Flags::ACK;
pub const SYN: Flags = Flags::SYN;
pub const FIN: Flags = Flags::FIN;
pub const RST: Flags = Flags::RST;

/// What left, with numbers counted from the SYNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    pub flags: Flags,
    pub seq: i32,
    pub ack: i32,
    pub len: u32,
}

/// Keeps the events as text.
#[derive(Default)]
pub struct Told(pub Vec<String>);

impl Sink for Told {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        self.0.push(format!("{event:?}"));
    }
}

pub struct Lone {
    pub now: Time,
    pub host: Connection,
    pub told: Told,
    /// The segments as they left.
    pub raw: Vec<Segment>,
    /// TSval of what is injected, where timestamps are in use.
    pub stamp: Option<u32>,
}

impl Lone {
    /// A listener, or a connection that has sent its SYN.
    pub fn of(settings: &[(&str, &str)], side: Side) -> Lone {
        let mut all = vec![("mss", "1000 B"), ("timestamps", "off"), ("window_scaling", "off")];
        all.extend_from_slice(settings);
        let (config, mechanisms) = stack(&all);
        let id = endpoint(side);
        let host = match side {
            Side::Server => Connection::listen(config, mechanisms, id, ISS),
            Side::Client => Connection::connect(config, mechanisms, id, ISS, Time::ZERO),
        };
        let (told, raw) = (Told::default(), Vec::new());
        Lone { now: Time::ZERO, host, told, raw, stamp: None }
    }

    pub fn listening(settings: &[(&str, &str)]) -> Lone {
        Lone::of(settings, Side::Server)
    }

    pub fn established(settings: &[(&str, &str)]) -> Lone {
        let mut lone = Lone::listening(settings);
        lone.arrives(SYN, 0, 0, 0);
        lone.wait(10);
        lone.arrives(ACK, 1, 1, 0);
        assert_eq!(lone.host.state(), TcpState::Established);
        lone
    }

    /// What leaves now.
    pub fn out(&mut self) -> Vec<Out> {
        let mut out = Vec::new();
        while let Some(outbound) = self.host.poll_segment(self.now, &mut self.told) {
            let Segment { seq, ack, flags, payload_len, .. } = outbound.segment;
            self.raw.push(outbound.segment);
            let counted = if flags.contains(ACK) { ack.since(IRS) as i32 } else { 0 };
            let seq = seq.since(ISS) as i32;
            out.push(Out { flags, seq, ack: counted, len: payload_len });
        }
        out
    }

    pub fn segment(&self, flags: Flags, seq: i32, ack: i32, len: u32) -> Segment {
        let timestamps = self.stamp.map(|value| Timestamps { value, echo: 0 });
        Segment {
            seq: Seq(IRS.0.wrapping_add(seq as u32)),
            ack: Seq(ISS.0.wrapping_add(ack as u32)),
            flags,
            window: 50_000,
            payload_len: len,
            options: Options {
                mss: flags.contains(SYN).then_some(1000),
                timestamps,
                ..Options::default()
            },
        }
    }

    /// A segment arrives; what leaves in answer.
    pub fn arrives(&mut self, flags: Flags, seq: i32, ack: i32, len: u32) -> Vec<Out> {
        let segment = self.segment(flags, seq, ack, len);
        self.inject(segment)
    }

    pub fn inject(&mut self, segment: Segment) -> Vec<Out> {
        self.host.handle_segment(self.now, &segment, Ecn::NotEct, &mut self.told);
        self.out()
    }

    /// Lets time pass; what leaves meanwhile.
    pub fn wait(&mut self, millis: u64) -> Vec<Out> {
        let end = self.now + Span::from_millis(millis);
        let mut out = Vec::new();
        while let Some(at) = self.host.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.host.handle_deadline(self.now, &mut self.told);
            out.extend(self.out());
        }
        self.now = end;
        out
    }

    pub fn write(&mut self, bytes: u64) -> Vec<Out> {
        assert_eq!(self.host.write(Bytes(bytes)), Bytes(bytes));
        self.out()
    }

    pub fn close(&mut self) -> Vec<Out> {
        self.host.close();
        self.out()
    }

    /// How many events of this name there were.
    pub fn told_of(&self, what: &str) -> usize {
        self.told.0.iter().filter(|told| told.contains(what)).count()
    }
}

/// An expected segment.
pub fn seg(flags: Flags, seq: i32, ack: i32, len: u32) -> Out {
    Out { flags, seq, ack, len }
}
