//! Two hosts and a box between them, without links: a wired side that only takes time, and a
//! wireless one with whatever fate a test has for each packet.

use ackord_events::{EndpointId, NoSink, ProxySending, TcpState};
use ackord_path::proxy::{
    Heading, Hop, InPath, Made, Middlebox, Outbox, Split, SplitConfig, Verdict,
};
use ackord_tcp::registry::{Stack, profile};
use ackord_tcp::{Connection, Mechanisms, Outbound};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{FlowId, IpVersion, NodeId, Packet, Segment, Side};
use std::collections::BTreeMap;

/// Which of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Fixed,
    Mobile,
}

/// What becomes of a packet on the wireless link: each copy arrives so much later.
pub(crate) type Fate = Box<dyn FnMut(Time, &Packet) -> Vec<Span>>;

/// A host with one connection. It reads what comes and closes when it has sent everything and,
/// if it does not close first, when the peer has.
pub(crate) struct Host {
    pub(crate) connection: Connection,
    node: NodeId,
    peer: NodeId,
    flow: FlowId,
    side: Side,
    pub(crate) to_write: u64,
    /// Closes only after the peer has.
    pub(crate) waits: bool,
    pub(crate) reads: bool,
    pub(crate) received: u64,
    /// Segments it was handed, in order.
    pub(crate) heard: Vec<(Time, Segment)>,
}

pub(crate) struct Bench {
    pub(crate) now: Time,
    pub(crate) split: Option<Split>,
    pub(crate) hosts: BTreeMap<Who, Host>,
    pub(crate) fate: Fate,
    under_way: BTreeMap<(Time, u64), (Stop, Packet)>,
    packets: u64,
    /// What the box sent, and how often it said why.
    pub(crate) sent_by_box: BTreeMap<ProxySending, u64>,
    pub(crate) most_held: Bytes,
    /// The last packet that left for the mobile, and the last that the fixed host sent.
    pub(crate) last_to_mobile: Option<Packet>,
    pub(crate) last_to_box: Option<Packet>,
}

/// Where a packet arrives.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Box(Heading),
    Host(Who),
}

const WIRED: Span = Span::from_millis(20);
pub(crate) const WIRELESS: Span = Span::from_millis(20);

/// The stack of a profile, with short waits: tests have no minute to spare.
pub(crate) fn stack(name: &str) -> Stack {
    let mut stack = Stack::of_profile(profile(name).expect("a profile"));
    stack.endpoint.closing.time_wait = Span::from_secs(2);
    stack
}

pub(crate) fn config() -> SplitConfig {
    SplitConfig {
        wired: stack("rfc"),
        wireless: stack("rfc"),
        hop: Hop::Tcp,
        buffer: None,
        flows: 10,
    }
}

pub(crate) fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn host(who: Who, opener: Who, stack: &Stack, to_write: u64) -> Host {
    let (node, peer) = match who {
        Who::Fixed => (NodeId(0), NodeId(2)),
        Who::Mobile => (NodeId(2), NodeId(0)),
    };
    let side = if who == opener { Side::Client } else { Side::Server };
    let flow = FlowId(7);
    let id = EndpointId { flow, side };
    let iss = Seq(if who == Who::Fixed { 0xffff_f000 } else { 5_000 });
    let mechanisms: Mechanisms = stack.mechanisms();
    let connection = Connection::listen(stack.config(), mechanisms, id, iss);
    Host {
        connection,
        node,
        peer,
        flow,
        side,
        to_write,
        waits: false,
        reads: true,
        received: 0,
        heard: Vec::new(),
    }
}

impl Host {
    fn packet(&self, outbound: Outbound, tag: u64) -> Packet {
        let Outbound { segment, ecn } = outbound;
        Packet {
            flow: self.flow,
            from: self.side,
            src: self.node,
            dst: self.peer,
            ip: IpVersion::V4,
            ecn,
            ip_len: 20 + segment.header_len() + segment.payload_len,
            tag,
            tcp: Some(segment),
        }
    }

    fn act(&mut self) {
        let readable = self.connection.readable();
        if self.reads && readable > Bytes::ZERO {
            self.connection.read(readable);
            self.received += readable.get();
        }
        let open = matches!(self.connection.state(), TcpState::Established | TcpState::CloseWait);
        if open && self.to_write > 0 {
            self.to_write -= self.connection.write(Bytes(self.to_write)).get();
        }
        if open && self.to_write == 0 && (!self.waits || self.connection.peer_finished()) {
            self.connection.close();
        }
    }
}

impl Bench {
    /// `opener` opens at once; the fixed host sends so much, and so does the mobile.
    pub(crate) fn new(config: SplitConfig, opener: Who, writes: (u64, u64)) -> Bench {
        let plain: Fate = Box::new(|_, _| vec![Span::ZERO]);
        let mut hosts = BTreeMap::new();
        // A host that has gone could not say so to a FIN whose acknowledgment was lost.
        let mut patient = stack("rfc");
        patient.endpoint.closing.time_wait = Span::from_secs(240);
        hosts.insert(Who::Fixed, host(Who::Fixed, opener, &patient, writes.0));
        hosts.insert(Who::Mobile, host(Who::Mobile, opener, &patient, writes.1));
        let mut bench = Bench {
            now: Time::ZERO,
            split: Some(Split::new(config)),
            hosts,
            fate: plain,
            under_way: BTreeMap::new(),
            packets: 0,
            sent_by_box: BTreeMap::new(),
            most_held: Bytes::ZERO,
            last_to_mobile: None,
            last_to_box: None,
        };
        bench.host(opener).connection.open(Time::ZERO, &mut NoSink);
        bench
    }

    pub(crate) fn host(&mut self, who: Who) -> &mut Host {
        self.hosts.get_mut(&who).expect("there are two")
    }

    pub(crate) fn state(&self, who: Who) -> TcpState {
        self.hosts[&who].connection.state()
    }

    /// Lets time pass up to `until`, or until nothing is to come.
    pub(crate) fn run_until(&mut self, until: Time) {
        self.poll_host(Who::Fixed);
        self.poll_host(Who::Mobile);
        while let Some(next) = self.next_at().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            if let Some(first) = self.under_way.first_entry()
                && first.key().0 <= self.now
            {
                let (stop, packet) = first.remove();
                self.arrive(stop, &packet);
                continue;
            }
            for who in [Who::Fixed, Who::Mobile] {
                let now = self.now;
                let connection = &mut self.host(who).connection;
                if connection.deadline().is_some_and(|at| at <= now) {
                    connection.handle_deadline(now, &mut NoSink);
                    self.poll_host(who);
                }
            }
            self.wake_box();
        }
        self.now = self.now.max(until);
    }

    fn next_at(&self) -> Option<Time> {
        let hosts = self.hosts.values().filter_map(|host| host.connection.deadline());
        let packets = self.under_way.keys().next().map(|(at, _)| *at);
        let split = self.split.as_ref().and_then(Middlebox::deadline);
        hosts.chain(packets).chain(split).min()
    }

    fn wake_box(&mut self) {
        let Some(split) = &mut self.split else { return };
        if split.deadline().is_some_and(|at| at <= self.now) {
            let mut out = Outbox::default();
            split.handle_deadline(self.now, &mut out);
            self.send_from_box(&out);
        }
    }

    fn arrive(&mut self, stop: Stop, packet: &Packet) {
        match stop {
            Stop::Host(who) => {
                let now = self.now;
                let host = self.host(who);
                let segment = packet.tcp.expect("all is TCP");
                host.heard.push((now, segment));
                host.connection.handle_segment(now, &segment, packet.ecn, &mut NoSink);
                self.poll_host(who);
            }
            Stop::Box(heading) => self.pass_box(packet, heading),
        }
    }

    /// A packet at the box, from whichever side.
    pub(crate) fn pass_box(&mut self, packet: &Packet, heading: Heading) {
        let mut out = Outbox::default();
        let verdict = match &mut self.split {
            None => Verdict::Forward,
            Some(split) => split.handle(self.now, packet, heading, &mut out),
        };
        match verdict {
            Verdict::Forward => self.leave_box(packet),
            Verdict::Absorb => {}
            Verdict::Rewrite(_) => panic!("a splitting box rewrites nothing"),
        }
        self.send_from_box(&out);
    }

    fn send_from_box(&mut self, out: &Outbox) {
        for (packet, made) in out.packets() {
            match made {
                Made::New(what) | Made::First(what) => {
                    *self.sent_by_box.entry(what).or_default() += 1
                }
                Made::Released => panic!("it releases nothing"),
            }
            self.leave_box(packet);
        }
        if let Some(split) = &self.split {
            self.most_held = self.most_held.max(split.stats().cached);
        }
    }

    fn leave_box(&mut self, packet: &Packet) {
        if packet.dst == NodeId(0) {
            return self.put(WIRED, Stop::Host(Who::Fixed), *packet);
        }
        self.last_to_mobile = Some(*packet);
        for later in (self.fate)(self.now, packet) {
            self.put(WIRELESS + later, Stop::Host(Who::Mobile), *packet);
        }
    }

    fn put(&mut self, delay: Span, stop: Stop, packet: Packet) {
        self.packets += 1;
        self.under_way.insert((self.now + delay, self.packets), (stop, packet));
    }

    fn poll_host(&mut self, who: Who) {
        let now = self.now;
        self.host(who).act();
        while let Some(segment) = self.host(who).connection.poll_segment(now, &mut NoSink) {
            let tag = self.packets;
            let packet = self.host(who).packet(segment, tag);
            match who {
                Who::Fixed => {
                    self.last_to_box = Some(packet);
                    self.put(WIRED, Stop::Box(Heading::Mobile), packet);
                }
                Who::Mobile => {
                    for later in (self.fate)(now, &packet) {
                        self.put(WIRELESS + later, Stop::Box(Heading::Fixed), packet);
                    }
                }
            }
        }
    }
}
