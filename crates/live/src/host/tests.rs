//! Our host without a device: whatever segments arrive, it answers by the book and never panics.

use super::*;
use crate::http::{FileStore, ServerConnection};
use ackord_events::NoSink;
use ackord_scenario::ScenarioFile;
use ackord_units::Span;
use ackord_wire::{Ecn, Options, SackBlock, SackBlocks, Timestamps, decode};
use proptest::prelude::*;
use std::net::SocketAddr;
use std::rc::Rc;

const PORT: u16 = 80;

struct Bench {
    host: Host,
    uplink: Uplink,
    now: Time,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let file = ScenarioFile::from_library("lossy-wifi").expect("in the library");
        let scenario = file.check().expect("sound");
        let recipe = Recipe::new(&scenario.flows[0].server_tcp, Side::Server, 1500);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), vec![7; 5_000]).expect("written");
        let files = Rc::new(FileStore::open(folder.path()).expect("a folder"));
        let accept = move || Box::new(ServerConnection::new(Rc::clone(&files))) as Box<dyn Service>;
        let listener = Listener { port: PORT, accept: Box::new(accept) };
        Bench {
            host: Host::new(recipe, Some(listener)),
            uplink: Uplink::default(),
            now: Time::ZERO,
            _folder: folder,
        }
    }

    /// Hands a segment in and returns what comes out.
    fn arrive(&mut self, port: u16, segment: &Segment, payload: &[u8]) -> Vec<Segment> {
        let segment = &Segment { payload_len: payload.len() as u32, ..*segment };
        let endpoints = Endpoints {
            src: "10.77.0.1:50000".parse().expect("an address"),
            dst: SocketAddr::new([10, 77, 0, 2].into(), port),
        };
        self.now += Span::from_millis(1);
        let ecn = Ecn::NotEct;
        let arrival = Arrival { flow: FlowId(0), endpoints, segment, ecn, payload };
        self.host.handle_segment(self.now, arrival, &mut self.uplink, &mut NoSink);
        self.take()
    }

    /// Lets `span` pass, timers included.
    fn pass(&mut self, span: Span) -> Vec<Segment> {
        let until = self.now + span;
        while let Some(due) = self.host.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.host.handle_deadline(self.now, &mut self.uplink, &mut NoSink);
        }
        self.now = until;
        self.take()
    }

    fn take(&mut self) -> Vec<Segment> {
        let mut buffer = [0; 1500];
        let next = || self.uplink.read(&mut buffer).map(|len| decode(&buffer[..len]));
        std::iter::from_fn(next).map(|decoded| decoded.expect("sound").segment).collect()
    }
}

fn syn() -> Segment {
    let options = Options { mss: Some(1460), ..Options::default() };
    Segment { flags: Flags::SYN, window: 65_535, options, ..Segment::default() }
}

#[test]
fn a_segment_for_nobody_is_reset_and_a_reset_is_not() {
    let mut bench = Bench::new();
    let answers = bench.arrive(81, &syn(), &[]);
    let [reset] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((reset.flags, reset.ack), (Flags::RST | Flags::ACK, Seq(1)));
    let stray = Segment { flags: Flags::ACK, ack: Seq(77), ..Segment::default() };
    let answers = bench.arrive(PORT, &stray, b"late");
    let [reset] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((reset.flags, reset.seq), (Flags::RST, Seq(77)));
    let reset = Segment { flags: Flags::RST, ..Segment::default() };
    assert!(bench.arrive(PORT, &reset, &[]).is_empty());
    assert!(bench.host.is_quiet());
}

#[test]
fn a_handshake_and_a_request_bring_the_file() {
    let mut bench = Bench::new();
    let answers = bench.arrive(PORT, &syn(), &[]);
    let [syn_ack] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((syn_ack.flags, syn_ack.ack), (Flags::SYN | Flags::ACK, Seq(1)));
    let request = b"GET /file HTTP/1.1\r\nConnection: close\r\n\r\n";
    let mut ack = syn_ack.seq + 1;
    let mut seq = Seq(1);
    let mut bytes = 0;
    let mut finished = false;
    for round in 0..40 {
        let payload = if round == 0 { &request[..] } else { &[] };
        let segment = Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() };
        let mut answers = bench.arrive(PORT, &segment, payload);
        answers.extend(bench.pass(Span::from_millis(50)));
        seq += payload.len() as u32;
        for answer in &answers {
            if answer.seq != ack {
                continue;
            }
            bytes += answer.payload_len;
            finished |= answer.flags.contains(Flags::FIN);
            ack = answer.end_seq();
        }
    }
    assert!(finished, "the server has not closed");
    assert!(bytes > 5_000, "{bytes} bytes with head and file");
}

/// A request in two halves: what is refused, or has come before, must not touch what waits for the
/// rest. The server answers with an error if it does.
#[test]
fn refused_bytes_do_not_touch_what_has_arrived() {
    let answered = |disturb: &mut dyn FnMut(&mut Bench, Segment)| {
        let mut bench = Bench::new();
        let answers = bench.arrive(PORT, &syn(), &[]);
        let base = Segment {
            seq: Seq(1),
            ack: answers[0].seq + 1,
            flags: Flags::ACK,
            window: 65_535,
            ..Segment::default()
        };
        let (first, last) = (b"GET /f", b"ile HTTP/1.1\r\nConnection: close\r\n\r\n");
        let later = Segment { seq: Seq(1) + first.len() as u32, ..base };
        bench.arrive(PORT, &later, last);
        disturb(&mut bench, later);
        let mut answers = bench.arrive(PORT, &base, first);
        answers.extend(bench.pass(Span::from_millis(50)));
        answers.iter().map(|answer| answer.payload_len).max().unwrap_or(0)
    };
    let undisturbed = answered(&mut |_, _| {});
    assert!(undisturbed >= 1_000, "the file comes in full segments, not {undisturbed} bytes");
    for forged in [
        // RFC 5961 §5: an acknowledgment of what was never sent.
        &|segment: Segment| Segment { ack: segment.ack + 1_000_000, ..segment },
        &|segment: Segment| Segment { flags: Flags::ACK | Flags::RST, ..segment },
        &|segment: Segment| Segment { flags: Flags::ACK | Flags::SYN, ..segment },
        &|segment: Segment| Segment { flags: Flags::NONE, ..segment },
    ] as [&dyn Fn(Segment) -> Segment; 4]
    {
        let bytes = answered(&mut |bench, segment| {
            bench.arrive(PORT, &forged(segment), b"XXXXXXXX");
        });
        assert_eq!(bytes, undisturbed);
    }
}

/// A segment may begin at the number of the SYN, or before: its new bytes are taken in all the same.
#[test]
fn a_segment_that_begins_before_the_stream_is_kept_from_the_streams_first_byte_on() {
    for before in [1, 5] {
        let mut bench = Bench::new();
        let syn = Segment { seq: Seq(100), ..syn() };
        let answers = bench.arrive(PORT, &syn, &[]);
        let request = b"XXXXXGET /file HTTP/1.1\r\nConnection: close\r\n\r\n";
        let segment = Segment {
            seq: Seq(101) - before,
            ack: answers[0].seq + 1,
            flags: Flags::ACK,
            window: 65_535,
            ..Segment::default()
        };
        let mut answers = bench.arrive(PORT, &segment, &request[5 - before as usize..]);
        answers.extend(bench.pass(Span::from_millis(50)));
        let longest = answers.iter().map(|answer| answer.payload_len).max();
        assert!(longest >= Some(1_000), "no file comes: {answers:?}");
    }
}

/// RFC 6191: the same ports again while the old connection is in TIME-WAIT.
#[test]
fn a_later_syn_takes_the_place_of_a_connection_in_time_wait() {
    let mut bench = Bench::new();
    let answers = bench.arrive(PORT, &syn(), &[]);
    let ack = Segment {
        seq: Seq(1),
        ack: answers[0].seq + 1,
        flags: Flags::ACK,
        window: 65_535,
        ..Segment::default()
    };
    // The server answers a request that it cannot read, and closes first.
    let answers = bench.arrive(PORT, &ack, b"nonsense\r\n\r\n");
    let fin = answers.iter().find(|answer| answer.flags.contains(Flags::FIN)).expect("it closes");
    let (seq, flags) = (Seq(1 + 12), Flags::ACK | Flags::FIN);
    bench.arrive(PORT, &Segment { seq, ack: fin.end_seq(), flags, ..ack }, &[]);
    assert!(bench.host.is_quiet() && bench.host.take_closed().is_empty(), "TIME-WAIT");

    let old = bench.arrive(PORT, &Segment { seq: Seq(5), ..syn() }, &[]);
    assert_eq!(old[0].flags, Flags::ACK, "an old SYN is told where the connection stands");
    let answers = bench.arrive(PORT, &Segment { seq: Seq(5_000), ..syn() }, &[]);
    let [syn_ack] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((syn_ack.flags, syn_ack.ack), (Flags::SYN | Flags::ACK, Seq(5_001)));
    assert!(syn_ack.seq.after(fin.end_seq()), "beyond the old connection's numbers");
    assert_eq!(bench.host.take_closed().len(), 1);
}

#[test]
fn a_peer_that_vanishes_is_given_up_in_the_end() {
    let mut bench = Bench::new();
    bench.arrive(PORT, &syn(), &[]);
    assert!(!bench.host.is_quiet());
    bench.pass(Span::from_secs(4_000));
    assert!(bench.host.is_quiet());
    assert_eq!(bench.host.take_closed().len(), 1);
}

/// A request and its answer, until our host has closed and waits in TIME-WAIT; says where its next
/// byte would stand.
fn until_time_wait(bench: &mut Bench, seq: Seq, ack: Seq) -> Seq {
    let request = b"GET /none HTTP/1.1\r\nConnection: close\r\n\r\n";
    let flags = Flags::ACK;
    let ask = Segment { seq, ack, flags, window: 65_535, ..Segment::default() };
    let mut answers = bench.arrive(PORT, &ask, request);
    answers.extend(bench.pass(Span::from_millis(50)));
    let end = answers.last().expect("an answer").end_seq();
    assert!(answers.iter().any(|answer| answer.flags.contains(Flags::FIN)), "{answers:?}");
    let seq = seq + request.len() as u32;
    let bye = Segment { seq, ack: end, flags: Flags::ACK | Flags::FIN, ..ask };
    let answers = bench.arrive(PORT, &bye, &[]);
    let [last] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((last.flags, last.ack), (Flags::ACK, seq + 1), "at once, not delayed");
    assert!(bench.host.is_quiet());
    end
}

#[test]
fn a_connection_in_time_wait_is_followed_by_the_next_one_between_the_same_ports() {
    let mut bench = Bench::new();
    let answers = bench.arrive(PORT, &syn(), &[]);
    let ack = answers[0].seq + 1;
    let end = until_time_wait(&mut bench, Seq(1), ack);
    // An old duplicate of the SYN is not one (RFC 6191 §2): it is only acknowledged.
    let answers = bench.arrive(PORT, &syn(), &[]);
    assert!(answers.iter().all(|answer| !answer.flags.contains(Flags::SYN)), "{answers:?}");
    // RFC 6191 §2: without timestamps a higher sequence number is the sign.
    let next = Segment { seq: Seq(1_000_000), ..syn() };
    let answers = bench.arrive(PORT, &next, &[]);
    let [syn_ack] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((syn_ack.flags, syn_ack.ack), (Flags::SYN | Flags::ACK, Seq(1_000_001)));
    assert!(syn_ack.seq.after(end), "{:?} is not above {end:?}", syn_ack.seq);
    assert_eq!(bench.host.take_closed().len(), 1, "the old one has ended");
    until_time_wait(&mut bench, Seq(1_000_001), syn_ack.seq + 1);
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let numbers = prop_oneof![0_u32..10_000, any::<u32>()];
    let block = (0_u32..10_000, 0_u32..10_000);
    (
        (numbers.clone(), numbers, any::<u8>(), any::<u16>()),
        proptest::option::of(any::<u16>()),
        proptest::option::of(any::<u8>()),
        proptest::option::of(any::<(u32, u32)>()),
        prop::collection::vec(block, 0..3),
    )
        .prop_map(|((seq, ack, flags, window), mss, window_scale, timestamps, blocks)| {
            let mut sack = SackBlocks::default();
            for (start, end) in blocks {
                sack.push(SackBlock { start: Seq(start), end: Seq(end) });
            }
            let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
            let sack_permitted = flags & 2 != 0;
            let options = Options { mss, window_scale, sack_permitted, timestamps, sack };
            let flags = Flags::from_bits(flags);
            Segment { seq: Seq(seq), ack: Seq(ack), flags, window, payload_len: 0, options }
        })
}

proptest! {
    /// Half of the acknowledgments are made to fit what the host has sent, so that the nonsense
    /// gets into the later states too.
    #[test]
    fn no_segments_make_the_host_panic(
        steps in prop::collection::vec(
            (any_segment(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..50), 0_u64..3_000),
            1..60,
        ),
    ) {
        let mut bench = Bench::new();
        let mut expected = bench.arrive(PORT, &syn(), &[]).first().map_or(Seq(0), |s| s.end_seq());
        let mut seq = Seq(1);
        for (mut segment, fitting, payload, wait) in steps {
            if fitting {
                (segment.seq, segment.ack) = (seq, expected);
                segment.flags = Flags::from_bits(segment.flags.bits() & 0x19 | 0x10);
                seq += payload.len() as u32;
            }
            let mut answers = bench.arrive(PORT, &segment, &payload);
            answers.extend(bench.pass(Span::from_millis(wait)));
            for answer in answers {
                expected = expected.max(answer.end_seq());
            }
        }
    }
}
