//! One sender against an injected peer: the test plays the receiver, a segment at a time.
//!
//! Positions are counted in segments of 1000 bytes from the first one after the SYN.

use super::{endpoint, mechanisms};
use ackord_events::{NoSink, TcpState};
use ackord_tcp::{Config, Connection, Pacing};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, SackBlock, Segment, Side};

pub const SMSS: u32 = 1000;

pub struct Peer {
    pub now: Time,
    pub sender: Connection,
    iss: Seq,
    irs: Seq,
    window: u16,
}

pub struct Setup {
    pub congestion: &'static str,
    pub recovery: &'static str,
    pub sack: bool,
    pub initial_window: u64,
    pub pacing: Pacing,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            congestion: "reno",
            recovery: "newreno",
            sack: false,
            initial_window: 10,
            pacing: Pacing::Auto,
        }
    }
}

impl Peer {
    /// A sender that has just become established, with an unbounded amount of data to send.
    pub fn of(setup: Setup) -> Peer {
        let mut config = Config { mss: Bytes(u64::from(SMSS)), ..Config::default() };
        config.window.initial_segments = setup.initial_window;
        config.pacing = setup.pacing;
        config.offers.timestamps = false;
        config.offers.window_scaling = false;
        config.offers.sack = setup.sack;
        let (iss, irs) = (Seq(u32::MAX - 2_500), Seq(500));
        let choices = mechanisms(setup.congestion, setup.recovery, "immediate", "off");
        let id = endpoint(Side::Client);
        let mut sender = Connection::connect(config, choices, id, iss, Time::ZERO);
        let now = Time::ZERO + Span::from_millis(100);
        assert!(sender.poll_segment(Time::ZERO, &mut NoSink).is_some(), "the SYN");
        let options =
            Options { mss: Some(SMSS as u16), sack_permitted: setup.sack, ..Options::default() };
        let flags = Flags::SYN | Flags::ACK;
        let window = 60_000;
        let syn_ack =
            Segment { seq: irs, ack: iss + 1, flags, window, options, ..Segment::default() };
        sender.handle_segment(now, &syn_ack, Ecn::NotEct, &mut NoSink);
        assert_eq!(sender.state(), TcpState::Established);
        sender.write(Bytes(4_000_000));
        Peer { now, sender, iss, irs: irs + 1, window }
    }

    pub fn wait(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
        let now = self.now;
        while self.sender.deadline().is_some_and(|at| at <= now) {
            self.sender.handle_deadline(now, &mut NoSink);
        }
    }

    /// Numbers of the segments that leave now.
    pub fn sent(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Some(outbound) = self.sender.poll_segment(self.now, &mut NoSink) {
            let segment = outbound.segment;
            if segment.payload_len > 0 {
                let offset = segment.seq.since(self.iss + 1);
                assert_eq!((offset % SMSS, segment.payload_len), (0, SMSS));
                numbers.push(offset / SMSS);
            }
        }
        numbers
    }

    /// The receiver acknowledges everything before segment `next`, SACKing these ranges of
    /// segments; returns what leaves in answer.
    pub fn ack(&mut self, next: u32, sack: &[(u32, u32)]) -> Vec<u32> {
        let at = |number: u32| self.iss + 1 + number * SMSS;
        let mut options = Options::default();
        for &(start, end) in sack {
            assert!(options.sack.push(SackBlock { start: at(start), end: at(end) }));
        }
        let segment = Segment {
            seq: self.irs,
            ack: at(next),
            flags: Flags::ACK,
            window: self.window,
            options,
            ..Segment::default()
        };
        let now = self.now;
        self.sender.handle_segment(now, &segment, Ecn::NotEct, &mut NoSink);
        self.sent()
    }

    pub fn cwnd_segments(&self) -> f64 {
        self.sender.cwnd().get() as f64 / f64::from(SMSS)
    }

    pub fn ssthresh_segments(&self) -> u64 {
        self.sender.ssthresh().get() / u64::from(SMSS)
    }
}
