//! Buffers that tune themselves: the receiver's by what the application reads (Weigle and Feng 2001),
//! the sender's by cwnd.

use crate::kit::{Pair, mechanisms, simple};
use ackord_tcp::{Buffers, Config};
use ackord_units::{Bytes, Span};
use ackord_wire::Side;

fn with(buffers: Buffers) -> Config {
    Config { buffers, ..simple() }
}

fn tuned() -> Buffers {
    Buffers { receive: Bytes(1 << 20), tunes_receive: true, ..simple().buffers }
}

fn ends() -> [ackord_tcp::Mechanisms; 2] {
    [(); 2].map(|()| mechanisms("reno", "newreno", "delayed", "off"))
}

/// The windows that the server has announced after the handshake, in bytes.
fn windows(pair: &Pair) -> Vec<u64> {
    let announced = pair.log.iter().filter(|logged| logged.from == Side::Server).skip(1);
    // 1 MiB takes a scale of five.
    announced.map(|logged| u64::from(logged.segment.window) << 5).collect()
}

/// A sender in slow start is never held back by a window that began with 64 KiB: the transfer takes
/// as long as with a buffer that was large from the start.
#[test]
fn a_reader_that_keeps_up_gets_a_buffer_that_does_not_hold_the_sender_back() {
    let takes = |buffers: Buffers| {
        let mut pair = Pair::established(with(buffers), ends());
        pair.client.write(Bytes(3_000_000));
        pair.lossless(Span::from_secs(5));
        assert_eq!(pair.server.bytes_received(), 3_000_000);
        let data = pair.log.iter().rfind(|logged| logged.segment.payload_len > 0);
        (data.expect("sent").at, windows(&pair))
    };
    let fixed = Buffers { tunes_receive: false, ..tuned() };
    let (at_once, _) = takes(fixed);
    let (grown, windows) = takes(tuned());
    assert_eq!(windows.first(), Some(&(64 << 10)));
    assert_eq!(windows.iter().max(), Some(&(1 << 20)), "the bound is reached, and not exceeded");
    assert!(grown <= at_once + Span::from_millis(40), "{grown:?}, fixed {at_once:?}");
    // A window that stayed at 64 KiB would take 46 round trips.
    let small = Buffers { receive: Bytes(64 << 10), ..tuned() };
    assert!(takes(small).0 > at_once + Span::from_secs(1));
}

/// Who does not read gets no more; who reads little a round trip gets room for a multiple of that.
#[test]
fn a_slow_reader_keeps_a_small_buffer() {
    let mut pair = Pair::established(with(tuned()), ends());
    pair.reads = false;
    pair.client.write(Bytes(3_000_000));
    pair.lossless(Span::from_secs(2));
    let filled = pair.server.readable();
    assert!((Bytes(64_000)..=Bytes(64 << 10)).contains(&filled), "{filled:?}");
    for _ in 0..50 {
        pair.server.read(Bytes(20_000));
        pair.lossless(Span::from_millis(40));
    }
    // Twice 20 kB, 16 segments, and that again twice for the doubling from ten segments.
    let most = *windows(&pair).iter().max().expect("announced");
    assert!(most <= 168_000, "{most}");
    assert!(pair.server.readable() <= Bytes(168_000));
}

/// Twice cwnd, so that the application can write what is going to replace what is in flight.
#[test]
fn a_send_buffer_grows_to_twice_cwnd() {
    let buffers = Buffers { send: Bytes(200_000), tunes_send: true, ..simple().buffers };
    let mut pair = Pair::established(with(buffers), ends());
    assert_eq!(pair.client.writable(), Bytes(20_000), "twice the initial window");
    let mut most = 0;
    for _ in 0..200 {
        let writable = pair.client.writable();
        pair.client.write(writable);
        let buffer = writable.get() + pair.client.flight_size().get();
        assert!(buffer <= (2 * pair.client.cwnd().get()).max(20_000), "{buffer}");
        most = most.max(buffer);
        pair.lossless(Span::from_millis(10));
    }
    assert_eq!(most, 200_000, "the bound is reached, and not exceeded");
}
