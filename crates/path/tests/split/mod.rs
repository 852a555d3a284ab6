//! Split connections between two hosts: what goes over, what is acknowledged too early, and what
//! becomes of it all when a host or the box is gone.

mod bench;
mod properties;

use ackord_events::{ProxySending, TcpState};
use ackord_path::proxy::{Heading, Hop, Middlebox, SelectiveRepeat, SplitConfig};
use ackord_tcp::CloseReason;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, Segment};
use bench::{Bench, Who, config, ms};

const BOTH: [Who; 2] = [Who::Fixed, Who::Mobile];

/// Both kinds of wireless half.
pub(crate) fn both_hops() -> [Hop; 2] {
    let timer_min = Span::from_millis(100);
    [Hop::Tcp, Hop::SelectiveRepeat(SelectiveRepeat { window_segments: 16, timer_min })]
}

fn times(segments: &[(Time, Segment)], flags: Flags) -> Vec<Time> {
    let with = segments.iter().filter(|(_, segment)| segment.flags.contains(flags));
    with.map(|(at, _)| *at).collect()
}

fn stats(bench: &Bench) -> &ackord_path::ProxyStats {
    bench.split.as_ref().expect("the box is there").stats()
}

#[test]
fn the_fixed_host_is_answered_before_the_mobile_was_asked() {
    let mut bench = Bench::new(config(), Who::Fixed, (100_000, 0));
    bench.run_until(ms(10_000));
    // 20 ms to the box and 20 ms back; the mobile's own answer would have taken 80.
    let answers = times(&bench.host(Who::Fixed).heard, Flags::SYN | Flags::ACK);
    assert_eq!(answers, [ms(40)]);
    assert_eq!(bench.host(Who::Mobile).received, 100_000);
}

#[test]
fn whoever_opens_data_goes_both_ways_and_nothing_is_kept_afterwards() {
    for hop in both_hops() {
        for opener in BOTH {
            let mut bench = Bench::new(SplitConfig { hop, ..config() }, opener, (300_000, 200_000));
            bench.run_until(ms(1_500));
            assert_eq!(bench.host(Who::Mobile).received, 300_000);
            assert_eq!(bench.host(Who::Fixed).received, 200_000);
            for who in BOTH {
                assert!(matches!(bench.state(who), TcpState::Closed | TcpState::TimeWait));
            }
            // Remembered for as long as old duplicates may come, then not.
            assert_eq!(stats(&bench).flows, 1);
            bench.run_until(ms(10_000));
            let left = *stats(&bench);
            assert_eq!((left.flows, left.cached), (0, Bytes::ZERO));
            assert_eq!((left.acknowledged_early, left.acknowledged_lost), (Bytes(0), Bytes(0)));
            assert_eq!(bench.split.as_ref().and_then(Middlebox::deadline), None);
        }
    }
}

#[test]
fn a_host_that_has_closed_still_gets_what_the_other_sends() {
    for first in BOTH {
        let mut bench = Bench::new(config(), Who::Fixed, (50_000, 50_000));
        let waits = if first == Who::Fixed { Who::Mobile } else { Who::Fixed };
        bench.host(waits).waits = true;
        bench.run_until(ms(10_000));
        assert_eq!(bench.host(Who::Mobile).received, 50_000);
        assert_eq!(bench.host(Who::Fixed).received, 50_000);
        let fin = times(&bench.host(waits).heard, Flags::FIN)[0];
        let answer = times(&bench.host(first).heard, Flags::FIN)[0];
        assert!(answer > fin, "the FIN came back only after the other's had arrived");
        assert_eq!(bench.host(first).connection.close_reason(), Some(CloseReason::Orderly));
    }
}

#[test]
fn data_is_acknowledged_while_the_mobile_cannot_be_reached() {
    let mut bench = Bench::new(config(), Who::Fixed, (100_000, 0));
    bench.fate = Box::new(|_, _| Vec::new());
    bench.run_until(ms(2_000));
    // The fixed host is done, as far as it can know; the connection is half open.
    let fixed = &bench.host(Who::Fixed).connection;
    assert_eq!((fixed.bytes_acked(), fixed.state()), (100_000, TcpState::FinWait2));
    assert_eq!(bench.host(Who::Mobile).received, 0);
    let early = *stats(&bench);
    assert_eq!((early.acknowledged_early, early.cached), (Bytes(100_000), Bytes(100_000)));
    // The box gives the SYN up after sixteen timeouts that double up to a minute, and has nothing
    // left to say but that the connection is gone.
    bench.run_until(ms(900_000));
    let fixed = &bench.host(Who::Fixed).connection;
    assert_eq!(fixed.close_reason(), Some(CloseReason::ResetByPeer));
    let after = *stats(&bench);
    assert_eq!((after.acknowledged_lost, after.cached), (Bytes(100_000), Bytes::ZERO));
    assert_eq!(after.flows, 0);
}

#[test]
fn a_mobile_that_refuses_resets_a_connection_that_was_already_accepted() {
    let mut bench = Bench::new(config(), Who::Fixed, (1_000, 0));
    // Nobody listens there: a SYN is answered with a reset.
    bench.host(Who::Mobile).connection.abort();
    bench.fate = Box::new(|_, _| Vec::new());
    bench.run_until(ms(30));
    let syn = Segment { seq: ackord_units::Seq(1), ..Segment::default() };
    let box_syn = bench.last_to_mobile.expect("the box has asked");
    let reset = ackord_tcp::reset_for(&box_syn.tcp.unwrap_or(syn));
    let answer = ackord_wire::Packet {
        from: box_syn.from.other(),
        src: box_syn.dst,
        dst: box_syn.src,
        tcp: Some(reset),
        ..box_syn
    };
    bench.pass_box(&answer, Heading::Fixed);
    bench.run_until(ms(1_000));
    let fixed = &bench.host(Who::Fixed).connection;
    assert_eq!(fixed.close_reason(), Some(CloseReason::ResetByPeer));
}

#[test]
fn a_reset_passes_on_and_what_comes_after_it_is_answered_with_another() {
    let mut bench = Bench::new(config(), Who::Mobile, (500_000, 500_000));
    bench.run_until(ms(200));
    bench.host(Who::Mobile).connection.abort();
    bench.run_until(ms(2_000));
    let fixed = &bench.host(Who::Fixed).connection;
    assert_eq!(fixed.close_reason(), Some(CloseReason::ResetByPeer));
    assert!(stats(&bench).acknowledged_lost > Bytes::ZERO);
    let before = bench.sent_by_box[&ProxySending::Relay];
    let stray = bench.last_to_box.expect("packets came");
    bench.pass_box(&stray, Heading::Mobile);
    assert_eq!(bench.sent_by_box[&ProxySending::Relay], before + 1);
}

#[test]
fn options_are_agreed_on_each_side_by_itself() {
    let wireless = bench::stack("ns2");
    let mut bench = Bench::new(SplitConfig { wireless, ..config() }, Who::Fixed, (50_000, 0));
    bench.run_until(ms(5_000));
    let fixed: Vec<_> =
        bench.host(Who::Fixed).heard.iter().map(|(_, heard)| heard.options).collect();
    assert!(fixed.iter().all(|options| options.timestamps.is_some()));
    let mobile: Vec<_> =
        bench.host(Who::Mobile).heard.iter().map(|(_, heard)| heard.options).collect();
    assert!(mobile.iter().all(|options| options.timestamps.is_none()));
    assert_eq!(bench.host(Who::Mobile).received, 50_000);
}

#[test]
fn without_a_limit_the_box_takes_all_and_with_one_the_senders_window_closes() {
    for hop in both_hops() {
        // The mobile reads nothing: what goes over is what its buffer holds.
        let run = |buffer| {
            let config = SplitConfig { hop, buffer, ..config() };
            let mut bench = Bench::new(config, Who::Fixed, (30_000_000, 0));
            bench.host(Who::Mobile).reads = false;
            bench.run_until(ms(60_000));
            let acked = bench.host(Who::Fixed).connection.bytes_acked();
            (acked, bench.most_held.get())
        };
        // The window field is rounded up to 128 bytes with each of its acknowledgments.
        let mobile_buffer = (4 << 20) + (4 << 20) / 1_448 * 127;
        let (acked, held) = run(None);
        assert_eq!(acked, 30_000_000);
        assert!(held >= 30_000_000 - mobile_buffer, "{held}");
        let (acked, held) = run(Some(Bytes(64_000)));
        assert!(held <= 64_000, "{held} bytes in a buffer of 64000");
        assert!(held > 60_000 && acked >= 4 << 20, "{held} held, {acked} acknowledged");
        assert!(acked <= mobile_buffer + 64_000);
    }
}

#[test]
fn a_box_that_dies_leaves_two_hosts_that_do_not_understand_each_other() {
    for hop in both_hops() {
        let config = SplitConfig { hop, ..config() };
        let mut bench = Bench::new(config, Who::Mobile, (20_000_000, 0));
        // It dies while the link has faded.
        let faded = ms(200)..ms(400);
        bench.fate = Box::new(
            move |now, _| {
                if faded.contains(&now) { Vec::new() } else { vec![Span::ZERO] }
            },
        );
        bench.run_until(ms(300));
        let mut last_words = *stats(&bench);
        last_words.bury();
        bench.split = None;
        bench.run_until(ms(5_000));
        let got = bench.host(Who::Mobile).received;
        let fixed = &bench.host(Who::Fixed).connection;
        // What was on the wireless link may still arrive; the rest of what was acknowledged never.
        let gone = fixed.bytes_acked() - got;
        assert!(gone > 0 && gone <= last_words.acknowledged_lost.get(), "{gone} {last_words:?}");
        assert!(got < 20_000_000, "the transfer is over");
        assert!(fixed.stats().timeouts > 0);
    }
}

#[test]
fn what_a_new_box_did_not_see_begin_passes_untouched() {
    let mut bench = Bench::new(config(), Who::Fixed, (0, 0));
    bench.split = None;
    bench.host(Who::Fixed).to_write = 2_000_000;
    bench.run_until(ms(200));
    bench.split = Some(ackord_path::proxy::Split::new(config()));
    bench.run_until(ms(10_000));
    assert_eq!(bench.host(Who::Mobile).received, 2_000_000);
    assert_eq!((stats(&bench).absorbed, stats(&bench).flows), (0, 0));
    assert!(stats(&bench).seen > 1_000);
}

#[test]
fn connections_beyond_the_limit_pass_untouched() {
    let mut bench = Bench::new(SplitConfig { flows: 0, ..config() }, Who::Fixed, (10_000, 0));
    bench.run_until(ms(5_000));
    assert_eq!(bench.host(Who::Mobile).received, 10_000);
    assert_eq!((stats(&bench).flows_refused, stats(&bench).absorbed), (1, 0));
}

#[test]
fn a_copy_goes_on_as_the_original_does() {
    let mut bench = Bench::new(config(), Who::Fixed, (400_000, 0));
    bench.run_until(ms(150));
    let copy = bench.split.clone();
    bench.split = copy;
    bench.run_until(ms(10_000));
    assert_eq!(bench.host(Who::Mobile).received, 400_000);
}
