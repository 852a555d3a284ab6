//! Segment by segment.

use super::*;
use crate::tcp_info::{CaState, Timeouts};
use ackord_events::{CwndReason, RecoveryKind, SegmentKind::*};
use ackord_units::Span;
use ackord_wire::{FlowId, Options, SackBlock, SackBlocks, Timestamps};

/// What was told, without what every line has in common.
#[derive(Default)]
struct Told(Vec<Tell>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tell {
    Sent(SegmentKind, u64),
    Delivered(u64, u64),
    Acked(u64, u64),
    State(TcpState),
    Spurious(u64),
    Rtt(u64),
    Cwnd(u64, u64, CwndReason),
    Timeout(u32),
    Entered(RecoveryKind),
    Exited(RecoveryKind),
}

impl Sink for Told {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        self.0.push(match event {
            Event::SegmentSent { payload, kind, .. } => Tell::Sent(kind, payload.get()),
            Event::DataDelivered { bytes, stream_offset, .. } => {
                Tell::Delivered(bytes.get(), stream_offset.get())
            }
            Event::AckAdvanced { bytes, stream_offset, .. } => {
                Tell::Acked(bytes.get(), stream_offset.get())
            }
            Event::StateChanged { to, .. } => Tell::State(to),
            Event::RetransmissionSpurious { bytes, .. } => Tell::Spurious(bytes.get()),
            Event::RttSampled { rtt, .. } => Tell::Rtt(rtt.as_millis()),
            Event::CwndChanged { cwnd, ssthresh, reason, .. } => {
                Tell::Cwnd(cwnd.get(), ssthresh.get(), reason)
            }
            Event::RetransmissionTimeout { consecutive, .. } => Tell::Timeout(consecutive),
            Event::RecoveryEntered { kind, .. } => Tell::Entered(kind),
            Event::RecoveryExited { kind, .. } => Tell::Exited(kind),
            other => panic!("{other:?}"),
        });
    }
}

/// An end at work: every step is one segment at the next millisecond.
struct Bench {
    end: ObservedEnd,
    now: u64,
    /// The first data byte of this end and of its peer.
    ours: Seq,
    theirs: Seq,
}

const DATA: u32 = 1_000;

fn flags(letters: &str) -> Flags {
    letters.chars().fold(Flags::NONE, |flags, letter| {
        flags
            | match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                '.' => Flags::ACK,
                other => panic!("{other}"),
            }
    })
}

impl Bench {
    fn new(side: Side, iss: u32, irs: u32) -> Bench {
        let end = ObservedEnd::new(EndpointId { flow: FlowId(3), side });
        Bench { end, now: 0, ours: Seq(iss) + 1, theirs: Seq(irs) + 1 }
    }

    /// With the handshake done.
    fn open(iss: u32, irs: u32) -> Bench {
        let mut bench = Bench::new(Side::Client, iss, irs);
        bench.out("S", -1, 0, 0);
        bench.arrives("S.", -1, 0, 0);
        bench.out(".", 0, 0, 0);
        bench
    }

    fn segment(&self, from: Seq, to: Seq, letters: &str, at: (i32, u32, u32)) -> Segment {
        let (seq, payload_len, ack) = at;
        let flags = flags(letters);
        let scale = flags.contains(Flags::SYN).then_some(2);
        let options = Options { window_scale: scale, ..Options::default() };
        let seq = from + seq as u32;
        Segment { seq, ack: to + ack, flags, window: 10_000, payload_len, options }
    }

    /// This end sends: offset, bytes, and the offset it acknowledges.
    fn out(&mut self, letters: &str, seq: i32, payload: u32, ack: u32) -> Vec<Tell> {
        let segment = self.segment(self.ours, self.theirs, letters, (seq, payload, ack));
        self.send(&segment)
    }

    fn send(&mut self, segment: &Segment) -> Vec<Tell> {
        self.now += 1;
        let mut told = Told::default();
        self.end.sent(Time::ZERO + Span::from_millis(self.now), segment, &mut told);
        told.0
    }

    /// Its peer's segment arrives.
    fn arrives(&mut self, letters: &str, seq: i32, payload: u32, ack: u32) -> Vec<Tell> {
        let segment = self.segment(self.theirs, self.ours, letters, (seq, payload, ack));
        self.take(&segment)
    }

    fn take(&mut self, segment: &Segment) -> Vec<Tell> {
        self.now += 1;
        let mut told = Told::default();
        self.end.received(Time::ZERO + Span::from_millis(self.now), segment, &mut told);
        told.0
    }

    /// An acknowledgment with this window field and these blocks arrives.
    fn ack(&mut self, ack: u32, window: u16, blocks: &[(u32, u32)]) -> Vec<Tell> {
        let mut segment = self.segment(self.theirs, self.ours, ".", (0, 0, ack));
        segment.window = window;
        let mut sack = SackBlocks::default();
        for (start, end) in blocks {
            sack.push(SackBlock { start: self.ours + *start, end: self.ours + *end });
        }
        segment.options.sack = sack;
        self.take(&segment)
    }
}

use Tell::*;

#[test]
fn a_handshake_whose_syn_is_lost_at_first() {
    let mut client = Bench::new(Side::Client, 100, 900);
    assert_eq!(client.out("S", -1, 0, 0), [Sent(New, 0), State(TcpState::SynSent)]);
    assert_eq!(client.out("S", -1, 0, 0), [Sent(Retransmission, 0)]);
    // Sent twice: no round-trip time.
    assert_eq!(client.arrives("S.", -1, 0, 0), [State(TcpState::Established)]);
    assert_eq!(client.out(".", 0, 0, 0), [Sent(PureAck, 0)]);
    let mut server = Bench::new(Side::Server, 900, 100);
    assert_eq!(server.arrives("S", -1, 0, 0), []);
    assert_eq!(server.out("S.", -1, 0, 0), [Sent(New, 0), State(TcpState::SynReceived)]);
    assert_eq!(server.out("S.", -1, 0, 0), [Sent(Retransmission, 0)]);
    assert_eq!(server.arrives(".", 0, 0, 0), [State(TcpState::Established)]);
    assert!(!server.end.is_over());
}

#[test]
fn data_holes_and_retransmissions_on_both_sides_of_the_wrap() {
    for iss in [5, u32::MAX - 1_500, u32::MAX - 2, u32::MAX] {
        let mut end = Bench::open(iss, 77);
        for segment in 0..3 {
            assert_eq!(end.out(".", segment * 1_000, DATA, 0), [Sent(New, 1_000)]);
        }
        assert_eq!(end.ack(1_000, 10_000, &[]), [Acked(1_000, 1_000), Rtt(3)]);
        assert_eq!(end.out(".", 1_000, DATA, 0), [Sent(Retransmission, 1_000)]);
        assert_eq!(end.ack(1_000, 10_000, &[(2_000, 3_000)]), []);
        assert_eq!(end.ack(3_000, 10_000, &[]), [Acked(2_000, 3_000)], "iss {iss}");
        assert_eq!(end.ack(2_000, 10_000, &[]), [], "old news");
        assert_eq!(end.ack(9_000, 10_000, &[]), [], "of what was never sent");
    }
    for irs in [5, u32::MAX - 1_500, u32::MAX - 2, u32::MAX] {
        let mut end = Bench::open(77, irs);
        assert_eq!(end.arrives(".", 0, DATA, 0), [Delivered(1_000, 1_000)]);
        assert_eq!(end.arrives(".", 3_000, DATA, 0), []);
        assert_eq!(end.arrives(".", 2_000, DATA, 0), []);
        assert_eq!(end.arrives(".", 2_500, DATA, 0), [], "nothing new");
        assert_eq!(end.out(".", 0, 0, 1_000), [Sent(PureAck, 0)]);
        assert_eq!(end.arrives(".", 500, DATA, 0), [Delivered(500, 1_500)], "half of it new");
        assert_eq!(end.arrives(".", 1_500, 500, 0), [Delivered(2_500, 4_000)], "irs {irs}");
        assert_eq!(end.arrives(".", 0, DATA, 0), [], "again");
    }
}

#[test]
fn a_retransmission_that_carries_new_bytes_too_is_both() {
    let mut end = Bench::open(1, 2);
    end.out(".", 0, DATA, 0);
    assert_eq!(end.out(".", 500, DATA, 0), [Sent(Retransmission, 1_000)]);
    assert_eq!(end.ack(1_500, 10_000, &[]), [Acked(1_500, 1_500)]);
}

#[test]
fn only_what_the_window_offered_is_taken_and_what_is_acknowledged_is_there() {
    let mut end = Bench::open(1, 2);
    let mut closed = end.segment(end.ours, end.theirs, ".", (0, 0, 0));
    closed.window = 500;
    // The field is scaled by two bits, and the edge offered before stands: 40 000 bytes.
    end.send(&closed);
    assert_eq!(end.arrives(".", 39_500, DATA, 0), []);
    assert_eq!(end.arrives(".", 0, 39_500, 0), [Delivered(40_000, 40_000)], "500 were too many");
    // What we did not see arrive, but the host says it has.
    assert_eq!(end.out(".", 0, 0, 40_700), [Delivered(700, 40_700), Sent(PureAck, 0)]);
}

#[test]
fn what_is_older_than_the_newest_in_order_is_thrown_away() {
    let mut end = Bench::open(1, 2);
    let mut arrives = |seq: i32, value: u32| {
        let mut segment = end.segment(end.theirs, end.ours, ".", (seq, DATA, 0));
        segment.options.timestamps = Some(Timestamps { value, echo: 0 });
        end.take(&segment)
    };
    // Of a peer whose SYN had none, timestamps mean nothing.
    assert_eq!(arrives(0, 50), [Delivered(1_000, 1_000)]);
    assert_eq!(arrives(1_000, 40), [Delivered(1_000, 2_000)]);

    let mut end = Bench::new(Side::Server, 1, 2);
    let mut arrives = |letters: &str, at: (i32, u32, u32), value: u32| {
        let mut segment = end.segment(end.theirs, end.ours, letters, at);
        segment.options.timestamps = Some(Timestamps { value, echo: 0 });
        end.take(&segment)
    };
    arrives("S", (-1, 0, 0), u32::MAX - 5);
    assert_eq!(arrives(".", (1_000, DATA, 0), 4), [], "beyond a hole, and behind a wrap");
    // Only what was acknowledged may be the newest: this one fills the hole.
    assert_eq!(arrives(".", (0, DATA, 0), 9), [Delivered(2_000, 2_000)]);
    assert_eq!(arrives(".", (2_000, DATA, 0), 8), []);
    assert_eq!(arrives(".", (2_000, DATA, 0), 9), [Delivered(1_000, 3_000)]);
}

#[test]
fn closing_from_either_end_and_from_both_at_once() {
    let mut end = Bench::open(1, 2);
    assert_eq!(end.out("F.", 0, 10, 0), [Sent(New, 10), State(TcpState::FinWait1)]);
    assert_eq!(end.out("F.", 0, 10, 0), [Sent(Retransmission, 10)]);
    assert_eq!(end.arrives(".", 0, 0, 11), [Acked(10, 10), State(TcpState::FinWait2)]);
    assert_eq!(end.arrives("F.", 5, 0, 11), [], "a hole before the FIN");
    assert_eq!(end.arrives(".", 0, 5, 11), [Delivered(5, 5), State(TcpState::TimeWait)]);
    assert_eq!(end.out(".", 11, 0, 6), [Sent(PureAck, 0)]);
    assert!(end.end.is_over());

    let mut end = Bench::open(1, 2);
    assert_eq!(end.arrives("F.", 0, 5, 0), [Delivered(5, 5), State(TcpState::CloseWait)]);
    assert_eq!(end.out(".", 0, 0, 6), [Sent(PureAck, 0)]);
    assert_eq!(end.out("F.", 0, 0, 6), [Sent(New, 0), State(TcpState::LastAck)]);
    let closed = [Acked(0, 0), Rtt(1), State(TcpState::Closed)];
    assert_eq!(end.arrives(".", 6, 0, 1), closed);

    let mut end = Bench::open(1, 2);
    end.out("F.", 0, 0, 0);
    assert_eq!(end.arrives("F.", 0, 0, 0), [State(TcpState::Closing)]);
    assert_eq!(end.arrives(".", 1, 0, 1), [Acked(0, 0), Rtt(2), State(TcpState::TimeWait)]);
}

#[test]
fn resets_count_where_they_would_be_taken() {
    let mut end = Bench::open(1, 2);
    assert_eq!(end.arrives("R.", 7, 0, 0), [], "not where the next byte is expected");
    assert_eq!(end.arrives("R.", 0, 0, 0), [State(TcpState::Closed)]);
    let mut end = Bench::new(Side::Client, 1, 2);
    end.out("S", -1, 0, 0);
    assert_eq!(end.arrives("R.", 0, 0, 9), [], "of another SYN");
    assert_eq!(end.arrives("R.", 0, 0, 0), [State(TcpState::Closed)], "nobody listens");
    let mut end = Bench::open(1, 2);
    assert_eq!(end.out("R.", 0, 0, 0), [Sent(Reset, 0), State(TcpState::Closed)]);
}

#[test]
fn a_closed_window_is_probed_and_a_silent_peer_too() {
    let mut end = Bench::open(1, 2);
    end.out(".", 0, DATA, 0);
    assert_eq!(end.ack(1_000, 0, &[]), [Acked(1_000, 1_000), Rtt(1)]);
    // As Linux does, again and again; and as we do, with one byte.
    assert_eq!(end.out(".", 999, 0, 0), [Sent(WindowProbe, 0)]);
    assert_eq!(end.ack(1_000, 0, &[]), []);
    assert_eq!(end.out(".", 1_000, 1, 0), [Sent(WindowProbe, 1)]);
    assert_eq!(end.out(".", 1_000, 1, 0), [Sent(WindowProbe, 1)]);
    assert_eq!(end.out(".", 1_000, 0, 0), [Sent(PureAck, 0)]);
    // The byte is taken, and the window opens.
    assert_eq!(end.ack(1_001, 10_000, &[]), [Acked(1, 1_001)]);
    assert_eq!(end.out(".", 1_001, DATA, 0), [Sent(New, 1_000)]);
    end.ack(2_001, 10_000, &[]);
    assert_eq!(end.out(".", 2_000, 0, 0), [Sent(KeepaliveProbe, 0)]);
    assert_eq!(end.out(".", 2_000, 1, 0), [Sent(KeepaliveProbe, 1)]);
    assert_eq!(end.out(".", 2_001, 0, 0), [Sent(PureAck, 0)]);
    assert_eq!(end.out(".", 2_001, 1, 0), [Sent(New, 1)], "a write of one byte is none");
}

#[test]
fn the_byte_of_a_probe_that_was_not_taken_leaves_as_new_data() {
    let mut end = Bench::open(1, 2);
    end.ack(0, 0, &[]);
    assert_eq!(end.out(".", 0, 1, 0), [Sent(WindowProbe, 1)]);
    end.ack(0, 10_000, &[]);
    assert_eq!(end.out(".", 0, DATA, 0), [Sent(New, 1_000)]);
}

#[test]
fn duplicates_reported_of_what_was_sent_twice_and_of_nothing_else() {
    let mut end = Bench::open(1, 2);
    for segment in 0..4 {
        end.out(".", segment * 1_000, DATA, 0);
    }
    end.out(".", 1_000, DATA, 0);
    end.ack(3_000, 10_000, &[]);
    assert_eq!(end.ack(3_000, 10_000, &[(0, 1_000)]), [], "the path has doubled it");
    assert_eq!(end.ack(3_000, 10_000, &[(1_000, 2_000)]), [Spurious(1_000)]);
    assert_eq!(end.ack(3_000, 10_000, &[(1_000, 2_000)]), [], "told once");
    // Beyond the acknowledgment: a block within the next one (RFC 2883 §4).
    end.out(".", 3_000, DATA, 0);
    end.out(".", 4_000, DATA, 0);
    end.out(".", 4_000, DATA, 0);
    assert_eq!(end.ack(3_000, 10_000, &[(4_000, 5_000)]), [], "the first report of it");
    assert_eq!(end.ack(3_000, 10_000, &[(4_000, 5_000), (4_000, 5_000)]), [Spurious(1_000)]);
}

#[test]
fn the_next_connection_between_the_same_ports_goes_on_where_the_last_ended() {
    let mut client = Bench::open(1, 2);
    client.out(".", 0, DATA, 0);
    client.ack(1_000, 10_000, &[]);
    client.arrives(".", 0, 300, 1_000);
    client.out("R.", 1_000, 0, 300);
    client.ours = Seq(50_001);
    client.theirs = Seq(90_001);
    assert_eq!(client.out("S", -1, 0, 0), [Sent(New, 0), State(TcpState::SynSent)]);
    assert_eq!(client.arrives("S.", -1, 0, 0), [State(TcpState::Established)]);
    client.out(".", 0, DATA, 0);
    assert_eq!(client.ack(1_000, 10_000, &[]), [Acked(1_000, 2_000), Rtt(1)]);
    assert_eq!(client.arrives(".", 0, 300, 1_000), [Delivered(300, 600)]);
    // Amid it, a SYN begins nothing (RFC 5961 §4).
    assert_eq!(client.arrives("S", 5_000, 0, 0), []);
    assert_eq!(client.arrives(".", 300, 300, 1_000), [Delivered(300, 900)]);
}

#[test]
fn samples_tell_what_has_changed_since_the_one_before() {
    let mut end = Bench::open(1, 2);
    let timeouts = |total| Some(Timeouts { total, ..Timeouts::default() });
    let quiet = TcpInfo {
        cwnd_segments: 10,
        snd_mss: Bytes(1_448),
        srtt: Span::from_millis(40),
        rto: Span::from_millis(240),
        timeouts: timeouts(0),
        ..TcpInfo::default()
    };
    let mut ask = |sample: TcpInfo| {
        let mut told = Told::default();
        end.end.sampled(Time::ZERO, &sample, &mut told);
        told.0
    };
    assert_eq!(ask(quiet), [Cwnd(14_480, u64::MAX, CwndReason::Initial)]);
    assert_eq!(ask(quiet), []);
    let grown = TcpInfo { cwnd_segments: 20, ..quiet };
    assert_eq!(ask(grown), [Cwnd(28_960, u64::MAX, CwndReason::Ack)]);
    let (ssthresh_segments, ca_state) = (Some(10), CaState::Recovery);
    let recovering = TcpInfo { ssthresh_segments, ca_state, ..quiet };
    let reduced = Cwnd(14_480, 14_480, CwndReason::Recovery);
    assert_eq!(ask(recovering), [Entered(RecoveryKind::Fast), reduced]);
    let ca_state = CaState::Loss;
    let lost =
        TcpInfo { cwnd_segments: 1, ca_state, timeouts: timeouts(2), retransmits: 2, ..recovering };
    let told = ask(lost);
    assert_eq!(told[..2], [Timeout(1), Timeout(2)]);
    assert_eq!(told[2..4], [Exited(RecoveryKind::Fast), Entered(RecoveryKind::Timeout)]);
    assert_eq!(told[4..], [Cwnd(1_448, 14_480, CwndReason::Timeout)]);
    // A row of timeouts that has ended is still counted by the kernel, and not told twice.
    let over = TcpInfo { retransmits: 0, ca_state: CaState::Open, ..lost };
    assert_eq!(ask(over), [Exited(RecoveryKind::Timeout)]);
    let more = TcpInfo { timeouts: timeouts(3), ..over };
    assert_eq!(ask(more), [Timeout(1)]);
    // Older kernels tell only of a row.
    let old = TcpInfo { timeouts: None, retransmits: 1, ..over };
    assert_eq!(ask(old), [Timeout(1)]);
}
