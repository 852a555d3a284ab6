//! What settings do, observed on connections between two namespaces over a wire that we are.

use super::tests::{choices_of, inside, made, with};
use super::*;
use crate::tcp_info::TcpInfo;
use ackord_sys::Namespace;
use ackord_sys::socket::{TCP_INFO_ROOM, bind, connect, option, set_option, tcp_info_bytes};
use ackord_testing::{assert_timely, timely};
use ackord_units::{KnobValue, Knobs};
use nix::sys::socket::{AddressFamily, Backlog, SockType, listen};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Two namespaces, and a wire between them on which packets may be lost.
struct Wire {
    ends: [Namespace; 2],
    over: Arc<AtomicBool>,
    carrier: Option<JoinHandle<Vec<(Instant, usize, usize)>>>,
}

const ADDRESSES: [&str; 2] = ["10.0.0.1", "10.0.1.1"];

impl Wire {
    /// `lost` is asked for each packet with data of the first end, counted from zero.
    fn new(settings: [&Settings; 2], lost: fn(usize) -> bool, delay: Duration) -> Option<Wire> {
        let [mut left, mut right] = {
            let left = made(&inside(settings[0], ADDRESSES[0]))?;
            [left, made(&inside(settings[1], ADDRESSES[1]))?]
        };
        let tuns = [left.take_tun(), right.take_tun()];
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let carrier = Some(std::thread::spawn(move || carry(&tuns, &stop, lost, delay)));
        Some(Wire { ends: [left, right], over, carrier })
    }

    /// A connection from the first end to the second, each end with its options.
    fn connect(&self, settings: [&Settings; 2], port: u16) -> [TcpStream; 2] {
        let fresh = |end: usize| {
            let socket = self.ends[end].socket(AddressFamily::Inet, SockType::Stream);
            let socket = socket.expect("a socket");
            for SocketOption { level, name, value, .. } in &settings[end].options {
                set_option(socket.as_fd(), *level, *name, value).expect("it is allowed");
            }
            socket
        };
        let server: IpAddr = ADDRESSES[1].parse().expect("an address");
        let server = SocketAddr::from((server, port));
        let listening = fresh(1);
        bind(listening.as_fd(), server).expect("our address");
        listen(&listening, Backlog::new(1).expect("few")).expect("it listens");
        let client = fresh(0);
        connect(client.as_fd(), server).expect("connected");
        let (accepted, _) = TcpListener::from(listening).accept().expect("a connection");
        [client.into(), accepted]
    }

    /// When packets of each end with so much payload came by: (time, end, payload).
    fn finish(mut self) -> Vec<(Instant, usize, usize)> {
        self.over.store(true, Ordering::Relaxed);
        self.carrier.take().expect("it runs").join().expect("it carries")
    }
}

/// Carries packets both ways until told to stop.
fn carry(
    tuns: &[File; 2],
    stop: &AtomicBool,
    lost: fn(usize) -> bool,
    delay: Duration,
) -> Vec<(Instant, usize, usize)> {
    let mut seen = Vec::new();
    let mut waiting: Vec<(Instant, usize, Vec<u8>)> = Vec::new();
    let (mut buffer, mut with_data) = (vec![0; 70_000], 0);
    while !stop.load(Ordering::Relaxed) {
        for (end, mut tun) in tuns.iter().enumerate() {
            while let Ok(len) = tun.read(&mut buffer) {
                let packet = &buffer[..len];
                if packet[0] >> 4 != 4 || packet[9] != 6 {
                    continue;
                }
                let payload = len - 20 - usize::from(packet[32] >> 4) * 4;
                let now = Instant::now();
                seen.push((now, end, payload));
                if end == 0 && payload > 0 {
                    with_data += 1;
                    if lost(with_data - 1) {
                        continue;
                    }
                }
                waiting.push((now + delay, 1 - end, packet.to_vec()));
            }
        }
        let now = Instant::now();
        for (_, to, packet) in waiting.extract_if(.., |(at, ..)| *at <= now) {
            let _ = (&tuns[to]).write_all(&packet);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    seen
}

fn info(stream: &TcpStream) -> TcpInfo {
    TcpInfo::from_bytes(&bytes(stream))
}

fn bytes(stream: &TcpStream) -> Vec<u8> {
    let mut room = [0; TCP_INFO_ROOM];
    tcp_info_bytes(stream.as_fd(), &mut room).expect("a connection").to_vec()
}

const NONE_LOST: fn(usize) -> bool = |_| false;
const NO_DELAY: Duration = Duration::ZERO;

/// The stack of the profile `linux` with another mechanism.
fn linux_with(key: &str, name: &str) -> Stack {
    let mut stack = choices_of("linux");
    let choice = stack.choice_mut(key).expect("one of the five choices");
    assert!(choice.choose(name), "{name} is listed");
    stack
}

/// The options that a connection agreed on: TCPI_OPT_* of `linux/tcp.h`.
fn agreed(stream: &TcpStream) -> [bool; 4] {
    let bits = bytes(stream)[5];
    [1, 2, 4, 8].map(|bit| bits & bit != 0)
}

#[test]
fn a_handshake_agrees_on_what_was_asked_for() {
    let words = ["timestamps", "sack", "window_scaling", "ecn"];
    for off in 0..4 {
        let changes: Vec<_> = words
            .iter()
            .enumerate()
            .map(|(n, w)| (*w, if n == off { "off" } else { "on" }))
            .collect();
        let settings = settings_for(&with(choices_of("linux"), &changes));
        let both = [&settings, &settings];
        let Some(wire) = Wire::new(both, NONE_LOST, NO_DELAY) else { return };
        let [client, _server] = wire.connect(both, 5001);
        let expected = [0, 1, 2, 3].map(|n| n != off);
        assert_eq!(agreed(&client), expected, "without {}", words[off]);
        wire.finish();
    }
}

#[test]
fn sizes_and_timers_of_a_connection_are_as_asked() {
    timely(|| {
        let changes =
            [("initial_window", "3"), ("mss", "536 B"), ("rto_min", "40 ms"), ("sack", "on")];
        let mut choices = with(choices_of("rfc"), &changes);
        assert!(choices.loss.set("threshold", KnobValue::Count(7)));
        let small = settings_for(&choices);
        let stock = settings_for(&choices_of("linux"));
        let Some(wire) = Wire::new([&small, &stock], NONE_LOST, NO_DELAY) else { return };
        let [client, server] = wire.connect([&small, &stock], 5001);
        let (client, server) = (info(&client), info(&server));
        assert_eq!((client.cwnd_segments, server.cwnd_segments), (3, 10));
        // Twelve bytes of a segment are timestamps.
        assert_eq!((client.snd_mss.get(), server.snd_mss.get()), (524, 524));
        assert_eq!((client.reordering_segments, server.reordering_segments), (7, 3));
        let [of_client, of_server] = [client.rto, server.rto].map(|rto| rto.as_millis());
        assert_timely!((40..120).contains(&of_client), "{of_client} ms");
        assert_timely!((200..300).contains(&of_server), "{of_server} ms");
        // A program that sets nothing has the congestion control of the route.
        let nothing = Settings::default();
        let [plain, _] = wire.connect([&nothing, &nothing], 5002);
        let name =
            option(plain.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION).expect("it has one");
        assert!(name.starts_with(b"cubic"), "{}", String::from_utf8_lossy(&name));
        wire.finish();
    });
}

/// How long the last acknowledgments of small segments took that nobody reads, in milliseconds, by
/// the median: all after the first sixteen.
fn acknowledged_after(ack: &str) -> Option<f64> {
    let sender = settings_for(&linux_with("nagle", "off"));
    let receiver = settings_for(&linux_with("ack", ack));
    let both = [&sender, &receiver];
    let wire = Wire::new(both, NONE_LOST, NO_DELAY)?;
    let [mut client, _server] = wire.connect(both, 5001);
    let mut waits = Vec::new();
    for _ in 0..23 {
        let (before, sent) = (info(&client).bytes_acked, Instant::now());
        client.write_all(&[7; 100]).expect("there is room");
        while info(&client).bytes_acked == before && sent.elapsed() < Duration::from_secs(1) {
            sleep(Duration::from_micros(200));
        }
        waits.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    wire.finish();
    let mut late = waits.split_off(18);
    late.sort_by(f64::total_cmp);
    Some(late[late.len() / 2])
}

#[test]
fn acknowledgments_wait_as_long_as_was_told() {
    timely(|| {
        let Some(stock) = acknowledged_after("linux") else { return };
        let at_once = acknowledged_after("immediate").expect("there is root");
        let bounded = acknowledged_after("adaptive-static").expect("there is root");
        println!("stock {stock:.1} ms, immediate {at_once:.1} ms, adaptive-static {bounded:.1} ms");
        // Forty milliseconds at least; two ticks at most.
        assert_timely!(stock > 30.0, "{stock}");
        assert_timely!(at_once < 5.0, "{at_once}");
        if KernelFacts::of_this_machine().delayed_ack_least.is_some() {
            assert_timely!(bounded > 1.0 && bounded < 30.0, "{bounded}");
        }
    });
}

/// How many of two small writes leave before the first is acknowledged.
fn leave_at_once(nagle: &str) -> Option<usize> {
    let settings = settings_for(&linux_with("nagle", nagle));
    let both = [&settings, &settings];
    let wire = Wire::new(both, NONE_LOST, Duration::from_millis(40))?;
    let [mut client, _server] = wire.connect(both, 5001);
    for _ in 0..2 {
        client.write_all(&[7; 100]).expect("there is room");
    }
    let sent = Instant::now();
    sleep(Duration::from_millis(120));
    let at_once = |(at, end, payload): &(Instant, usize, usize)| {
        *end == 0 && *payload > 0 && at.saturating_duration_since(sent) < Duration::from_millis(50)
    };
    Some(wire.finish().iter().filter(|seen| at_once(seen)).count())
}

#[test]
fn small_writes_wait_unless_nagle_is_off() {
    timely(|| {
        for (name, expected) in [("minshall", 1), ("on", 1), ("off", 2), ("ari", 2)] {
            let Some(found) = leave_at_once(name) else { return };
            assert_timely!(found == expected, "{name}: {found} of two, and not {expected}");
        }
    });
}

/// How long after a flight whose losses are `lost` the first segment leaves once more, in
/// milliseconds; the round trip is 40 ms.
fn sent_again_after(stack: &Stack, segments: usize, lost: fn(usize) -> bool) -> Option<u128> {
    let settings = settings_for(stack);
    let both = [&settings, &settings];
    let wire = Wire::new(both, lost, Duration::from_millis(20))?;
    let [mut client, _server] = wire.connect(both, 5001);
    client.write_all(&vec![7; 1448 * segments]).expect("there is room");
    sleep(Duration::from_millis(500));
    let seen: Vec<Instant> = wire
        .finish()
        .into_iter()
        .filter(|(_, end, payload)| *end == 0 && *payload > 0)
        .map(|(at, ..)| at)
        .collect();
    Some(
        seen.get(segments).expect("something is retransmitted").duration_since(seen[0]).as_millis(),
    )
}

#[test]
fn losses_are_found_as_was_told() {
    timely(|| {
        let first: fn(usize) -> bool = |n| n == 0;
        // Two segments above a hole: too few for counting, enough for RACK after a quarter round trip.
        let Some(rack) = sent_again_after(&linux_with("loss", "rack"), 3, first) else { return };
        let fixed =
            sent_again_after(&linux_with("loss", "fixed"), 3, first).expect("there is root");
        // The last two are lost: a probe after two round trips, or the retransmission timeout. (With
        // one alone outstanding the probe would wait for a delayed acknowledgment too.)
        let last: fn(usize) -> bool = |n| n == 2 || n == 3;
        let probed = sent_again_after(&linux_with("loss", "rack"), 4, last).expect("there is root");
        let mut off = linux_with("loss", "rack");
        assert!(off.loss.set("tlp", KnobValue::Choice("off")));
        let not_probed = sent_again_after(&off, 4, last).expect("there is root");
        println!("rack {rack} ms, fixed {fixed} ms, probe {probed} ms, without {not_probed} ms");
        assert_timely!((40..150).contains(&rack), "{rack}");
        assert_timely!((60..190).contains(&probed), "{probed}");
        assert_timely!(not_probed >= 200, "{not_probed}");
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a name");
        let mut numbers = release.split('.').map_while(|number| number.parse::<u32>().ok());
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        // What the table tells of it.
        assert_timely!((fixed < 150) == (version >= (6, 17)), "{fixed} ms on {release}");
    });
}

/// What fits into a buffer while the other side does nothing with it.
#[test]
fn buffers_hold_about_what_was_asked_for() {
    timely(|| {
        let changes = [
            ("receive_buffer", "100 kB"),
            ("send_buffer", "300 kB"),
            ("receive_buffer_tuning", "off"),
            ("send_buffer_tuning", "off"),
        ];
        let settings = settings_for(&with(choices_of("linux"), &changes));
        let both = [&settings, &settings];
        let Some(wire) = Wire::new(both, NONE_LOST, NO_DELAY) else { return };
        let [mut client, server] = wire.connect(both, 5001);
        client.set_nonblocking(true).expect("a socket");
        let (mut taken, start) = (0, Instant::now());
        while start.elapsed() < Duration::from_millis(600) {
            match client.write(&[7; 4096]) {
                Ok(len) => taken += len as u64,
                Err(_) => sleep(Duration::from_millis(1)),
            }
        }
        let received = info(&server).bytes_received.get();
        let waiting = taken - received;
        println!("asked for 100 kB and 300 kB: received {received} B, and {waiting} B wait");
        // Up to twice as much is in the open: see what is told.
        assert_timely!((90_000..=200_000).contains(&received), "{received}");
        assert_timely!((200_000..=320_000).contains(&waiting), "{waiting}");
        wire.finish();
    });
}
