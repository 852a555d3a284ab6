//! For tests: a host behind a device that is our own TCP with real bytes, so that what passes through
//! an emulation can be looked at byte by byte, in time that jumps.

use super::device::Device;
pub(super) use crate::apps::noise;
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_scenario::Scenario;
use ackord_sim::initial_sequence;
use ackord_tcp::{Connection, PayloadPlace};
use ackord_units::{Bytes, Time};
use ackord_wire::{
    Endpoints, FlowAddresses, FlowId, FlowNodes, IpFields, IpVersion, NodeId, Payload,
    ReceiveBuffer, SendBuffer, Side, decode, encode,
};
use nix::sys::eventfd::EventFd;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// The end of a scenario's first flow, behind a device.
pub(super) struct EndDevice {
    connection: Connection,
    endpoints: Endpoints,
    send: SendBuffer,
    receive: ReceiveBuffer,
    /// What is still to be written.
    to_write: VecDeque<u8>,
    received: Rc<RefCell<Vec<u8>>>,
    leaving: VecDeque<Vec<u8>>,
    opens: Option<Time>,
    quiet: EventFd,
}

impl EndDevice {
    /// That side, which writes these bytes and then closes, or nothing and closes after its peer; where it is and what it receives.
    pub(super) fn new(
        scenario: &Scenario,
        side: Side,
        writes: &[u8],
    ) -> (NodeId, EndDevice, Rc<RefCell<Vec<u8>>>) {
        let flow = &scenario.flows[0];
        let choices = flow.tcp(side);
        let config = choices.config();
        let window = config.buffers.receive.get() as usize;
        let id = EndpointId { flow: FlowId(0), side };
        let iss = initial_sequence(scenario.seed, flow, side);
        let nodes = FlowNodes { client: flow.client, server: flow.server };
        let received = Rc::new(RefCell::new(Vec::new()));
        let device = EndDevice {
            connection: Connection::listen(config, choices.mechanisms(), id, iss),
            endpoints: FlowAddresses::of(FlowId(0), nodes, IpVersion::V4).endpoints(side),
            send: SendBuffer::default(),
            receive: ReceiveBuffer::new(window),
            to_write: writes.iter().copied().collect(),
            received: Rc::clone(&received),
            leaving: VecDeque::new(),
            opens: (side == Side::Client).then_some(Time::ZERO),
            quiet: EventFd::new().expect("a descriptor"),
        };
        let node = if side == Side::Client { flow.client } else { flow.server };
        (node, device, received)
    }

    fn work(&mut self, now: Time) {
        let connection = &mut self.connection;
        self.send.forget_below(connection.bytes_acked());
        let readable = connection.readable();
        if readable > Bytes::ZERO {
            self.receive.read(readable.get() as usize, &mut self.received.borrow_mut());
            connection.read(readable);
        }
        // In the order in which the simulator's applications do it: the peer's end is answered, what
        // is written leaves, and then the end.
        if connection.peer_finished() && self.to_write.is_empty() {
            connection.close();
        }
        let all_written = self.write();
        self.send(now);
        if all_written {
            self.connection.close();
            self.send(now);
        }
    }

    /// Writes what there is room for; says whether that was the last.
    fn write(&mut self) -> bool {
        let connection = &mut self.connection;
        let established = matches!(connection.state(), TcpState::Established | TcpState::CloseWait);
        if !established || self.to_write.is_empty() {
            return false;
        }
        let room = connection.writable().get().min(self.to_write.len() as u64);
        let taken = connection.write(Bytes(room)).get() as usize;
        let bytes: Vec<u8> = self.to_write.drain(..taken).collect();
        self.send.push(&bytes);
        self.to_write.is_empty()
    }

    /// Sends what may leave.
    fn send(&mut self, now: Time) {
        let connection = &mut self.connection;
        while let Some(outbound) = connection.poll_segment(now, &mut NoSink) {
            let segment = outbound.segment;
            let mut payload = Vec::new();
            if segment.payload_len > 0 {
                let at = connection.send_offset(segment.seq).expect("an offset");
                self.send.copy(at, segment.payload_len as usize, &mut payload).expect("kept");
            }
            let ip = IpFields { ecn: outbound.ecn, ..IpFields::default() };
            let mut bytes = Vec::new();
            encode(self.endpoints, ip, &segment, Payload::Bytes(&payload), &mut bytes)
                .expect("sound");
            self.leaving.push_back(bytes);
        }
    }
}

impl Device for EndDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.quiet.as_fd()
    }

    fn longest(&self) -> usize {
        1_500
    }

    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.opens.take_if(|at| *at <= now).is_some() {
            self.connection.open(now, &mut NoSink);
            self.work(now);
        }
        if self.connection.deadline().is_some_and(|at| at <= now) {
            self.connection.handle_deadline(now, &mut NoSink);
            self.work(now);
        }
        Ok(self.leaving.pop_front().map(|bytes| {
            buffer[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }))
    }

    fn write_packet(&mut self, now: Time, _: FlowId, bytes: &[u8]) -> io::Result<()> {
        let decoded = decode(bytes).expect("whatever leaves the path is sound");
        assert_eq!(decoded.endpoints, self.endpoints.reversed());
        let (segment, payload) = (decoded.segment, &bytes[decoded.payload]);
        let place = self.connection.handle_segment(now, &segment, decoded.ip.ecn, &mut NoSink);
        if let Some(PayloadPlace { skip, len, at }) = place {
            self.receive.put(at, &payload[skip..skip + len]);
        }
        self.work(now);
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        if !self.leaving.is_empty() {
            return Some(Time::ZERO);
        }
        self.opens.into_iter().chain(self.connection.deadline()).min()
    }
}
