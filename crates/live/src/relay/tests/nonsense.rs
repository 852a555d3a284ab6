//! Whatever comes in, the gateway does not panic, and stays within its bounds.

use super::bench::{BASE, MTU};
use crate::relay::outside::Outside;
use crate::relay::{Relay, RelayOptions};
use ackord_units::Seq;
use ackord_units::{Span, Time};
use ackord_wire::{
    Ecn, Endpoints, Flags, IpFields, Payload, Segment, decode_ip, encode, encode_udp,
};
use nix::errno::Errno;
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};

/// An outside that ends in this process: nothing of a test goes out.
#[derive(Debug, Default)]
struct Nowhere {
    opened: usize,
    streams: Vec<UnixStream>,
    datagrams: Vec<UnixDatagram>,
}

impl Nowhere {
    fn pair(&mut self) -> Result<OwnedFd, Errno> {
        let (ours, theirs) = UnixDatagram::pair().expect("descriptors");
        ours.set_nonblocking(true).expect("it can");
        theirs.set_nonblocking(true).expect("it can");
        let _ = theirs.send(b"an answer that nobody expects");
        self.datagrams.push(theirs);
        Ok(ours.into())
    }
}

impl Outside for Nowhere {
    fn stream(&mut self, to: SocketAddr) -> Result<TcpStream, Errno> {
        self.opened += 1;
        let fates = [Errno::ECONNREFUSED, Errno::ENETUNREACH, Errno::EMFILE, Errno::ETIMEDOUT];
        if let Some(errno) = fates.get(usize::from(to.port() % 8)) {
            return Err(*errno);
        }
        let (ours, theirs) = UnixStream::pair().expect("descriptors");
        ours.set_nonblocking(true).expect("it can");
        theirs.set_nonblocking(true).expect("it can");
        // Some servers are gone at once.
        if to.port() % 8 != 7 {
            self.streams.push(theirs);
        }
        Ok(TcpStream::from(OwnedFd::from(ours)))
    }

    fn datagrams(&mut self, _: SocketAddr) -> Result<OwnedFd, Errno> {
        self.pair()
    }

    fn echo(&mut self, _: IpAddr) -> Result<OwnedFd, Errno> {
        self.pair()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Octets(Vec<u8>),
    Tcp { port: u16, flags: u8, seq: u32, ack: u32, payload: usize },
    Answer { flags: u8, payload: usize },
    Udp { port: u16, payload: usize },
    Wait(u64),
    Ready,
}

fn any_step() -> impl Strategy<Value = Step> {
    let seq = prop_oneof![0_u32..5_000, any::<u32>()];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100).prop_map(Step::Octets),
        (0_u16..16, any::<u8>(), seq, any::<u32>(), 0_usize..2_000).prop_map(
            |(port, flags, seq, ack, payload)| Step::Tcp { port, flags, seq, ack, payload }
        ),
        (0_u16..16).prop_map(|port| Step::Tcp { port, flags: 2, seq: 1, ack: 0, payload: 0 }),
        (any::<u8>(), 0_usize..1_400)
            .prop_map(|(flags, payload)| Step::Answer { flags: flags & 0x19 | 0x10, payload }),
        (0_u16..16, 0_usize..1_400).prop_map(|(port, payload)| Step::Udp { port, payload }),
        (0_u64..100_000).prop_map(Step::Wait),
        Just(Step::Ready),
        Just(Step::Ready),
    ]
}

struct Trial {
    relay: Relay,
    now: Time,
    /// The segment of the gateway that came last, with the ends as it sends.
    last: Option<(Endpoints, Segment)>,
}

impl Trial {
    fn step(&mut self, step: Step) {
        let client: SocketAddr = "100.64.0.2:5000".parse().expect("an address");
        let to = |port| SocketAddr::new([192, 0, 2, 1].into(), port);
        match step {
            Step::Octets(bytes) => self.relay.write(self.now, &bytes),
            Step::Tcp { port, flags, seq, ack, payload } => {
                let flags = Flags::from_bits(flags);
                let segment = Segment {
                    seq: Seq(seq),
                    ack: Seq(ack),
                    flags,
                    window: 9_000,
                    ..Segment::default()
                };
                self.tcp(Endpoints { src: client, dst: to(port) }, segment, payload);
            }
            Step::Answer { flags, payload } => {
                let Some((ends, last)) = self.last else { return };
                let (seq, ack) = (last.ack, last.end_seq());
                let flags = Flags::from_bits(flags);
                let segment = Segment { seq, ack, flags, window: 9_000, ..Segment::default() };
                self.tcp(ends.reversed(), segment, payload);
            }
            Step::Udp { port, payload } => {
                let mut bytes = Vec::new();
                let ends = Endpoints { src: client, dst: to(port) };
                let payload = Payload::Zeros(payload as u32);
                encode_udp(ends, IpFields::default(), payload, &mut bytes).expect("fits");
                self.relay.write(self.now, &bytes);
            }
            Step::Wait(millis) => {
                let until = self.now + Span::from_millis(millis);
                while let Some(due) = self.relay.deadline().filter(|due| *due <= until) {
                    self.now = self.now.max(due);
                    self.relay.handle_deadline(self.now);
                    self.look();
                }
                self.now = until;
            }
            Step::Ready => self.relay.handle_ready(self.now),
        }
        self.look();
    }

    fn tcp(&mut self, ends: Endpoints, segment: Segment, payload: usize) {
        let segment = Segment { payload_len: payload as u32, ..segment };
        let fields = IpFields { ecn: Ecn::Ect0, ..IpFields::default() };
        let mut bytes = Vec::new();
        let payload = Payload::Zeros(payload as u32);
        encode(ends, fields, &segment, payload, &mut bytes).expect("fits");
        self.relay.write(self.now, &bytes);
    }

    fn look(&mut self) {
        let mut bytes = Vec::new();
        while self.relay.read(&mut bytes) {
            assert!(bytes.len() <= usize::from(MTU), "{} octets", bytes.len());
            decode_ip(&bytes).expect("a sound packet");
            if let Ok(decoded) = ackord_wire::decode(&bytes) {
                self.last = Some((decoded.endpoints, decoded.segment));
            }
        }
    }
}

proptest! {
    #[test]
    fn no_packets_make_the_gateway_panic(steps in prop::collection::vec(any_step(), 1..60)) {
        let outside = Box::new(Nowhere::default());
        let relay = Relay::over(outside, &RelayOptions::new(BASE, MTU)).expect("a descriptor");
        let mut trial = Trial { relay, now: Time::ZERO, last: None };
        for step in steps {
            trial.step(step);
        }
    }
}
