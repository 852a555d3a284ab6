//! Connections that are let pass, and the rings that do not show them meanwhile.

use super::{Trial, pause};
use crate::hosts::world::{MOBILE, MOBILE_V6, World, is_possible};
use ackord_gateway::watch::{FlowStatus, Group, Status};
use ackord_gateway::{Interface, Ring, Wanted};
use ackord_testing::{assert_timely, timely};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connects where somebody listens; on a busy machine it takes IPv6 a while until there is a route.
fn connect(address: &str, port: u16) -> TcpStream {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match TcpStream::connect((address, port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        pause(100);
    }
}

/// To [`Paced`]: it ends.
const END: u64 = u64::MAX;

/// A stream to the mobile host with so many bytes each ten milliseconds.
struct Paced {
    pace: Arc<AtomicU64>,
    sent: Arc<AtomicU64>,
    sender: JoinHandle<()>,
    receiver: JoinHandle<()>,
    port: u16,
}

impl Paced {
    fn start(world: &World, address: &'static str, port: u16, pace: u64) -> Paced {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let receiver = world.spawn("m", move || {
            let listener = TcpListener::bind((address, port)).expect("free");
            ready.send(()).expect("awaited");
            let (mut stream, _) = listener.accept().expect("it comes");
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        });
        is_ready.recv().expect("it binds");
        let pace = Arc::new(AtomicU64::new(pace));
        let sent = Arc::new(AtomicU64::new(0));
        let (told, tell) = (Arc::clone(&pace), Arc::clone(&sent));
        let sender = world.spawn("s", move || {
            let mut stream = connect(address, port);
            let mut due = Instant::now();
            loop {
                let bytes = told.load(Ordering::Relaxed);
                if bytes == END {
                    return;
                }
                stream.write_all(&vec![7; bytes as usize]).expect("it reads");
                tell.fetch_add(bytes, Ordering::Relaxed);
                due += Duration::from_millis(10);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        });
        Paced { pace, sent, sender, receiver, port }
    }

    fn set(&self, pace: u64) {
        self.pace.store(pace, Ordering::Relaxed);
    }

    fn of<'a>(&self, status: &'a Status) -> Option<&'a FlowStatus> {
        status.top_flows.iter().find(|one| one.mobile.port() == self.port)
    }

    fn is(&self, group: Group) -> impl Fn(&Status) -> bool {
        move |status| self.of(status).is_some_and(|one| one.group == group)
    }

    fn finish(self) {
        self.set(END);
        self.sender.join().expect("it sends");
        self.receiver.join().expect("it receives");
    }
}

/// Packets that passed the LAN interface, and those of them that were shown.
fn packets(trial: &Trial, status: &Status) -> (u64, u64) {
    let counted = |which: &str| {
        let file = format!("cat /sys/class/net/lan/statistics/{which}_packets");
        trial.world.on("r", &file).trim().parse::<u64>().expect("a number")
    };
    let ring = status.rings.iter().find(|ring| ring.side == "lan").expect("one");
    (counted("rx") + counted("tx"), ring.packets)
}

#[test]
fn a_fast_connection_is_hardly_looked_at_until_it_slows_down_and_another_beside_it_always() {
    if !is_possible() {
        return;
    }
    timely(|| {
        for (address, port) in [(MOBILE, 5_201), (MOBILE_V6, 5_202)] {
            one_fast_one_slow(address, port);
        }
    });
}

fn one_fast_one_slow(address: &'static str, port: u16) {
    let trial = Trial::new(200);
    trial.configure("remedy = \"proxy-tcp\"\ncontrol = \"0 %\"\n[limits]\nfast = \"8 Mbit/s\"");
    let mut gateway = trial.start();
    // 80 Mbit/s, and a hundredth of that.
    let fast = Paced::start(&trial.world, address, port, 100_000);
    let beside = Paced::start(&trial.world, address, port + 10, 1_000);
    trial.until("let pass", fast.is(Group::Untreated));
    let before = trial.until("looked at once", |status| status.process.uptime_s > 3.0);
    let (passed_before, shown_before) = packets(&trial, &before);
    pause(3_000);
    let after = trial.status();
    let (passed, shown) = packets(&trial, &after);
    let share = (shown - shown_before) as f64 / (passed - passed_before) as f64;
    println!("{address}: {share:.3} of the packets were shown");
    assert_timely!(share < 0.4, "{share} of the packets were shown");
    assert_timely!(fast.is(Group::Untreated)(&after), "{after:#?}");
    assert_timely!(beside.is(Group::Treated)(&after), "{after:#?}");
    let counted = fast.of(&after).expect("known").bytes_to_mobile;

    fast.set(1_000);
    let slowed_down = Instant::now();
    trial.until("treated again", fast.is(Group::Treated));
    let until_treated = slowed_down.elapsed();
    println!("{address}: treated again after {until_treated:?}");
    // Two seconds at most until it was looked at for long enough, and one until that is told.
    assert_timely!(until_treated < Duration::from_millis(4_000), "after {until_treated:?}");
    // 80 Mbit/s for as long as it was.
    let about = 100_000.0 * 100.0 * after.process.uptime_s;
    assert_timely!((0.3..1.5).contains(&(counted as f64 / about)), "{counted} of {about}");
    if address == MOBILE {
        let injected = |status: &Status| fast.of(status).map_or(0, |one| one.injected_segments);
        trial.outage(900);
        trial.until("retransmitted", |status| injected(status) > 0);
    }
    // It stays open: what comes late to one that has ended is answered by a reset, and nobody knows it then.
    beside.set(0);
    pause(100);
    let sent = beside.sent.load(Ordering::Relaxed);
    let seen = |status: &Status| beside.of(status).map_or(0, |one| one.bytes_to_mobile);
    let until = Instant::now() + Duration::from_secs(5);
    let mut status = trial.status();
    while seen(&status) < sent && Instant::now() < until {
        pause(100);
        status = trial.status();
    }
    let lost: u64 = status.rings.iter().map(|ring| ring.lost).sum();
    assert_timely!(lost == 0, "{lost} packets were lost");
    // What was retransmitted passed twice.
    assert!(seen(&status) >= sent, "{sent}: {status:#?}");
    fast.finish();
    beside.finish();
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
    assert_eq!(trial.world.left_behind(), "");
}

/// SYNs and other segments that a ring shows.
fn shown(ring: &mut Ring) -> (u64, u64) {
    let (mut syns, mut others) = (0, 0);
    ring.read(|_, sighting| {
        let ip = &sighting.frame[14..];
        let tcp = match ip[0] >> 4 {
            4 => &ip[20..],
            6 => &ip[40..],
            // A question for an address.
            _ => return,
        };
        match tcp[13] & 2 {
            0 => others += 1,
            _ => syns += 1,
        }
    });
    (syns, others)
}

#[test]
fn of_what_leaves_by_the_wan_interface_every_syn_is_shown_and_a_share_of_the_rest() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let (over, is_over) = std::sync::mpsc::channel();
    let router = world.spawn("r", move || {
        let mut ring = Ring::open("wan", Interface::Wan, Wanted::ShareOut).expect("it opens");
        ready.send(()).expect("awaited");
        is_over.recv().expect("it ends");
        pause(50);
        shown(&mut ring)
    });
    is_ready.recv().expect("it opens");
    let sent = |which: &str| -> u64 {
        let file = format!("cat /sys/class/net/wan/statistics/{which}_packets");
        world.on("r", &file).trim().parse().expect("a number")
    };
    for address in ["10.1.0.1", "fd01::1"] {
        let (bound, is_bound) = std::sync::mpsc::channel();
        let server = world.spawn("s", move || {
            let listener = TcpListener::bind((address, 5_301)).expect("free");
            bound.send(()).expect("awaited");
            for _ in 0..20 {
                let (mut stream, _) = listener.accept().expect("it comes");
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
        });
        is_bound.recv().expect("it binds");
        let mobile = world.spawn("m", move || {
            for _ in 0..20 {
                let mut stream = connect(address, 5_301);
                stream.set_nodelay(true).expect("a flag");
                for _ in 0..50 {
                    stream.write_all(&[7; 100]).expect("it reads");
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
        });
        mobile.join().expect("it sends");
        server.join().expect("it reads");
    }
    let passed = sent("tx");
    over.send(()).expect("it listens");
    let (syns, others) = router.join().expect("nothing failed there");
    println!("of {passed} packets {syns} SYNs and {others} others were shown");
    assert!(syns >= 40, "{syns}");
    // A sixteenth, and five standard deviations at least to either side.
    let share = others as f64 / (passed - syns) as f64;
    assert!(passed > 1_500 && (0.03..0.1).contains(&share), "{share} of {passed}");
}
