//! A queue in the path of a pair of interfaces in a network namespace of the test's thread.

use super::*;
use crate::LinkKind;
use crate::bpf::{AttachBy, Attachment, Point, mark_counter};
use ackord_path::registry::QueueChoice;
use ackord_testing::{installed, skipped};
use ackord_units::Choice;
use nix::sched::{CloneFlags, unshare};
use std::process::Command;

/// An interface `lan` with a neighbour at the other end, where this is possible.
fn pair() -> bool {
    if !installed(&["ip"]) {
        return false;
    }
    if let Err(errno) = unshare(CloneFlags::CLONE_NEWNET) {
        skipped(format_args!("no network namespace: {}", errno.desc()));
        return false;
    }
    if std::fs::File::open("/dev/net/tun").is_err() {
        skipped("no /dev/net/tun");
        return false;
    }
    for words in [
        "link add lan type veth peer name far",
        "link set lan up",
        "link set far up",
        "addr add 10.2.0.2/24 dev lan",
        "neigh add 10.2.0.1 lladdr 02:00:00:00:00:01 dev lan",
    ] {
        let done = Command::new("ip").args(words.split(' ')).status().expect("ip runs");
        assert!(done.success(), "ip {words}");
    }
    true
}

fn config(queue: &str) -> InPathConfig {
    InPathConfig {
        interface: "lan".to_owned(),
        queue: QueueChoice::named(queue).expect("listed"),
        rate: Rate::from_mbits_per_sec(100),
        follow: None,
        delay: Span::ZERO,
        seed: 1,
        memory: Bytes(1 << 20),
        attach: AttachBy::Best,
        real_time: false,
    }
}

fn journal() -> (tempfile::TempDir, Arc<Journal>) {
    let directory = tempfile::tempdir().expect("a directory");
    let (journal, _) = Journal::open(directory.path()).expect("it is new");
    (directory, Arc::new(journal))
}

#[test]
#[allow(clippy::disallowed_types, reason = "a host beside the queue")]
fn a_packet_has_its_mark_behind_the_queue_too() {
    if !pair() {
        return;
    }
    let (_directory, journal) = journal();
    let in_path = InPath::start(config("drop-tail"), &journal).expect("root may");
    // Behind the program that steers: only what comes out of the queue meets this one.
    let mark = 0x0102_0304;
    let (counter, program) = mark_counter(mark).expect("root may");
    let index = nix::net::if_::if_nametoindex("lan").expect("it is there");
    let place = (index, Point::Egress);
    let _attached = Attachment::new(&program, place, in_path.config.attach, &journal);
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("free");
    nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::Mark, &mark)
        .expect("root may");
    for _ in 0..100 {
        socket.send_to(b"marked", "10.2.0.1:9").expect("it is up");
    }
    let stats = in_path.stop();
    assert!(stats.packets_in >= 1, "{stats:?}");
    let counted = counter.get().load(Ordering::Relaxed);
    // Through the queue or, while its thread was late, beside it.
    assert_eq!(counted + stats.drops.total(), 100, "{stats:?}");
    assert_eq!(stats.state, InPathState::Stopped);
}

#[test]
#[allow(clippy::disallowed_types, reason = "a host beside the queue")]
fn bare_packets_come_out_of_a_tun_device_as_they_went_in() {
    if !pair() {
        return;
    }
    let (_directory, journal) = journal();
    // A TUN device of ours in the place of a modem.
    let modem = crate::device::Tap::open(LinkKind::Bare).expect("root may");
    for words in ["addr add 10.3.0.2/24 dev ackord0", "link set ackord0 mtu 1400"] {
        assert!(Command::new("ip").args(words.split(' ')).status().expect("ip runs").success());
    }
    let of_modem = InPathConfig { interface: "ackord0".to_owned(), ..config("fq-codel") };
    let in_path = InPath::start(of_modem, &journal).expect("root may");
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("free");
    for number in 0..50_u8 {
        socket.send_to(&[number; 1_000], "10.3.0.1:9").expect("it is up");
    }
    let stats = in_path.stop();
    assert!(stats.packets_in >= 1, "{stats:?}");
    let mut numbers = Vec::new();
    let mut bytes = vec![0; crate::device::Tap::LONGEST];
    while let Some(len) = modem.read(&mut bytes).expect("it is there") {
        let ip = &bytes[10..len];
        if let Ok(of) = ackord_wire::decode_ip(ip)
            && of.protocol == 17
        {
            let payload = &ip[of.payload.start + 8..];
            assert!(payload.len() == 1_000 && payload.iter().all(|byte| *byte == payload[0]));
            numbers.push(payload[0]);
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..50).collect::<Vec<u8>>(), "{stats:?}");
}

#[test]
fn what_cannot_be_is_said_and_leaves_nothing() {
    if !pair() {
        return;
    }
    let (_directory, journal) = journal();
    let none_such = InPathConfig { interface: "none-such".to_owned(), ..config("codel") };
    let waits = InPath::start(none_such, &journal).expect("it may come");
    let state = || waits.stats().state;
    for _ in 0..500 {
        if state() == InPathState::Stopped {
            let _ = nix::poll::poll(&mut [], 10_u8);
        }
    }
    let why = "the interface: No such device (os error 19)".to_owned();
    assert_eq!(state(), InPathState::Waiting(why));
    drop(waits);
    let still = InPathConfig { rate: Rate::from_bits_per_sec(0), ..config("codel") };
    assert!(matches!(InPath::start(still, &journal), Err(InPathError::ZeroRate)));
    let mut in_path = InPath::start(config("codel"), &journal).expect("root may");
    let zero = Rate::from_bits_per_sec(0);
    assert!(in_path.change(config("red").queue, zero, None).is_err());
    assert_eq!(in_path.stats().state, InPathState::Steering);
    drop(in_path);
    assert_eq!(journal.standing(), Vec::<String>::new());
    // Where another test of this process starts a program just now, that has the device's descriptor until
    // it runs.
    let is_there = || nix::net::if_::if_nametoindex("ackord0").is_ok();
    for _ in 0..500 {
        if is_there() {
            let _ = nix::poll::poll(&mut [], 10_u8);
        }
    }
    assert!(!is_there(), "the TAP device is gone");
}
