//! Two foreign hosts that send anything, on a path with a middlebox, in time that jumps.

use super::case::{ExpectedStream, TrialCase, are_in_place, tcp};
use crate::emulate::{Device, Directory, Emulator, Parts, VirtualTime};
use ackord_events::NoSink;
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{
    Ecn, Endpoints, Flags, FlowAddresses, FlowId, FlowNodes, IpFields, IpVersion, Payload, Side,
    decode, decode_ip, encode_udp,
};
use nix::sys::eventfd::EventFd;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::LazyLock;

/// What stands at the base station, one after the other.
const BOXES: [&str; 6] = ["none", "snoop", "proxy-tcp", "m-tcp", "i-tcp", "mtcp"];

/// The same path with each of them: reading a scenario takes longer than a case.
static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| BOXES.map(scenario).into());

fn scenario(proxy: &str) -> Scenario {
    let file = ScenarioFile::from_library("fading-access-point").expect("it comes along");
    let changes = [("proxies.base.proxy", proxy), ("duration", "30 s")];
    let changes = changes.map(|(path, value)| Override::new(path, value));
    file.with_overrides(changes).check().expect("sound")
}

/// Plays the case; panics if anything is not as it has to be.
pub fn foreign(data: &[u8]) {
    let mut case = TrialCase(data);
    let scenario = &SCENARIOS[usize::from(case.byte()) % BOXES.len()];
    let mut trial = ForeignTrial::new(scenario);
    while !case.is_over() && !trial.emulator.is_over() {
        trial.step(&mut case);
    }
    // Long enough for every packet to come to its end.
    trial.pass(Span::from_secs(40));
    let mut simulation = trial.emulator.finish().simulation;
    simulation.finish(&mut NoSink).expect("every packet is accounted for");
}

/// A device at which the case stands.
#[derive(Debug)]
struct CaseDevice {
    shared: Rc<RefCell<Queues>>,
    quiet: EventFd,
}

/// Packets at a device.
#[derive(Debug, Default)]
struct Queues {
    to_send: VecDeque<Vec<u8>>,
    came: Vec<Vec<u8>>,
}

impl Device for CaseDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.quiet.as_fd()
    }

    fn longest(&self) -> usize {
        1_500
    }

    fn read_packet(&mut self, _: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.shared.borrow_mut().to_send.pop_front().map(|bytes| {
            buffer[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }))
    }

    fn write_packet(&mut self, _: Time, _: FlowId, bytes: &[u8]) -> io::Result<()> {
        self.shared.borrow_mut().came.push(bytes.to_vec());
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        (!self.shared.borrow().to_send.is_empty()).then_some(Time::ZERO)
    }
}

/// One of the two hosts.
struct TrialHost {
    device: Rc<RefCell<Queues>>,
    side: Side,
    expected: ExpectedStream,
    /// The numbers of the SYNs it has sent.
    opened_at: Vec<Seq>,
    /// The numbers of the SYNs it has seen.
    heard_at: Vec<Seq>,
}

struct ForeignTrial {
    emulator: Emulator<VirtualTime>,
    hosts: [TrialHost; 2],
    addresses: FlowAddresses,
    /// Whether the box ends connections.
    splits: bool,
}

impl ForeignTrial {
    fn new(scenario: &Scenario) -> ForeignTrial {
        let splits =
            scenario.proxies[0].choice.as_ref().is_some_and(|choice| choice.config().splits());
        let flow = &scenario.flows[0];
        let mut devices: Vec<(_, Box<dyn Device>)> = Vec::new();
        let hosts = [Side::Client, Side::Server].map(|side| {
            let shared = Rc::default();
            let quiet = EventFd::new().expect("a descriptor");
            let node = if side == Side::Client { flow.client } else { flow.server };
            devices.push((node, Box::new(CaseDevice { shared: Rc::clone(&shared), quiet })));
            let (opened_at, heard_at) = (Vec::new(), Vec::new());
            TrialHost {
                device: shared,
                side,
                expected: ExpectedStream::default(),
                opened_at,
                heard_at,
            }
        });
        let directory = Directory::of_hosts(scenario);
        let timeline = VirtualTime::exact();
        let parts = Parts { scenario, seed: scenario.seed, devices, directory, timeline };
        let nodes = FlowNodes { client: flow.client, server: flow.server };
        let addresses = FlowAddresses::of(FlowId(0), nodes, IpVersion::V4);
        ForeignTrial {
            emulator: Emulator::watched_by(parts, ()).expect("it builds"),
            hosts,
            addresses,
            splits,
        }
    }

    fn step(&mut self, case: &mut TrialCase<'_>) {
        let how = case.byte();
        let which = usize::from(how >> 7);
        let ends = self.ends(which, how);
        let host = &mut self.hosts[which];
        let packet = match how % 8 {
            0 => {
                let len = usize::from(case.byte());
                Some(case.bytes(len).to_vec())
            }
            1 => {
                let mut bytes = Vec::new();
                let payload = Payload::Zeros(u32::from(case.word() % 1_400));
                encode_udp(ends, IpFields::default(), payload, &mut bytes).expect("fits");
                Some(bytes)
            }
            2 => return self.pass(Span::from_millis(u64::from(case.word() % 1_024))),
            _ => {
                let segment = case.segment(&host.expected);
                host.expected.sent(&segment);
                let opens = segment.flags.contains(Flags::SYN);
                if opens && !host.opened_at.contains(&segment.seq) {
                    host.opened_at.push(segment.seq);
                }
                tcp(ends, &segment, Ecn::Ect0)
            }
        };
        host.device.borrow_mut().to_send.extend(packet);
        self.pass(Span::from_micros(u64::from(how >> 3 & 1) * 50));
    }

    /// Mostly those of the scenario's flow; else other ports, or an address that is not one's own.
    fn ends(&self, which: usize, how: u8) -> Endpoints {
        let mut ends = self.addresses.endpoints(self.hosts[which].side);
        match how >> 4 & 7 {
            1 => ends.src.set_port(7),
            2 => ends.src.set_ip([192, 0, 2, 7].into()),
            3 => ends.src = ends.dst,
            _ => {}
        }
        ends
    }

    fn pass(&mut self, span: Span) {
        let until = self.emulator.now() + span;
        loop {
            self.emulator.turn(until, &mut NoSink).expect("no device can break");
            let waiting = self.hosts.iter().any(|host| !host.device.borrow().to_send.is_empty());
            if self.emulator.is_over() || !waiting && self.emulator.now() >= until {
                break;
            }
        }
        self.look();
    }

    /// Looks at everything that has come out.
    fn look(&mut self) {
        let [client, server] = &mut self.hosts;
        let (client_opened, server_opened) = (client.opened_at.clone(), server.opened_at.clone());
        client.look(&server_opened, (self.addresses, self.splits));
        server.look(&client_opened, (self.addresses, self.splits));
    }
}

impl TrialHost {
    /// Looks at what has come here from a host that has sent SYNs of these numbers.
    fn look(&mut self, opened_at: &[Seq], (addresses, splits): (FlowAddresses, bool)) {
        for bytes in self.device.borrow_mut().came.drain(..) {
            decode_ip(&bytes).expect("a sound packet");
            // Sound packets of other protocols may have any bytes.
            let Ok(decoded) = decode(&bytes) else { continue };
            let segment = decoded.segment;
            let (opens, payload) = (segment.flags.contains(Flags::SYN), &bytes[decoded.payload]);
            let own = decoded.endpoints == addresses.endpoints(self.side).reversed();
            if own {
                self.expected.seen(&segment);
                if opens && !self.heard_at.contains(&segment.seq) {
                    self.heard_at.push(segment.seq);
                }
            }
            let mut from = segment.seq + u32::from(opens);
            if splits && own {
                // The box has numbers of its own, so they are known from its SYN on only.
                let ([theirs], [heard_at]) = (opened_at, &self.heard_at[..]) else { continue };
                from = *theirs + from.since(*heard_at);
            }
            assert!(are_in_place(from, payload), "bytes of {segment:?}");
        }
    }
}
