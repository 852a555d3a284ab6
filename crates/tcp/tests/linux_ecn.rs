//! What `profile = "linux"` does about explicit congestion notification against what a stock kernel in
//! simulated time did with the same segments, on a path of 40 ms.
//!
//! `scripts/linux-ecn.py` plays the same scripts to the kernel.

use crate::kit::kernel::{answer, count};
use crate::kit::stack::{Ack, Sender, stack};
use ackord_events::NoSink;
use ackord_tcp::{Connection, registry};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, Segment, Side};

const SETUP: Flags = Flags::from_bits(Flags::ECE.bits() | Flags::CWR.bits());
const CWR: Flags = Flags::CWR;
const NONE: Flags = Flags::NONE;

fn linux(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let profile = registry::profile("linux").expect("listed");
    let settings = profile.settings.iter().map(|setting| (setting.key, setting.value));
    let mut settings: Vec<_> = settings.filter(|(key, _)| *key != "timestamps").collect();
    settings.extend_from_slice(&[
        ("timestamps", "off"),
        ("nagle", "off"),
        // The script sets SO_SNDBUF, which then stays as it is.
        ("send_buffer_tuning", "off"),
    ]);
    settings.extend_from_slice(more);
    settings
}

fn segment(seq: Seq, ack: Seq, flags: Flags, payload_len: u32) -> Segment {
    Segment { seq, ack, flags, window: 60_000, payload_len, ..Segment::default() }
}

/// A host of the profile that listens, and what it answers to a SYN with these flags.
fn listener(more: &[(&'static str, &'static str)], flags: Flags) -> (Connection, Segment) {
    let mut settings = linux(more);
    settings.push(("mss", "1000 B"));
    let (config, mechanisms) = stack(&settings);
    let mut host =
        Connection::listen(config, mechanisms, crate::kit::endpoint(Side::Server), Seq(77));
    let options = Options {
        mss: Some(1000),
        sack_permitted: true,
        window_scale: Some(10),
        ..Options::default()
    };
    let syn = Segment { options, ..segment(Seq(1000), Seq(0), Flags::SYN | flags, 0) };
    host.handle_segment(Time::ZERO, &syn, Ecn::NotEct, &mut NoSink);
    let answer = host.poll_segment(Time::ZERO, &mut NoSink).expect("a SYN-ACK");
    assert_eq!(answer.ecn, Ecn::NotEct);
    (host, answer.segment)
}

#[test]
fn a_syn_is_answered_as_the_kernel_answers_it() {
    let kernel = answer("ecn", "handshakes");
    for (ecn, mode) in [("off", 0), ("on", 1), ("accept", 2)] {
        for (flags, named) in [(SETUP, "SYN+ECE+CWR"), (Flags::ECE, "SYN+ECE"), (NONE, "SYN")] {
            let (_, ours) = listener(&[("ecn", ecn)], flags);
            let name = format!("tcp_ecn={mode}, {named} arrives; answer");
            let ece = if kernel[&name] == "SYN+ACK+ECE" { Flags::ECE } else { NONE };
            assert!(kernel[&name].as_str().is_some_and(|name| name.starts_with("SYN+ACK")));
            assert_eq!(ours.flags, Flags::SYN | Flags::ACK | ece, "{name}");
        }
    }
    let (_, stock) = listener(&[], SETUP);
    assert!(stock.flags.contains(Flags::ECE), "the profile accepts");
}

/// One segment each 100 ms, beyond the budget of acknowledgments at once: what waits, and what the
/// acknowledgment says.
#[test]
fn a_first_mark_cwr_and_what_cannot_be_marked_are_acknowledged_at_once() {
    let (mut host, syn_ack) = listener(&[], SETUP);
    let (mut now, mut seq) = (Time::ZERO + Span::from_millis(40), Seq(1001));
    let peer_ack = syn_ack.seq + 1;
    host.handle_segment(now, &segment(seq, peer_ack, Flags::ACK, 0), Ecn::NotEct, &mut NoSink);
    let mut data = |flags: Flags, ecn, gap_ms: u64| {
        let sent_at = now;
        let data = segment(seq, peer_ack, Flags::ACK | flags, 1000);
        seq += 1000;
        host.handle_segment(now, &data, ecn, &mut NoSink);
        now += Span::from_millis(gap_ms);
        let mut acks = Vec::new();
        let mut at = sent_at;
        loop {
            while let Some(outbound) = host.poll_segment(at, &mut NoSink) {
                let waited = at.saturating_since(sent_at).as_nanos() / 1_000_000;
                acks.push((waited, outbound.segment.flags.contains(Flags::ECE)));
            }
            match host.deadline().filter(|due| *due < now) {
                Some(due) => {
                    at = due;
                    host.handle_deadline(at, &mut NoSink);
                }
                None => break acks,
            }
        }
    };
    for _ in 0..40 {
        data(NONE, Ecn::Ect0, 5);
    }
    data(NONE, Ecn::Ect0, 100);
    let kernel = answer("ecn", "echoes");
    for (place, step) in kernel.as_array().expect("a list").iter().enumerate() {
        let what = step[0].as_str().expect("a name");
        let (flags, ecn) = match what {
            "ECT0" => (NONE, Ecn::Ect0),
            "CE" => (NONE, Ecn::Ce),
            "CWR" => (CWR, Ecn::Ect0),
            "CE with CWR" => (CWR, Ecn::Ce),
            "not capable" => (NONE, Ecn::NotEct),
            other => panic!("{other}?"),
        };
        let acks = data(flags, ecn, 100);
        let [(waited, ece)] = acks.as_slice() else { panic!("{place}: {acks:?}") };
        let [kernel] = step[1].as_array().expect("a list").as_slice() else { panic!("{step}") };
        let kernel_ms = kernel[0].as_f64().expect("ms");
        assert_eq!(kernel[1], *ece, "{place}, {what}");
        let late = (*waited as f64 - kernel_ms).abs();
        assert!(late <= 0.2, "{place}, {what}: {waited} ms, the kernel {kernel_ms} ms");
    }
}

/// Plays the sender's script: every segment is acknowledged in turn, those of `marked` with ECE, and
/// `lost` is lost once. What each acknowledgment from the first marked on lets out.
fn answers(marked: std::ops::Range<u32>, lost: Option<u32>) -> (Sender, Vec<(u32, Vec<u32>)>) {
    let mut sender = Sender::of(&linux(&[("ecn", "on")]), 300);
    let mut queue: std::collections::VecDeque<u32> = sender.sent().into();
    sender.until(80);
    let (mut lost, mut hole, mut highest) = (lost, None, 0);
    let mut left = Vec::new();
    for _ in 0..60 {
        let number = queue.pop_front().expect("something is outstanding");
        if lost == Some(number) {
            hole = lost.take();
            continue;
        }
        highest = number.max(highest);
        hole = hole.filter(|hole| *hole != number);
        let ece = marked.contains(&number);
        let now = sender.millis();
        sender.until(now + 4);
        let out = match hole {
            None => sender.on(Ack { next: highest + 1, ece, ..Ack::default() }),
            Some(hole) => sender.on(Ack {
                next: hole,
                sack: &[(hole + 1, highest + 1)],
                ece,
                ..Ack::default()
            }),
        };
        queue.extend(&out);
        if number >= marked.start {
            left.push((number, out));
        }
    }
    (sender, left)
}

/// What has left by any acknowledgment is what the kernel has sent, give or take so many; the kernel's cwnd
/// at the end.
fn agree(left: &[(u32, Vec<u32>)], name: &str, within: usize) -> u32 {
    let kernel = answer("ecn", name);
    let steps = kernel["left"].as_array().expect("a list");
    assert_eq!(left.len(), steps.len());
    let (mut ours, mut theirs) = (0, 0);
    for ((number, out), step) in left.iter().zip(steps) {
        ours += out.len();
        theirs += step[1].as_array().expect("a list").len();
        let what = format!("{name}, after {number}: {ours}, the kernel {theirs}");
        assert!(ours.abs_diff(theirs) <= within, "{what}: {left:?}");
    }
    count(&kernel["cwnd"])
}

#[test]
fn a_marked_window_shrinks_in_proportion_and_says_cwr_once() {
    let (sender, left) = answers(12..34, None);
    assert_eq!(left[0], (12, vec![34]), "the kernel's segment 34 carries CWR");
    let cwnd = agree(&left, "marked", 1);
    let reduced: Vec<u32> =
        sender.log.iter().filter(|sent| sent.1.contains(CWR)).map(|sent| sent.0).collect();
    assert_eq!(reduced, [34]);
    assert!(sender.log.iter().all(|sent| sent.2 == Ecn::Ect0));
    assert_eq!(sender.cwnd_segments() as u32, cwnd);
}

#[test]
fn a_loss_of_the_marked_window_takes_nothing_more() {
    let (sender, left) = answers(12..14, Some(20));
    let resent = left.iter().find(|(_, out)| out.contains(&20)).expect("retransmitted");
    assert_eq!(resent.0, 23, "three above the hole");
    // The kernel goes on with the reduction that the mark began, our recovery begins one of its own:
    // two segments behind for a moment.
    let kernel = agree(&left, "marked_and_lost", 2);
    assert_eq!(kernel, 16);
    let plain: Vec<u32> =
        sender.log.iter().filter(|sent| sent.2 == Ecn::NotEct).map(|sent| sent.0).collect();
    assert_eq!(plain, [20], "what is retransmitted may not be marked");
    // Two reductions of 0.7 would leave ten.
    assert_eq!(sender.ssthresh_segments() as u32, 15);
    // The kernel's has grown to 16 four acknowledgments before the end, ours is about to.
    let cwnd = sender.cwnd_segments();
    assert!((15.4..17.0).contains(&cwnd), "{cwnd}");
}
