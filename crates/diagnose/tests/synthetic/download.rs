//! A download over a wired path and an access point: a sender with slow start, fast retransmit and a timer, the
//! queue of the access point, and transmissions on the air that a test prescribes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Bytes of payload in a segment.
pub(crate) const MSS: usize = 1460;
/// Length of the request.
const REQUEST: usize = 300;
/// Time between a frame and the next one, us: link acknowledgment and backoff.
const BETWEEN_US: u64 = 100;
/// The first retransmission timeout, us.
const RTO_US: u64 = 300_000;

/// Which end sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    FromClient,
    FromServer,
}

/// What a packet meets on the air.
#[derive(Clone, Debug)]
pub(crate) struct Fate {
    /// Rate of each attempt, Mbit/s.
    pub(crate) mbit_s: Vec<u32>,
    pub(crate) is_delivered: bool,
}

impl Fate {
    /// Delivered with the last of these attempts.
    pub(crate) fn delivered(mbit_s: &[u32]) -> Fate {
        Fate { mbit_s: mbit_s.to_vec(), is_delivered: true }
    }

    /// Lost after all of these attempts.
    pub(crate) fn lost(mbit_s: &[u32]) -> Fate {
        Fate { mbit_s: mbit_s.to_vec(), is_delivered: false }
    }
}

/// A packet before it goes on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered {
    pub(crate) direction: Direction,
    pub(crate) at_us: u64,
    /// Number of the segment, or of the pure ACK.
    pub(crate) number: u32,
    /// True if TCP sends these bytes again.
    pub(crate) is_retransmission: bool,
}

/// A download.
pub(crate) struct Download {
    pub(crate) segments: u32,
    /// Round trip between server and access point, us.
    pub(crate) wired_us: u64,
    /// Most segments in flight.
    pub(crate) window: u32,
    /// True if packets have TCP timestamps.
    pub(crate) is_stamped: bool,
    pub(crate) on_air: fn(&Offered) -> Fate,
}

/// One attempt on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) at_us: u64,
    pub(crate) mbit_s: u32,
}

/// A packet with its attempts.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) direction: Direction,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) syn: bool,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Bytes of payload.
    pub(crate) len: usize,
    pub(crate) sack: Option<(u32, u32)>,
    /// TSval and TSecr.
    pub(crate) stamps: Option<(u32, u32)>,
}

/// A segment of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    number: u32,
    is_retransmission: bool,
    /// TSval and TSecr.
    stamps: (u32, u32),
}

/// An ACK of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ack {
    /// The first segment that has not arrived.
    next: u32,
    /// Segments that arrived behind a hole, from the first to the one behind the last (SACK).
    block: Option<(u32, u32)>,
    /// Its TSval.
    stamp: u32,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A segment arrives at the access point.
    AtAccessPoint(Segment),
    AtClient(Segment),
    AtServer(Ack),
    /// The timer that was set after so many ACKs and timeouts.
    Timer(u32),
}

struct Simulation<'a> {
    download: &'a Download,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    sent: Vec<Sent>,
    /// Time at which the queue of the access point is empty.
    idle_us: u64,
    // The sender.
    next: u32,
    highest: u32,
    una: u32,
    cwnd: u32,
    duplicates: u32,
    recover: Option<u32>,
    sacked: BTreeSet<u32>,
    /// TSval of the last ACK.
    echo: u32,
    timers: u32,
    rto_us: u64,
    // The receiver.
    received: BTreeSet<u32>,
    expected: u32,
    unacked: u32,
    acks: u32,
}

impl Download {
    /// Returns all packets with their attempts.
    pub(crate) fn packets(&self) -> Vec<Sent> {
        let mut simulation = Simulation {
            download: self,
            events: BinaryHeap::new(),
            sent: Vec::new(),
            idle_us: 0,
            next: 0,
            highest: 0,
            una: 0,
            cwnd: 10,
            duplicates: 0,
            recover: None,
            sacked: BTreeSet::new(),
            echo: 1,
            timers: 0,
            rto_us: RTO_US,
            received: BTreeSet::new(),
            expected: 0,
            unacked: 0,
            acks: 0,
        };
        simulation.run();
        simulation.sent
    }
}

impl Simulation<'_> {
    fn run(&mut self) {
        let way = self.download.wired_us / 2;
        self.handshake();
        self.transmit(3 * way + 2_000 + way);
        while let Some(Reverse((at, event))) = self.events.pop() {
            match event {
                Event::AtAccessPoint(segment) => self.forward(at, segment),
                Event::AtClient(segment) => self.receive(at, segment),
                Event::AtServer(ack) => self.acknowledged(at, &ack),
                Event::Timer(number) if number == self.timers && self.una < self.next => {
                    (self.cwnd, self.recover, self.duplicates) = (1, None, 0);
                    (self.rto_us, self.next) = (self.rto_us * 2, self.una);
                    self.transmit(at);
                }
                Event::Timer(_) => {}
            }
        }
    }

    fn handshake(&mut self) {
        let way = self.download.wired_us / 2;
        let client = |at_us, syn, seq, ack, len| Sent {
            direction: Direction::FromClient,
            attempts: vec![Attempt { at_us, mbit_s: 54 }],
            syn,
            seq,
            ack,
            len,
            sack: None,
            stamps: self.download.is_stamped.then_some((stamp(at_us), u32::from(ack > 0))),
        };
        let syn_ack = Sent { direction: Direction::FromServer, ..client(2 * way, true, 0, 1, 0) };
        self.sent.extend([
            client(0, true, 0, 0, 0),
            syn_ack,
            client(2 * way + 500, false, 1, 1, 0),
            client(2 * way + 1_000, false, 1, 1, REQUEST),
        ]);
    }

    /// Sends what the window allows.
    fn transmit(&mut self, at: u64) {
        while self.next < self.download.segments && self.next < self.una + self.cwnd {
            if !self.sacked.contains(&self.next) {
                self.offer(at, self.next);
            }
            self.next += 1;
        }
        self.set_timer(at);
    }

    fn offer(&mut self, at: u64, number: u32) {
        let segment = Segment {
            number,
            is_retransmission: number < self.highest,
            stamps: (stamp(at), self.echo),
        };
        self.highest = self.highest.max(number + 1);
        let arrives = at + self.download.wired_us / 2;
        self.events.push(Reverse((arrives, Event::AtAccessPoint(segment))));
    }

    fn set_timer(&mut self, at: u64) {
        self.timers += 1;
        self.events.push(Reverse((at + self.rto_us, Event::Timer(self.timers))));
    }

    /// Transmits a segment behind those in the queue of the access point.
    fn forward(&mut self, at_us: u64, segment: Segment) {
        let Segment { number, is_retransmission, stamps } = segment;
        let start = self.idle_us.max(at_us);
        let direction = Direction::FromServer;
        let offered = Offered { direction, at_us: start, number, is_retransmission };
        let fate = (self.download.on_air)(&offered);
        let (attempts, end) = attempts(&fate, start, 40 + MSS);
        self.idle_us = end;
        self.sent.push(Sent {
            direction,
            attempts,
            syn: false,
            seq: 1 + number * MSS as u32,
            ack: 1 + REQUEST as u32,
            len: MSS,
            sack: None,
            stamps: self.download.is_stamped.then_some(stamps),
        });
        if fate.is_delivered {
            self.events.push(Reverse((end, Event::AtClient(segment))));
        }
    }

    /// Acknowledges every second segment, and every one out of order or behind a hole.
    fn receive(&mut self, at_us: u64, Segment { number, stamps: (echo, _), .. }: Segment) {
        let in_order = number == self.expected;
        self.received.insert(number);
        while self.received.contains(&self.expected) {
            self.expected += 1;
        }
        self.unacked += 1;
        let complete = self.expected == self.download.segments;
        if in_order && self.expected == number + 1 && self.unacked < 2 && !complete {
            return;
        }
        self.unacked = 0;
        self.acks += 1;
        let direction = Direction::FromClient;
        let (start, ack) = (at_us + 50, self.expected);
        let offered =
            Offered { direction, at_us: start, number: self.acks, is_retransmission: false };
        let fate = (self.download.on_air)(&offered);
        let (attempts, end) = attempts(&fate, start, 52);
        let byte = |number: u32| 1 + number * MSS as u32;
        let block = self.block(number);
        self.sent.push(Sent {
            direction,
            attempts,
            syn: false,
            seq: 1 + REQUEST as u32,
            ack: byte(ack),
            len: 0,
            sack: block.map(|(from, to)| (byte(from), byte(to))),
            stamps: self.download.is_stamped.then_some((stamp(start), echo)),
        });
        if fate.is_delivered {
            let ack = Ack { next: ack, block, stamp: stamp(start) };
            self.events.push(Reverse((end + self.download.wired_us / 2, Event::AtServer(ack))));
        }
    }

    /// Returns the segments around this one that arrived, if they are behind a hole.
    fn block(&self, number: u32) -> Option<(u32, u32)> {
        let has = |number: &u32| self.received.contains(number);
        let from = (self.expected..number).rev().take_while(has).last().unwrap_or(number);
        let to = (number..).take_while(has).last()? + 1;
        (number >= self.expected).then_some((from, to))
    }

    fn acknowledged(&mut self, at: u64, &Ack { next: ack, block, stamp }: &Ack) {
        self.echo = stamp;
        self.sacked.extend(block.map_or(0..0, |(from, to)| from..to));
        if ack > self.una {
            let acked = ack - self.una;
            (self.una, self.duplicates, self.rto_us) = (ack, 0, RTO_US);
            if self.recover.is_some_and(|recover| ack >= recover) {
                self.recover = None;
            } else if self.recover.is_some() {
                self.offer(at, ack);
            } else if self.recover.is_none() {
                self.cwnd = (self.cwnd + acked).min(self.download.window);
            }
            self.next = self.next.max(ack);
        } else if self.una < self.next {
            self.duplicates += 1;
            if self.duplicates == 3 && self.recover.is_none() {
                self.recover = Some(self.next);
                self.cwnd = (self.cwnd * 7 / 10).max(2);
                self.offer(at, self.una);
            }
        }
        self.transmit(at);
    }
}

/// Returns the attempts of a packet of `len` bytes from `start` on, and the time after them.
fn attempts(fate: &Fate, start: u64, len: usize) -> (Vec<Attempt>, u64) {
    let (mut at_us, mut end) = (start, start);
    let mut all = Vec::new();
    for (number, mbit_s) in (0..).zip(&fate.mbit_s) {
        all.push(Attempt { at_us, mbit_s: *mbit_s });
        end = at_us + super::radio::airtime_us(len, *mbit_s) + BETWEEN_US;
        // The backoff doubles.
        at_us = end + (BETWEEN_US << number);
    }
    (all, end)
}

/// Returns the TSval of a packet, ms.
fn stamp(at_us: u64) -> u32 {
    1 + (at_us / 1_000) as u32
}
