//! One connection with its buffers and its application.

use super::{Arrival, ConnectionReport, Service, Stream, Uplink};
use ackord_events::{Sink, TcpState};
use ackord_tcp::{Connection, PayloadPlace};
use ackord_units::{Bytes, Time};
use ackord_wire::{Endpoints, ReceiveBuffer, SendBuffer};

/// A connection at work.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Of the packets it sends.
    pub(crate) endpoints: Endpoints,
    pub(crate) connection: Connection,
    buffers: Buffers,
    service: Box<dyn Service>,
    began_at: Time,
}

#[derive(Debug)]
struct Buffers {
    send: SendBuffer,
    receive: ReceiveBuffer,
}

impl Buffers {
    /// In TIME-WAIT everything sent is acknowledged and nothing more is taken in; a minute of
    /// thousands of short connections would otherwise hold gigabytes.
    fn give_up(&mut self, connection: &Connection) {
        self.send = SendBuffer::default();
        if connection.readable() == Bytes::ZERO {
            self.receive = ReceiveBuffer::new(0);
        }
    }
}

impl Entry {
    /// A connection that has not done anything yet, with a receive window of so many bytes.
    pub(crate) fn new(
        now: Time,
        endpoints: Endpoints,
        connection: Connection,
        (window, service): (usize, Box<dyn Service>),
    ) -> Entry {
        let buffers = Buffers { send: SendBuffer::default(), receive: ReceiveBuffer::new(window) };
        Entry { endpoints, connection, buffers, service, began_at: now }
    }

    /// Lets the endpoint decide about the segment, and keeps of the payload what it takes.
    pub(crate) fn handle_segment<S: Sink>(
        &mut self,
        now: Time,
        arrival: &Arrival<'_>,
        sink: &mut S,
    ) {
        let place = self.connection.handle_segment(now, arrival.segment, arrival.ecn, sink);
        if let Some(PayloadPlace { skip, len, at }) = place
            && let Some(new) = arrival.payload.get(skip..skip + len)
        {
            self.buffers.receive.put(at, new);
        }
    }

    /// The application does what it can, then everything that may be sent is sent.
    pub(crate) fn work<S: Sink>(&mut self, now: Time, uplink: &mut Uplink, sink: &mut S) {
        self.buffers.send.forget_below(self.connection.bytes_acked());
        // RFC 9293 §3.10.4: whoever closes before the peer has answered takes the connection back,
        // so the application is not asked before.
        let begun = !matches!(
            self.connection.state(),
            TcpState::Listen | TcpState::SynSent | TcpState::SynReceived
        );
        if begun {
            let Entry { connection, buffers, service, .. } = self;
            service.advance(now, &mut Io { connection, buffers });
        }
        if self.connection.state() == TcpState::TimeWait {
            self.buffers.give_up(&self.connection);
        }
        while let Some(outbound) = self.connection.poll_segment(now, sink) {
            let segment = &outbound.segment;
            let offset = self.connection.send_offset(segment.seq);
            let len = segment.payload_len as usize;
            let send = &self.buffers.send;
            let sent = uplink.send_tcp(self.endpoints, &outbound, |out| {
                if len == 0 { Some(()) } else { send.copy(offset?, len, out) }
            });
            if sent.is_none() {
                debug_assert!(false, "{segment:?} has bytes that were never written");
                self.connection.abort();
            }
        }
    }

    /// When the connection or its application has something to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        [self.connection.deadline(), self.service.deadline()].into_iter().flatten().min()
    }

    pub(crate) fn report(&self, ended_at: Option<Time>) -> ConnectionReport {
        ConnectionReport {
            peer: self.endpoints.dst,
            began_at: self.began_at,
            ended_at,
            close_reason: self.connection.close_reason(),
            stats: *self.connection.stats(),
            srtt: self.connection.srtt(),
            transfers: self.service.transfers().to_vec(),
        }
    }
}

/// What the application may touch.
struct Io<'a> {
    connection: &'a mut Connection,
    buffers: &'a mut Buffers,
}

impl Stream for Io<'_> {
    fn read(&mut self, limit: usize, out: &mut Vec<u8>) -> usize {
        let count = self.connection.readable().min(Bytes(limit as u64));
        self.buffers.receive.read(count.get() as usize, out);
        self.connection.read(count);
        count.get() as usize
    }

    fn readable(&self) -> usize {
        self.connection.readable().get() as usize
    }

    fn drain(&mut self, limit: usize, take: &mut dyn FnMut(&[u8]) -> usize) {
        let mut left = self.readable().min(limit);
        while left > 0 {
            let front = self.buffers.receive.front(left);
            let (there, taken) = (front.len(), take(front));
            if taken == 0 {
                return;
            }
            self.buffers.receive.skip(taken);
            self.connection.read(Bytes(taken as u64));
            if taken < there {
                return;
            }
            left -= taken;
        }
    }

    fn room(&self) -> usize {
        match self.connection.state() {
            TcpState::Established | TcpState::CloseWait => {
                self.connection.writable().get() as usize
            }
            _ => 0,
        }
    }

    fn at_end(&self) -> bool {
        self.connection.peer_finished() && self.connection.readable() == Bytes::ZERO
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = self.connection.write(Bytes(bytes.len() as u64)).get() as usize;
        self.buffers.send.push(&bytes[..taken]);
        taken
    }

    fn written(&self) -> u64 {
        self.buffers.send.end()
    }

    fn acked(&self) -> u64 {
        self.connection.bytes_acked()
    }

    fn close(&mut self) {
        self.connection.close();
    }

    fn abort(&mut self) {
        self.connection.abort();
    }
}
