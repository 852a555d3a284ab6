//! Any calls in any order against any packets: nothing panics, time never goes back, and when every
//! descriptor is closed nothing is left behind.

use super::link::Cork;
use super::*;
use crate::world::{Change, Interest, PollEntry, Reading, Writing};
use ackord_events::TcpState;
use ackord_units::{Bytes, Seq, Span};
use ackord_wire::{IpVersion, Options, Segment, Timestamps};
use std::net::SocketAddr;

/// Numbers that look random and are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u64) as usize]
    }
}

/// Whatever it came to.
fn any<T>(_: T) {}

const OURS: [&str; 2] = ["192.168.0.2:8080", "[fd3d:fa7b:d17d::2]:8080"];
const PEERS: [&str; 2] = ["192.0.2.1:40000", "[2001:db8::1]:40000"];

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// A segment that may mean something to a connection there is.
fn likely_segment(world: &World, numbers: &mut Numbers) -> Vec<u8> {
    let family = numbers.below(2) as usize;
    let known = world.by_endpoints.keys().next().filter(|_| numbers.below(4) > 0);
    let endpoints = known.map_or(
        Endpoints { src: address(PEERS[family]), dst: address(OURS[family]) },
        |endpoints| endpoints.reversed(),
    );
    let link = world.by_endpoints.get(&endpoints.reversed()).and_then(|key| world.links.get(key));
    let last = world.outbox.back().and_then(|packet| decode(&packet.bytes).ok());
    let near = |base: u32, numbers: &mut Numbers| {
        Seq(base.wrapping_add(numbers.one_of(&[0, 0, 0, 0, 1, 5, 1000, u32::MAX, 1 << 31])))
    };
    let (seq, ack) = match (&last, link) {
        (Some(last), Some(_)) => (last.segment.ack.0, last.segment.end_seq().0),
        _ => (1000, numbers.next() as u32),
    };
    let flags = numbers.one_of(&[0x10, 0x10, 0x10, 0x18, 0x11, 0x02, 0x12, 0x04, 0x14, 0x31, 0xff]);
    let payload = vec![7; numbers.one_of(&[0, 0, 1, 100, 1400])];
    let options = Options {
        mss: (flags & 2 != 0).then_some(1000),
        timestamps: (numbers.below(3) == 0)
            .then(|| Timestamps { value: numbers.next() as u32, echo: 0 }),
        sack_permitted: flags & 2 != 0,
        ..Options::default()
    };
    let segment = Segment {
        seq: near(seq, numbers),
        ack: near(ack, numbers),
        flags: Flags::from_bits(flags),
        window: numbers.one_of(&[0, 1, 1000, 65_535]),
        payload_len: payload.len() as u32,
        options,
    };
    let mut bytes = Vec::new();
    encode(endpoints, IpFields::default(), &segment, Payload::Bytes(&payload), &mut bytes)
        .expect("a packet");
    if numbers.below(20) == 0 {
        let at = numbers.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << numbers.below(8);
    }
    bytes
}

fn make_something(world: &mut World, numbers: &mut Numbers) {
    let family = numbers.one_of(&[IpVersion::V4, IpVersion::V6]);
    match numbers.below(6) {
        0 => any(world.open_pipe()),
        1 => any(world.open_epoll()),
        _ => any(world.open_socket(family, false)),
    }
}

fn call_something(world: &mut World, numbers: &mut Numbers, fds: &[i32]) {
    let (fd, other) = (numbers.one_of(fds), numbers.one_of(fds));
    let text = numbers.one_of(&[OURS[0], OURS[1], PEERS[0], PEERS[1], "0.0.0.0:0", "[::]:8080"]);
    let most = numbers.one_of(&[0, 1, 700, 100_000]);
    match numbers.below(17) {
        0 => any(world.bind(fd, address(text))),
        1 => any(world.listen(fd, numbers.below(3) as i32 - 1)),
        2 => any(world.connect(fd, address(text))),
        3 => any(world.accept(fd)),
        4 => any(world.connected(fd)),
        5 => {
            let peek = numbers.one_of(&[false, true]);
            let wait_all = numbers.one_of(&[false, true]);
            any(world.read(fd, Reading { most, peek, wait_all }, &mut Vec::new()));
        }
        6 | 7 => {
            let more = numbers.one_of(&[true, false]);
            let end_of_record = numbers.one_of(&[true, false]);
            any(world.write(fd, Writing { more, end_of_record }, (&vec![1; most], &mut 0)));
        }
        8 => {
            let direction = numbers.one_of(&[Direction::Read, Direction::Write, Direction::Both]);
            any(world.shutdown(fd, direction));
        }
        9 => any(world.close(fd)),
        10 => any(world.disconnect(fd)),
        11 => any(world.splice(SpliceEnds { from: fd, to: other }, most, false)),
        12 => {
            let change = numbers.one_of(&[Change::Add, Change::Modify, Change::Remove]);
            let interest = Interest { events: numbers.next() as u32, data: 1 };
            any(world.epoll_watch(fd, other, (change, interest)));
        }
        13 => any(world.epoll_wait(fd, 3)),
        14 => any(world.poll(&mut [PollEntry { fd, wanted: -1, found: 0 }])),
        15 => {
            let name = numbers.one_of(option_table::INTEGERS).name;
            let value = numbers.one_of(&[-1, 0, 1, 100, i32::MAX]).to_ne_bytes();
            any(world.set_option(fd, name, &value));
            any(world.option(fd, name));
        }
        _ => any(world.option(fd, (libc::IPPROTO_TCP, libc::TCP_INFO))),
    }
}

/// One run; what is left in the end.
fn run(seed: u64, flags: &str) -> World {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut world = World::new(Setup::parse(flags).expect("flags"));
    for _ in 0..250 {
        let mut fds: Vec<i32> = world.files.keys().copied().collect();
        fds.sort_by_key(|fd| world.files[fd].order);
        let before = world.now();
        match numbers.below(10) {
            0 if fds.len() < 12 => make_something(&mut world, &mut numbers),
            1 => {
                let span = numbers.one_of(&[0, 1, 40, 1_000, 70_000]);
                let to = world.now() + Span::from_millis(span);
                while let Some(due) = world.deadline().filter(|&due| due <= to) {
                    world.advance(due.max(world.now()));
                }
                world.advance(to);
            }
            2..=4 => world.packet_in(&likely_segment(&world, &mut numbers)),
            5 => any(world.next_departed()),
            _ if fds.is_empty() => make_something(&mut world, &mut numbers),
            _ => call_something(&mut world, &mut numbers, &fds),
        }
        assert!(world.now() >= before, "seed {seed}");
        for key in world.by_endpoints.values() {
            assert!(world.links.contains_key(key), "seed {seed}: a name without a connection");
        }
    }
    world
}

#[test]
fn any_calls_and_packets_leave_nothing_behind_once_everything_is_closed() {
    for seed in 0..300 {
        let flags = ["", "profile=rfc", "profile=ns2", "cc=bbr", "cc=vegas,ack=tack"];
        let mut world = run(seed, flags[seed as usize % flags.len()]);
        for fd in world.files.keys().copied().collect::<Vec<_>>() {
            world.close(fd).expect("it is open");
        }
        assert!(world.pipes.is_empty(), "seed {seed}: a pipe without ends");
        let end = world.now() + Span::from_secs(400_000);
        for step in 0.. {
            let Some(due) = world.deadline().filter(|&due| due <= end) else { break };
            assert!(step < 100_000, "seed {seed}: timers without end");
            world.advance(due.max(world.now()));
        }
        // A connection may wait for ever for its peer's FIN, without a limit on FIN-WAIT-2, and for
        // its window to open: nothing else.
        for link in world.links.values() {
            let state = link.connection.state();
            let closed_window = link.connection.snapshot().snd_wnd == Bytes::ZERO;
            assert_eq!(link.owner, Owner::Nobody, "seed {seed}");
            assert!(state == TcpState::FinWait2 || closed_window, "seed {seed}: {state:?}");
        }
    }
}

#[test]
fn the_same_calls_make_the_same_packets() {
    for seed in 0..20 {
        let packets = |world: World| world.outbox.into_iter().collect::<Vec<_>>();
        assert_eq!(packets(run(seed, "")), packets(run(seed, "")), "seed {seed}");
    }
}

#[test]
fn a_cork_never_holds_back_whole_segments() {
    let mut world = World::new(Setup::parse("profile=rfc").expect("flags"));
    let fd = world.open_socket(IpVersion::V4, true).expect("a socket");
    world.connect(fd, address(PEERS[0])).expect("begun");
    let syn = decode(&world.next_departed().expect("a SYN").bytes).expect("sound");
    let answer = Segment {
        seq: Seq(5),
        ack: syn.segment.end_seq(),
        flags: Flags::SYN | Flags::ACK,
        window: 65_535,
        options: Options { mss: Some(1000), ..Options::default() },
        ..Segment::default()
    };
    let (mut bytes, endpoints) = (Vec::new(), syn.endpoints.reversed());
    encode(endpoints, IpFields::default(), &answer, Payload::Bytes(&[]), &mut bytes).expect("fits");
    world.packet_in(&bytes);
    let key = world.link_of(fd).expect("connected");
    let link = world.links.get_mut(&key).expect("there");
    link.cork = Cork::In;
    assert_eq!(link.write(&[1; 2_300]), 2_300);
    world.work(key);
    let link = &world.links[&key];
    assert_eq!((link.connection.flight_size(), link.unsent()), (Bytes(2_000), 300));
    assert_eq!(link.deadline().map(|at| at - world.now()), Some(Span::from_millis(200)));
}
