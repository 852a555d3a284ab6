//! The retransmission timer (RFC 6298), rule by rule.

use crate::kit::stack::Sender;
use crate::kit::{Pair, mechanisms, simple};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, Side};

fn pair() -> Pair {
    let choices = || mechanisms("reno", "newreno", "immediate", "off");
    Pair::new(simple(), [choices(), choices()])
}

/// §5.7: after a handshake that needed the timer, the timeout begins at three seconds at both ends
/// that had no sample.
#[test]
fn after_a_lost_syn_the_timeout_begins_at_three_seconds() {
    for (lost, ends) in [(Flags::SYN, [true, false]), (Flags::SYN | Flags::ACK, [true, true])] {
        let mut pair = pair();
        let mut left = 1;
        pair.run(Time::ZERO + Span::from_secs(2), |_, _, segment| {
            let drop = segment.flags == lost && left > 0;
            left -= u32::from(drop);
            drop
        });
        let three = Span::from_secs(3);
        // A server whose SYN-ACK was acknowledged at once has a sample.
        assert_eq!([pair.client.rto() == three, pair.server.rto() == three], ends, "{lost:?}");
    }
}

/// §5.7 and §5: the first sample ends it.
#[test]
fn the_first_sample_after_a_lost_syn_sets_the_timeout() {
    let mut pair = pair();
    let mut left = 1;
    pair.run(Time::ZERO + Span::from_secs(2), |_, _, segment| {
        let drop = segment.flags == Flags::SYN && left > 0;
        left -= u32::from(drop);
        drop
    });
    pair.client.write(Bytes(1_000));
    pair.lossless(Span::from_millis(100));
    // 40 ms and four times 20 ms are below the floor of a second.
    assert_eq!(pair.client.rto(), Span::from_secs(1));
}

/// §5.5 and Karn's rule: the timeout doubles each time it expires, and an acknowledgment of what was
/// retransmitted gives no sample, so that it stays doubled; one of a segment sent once ends that.
#[test]
fn back_off_lasts_until_a_segment_sent_once_is_acknowledged() {
    let mut sender = Sender::of(&[("sack", "off")], 3);
    assert_eq!(sender.sent().len(), 3);
    assert_eq!(sender.until(2_000), vec![(240, 0), (640, 0), (1_440, 0)]);
    assert_eq!(sender.ack(1, &[]), vec![1, 2]);
    assert_eq!(sender.connection.rto().as_millis(), 1_600, "no sample");
    sender.until(2_100);
    sender.ack(3, &[]);
    assert_eq!(sender.connection.rto().as_millis(), 1_600, "nor now");
    sender.write(1);
    assert_eq!(sender.sent(), vec![3]);
    sender.until(2_150);
    sender.ack(4, &[]);
    assert_eq!(sender.connection.rto().as_millis(), 200);
}

/// §5.2, §5.3: an acknowledgment of new data starts the timer anew, one of everything stops it.
#[test]
fn the_timer_runs_from_the_last_acknowledgment_of_new_data() {
    let mut sender = Sender::of(&[("sack", "off")], 3);
    sender.sent();
    sender.until(90);
    sender.ack(1, &[]);
    sender.until(150);
    sender.ack(1, &[]);
    assert_eq!(sender.until(300), vec![(290, 1)], "the duplicate changes nothing");
    sender.ack(3, &[]);
    assert_eq!(sender.connection.deadline(), None);
}

/// The same with what the client sends and the server answers, both timers.
#[test]
fn nobody_times_out_on_a_path_that_loses_nothing() {
    let mut pair = pair();
    pair.lossless(Span::from_millis(200));
    pair.client.write(Bytes(200_000));
    pair.server.write(Bytes(200_000));
    pair.lossless(Span::from_secs(10));
    let again = pair.log.iter().filter(|logged| logged.from == Side::Client).count();
    assert!(again > 0);
    assert_eq!((pair.client.stats().timeouts, pair.server.stats().timeouts), (0, 0));
}
