//! One connection with its bytes: the endpoint decides, this holds what it decides about.

use super::Departed;
use super::tally::Tally;
use ackord_events::{NoSink, TcpState};
use ackord_tcp::nagle::Off;
use ackord_tcp::registry::NagleVariant;
use ackord_tcp::{CloseReason, Connection, Outbound, PayloadPlace};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{
    Decoded, Endpoints, Flags, IpFields, Payload, ReceiveBuffer, SendBuffer, encode,
};
use nix::errno::Errno;
use std::collections::VecDeque;

/// Number of a connection within the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkKey(pub(crate) u32);

/// Who has a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The socket with this descriptor.
    Socket(i32),
    /// The listening socket with this descriptor: nobody has accepted it yet.
    Listener(i32),
    /// Nobody: the application has closed it, and it ends by itself.
    Nobody,
}

/// Whether small writes are held together (TCP_CORK, MSG_MORE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cork {
    Out,
    /// By TCP_CORK.
    In,
    /// By MSG_MORE: until a segment arrives (tcp_data_snd_check).
    More,
}

#[derive(Debug)]
pub(crate) struct Link {
    /// Of the packets it sends.
    pub(crate) endpoints: Endpoints,
    pub(crate) connection: Connection,
    send: SendBuffer,
    receive: ReceiveBuffer,
    pub(crate) owner: Owner,
    /// What the next call that asks is told (Linux's sk_err).
    pub(crate) error: Option<Errno>,
    /// Rises whenever something happens that somebody may be waiting for.
    pub(crate) activity: u64,
    pub(crate) tally: Tally,
    pub(crate) ttl: u8,
    /// Whether the end of the connection has been told.
    ended: bool,
    pub(crate) cork: Cork,
    /// Stream offset up to which the endpoint knows what was written.
    handed: u64,
    /// Stream offsets at which a segment has to end (MSG_EOR): what comes after is handed over when
    /// all before it has been sent once.
    record_ends: VecDeque<u64>,
    /// Stream offset at which a write with MSG_MORE ended, the last one: no PSH there.
    unpushed_end: Option<u64>,
    nagle: NagleVariant,
    held_since: Option<Time>,
    identification: u16,
}

/// As long as a corked rest waits for more (tcp(7)).
const CORK_CEILING: Span = Span::from_millis(200);
impl Link {
    /// Of a connection that begins with `nagle` and a receive buffer of `window`.
    pub(crate) fn new(
        endpoints: Endpoints,
        connection: Connection,
        (window, nagle): (Bytes, NagleVariant),
    ) -> Link {
        Link {
            endpoints,
            connection,
            send: SendBuffer::default(),
            receive: ReceiveBuffer::new(window.get() as usize),
            owner: Owner::Nobody,
            error: None,
            activity: 0,
            tally: Tally::default(),
            ttl: 64,
            ended: false,
            cork: Cork::Out,
            handed: 0,
            record_ends: VecDeque::new(),
            unpushed_end: None,
            nagle,
            held_since: None,
            identification: 0,
        }
    }

    /// A packet for it has arrived.
    pub(crate) fn arrive(&mut self, now: Time, packet: &Decoded, payload: &[u8]) {
        let segment = &packet.segment;
        self.tally.segments_in += 1;
        if !payload.is_empty() {
            self.tally.data_segments_in += 1;
            self.tally.data_came_at = Some(now);
        }
        self.tally.ack_came_at = Some(now);
        let before = self.connection.state();
        // What has arrived already stays as it was, whatever is said of it now.
        let place = self.connection.handle_segment(now, segment, packet.ip.ecn, &mut NoSink);
        if let Some(PayloadPlace { skip, len, at }) = place
            && let Some(new) = payload.get(skip..skip + len)
        {
            self.receive.put(at, new);
        }
        self.note_end(before, segment.flags.contains(Flags::RST).then_some(Errno::ECONNRESET));
        if self.cork == Cork::More {
            self.hand_over_all();
        }
        if opening(before) && !opening(self.connection.state()) {
            self.tally.established_at = Some(now);
        }
        self.activity += 1;
    }

    /// When something is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let uncork = self.held_since.map(|since| since + CORK_CEILING);
        [self.connection.deadline(), uncork].into_iter().flatten().min()
    }

    /// Timers that are due at `now` act.
    pub(crate) fn handle_deadline(&mut self, now: Time) {
        if self.held_since.is_some_and(|since| since + CORK_CEILING <= now) {
            // tcp_write_wakeup sets PSH.
            self.unpushed_end = None;
            self.hand_over_all();
        }
        if self.connection.deadline().is_some_and(|at| at <= now) {
            let before = self.connection.state();
            self.connection.handle_deadline(now, &mut NoSink);
            self.note_end(before, None);
            self.activity += 1;
        }
    }

    /// Everything that may leave now leaves.
    pub(crate) fn pump(&mut self, now: Time, outbox: &mut VecDeque<Departed>) {
        self.send.forget_below(self.connection.bytes_acked());
        loop {
            self.hand_over(now);
            // A record that another follows is whole: Nagle's algorithm does not hold it back.
            let pushes = self.record_ends.front() == Some(&self.handed) && self.held() > 0;
            if pushes {
                self.connection.set_nagle(Box::new(Off));
            }
            while let Some(outbound) = self.connection.poll_segment(now, &mut NoSink) {
                self.depart(now, &outbound, outbox);
            }
            if pushes {
                self.connection.set_nagle(self.nagle.config().build());
            }
            let unsent = self.connection.snapshot().unsent;
            if self.record_ends.front() != Some(&self.handed) || unsent > Bytes::ZERO {
                break;
            }
            self.record_ends.pop_front();
        }
        let is_busy = self.unacknowledged() > 0;
        self.tally.note_busy(now, is_busy, is_busy && self.is_window_limited());
    }

    fn depart(&mut self, now: Time, outbound: &Outbound, outbox: &mut VecDeque<Departed>) {
        let Outbound { segment, ecn } = outbound;
        let len = segment.payload_len as usize;
        let mut payload = Vec::with_capacity(len);
        if len > 0 {
            let offset = self.connection.send_offset(segment.seq);
            let found = offset.and_then(|at| self.send.copy(at, len, &mut payload));
            if found.is_none() {
                debug_assert!(false, "{segment:?} has bytes that were never written");
                self.connection.abort();
                return;
            }
        }
        self.identification = self.identification.wrapping_add(1);
        let ip = IpFields { ecn: *ecn, ttl: self.ttl, identification: self.identification };
        let mut bytes = Vec::new();
        let made = encode(self.endpoints, ip, segment, Payload::Bytes(&payload), &mut bytes);
        debug_assert!(made.is_ok(), "{made:?}");
        if made.is_ok() {
            self.tally.note_sent(now, segment);
            outbox.push_back(Departed { at: now, bytes });
        }
    }

    /// Takes bytes to be sent, as many as there is room for.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        self.send.push(&bytes[..taken]);
        taken
    }

    /// Bytes that may be written at once while no more than `lowat` are to wait unsent
    /// (TCP_NOTSENT_LOWAT): Linux looks when a new buffer begins, and fills the last one whatever
    /// waits. A buffer holds whole segments up to half the peer's window or 64 KiB.
    pub(crate) fn admits(&self, lowat: u32) -> usize {
        if lowat == u32::MAX {
            return usize::MAX;
        }
        let snapshot = self.connection.snapshot();
        let smss = snapshot.smss.get().max(1);
        let most = (snapshot.snd_wnd.get() / 2).min(65_535);
        let buffer = (most - most % smss).max(smss);
        let (unsent, last) = (self.unsent(), self.unsent() % buffer);
        let free = if last > 0 { buffer - last } else { 0 };
        (if free > 0 || unsent >= u64::from(lowat) { free } else { buffer }) as usize
    }

    /// Whether what was written so far ends in the middle of something (MSG_MORE).
    pub(crate) fn note_more(&mut self, more: bool) {
        self.unpushed_end = more.then(|| self.send.end());
    }

    /// What was written so far is a record: the segment that holds its end holds nothing after it.
    pub(crate) fn end_record(&mut self) {
        let end = self.send.end();
        if end > self.handed && self.record_ends.back() != Some(&end) {
            self.record_ends.push_back(end);
        }
    }

    /// Another rule for small segments.
    pub(crate) fn set_nagle(&mut self, nagle: NagleVariant) {
        self.connection.set_nagle(nagle.config().build());
        self.nagle = nagle;
    }

    /// Bytes that [`Link::write`] would take.
    pub(crate) fn room(&self) -> usize {
        (self.connection.writable().get() as usize).saturating_sub(self.held() as usize)
    }

    /// Bytes written and not yet acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.send.end() - self.connection.bytes_acked()
    }

    /// Bytes written and not yet sent for the first time.
    pub(crate) fn unsent(&self) -> u64 {
        self.connection.snapshot().unsent.get() + self.held()
    }

    /// One while a FIN of ours is not acknowledged.
    pub(crate) fn fin_outstanding(&self) -> u64 {
        u64::from(matches!(
            self.connection.state(),
            TcpState::FinWait1 | TcpState::Closing | TcpState::LastAck
        ))
    }

    /// Stream offset up to which bytes have been sent at least once.
    pub(crate) fn highest_sent(&self) -> u64 {
        self.send.end() - self.unsent()
    }

    /// Bytes written that the endpoint does not know of yet.
    fn held(&self) -> u64 {
        self.send.end() - self.handed
    }

    /// Moves up to `limit` bytes that have arrived to the end of `out`.
    pub(crate) fn read(&mut self, limit: usize, out: &mut Vec<u8>) -> usize {
        let count = self.peek(limit, out);
        let mut passed = Vec::new();
        self.receive.read(count, &mut passed);
        self.connection.read(Bytes(count as u64));
        count
    }

    /// Copies up to `limit` bytes that have arrived.
    pub(crate) fn peek(&mut self, limit: usize, out: &mut Vec<u8>) -> usize {
        let count = self.connection.readable().min(Bytes(limit as u64)).get() as usize;
        self.receive.peek(count, out);
        count
    }

    /// The application has nothing more to send.
    pub(crate) fn finish(&mut self) {
        self.cork = Cork::Out;
        self.hand_over_all();
        self.connection.close();
    }

    /// The application is gone: what arrives from now on is lost, and the peer learns it.
    pub(crate) fn release(&mut self, now: Time) {
        self.cork = Cork::Out;
        self.hand_over_all();
        self.connection.release(now);
    }

    /// Lets the endpoint know what has been written: all of it, or in whole segments, but no more
    /// than the record under way.
    fn hand_over(&mut self, now: Time) {
        let end = self.record_ends.front().map_or(self.send.end(), |&end| end);
        let held = end - self.handed;
        let is_record = !self.record_ends.is_empty();
        if self.cork == Cork::Out || is_record || held == 0 {
            self.hand_over_bytes(held, true);
            self.held_since = None;
            return;
        }
        let snapshot = self.connection.snapshot();
        let waiting = snapshot.unsent.get() + held;
        let whole = waiting - waiting % snapshot.smss.get().max(1);
        let now_known = whole.saturating_sub(snapshot.unsent.get()).min(held);
        self.hand_over_bytes(now_known, now_known == held);
        self.held_since = if now_known == held { None } else { self.held_since.or(Some(now)) };
    }

    /// What a cork holds back leaves with the next poll; what is written later is held again.
    pub(crate) fn hand_over_all(&mut self) {
        self.hand_over_bytes(self.held(), true);
        self.record_ends.clear();
        self.held_since = None;
    }

    /// Lets the endpoint know of the next `len` bytes. `is_end` is false if a cork holds back what follows: then, and
    /// after MSG_MORE, the last byte carries no PSH.
    fn hand_over_bytes(&mut self, len: u64, is_end: bool) {
        let push = is_end && self.unpushed_end != Some(self.handed + len);
        let write = if push { Connection::write } else { Connection::write_more };
        self.handed += write(&mut self.connection, Bytes(len)).get();
    }

    /// Notes what a connection that has just ended leaves for the application (tcp_reset and
    /// tcp_write_err of Linux); `reset` if the last segment was one. To RFC 9293 a reset that meets
    /// CLOSING or LAST-ACK is the end that was wanted, to Linux an error.
    fn note_end(&mut self, before: TcpState, reset: Option<Errno>) {
        if self.ended || self.connection.state() != TcpState::Closed {
            return;
        }
        self.ended = true;
        self.error = match self.connection.close_reason() {
            Some(CloseReason::ResetByPeer) if before == TcpState::CloseWait => Some(Errno::EPIPE),
            Some(CloseReason::ResetByPeer) => Some(Errno::ECONNRESET),
            Some(CloseReason::Refused) => Some(Errno::ECONNREFUSED),
            Some(CloseReason::TimedOut) => Some(Errno::ETIMEDOUT),
            _ if matches!(before, TcpState::Closing | TcpState::LastAck) => reset,
            _ => None,
        };
    }

    /// Whether the next segment fits into cwnd, but not into the peer's window.
    fn is_window_limited(&self) -> bool {
        let (snapshot, flight) = (self.connection.snapshot(), self.connection.flight_size());
        let next = snapshot.unsent.min(snapshot.smss);
        let fits = |window: Bytes| flight + next <= window;
        next > Bytes::ZERO && fits(snapshot.cwnd) && !fits(snapshot.snd_wnd)
    }
}

/// Whether a connection in this state does not stand yet.
fn opening(state: TcpState) -> bool {
    matches!(state, TcpState::Listen | TcpState::SynSent | TcpState::SynReceived)
}
