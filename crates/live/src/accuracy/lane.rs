//! Two namespaces with one emulated link between them, and what one measurement over it tells.

use super::load::{Signs, since_1970};
use crate::clock::Clock;
use crate::emulate::{
    Device, Directory, EmulationCounts, Emulator, PacketObserver, Parts, RealTime, TunDevice,
};
use crate::error::LiveError;
use crate::lateness::LatenessMeter;
use ackord_events::{NoSink, Sink};
use ackord_path::Conservation;
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sys::socket::{bind, connect};
use ackord_sys::{Inside, Namespace, RouteSettings, StopHandle, Urgency, sharpen_timers};
use ackord_units::{Rate, Span, Time};
use ackord_wire::{IpVersion, NodeId, Packet, host_address};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{AddressFamily, Backlog, SockType, listen};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::thread;

/// The link between the two namespaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkUnderTest {
    pub(super) rate: Rate,
    pub(super) delay: Span,
    pub(super) queue_packets: u32,
}

/// How measurements are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'a> {
    /// Whether the emulator asks to come before all other programs.
    pub(super) realtime_priority: bool,
    /// Ends everything.
    pub(super) stop: &'a StopHandle,
}

/// Two namespaces with a link between them that is not at work yet.
pub(super) struct Lane {
    namespaces: [Namespace; 2],
    tuns: [File; 2],
    scenario: Scenario,
}

/// What the emulator has to say of one measurement.
pub(super) struct Passage {
    pub(super) counts: EmulationCounts,
    pub(super) conservation: Conservation,
    pub(super) lateness: LatenessMeter,
    pub(super) realtime_priority: bool,
    /// When the sender's packets entered the path, in nanoseconds since 1970, in order.
    pub(super) entered: Vec<u64>,
    /// When they left it by its own reckoning, likewise.
    pub(super) left: Vec<u64>,
}

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
const PORT: u16 = 5001;
/// Bytes of IP packet that go through.
pub(super) const MTU: u16 = 1500;

impl Lane {
    /// Makes the namespaces.
    pub(super) fn new(link: LinkUnderTest) -> Result<Lane, LiveError> {
        let mut namespaces = [namespace(SENDER)?, namespace(RECEIVER)?];
        let tuns = namespaces.each_mut().map(Namespace::take_tun);
        Ok(Lane { namespaces, tuns, scenario: scenario(link) })
    }

    /// A socket of each end, the sender's connected to the receiver's.
    pub(super) fn datagram_sockets(&self) -> io::Result<(UdpSocket, UdpSocket)> {
        let [sender, receiver] = [0, 1].map(|end| self.socket(end, SockType::Datagram));
        let (sender, receiver) = (sender?, receiver?);
        let address = SocketAddr::new(host_address(RECEIVER, IpVersion::V4), PORT);
        bind(receiver.as_fd(), address)?;
        connect(sender.as_fd(), address)?;
        Ok((UdpSocket::from(sender), UdpSocket::from(receiver)))
    }

    /// Two sockets of the sender's namespace, which reach one another without the link.
    pub(super) fn loopback_sockets(&self) -> io::Result<(UdpSocket, UdpSocket)> {
        let [sender, receiver] = [0, 0].map(|end| self.socket(end, SockType::Datagram));
        let (sender, receiver) = (sender?, receiver?);
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
        bind(receiver.as_fd(), address)?;
        connect(sender.as_fd(), address)?;
        Ok((UdpSocket::from(sender), UdpSocket::from(receiver)))
    }

    /// A listening socket at the receiver, and one at the sender with what connects it there.
    pub(super) fn stream_sockets(&self) -> io::Result<(Unconnected, TcpListener)> {
        let (sender, receiver) =
            (self.socket(0, SockType::Stream)?, self.socket(1, SockType::Stream)?);
        let address = SocketAddr::new(host_address(RECEIVER, IpVersion::V4), PORT);
        bind(receiver.as_fd(), address)?;
        listen(&receiver, Backlog::new(1)?)?;
        Ok((Unconnected { socket: sender, to: address }, TcpListener::from(receiver)))
    }

    fn socket(&self, end: usize, kind: SockType) -> io::Result<OwnedFd> {
        Ok(self.namespaces[end].socket(AddressFamily::Inet, kind)?)
    }

    /// Emulates the link while `send` and `receive` do their work in threads of their own.
    pub(super) fn carry<A: Send, B: Send>(
        self,
        manner: Manner<'_>,
        send: impl FnOnce(&Signs) -> io::Result<A> + Send,
        receive: impl FnOnce(&Signs) -> io::Result<B> + Send,
    ) -> Result<(A, B, Passage), LiveError> {
        let Lane { namespaces, tuns, scenario } = self;
        let signs = Signs::default();
        let done = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let carried = thread::scope(|scope| {
            let sender = scope.spawn(|| or_abandon(send(&signs), &signs));
            let receiver = scope.spawn(|| {
                let received = receive(&signs);
                // It can only fail when the counter is full, and then it is set.
                let _ = done.write(1);
                received
            });
            let passage = emulate(&scenario, tuns, manner, &done);
            // Whoever still sends has nobody to send to.
            signs.abandon.store(true, Ordering::Relaxed);
            let sent = sender.join().map_err(|_| io::Error::other("the sender panicked"))?;
            let received =
                receiver.join().map_err(|_| io::Error::other("the receiver panicked"))?;
            Ok((sent?, received?, passage?))
        });
        drop(namespaces);
        carried
    }
}

/// A TCP socket that is still to be connected.
pub(super) struct Unconnected {
    socket: OwnedFd,
    to: SocketAddr,
}

impl Unconnected {
    /// Connects, waiting for the answer.
    pub(super) fn connect(self) -> io::Result<TcpStream> {
        connect(self.socket.as_fd(), self.to)?;
        Ok(TcpStream::from(self.socket))
    }
}

/// A sender that failed sends nothing more: nobody is to wait for it, not even for its connection.
fn or_abandon<T>(result: io::Result<T>, signs: &Signs) -> io::Result<T> {
    if result.is_err() {
        signs.abandon.store(true, Ordering::Relaxed);
    }
    result
}

/// Notes when the sender's packets pass.
#[derive(Default)]
struct PassageLog {
    entered: Vec<Time>,
    left: Vec<Time>,
}

impl PacketObserver for PassageLog {
    fn entered<S: Sink>(&mut self, at: Time, packet: &Packet, _sink: &mut S) {
        if packet.src == SENDER {
            self.entered.push(at);
        }
    }

    fn left<S: Sink>(&mut self, at: Time, packet: &Packet, _sink: &mut S) {
        if packet.src == SENDER {
            self.left.push(at);
        }
    }
}

fn emulate(
    scenario: &Scenario,
    tuns: [File; 2],
    manner: Manner<'_>,
    done: &EventFd,
) -> Result<Passage, LiveError> {
    sharpen_timers();
    let urgency = Urgency::of(manner.realtime_priority);
    let realtime_priority = urgency.is_granted();
    let [at_sender, at_receiver] =
        tuns.map(|tun| Box::new(TunDevice::new(tun, MTU)) as Box<dyn Device>);
    // Both clocks are read at once, so that an instant of one is one of the other.
    let (clock, began_at) = (Clock::start(), since_1970());
    let parts = Parts {
        scenario,
        seed: scenario.seed,
        devices: vec![(SENDER, at_sender), (RECEIVER, at_receiver)],
        directory: Directory::of_hosts(scenario),
        timeline: RealTime::new(clock, realtime_priority),
    };
    let mut emulator = Emulator::watched_by(parts, PassageLog::default())?;
    let done = emulator.watch(done.as_fd());
    let stop = emulator.watch(manner.stop.as_fd());
    while !emulator.is_ready(done) && !emulator.is_ready(stop) {
        emulator.turn(Time::NEVER, &mut NoSink)?;
    }
    let remains = emulator.finish();
    let mut simulation = remains.simulation;
    let conservation = simulation.finish(&mut NoSink).map_err(io::Error::other)?;
    let wall = |times: Vec<Time>| times.iter().map(|at| began_at + at.as_nanos()).collect();
    Ok(Passage {
        counts: remains.counts,
        conservation,
        lateness: remains.lateness,
        realtime_priority,
        entered: wall(remains.observer.entered),
        left: wall(remains.observer.left),
    })
}

fn namespace(node: NodeId) -> Result<Namespace, LiveError> {
    let mut inside = Inside::new(vec![(host_address(node, IpVersion::V4), 24)]);
    inside.mtu = MTU;
    inside.route = Some(RouteSettings::default());
    Ok(Namespace::create(&inside)?)
}

fn scenario(link: LinkUnderTest) -> Scenario {
    let LinkUnderTest { rate, delay, queue_packets } = link;
    let (rate, delay) = (rate.as_bits_per_sec(), delay.as_nanos());
    // The flow only says where the ends are: both are kernels, which send what they are given.
    let text = format!(
        r#"
version = 1
name = "accuracy"
purpose = "What one emulated link does to the packets of two kernels"
source = "this project"
seed = 1
duration = "3600 s"

[hosts.a]
[hosts.b]

[[links]]
name = "link"
from = "a"
to = "b"
rate = "{rate} bit/s"
delay = "{delay} ns"
queue = {{ kind = "drop-tail", limit = "{queue_packets} packets" }}

[[flows]]
from = "a"
to = "b"
name = "ends"
traffic = {{ kind = "cbr", rate = "1 kbit/s", packet = "100 B" }}
"#
    );
    let file = ScenarioFile::new("accuracy", text);
    file.check().unwrap_or_else(|errors| unreachable!("a scenario of constant form: {errors:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_that_is_measured_makes_a_sound_scenario() {
        for mbits in [1, 700, 100_000] {
            for micros in [0, 5_000] {
                let (rate, delay) = (Rate::from_mbits_per_sec(mbits), Span::from_micros(micros));
                let scenario = scenario(LinkUnderTest { rate, delay, queue_packets: 1_000 });
                let names: Vec<_> = scenario.nodes.iter().map(|node| &node.name).collect();
                assert_eq!(names, ["a", "b"]);
                assert_eq!(scenario.links[0].forward.rate, rate);
                assert_eq!(scenario.links[0].reverse.delay, delay);
            }
        }
    }
}
