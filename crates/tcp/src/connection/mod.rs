//! The connection: RFC 9293's state machine around a sending and a receiving half.
//!
//! Grammar: `handle_segment` and `handle_deadline` in, `poll_segment` out, `deadline` for time;
//! `write`, `read`, `close` and `abort` for the application. After any of them, poll until nothing
//! comes out and ask for the deadline anew.
//!
//! | file | what |
//! | --- | --- |
//! | `segment_in.rs` | a segment arrives (RFC 9293 §3.10.7) |
//! | `segment_out.rs` | the next segment leaves |
//! | `options.rs` | what the SYNs agree on; timestamps and PAWS (RFC 7323) |
//! | `deadline.rs` | timers |
//! | `snapshot.rs` | where it stands, for whoever reports on it |
//! | `tuning.rs` | what may be changed while it lives |
//! | `facts.rs` | what one may ask of its inside |
//!
//! It holds no payload: whoever drives it keeps the octets by stream offset, see
//! [`Connection::send_offset`] and [`Connection::recv_offset`].

mod deadline;
mod facts;
mod options;
mod segment_in;
mod segment_out;
mod snapshot;
mod tuning;

use crate::config::{Config, Mechanisms};
use crate::ecn::EcnState;
use crate::receiver::{Finished, Owed, Receiver};
use crate::sender::{FinProgress, Sender, SenderChoices};
use crate::trace::Trace;
use ackord_events::{EndpointId, Event, NoSink, Sink, TcpState};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::Segment;
use options::Agreed;

pub use segment_in::reset_for;
pub use snapshot::{AgreedOptions, Repair, Snapshot};

/// A TCP connection, one end of it.
#[derive(Clone, Debug)]
pub struct Connection {
    id: EndpointId,
    config: Config,
    state: TcpState,
    opened: Opened,
    agreed: Agreed,
    ecn: EcnState,
    sender: Sender,
    receiver: Receiver,
    syn: Syn,
    /// A reset or challenge acknowledgment that has to leave first.
    urgent_reply: Option<Segment>,
    time_wait_until: Option<Time>,
    close_reason: Option<CloseReason>,
    stats: Stats,
}

/// Who opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Actively,
    Passively,
}

/// The SYN, or SYN-ACK, of this end.
#[derive(Clone, Copy, Debug)]
struct Syn {
    /// It has to be sent, or sent again.
    pending: bool,
    sent_at: Option<Time>,
    attempts: u32,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides have finished.
    Orderly,
    /// The peer sent a reset.
    ResetByPeer,
    /// The application aborted it.
    Aborted,
    /// Too many timeouts in a row (RFC 9293 §3.8.3).
    TimedOut,
    /// The peer refused the SYN.
    Refused,
}

/// Plain counters, always kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent with payload, SYN or FIN, retransmissions included.
    pub data_segments_sent: u64,
    /// Of those, sent again.
    pub retransmitted_segments: u64,
    /// Segments sent that only acknowledge.
    pub pure_acks_sent: u64,
    /// Segments received and processed.
    pub segments_received: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments discarded: unacceptable, or refused by PAWS.
    pub segments_refused: u64,
}

impl Connection {
    /// Opens a connection; the SYN comes out of [`Connection::poll_segment`].
    pub fn connect(
        config: Config,
        choices: Mechanisms,
        id: EndpointId,
        iss: Seq,
        now: Time,
    ) -> Connection {
        let mut connection = Connection::listen(config, choices, id, iss);
        connection.open(now, &mut NoSink);
        connection
    }

    /// Waits for a SYN.
    pub fn listen(config: Config, choices: Mechanisms, id: EndpointId, iss: Seq) -> Connection {
        let Mechanisms { congestion, loss, recovery, ack, nagle } = choices;
        let sender_choices = SenderChoices { congestion, loss, recovery, nagle };
        let mut receiver = Receiver::new(&config, ack);
        receiver.scale = options::scale_for(&config);
        Connection {
            id,
            state: TcpState::Listen,
            opened: Opened::Passively,
            agreed: Agreed::default(),
            ecn: EcnState::new(config.ecn),
            sender: Sender::new(&config, iss, sender_choices),
            receiver,
            syn: Syn { pending: false, sent_at: None, attempts: 0 },
            urgent_reply: None,
            time_wait_until: None,
            close_reason: None,
            stats: Stats::default(),
            config,
        }
    }

    /// A listening connection opens actively instead (RFC 9293 §3.10.1): the SYN comes out of
    /// [`Connection::poll_segment`]. In any other state nothing happens.
    pub fn open<S: Sink>(&mut self, now: Time, sink: &mut S) {
        if self.state == TcpState::Listen {
            let trace = &mut Trace::new(now, self.id, sink);
            self.opened = Opened::Actively;
            self.syn.pending = true;
            self.sender.rto_at = Some(now + self.sender.rtt.rto());
            self.enter(trace, TcpState::SynSent);
        }
    }

    /// The application writes `bytes`; returns how many the send buffer takes.
    pub fn write(&mut self, bytes: Bytes) -> Bytes {
        match self.state {
            TcpState::Listen
            | TcpState::SynSent
            | TcpState::SynReceived
            | TcpState::Established
            | TcpState::CloseWait => self.sender.write(bytes),
            _ => Bytes::ZERO,
        }
    }

    /// How much [`Connection::write`] would take now.
    pub fn writable(&self) -> Bytes {
        self.sender.writable()
    }

    /// Octets that have arrived in order and wait to be read.
    pub fn readable(&self) -> Bytes {
        self.receiver.readable()
    }

    /// The application takes `bytes` (at most what is readable).
    pub fn read(&mut self, bytes: Bytes) {
        self.receiver.read(bytes);
    }

    /// The application has nothing more to send: the FIN follows the last octet.
    pub fn close(&mut self) {
        match self.state {
            TcpState::Listen | TcpState::SynSent => {
                self.state = TcpState::Closed;
                self.stop_timers();
                self.close_reason.get_or_insert(CloseReason::Orderly);
            }
            _ => self.sender.close(),
        }
    }

    /// Ends the connection with a reset (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        let synchronized = !matches!(
            self.state,
            TcpState::Closed | TcpState::Listen | TcpState::SynSent | TcpState::TimeWait
        );
        if synchronized {
            self.urgent_reply = Some(self.reset_segment());
        }
        if self.state != TcpState::Closed {
            self.state = TcpState::Closed;
            self.stop_timers();
            self.close_reason.get_or_insert(CloseReason::Aborted);
        }
    }

    /// Which end of which connection this is.
    pub fn id(&self) -> EndpointId {
        self.id
    }

    /// The state of RFC 9293 §3.3.2.
    pub fn state(&self) -> TcpState {
        self.state
    }

    /// Why it is closed, once it is.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.close_reason
    }

    /// Whether all of the peer's data and its FIN have been received.
    pub fn peer_finished(&self) -> bool {
        self.receiver.finished == Finished::Yes
    }

    /// Whether the peer has acknowledged everything written, and the FIN if there was one.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.una_offset == self.sender.written
            && matches!(self.sender.fin, FinProgress::Open | FinProgress::Acked)
    }

    /// Octets acknowledged: sent octets below this stream offset may be forgotten.
    pub fn bytes_acked(&self) -> u64 {
        self.sender.una_offset
    }

    /// Octets received in order so far.
    pub fn bytes_received(&self) -> u64 {
        self.receiver.offset
    }

    /// The congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.sender.cwnd()
    }

    /// The slow-start threshold; [`Bytes::MAX`] while there is none.
    pub fn ssthresh(&self) -> Bytes {
        self.sender.ssthresh()
    }

    /// Octets sent and not acknowledged.
    pub fn flight_size(&self) -> Bytes {
        self.sender.flight_size()
    }

    /// The smoothed round-trip time, once known.
    pub fn srtt(&self) -> Option<Span> {
        self.sender.rtt.srtt()
    }

    /// The retransmission timeout as it stands.
    pub fn rto(&self) -> Span {
        self.sender.rtt.rto()
    }

    /// Payload of a full-sized segment sent by this end, options taken off.
    pub fn smss(&self) -> Bytes {
        self.sender.smss
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Stream offset of the first payload octet of a segment this end sends: `seq` must lie
    /// between what is acknowledged and what was sent.
    pub fn send_offset(&self, seq: Seq) -> Option<u64> {
        let ahead = seq.since(self.sender.snd_una);
        let sent = self.sender.snd_nxt.since(self.sender.snd_una);
        (ahead <= sent).then(|| self.sender.una_offset + u64::from(ahead))
    }

    /// Stream offset of the first payload octet of an arriving segment; nothing if it lies a
    /// window or more away from what is expected. Ask before handing the segment in: octets below
    /// [`Connection::bytes_received`] are already there.
    pub fn recv_offset(&self, seq: Seq) -> Option<u64> {
        if matches!(self.state, TcpState::Listen | TcpState::SynSent | TcpState::Closed) {
            return None;
        }
        let expected = self.receiver.rcv_nxt - u32::from(self.peer_finished());
        if seq.at_or_after(expected) {
            let ahead = seq.since(expected);
            let window = self.receiver.edge().since(expected);
            (ahead <= window).then(|| self.receiver.offset + u64::from(ahead))
        } else {
            self.receiver.offset.checked_sub(u64::from(expected.since(seq)))
        }
    }

    /// The one place where the state changes.
    fn enter<S: Sink>(&mut self, trace: &mut Trace<'_, S>, to: TcpState) {
        let from = self.state;
        debug_assert!(legal(from, to), "no way leads from {from:?} to {to:?}");
        self.state = to;
        trace.emit(|endpoint| Event::StateChanged { endpoint, from, to });
        match to {
            TcpState::TimeWait => {
                self.time_wait_until = Some(trace.now + self.config.time_wait);
                self.sender.stop_timers();
                self.close_reason.get_or_insert(CloseReason::Orderly);
            }
            TcpState::Closed => self.stop_timers(),
            _ => {}
        }
    }

    /// Nothing is left to wait for: a deadline that nobody acts on would stand for ever.
    fn stop_timers(&mut self) {
        self.sender.stop_timers();
        self.receiver.owed = Owed::Nothing;
        self.time_wait_until = None;
    }

    fn fail<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: CloseReason) {
        self.close_reason = Some(reason);
        self.enter(trace, TcpState::Closed);
    }
}

/// The arrows of RFC 9293 Figure 5, with the abortive ones that lead to CLOSED from anywhere.
fn legal(from: TcpState, to: TcpState) -> bool {
    use TcpState::*;
    matches!(
        (from, to),
        (Listen, SynReceived | SynSent)
            | (SynSent, SynReceived | Established)
            | (SynReceived, Listen | Established | FinWait1 | CloseWait)
            | (Established, FinWait1 | CloseWait)
            | (FinWait1, FinWait2 | Closing | TimeWait)
            | (FinWait2, TimeWait)
            | (Closing, TimeWait)
            | (CloseWait, LastAck)
            | (_, Closed)
    )
}
