//! One endpoint, a segment at a time, by hand: whatever the test injects, and what comes out.
//!
//! Both streams are counted from the first byte after the SYN.

use super::endpoint;
use super::stack::stack;
use ackord_events::{NoSink, TcpState};
use ackord_tcp::Connection;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, SackBlock, Segment, Side};

const IRS: Seq = Seq(u32::MAX - 700);
const ISS: Seq = Seq(3_000_000);

pub struct Hand {
    pub now: Time,
    pub host: Connection,
    /// What the peer acknowledges with its next segments.
    pub acks: u32,
    pub window: u16,
    scale: u8,
}

/// What left, told as the test wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    pub seq: u32,
    pub payload: u32,
    pub ack: u32,
    /// The window in bytes.
    pub window: u32,
}

impl Hand {
    /// A passive opener with these settings over segments of 1000 bytes, without timestamps; the
    /// peer offers this MSS and a window of 60,000 bytes.
    pub fn listening(settings: &[(&str, &str)], peers_mss: u16) -> Hand {
        let mut all = vec![("mss", "1000 B"), ("timestamps", "off"), ("ack", "delayed")];
        all.extend_from_slice(settings);
        let (config, mechanisms) = stack(&all);
        let mut host = Connection::listen(config, mechanisms, endpoint(Side::Server), ISS);
        let now = Time::ZERO + Span::from_millis(1);
        let options = Options {
            mss: Some(peers_mss),
            sack_permitted: true,
            window_scale: Some(0),
            ..Options::default()
        };
        let syn =
            Segment { seq: IRS, flags: Flags::SYN, window: 60_000, options, ..Segment::default() };
        host.handle_segment(now, &syn, Ecn::NotEct, &mut NoSink);
        let answer = host.poll_segment(now, &mut NoSink).expect("a SYN-ACK").segment;
        let scale = answer.options.window_scale.unwrap_or(0);
        let mut hand = Hand { now, host, acks: 0, window: 60_000, scale };
        assert!(hand.get(0, 0, Flags::ACK).is_empty());
        assert_eq!(hand.host.state(), TcpState::Established);
        hand
    }

    /// A segment of the peer arrives; what leaves in answer.
    pub fn get(&mut self, offset: u32, payload_len: u32, flags: Flags) -> Vec<Left> {
        self.get_with(offset, payload_len, flags, &[])
    }

    pub fn get_with(
        &mut self,
        offset: u32,
        payload_len: u32,
        flags: Flags,
        sack: &[(u32, u32)],
    ) -> Vec<Left> {
        let mut options = Options::default();
        for &(start, end) in sack {
            let (start, end) = (ISS + 1 + start, ISS + 1 + end);
            assert!(options.sack.push(SackBlock { start, end }));
        }
        let segment = Segment {
            seq: IRS + 1 + offset,
            ack: ISS + 1 + self.acks,
            flags: flags | Flags::ACK,
            window: self.window,
            payload_len,
            options,
        };
        let now = self.now;
        self.host.handle_segment(now, &segment, Ecn::NotEct, &mut NoSink);
        self.left()
    }

    /// Whole segments that leave now.
    pub fn segments(&mut self) -> Vec<Segment> {
        let now = self.now;
        std::iter::from_fn(|| self.host.poll_segment(now, &mut NoSink))
            .map(|outbound| outbound.segment)
            .collect()
    }

    pub fn left(&mut self) -> Vec<Left> {
        let scale = self.scale;
        let tell = |segment: &Segment| Left {
            seq: segment.seq.since(ISS + 1),
            payload: segment.payload_len,
            ack: segment.ack.since(IRS + 1),
            window: u32::from(segment.window) << scale,
        };
        self.segments().iter().map(tell).collect()
    }

    pub fn read(&mut self, bytes: u64) -> Vec<Left> {
        self.host.read(Bytes(bytes));
        self.left()
    }

    pub fn write(&mut self, bytes: u64) -> Vec<Left> {
        self.host.write(Bytes(bytes));
        self.left()
    }

    /// Lets time pass; what leaves, and after how many milliseconds.
    pub fn wait(&mut self, millis: u64) -> Vec<(u64, Left)> {
        let (begin, end) = (self.now, self.now + Span::from_millis(millis));
        let mut all = Vec::new();
        while let Some(at) = self.host.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.host.handle_deadline(self.now, &mut NoSink);
            let after = (self.now - begin).as_nanos() / 1_000_000;
            all.extend(self.left().into_iter().map(|left| (after, left)));
        }
        self.now = end;
        all
    }
}

/// The blocks of a segment, counted as the peer's stream is.
pub fn blocks(segment: &Segment) -> Vec<(u32, u32)> {
    let offset = |seq: Seq| seq.since(IRS + 1);
    let blocks = segment.options.sack.as_slice().iter();
    blocks.map(|block| (offset(block.start), offset(block.end))).collect()
}

/// A segment of the peer by itself: with this payload, acknowledging nothing.
pub fn peers_segment(offset: u32, payload_len: u32, flags: Flags) -> Segment {
    let flags = flags | Flags::ACK;
    let (seq, ack, window) = (IRS + 1 + offset, ISS + 1, 60_000);
    Segment { seq, ack, flags, window, payload_len, options: Options::default() }
}
