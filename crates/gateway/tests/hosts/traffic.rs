//! What runs through the router: datagrams with numbers and times, streams whose bytes are known.

use crate::hosts::world::{MOBILE, World};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u64,
    pub(crate) sent_at: Instant,
    pub(crate) arrived_at: Instant,
}

/// A datagram every millisecond from the sender to the mobile host.
pub(crate) struct Datagrams {
    over: Arc<AtomicBool>,
    sender: JoinHandle<Vec<Instant>>,
    receiver: JoinHandle<Vec<(u64, Instant)>>,
}

const PORT: u16 = 9_000;

impl Datagrams {
    pub(crate) fn start(world: &World) -> Datagrams {
        let over = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = std::sync::mpsc::channel();
        let end = Arc::clone(&over);
        let receiver = world.spawn("m", move || {
            let socket = UdpSocket::bind(("0.0.0.0", PORT)).expect("free");
            socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
            ready.send(()).expect("awaited");
            let mut arrivals = Vec::new();
            let mut bytes = [0; 8];
            // What is on its way when sending ends arrives within the time of two reads.
            let mut quiet = 0;
            while quiet < 3 {
                match socket.recv(&mut bytes) {
                    Ok(_) => arrivals.push((u64::from_be_bytes(bytes), Instant::now())),
                    Err(_) if end.load(Ordering::Relaxed) => quiet += 1,
                    Err(_) => {}
                }
            }
            arrivals
        });
        is_ready.recv().expect("it binds");
        let end = Arc::clone(&over);
        let sender = world.spawn("s", move || {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("free");
            let mut sent = Vec::new();
            while !end.load(Ordering::Relaxed) {
                sent.push(Instant::now());
                // A router without the interface answers that nobody can be reached.
                let _ = socket.send_to(&(sent.len() as u64 - 1).to_be_bytes(), (MOBILE, PORT));
                std::thread::sleep(Duration::from_millis(1));
            }
            sent
        });
        Datagrams { over, sender, receiver }
    }

    /// Ends it; what arrived, in order of arrival, and how many were sent.
    pub(crate) fn finish(self) -> (Vec<Arrival>, usize) {
        self.over.store(true, Ordering::Relaxed);
        let sent = self.sender.join().expect("it sends");
        let arrived = self.receiver.join().expect("it receives");
        let arrivals = arrived.into_iter().map(|(number, arrived_at)| Arrival {
            number,
            sent_at: sent[number as usize],
            arrived_at,
        });
        (arrivals.collect(), sent.len())
    }
}

/// From `at` until the first datagram arrives that was sent after it.
pub(crate) fn until_it_goes_on(arrivals: &[Arrival], at: Instant) -> Option<Duration> {
    let after = arrivals.iter().filter(|one| one.sent_at > at);
    after.map(|one| one.arrived_at.duration_since(at)).min()
}

/// Datagrams that arrived after one with a higher number.
pub(crate) fn overtaken(arrivals: &[Arrival]) -> usize {
    let mut highest = 0;
    let mut count = 0;
    for one in arrivals {
        count += usize::from(one.number < highest);
        highest = highest.max(one.number);
    }
    count
}

/// A stream of so many bytes to the mobile host at this address.
pub(crate) struct Stream {
    sender: JoinHandle<()>,
    receiver: JoinHandle<(usize, bool, Duration)>,
}

fn byte(at: usize) -> u8 {
    (at * 7 + at / 251) as u8
}

impl Stream {
    pub(crate) fn start(world: &World, address: &'static str, port: u16, len: usize) -> Stream {
        let bytes: Vec<u8> = (0..len).map(byte).collect();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let receiver = world.spawn("m", move || {
            let listener = TcpListener::bind((address, port)).expect("free");
            ready.send(()).expect("awaited");
            let (mut stream, _) = listener.accept().expect("it comes");
            let began = Instant::now();
            let (mut at, mut is_right) = (0, true);
            let mut bytes = vec![0; 1 << 16];
            while let Ok(read @ 1..) = stream.read(&mut bytes) {
                is_right &= bytes[..read].iter().zip(at..).all(|(one, at)| *one == byte(at));
                at += read;
            }
            (at, is_right, began.elapsed())
        });
        is_ready.recv().expect("it binds");
        let sender = world.spawn("s", move || {
            let mut stream = TcpStream::connect((address, port)).expect("it listens");
            stream.write_all(&bytes).expect("it reads");
        });
        Stream { sender, receiver }
    }

    /// Waits for its end: how many bytes arrived, whether they were right, how long that took.
    pub(crate) fn finish(self) -> (usize, bool, Duration) {
        self.sender.join().expect("it sends");
        self.receiver.join().expect("it receives")
    }
}
