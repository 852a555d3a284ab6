//! A whole stack from `key = value` pairs, as a scenario would write it, and a sender of such a
//! stack against an injected peer with SACK, DSACK and timestamps.

use super::endpoint;
use ackord_events::{NoSink, TcpState};
use ackord_tcp::registry::{Stack, chosen_from};
use ackord_tcp::{Config, Connection, Mechanisms};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, SackBlock, Segment, Side, Timestamps};

/// The defaults with these values over them: `("loss", "rack")`, `("loss.tlp", "off")`,
/// `("rto_min", "200 ms")`.
pub fn stack(settings: &[(&str, &str)]) -> (Config, Mechanisms) {
    let mut stack = Stack::default();
    let usual = [("congestion", "reno"), ("ack", "immediate"), ("nagle", "off")];
    let mechanisms = settings.iter().filter(|(key, _)| chosen_from(key).is_some());
    let knobs = settings.iter().filter(|(key, _)| chosen_from(key).is_none());
    for (key, value) in usual.iter().chain(mechanisms).chain(knobs) {
        // A knob of a mechanism that was chosen otherwise is left out.
        let other = key.split_once('.').is_some_and(|(of, knob)| {
            stack.choice(of).is_none_or(|choice| choice.mechanism().knob(knob).is_none())
        });
        if !other && *key != "profile" {
            stack.set(key, value).expect(key);
        }
    }
    (stack.config(), stack.mechanisms())
}

/// Bytes of a segment.
pub const SMSS: u32 = 1000;

/// One sender against a receiver that the test plays. Segments are numbered from 0.
pub struct Sender {
    pub now: Time,
    pub connection: Connection,
    iss: Seq,
    irs: Seq,
    stamps: bool,
    /// Flags and ECN field of every data segment that has left, with its number.
    pub log: Vec<(u32, Flags, Ecn)>,
}

/// What the peer acknowledges: everything before segment `next`, with these blocks of segments
/// (the first one may report a duplicate), echoing the stamp of this time.
#[derive(Clone, Copy, Default)]
pub struct Ack<'a> {
    pub next: u32,
    pub sack: &'a [(u32, u32)],
    pub echo: Option<u64>,
    /// Whether it says that a packet was marked.
    pub ece: bool,
}

impl Sender {
    /// Established after a handshake of 40 ms, with `written` segments to send.
    pub fn of(settings: &[(&str, &str)], written: u32) -> Sender {
        Sender::after(40, settings, written)
    }

    /// Reno without SACK and as many segments as it may send, after a handshake of 100 ms.
    pub fn plain(settings: &[(&str, &str)]) -> Sender {
        let plain = [
            ("recovery", "newreno"),
            ("sack", "off"),
            ("window_scaling", "off"),
            ("rto_min", "1 s"),
        ];
        Sender::after(100, &[&plain, settings].concat(), 4_000)
    }

    fn after(rtt_ms: u64, settings: &[(&str, &str)], written: u32) -> Sender {
        let mut all = vec![("initial_window", "10"), ("rto_min", "200 ms")];
        all.extend_from_slice(settings);
        let stamps = settings.contains(&("timestamps", "on"));
        // Segments are counted in thousands of bytes, whatever a profile has.
        if stamps {
            all.push(("mss", "1012 B"));
        } else {
            all.extend([("mss", "1000 B"), ("timestamps", "off")]);
        }
        let sack = settings.iter().rfind(|(key, _)| *key == "sack");
        let sack = sack.is_none_or(|(_, value)| *value == "on");
        let (config, mechanisms) = stack(&all);
        let (iss, irs) = (Seq(u32::MAX - 2_500), Seq(500));
        let mss = config.mss.get() as u16;
        let id = endpoint(Side::Client);
        let mut connection = Connection::connect(config, mechanisms, id, iss, Time::ZERO);
        let syn = connection.poll_segment(Time::ZERO, &mut NoSink).expect("the SYN").segment;
        let now = Time::ZERO + Span::from_millis(rtt_ms);
        let echo = syn.options.timestamps.map_or(0, |stamps| stamps.value);
        let timestamps = stamps.then_some(Timestamps { value: 1, echo });
        let options = Options {
            mss: Some(mss),
            sack_permitted: sack,
            timestamps,
            window_scale: Some(10),
            ..Options::default()
        };
        let agrees = if syn.flags.contains(Flags::ECE) { Flags::ECE } else { Flags::NONE };
        let (ack, flags) = (iss + 1, Flags::SYN | Flags::ACK | agrees);
        let window = 60_000;
        let syn_ack = Segment { seq: irs, ack, flags, window, options, ..Segment::default() };
        connection.handle_segment(now, &syn_ack, Ecn::NotEct, &mut NoSink);
        assert_eq!(connection.state(), TcpState::Established);
        connection.write(Bytes(u64::from(written) * u64::from(SMSS)));
        let mut sender = Sender { now, connection, iss, irs: irs + 1, stamps, log: Vec::new() };
        // The last acknowledgment of the handshake goes first where there is nothing to send.
        if written == 0 {
            assert!(sender.sent().is_empty());
        }
        sender
    }

    pub fn write(&mut self, segments: u32) {
        self.connection.write(Bytes(u64::from(segments) * u64::from(SMSS)));
    }

    /// Milliseconds since the start.
    pub fn millis(&self) -> u64 {
        self.now.as_nanos() / 1_000_000
    }

    /// Lets time pass up to this many milliseconds since the start; what leaves when, and which.
    pub fn until(&mut self, millis: u64) -> Vec<(u64, u32)> {
        let end = Time::ZERO + Span::from_millis(millis);
        let mut left = Vec::new();
        while let Some(at) = self.connection.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.connection.handle_deadline(self.now, &mut NoSink);
            let when = self.millis();
            left.extend(self.sent().into_iter().map(|number| (when, number)));
        }
        self.now = end;
        left
    }

    /// Lets time pass without asking what leaves.
    pub fn wait(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
        while self.connection.deadline().is_some_and(|at| at <= self.now) {
            self.connection.handle_deadline(self.now, &mut NoSink);
        }
    }

    /// Numbers of the segments that leave now.
    pub fn sent(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Some(outbound) = self.connection.poll_segment(self.now, &mut NoSink) {
            let segment = outbound.segment;
            if segment.payload_len > 0 {
                let offset = segment.seq.since(self.iss + 1);
                assert_eq!((offset % SMSS, segment.payload_len), (0, SMSS));
                numbers.push(offset / SMSS);
                self.log.push((offset / SMSS, segment.flags, outbound.ecn));
            }
        }
        numbers
    }

    /// The peer's acknowledgment arrives; returns what leaves in answer.
    pub fn on(&mut self, ack: Ack<'_>) -> Vec<u32> {
        let at = |number: u32| self.iss + 1 + number * SMSS;
        let mut options = Options::default();
        for &(start, end) in ack.sack {
            assert!(options.sack.push(SackBlock { start: at(start), end: at(end) }));
        }
        if self.stamps {
            // Our clock: milliseconds from an offset that the initial sequence number gives.
            let offset = (self.iss.0 >> 8) + 1;
            let echo = ack.echo.unwrap_or_else(|| self.millis()) as u32 + offset;
            options.timestamps = Some(Timestamps { value: 2, echo });
        }
        let segment = Segment {
            seq: self.irs,
            ack: at(ack.next),
            flags: if ack.ece { Flags::ACK | Flags::ECE } else { Flags::ACK },
            window: 60_000,
            options,
            ..Segment::default()
        };
        let now = self.now;
        self.connection.handle_segment(now, &segment, Ecn::NotEct, &mut NoSink);
        self.sent()
    }

    pub fn ack(&mut self, next: u32, sack: &[(u32, u32)]) -> Vec<u32> {
        self.on(Ack { next, sack, ..Ack::default() })
    }

    /// Everything before segment `next` is acknowledged, and these bytes of the stream reported.
    pub fn report_bytes(&mut self, next: u32, (start, end): (u32, u32)) -> Vec<u32> {
        let first = self.iss + 1;
        let mut options = Options::default();
        assert!(options.sack.push(SackBlock { start: first + start, end: first + end }));
        let segment = Segment {
            seq: self.irs,
            ack: first + next * SMSS,
            flags: Flags::ACK,
            window: 60_000,
            options,
            ..Segment::default()
        };
        self.connection.handle_segment(self.now, &segment, Ecn::NotEct, &mut NoSink);
        self.sent()
    }

    pub fn cwnd_segments(&self) -> f64 {
        self.connection.cwnd().get() as f64 / f64::from(SMSS)
    }

    pub fn ssthresh_segments(&self) -> f64 {
        self.connection.ssthresh().get() as f64 / f64::from(SMSS)
    }

    pub fn timeouts(&self) -> u64 {
        self.connection.stats().timeouts
    }

    pub fn retransmitted(&self) -> u64 {
        self.connection.stats().retransmitted_segments
    }
}
