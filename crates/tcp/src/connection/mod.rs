//! The connection: RFC 9293's state machine around a sending and a receiving half.
//!
//! Grammar: `handle_segment` and `handle_deadline` in, `poll_segment` out, `deadline` for time;
//! `write`, `read`, `close` and `abort` for the application. After any of them, poll until nothing
//! comes out and ask for the deadline anew.
//!
//! | file | what |
//! | --- | --- |
//! | `segment_in.rs` | a segment arrives (RFC 9293 §3.10.7) |
//! | `handshake.rs` | LISTEN, SYN-SENT, SYN-RECEIVED |
//! | `reset.rs` | resets that arrive and leave |
//! | `refusal.rs` | refused segments: challenges and their throttling (RFC 5961) |
//! | `segment_out.rs` | the next segment leaves |
//! | `options.rs` | what the SYNs agree on; timestamps and PAWS (RFC 7323) |
//! | `deadline.rs`, `timers.rs` | timers, and when they give up |
//! | `keepalive.rs` | silent peers (RFC 9293 §3.8.4) |
//! | `time_wait.rs` | TIME-WAIT, and what may follow it (RFC 6191) |
//! | `states.rs` | the change of state itself |
//! | `queries.rs` | what a connection says about itself |
//! | `snapshot.rs` | where it stands, for whoever reports on it |
//! | `tuning.rs` | what may be changed while it lives |
//! | `facts.rs` | what one may ask of its inside |
//!
//! It holds no payload: whoever drives it keeps the bytes by stream offset, see
//! [`Connection::send_offset`] and [`Connection::handle_segment`].

mod deadline;
mod facts;
mod handshake;
mod keepalive;
mod options;
mod queries;
mod refusal;
mod reset;
mod segment_in;
mod segment_out;
mod snapshot;
mod states;
mod time_wait;
mod timers;
mod tuning;

use crate::config::{Config, Mechanisms};
use crate::ecn::EcnState;
use crate::receiver::Receiver;
use crate::sender::{Sender, SenderChoices};
use crate::trace::Trace;
use ackord_events::{EndpointId, NoSink, Sink, TcpState};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::Segment;
use deadline::UnacknowledgedSince;
use keepalive::KeepaliveState;
use options::Agreed;
use refusal::Answers;
use std::mem::offset_of;
use std::ops::RangeInclusive;
use timers::ConnectionTimers;

pub use reset::reset_for;
pub use segment_out::Polled;
pub use snapshot::{AgreedOptions, OutstandingSegments, RecoveryState, Snapshot};

/// A TCP connection, one end of it.
// In this order: what every packet asks for comes first, in as few lines of the processor's cache as it can.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Connection {
    state: TcpState,
    opened: Opened,
    reader: Reader,
    ecn: EcnState,
    /// The state that was left without an event, if one was.
    pending_state: Option<TcpState>,
    close_reason: Option<CloseReason>,
    id: EndpointId,
    keepalive: KeepaliveState,
    timers: ConnectionTimers,
    agreed: Agreed,
    receiver: Receiver,
    sender: Sender,
    /// What leaves before anything else.
    pending_control: Option<PendingControl>,
    stats: Stats,
    syn: Syn,
    answers: Answers,
    unacknowledged: Option<UnacknowledgedSince>,
    config: Config,
}

impl Connection {
    /// How many bytes from its beginning packets read or write: at least up to the sender, of which nearly
    /// every packet uses the first parts, and at most up to what only resets, handshakes and timers of
    /// seconds use.
    pub const BYTES_OF_PACKETS: RangeInclusive<usize> =
        offset_of!(Connection, sender)..=offset_of!(Connection, pending_control);
}

/// Who opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Actively,
    Passively,
}

/// Whether anybody will ever read what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

/// What leaves before anything else.
#[derive(Clone, Copy, Debug)]
enum PendingControl {
    /// A reset of our own accord.
    Reset,
    /// A reset that answers a segment.
    Answer(Segment),
    KeepaliveProbe,
}

/// The SYN, or SYN-ACK, of this end.
#[derive(Clone, Copy, Debug, Default)]
struct Syn {
    /// It has to be sent, or retransmitted.
    pending: bool,
    sent_at: Option<Time>,
    /// How often it was sent, as SYN or as SYN-ACK.
    attempts: u32,
    /// How often because it seemed lost.
    repeats: u32,
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
    /// Of those, retransmitted.
    pub retransmitted_segments: u64,
    /// Segments sent that only acknowledge.
    pub pure_acks_sent: u64,
    /// Segments received and processed.
    pub segments_received: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments discarded, whatever the reason.
    pub segments_refused: u64,
    /// Of those, refused by PAWS (RFC 7323 §5).
    pub old_timestamps: u64,
    /// Challenge acknowledgments (RFC 5961 §3 to §5).
    pub challenge_acks: u64,
    /// Segments refused without an answer because too many had been answered (RFC 5961 §7).
    pub answers_throttled: u64,
    /// Probes of a silent peer (RFC 9293 §3.8.4).
    pub keepalive_probes: u64,
    /// How often R1 was reached (RFC 9293 §3.8.3).
    pub delivery_troubles: u64,
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
            syn: Syn::default(),
            reader: Reader::There,
            pending_control: None,
            pending_state: None,
            timers: ConnectionTimers::default(),
            keepalive: KeepaliveState::new(),
            unacknowledged: None,
            answers: Answers::default(),
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
            self.sender.start_rto(now);
            self.enter(trace, TcpState::SynSent);
        }
    }

    /// The application writes `bytes`; returns how many the send buffer takes.
    pub fn write(&mut self, bytes: Bytes) -> Bytes {
        self.write_with(bytes, true)
    }

    /// The same, but the segment that ends with these bytes carries no PSH: more is to follow (MSG_MORE).
    pub fn write_more(&mut self, bytes: Bytes) -> Bytes {
        self.write_with(bytes, false)
    }

    fn write_with(&mut self, bytes: Bytes, push: bool) -> Bytes {
        match self.state {
            TcpState::Listen
            | TcpState::SynSent
            | TcpState::SynReceived
            | TcpState::Established
            | TcpState::CloseWait => self.sender.write(bytes, push),
            _ => Bytes::ZERO,
        }
    }

    /// How much [`Connection::write`] would take now.
    #[inline]
    pub fn writable(&self) -> Bytes {
        self.sender.writable()
    }

    /// Bytes that have arrived in order and wait to be read.
    #[inline]
    pub fn readable(&self) -> Bytes {
        self.receiver.readable()
    }

    /// The application takes `bytes` (at most what is readable).
    #[inline]
    pub fn read(&mut self, bytes: Bytes) {
        self.receiver.read(bytes);
    }

    /// Whether an acknowledgment is to be [polled](Connection::poll_segment) for before the
    /// application acts on what it has just read.
    #[inline]
    pub fn acknowledges_first(&self) -> bool {
        self.receiver.acknowledges_first()
    }

    /// The application has nothing more to send: the FIN follows the last byte. It may still
    /// read; one that does not any more calls [`Connection::release`].
    pub fn close(&mut self) {
        match self.state {
            TcpState::Listen | TcpState::SynSent => self.close_untold(CloseReason::Orderly),
            _ => self.sender.close(),
        }
    }

    /// The application is gone: it writes nothing more and reads nothing more. Bytes that have
    /// arrived and were not read make of this an abort, and so do bytes that arrive later: their
    /// sender learns that they were lost (RFC 9293 §3.6.1 SHLD-3, RFC 2525 §2.17). Once both ends
    /// have sent their FIN the close takes its course, whatever was left unread: an abort would
    /// tell nobody (§3.10.5), and take back a FIN that may have to be retransmitted, or TIME-WAIT.
    pub fn release(&mut self, now: Time) {
        if self.readable() > Bytes::ZERO && reset::peer_is_to_be_told(self.state) {
            return self.abort();
        }
        self.reader = Reader::Gone;
        self.close();
        self.limit_fin_wait_2(now);
    }

    /// Ends the connection with a reset, if the peer has to be told (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if reset::peer_is_to_be_told(self.state) {
            self.pending_control = Some(PendingControl::Reset);
        }
        self.close_untold(CloseReason::Aborted);
    }
}

#[cfg(test)]
mod tests;
