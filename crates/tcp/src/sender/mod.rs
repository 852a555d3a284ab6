//! The sending half of a connection: what was written, what is outstanding, the windows and the
//! timers.
//!
//! Parts that own their state:
//!
//! | file | what |
//! | --- | --- |
//! | `queue.rs` | the sequence space and the stream: written, sent, acknowledged |
//! | `peers_window.rs` | the window the peer offers, and what happens when that closes |
//! | `persist.rs` | the persist timer |
//! | `initial_window.rs` | the sizes that bound what may be sent |
//! | `sent.rs`, `scoreboard.rs` | one record per outstanding segment |
//! | `time_order.rs`, `by_time.rs` | the same in order of transmission, for detectors that judge by time |
//! | `control.rs` | the congestion control, and the window it gives |
//! | `delivery.rs` | delivery-rate samples, for a control that models the path |
//! | `retransmission_timer.rs` | the round-trip estimate and the retransmission timer |
//! | `loss_detection.rs` | what the loss detector is asked, and what follows from its verdicts |
//! | `loss_recovery.rs` | whether a recovery is under way, what begins and ends it |
//! | `undo.rs` | recoveries that were not needed: DSACK, timestamps, and what is given back |
//! | `frto.rs` | whether a timeout was needed (RFC 5682) |
//! | `tail_probe.rs` | tail loss probes (RFC 8985 §7) |
//! | `marks.rs` | marks that come back (RFC 3168) |
//! | `idle.rs` | windows that are not used |
//! | `validation.rs` | windows that are used in part (RFC 2861, RFC 7661) |
//! | `offload.rs` | segments that are handed over several at once |
//! | `pacing.rs` | how fast segments may leave |
//!
//! What sets them in motion:
//!
//! | file | what |
//! | --- | --- |
//! | `incoming.rs`, `ack_in.rs` | an acknowledgment arrives |
//! | `next.rs` | which segment leaves next |
//! | `straight.rs` | the acknowledgment and the segment that are as expected, without detours |
//! | `timeout.rs` | the retransmission or the persist timer expires |
//! | `model_feed.rs` | what a control that models the path is told |
//! | `shown.rs` | the connection asks or changes something |
//!
//! It deals in sequence ranges and stream offsets; whoever drives the connection owns the bytes.

mod ack_in;
mod by_time;
mod control;
mod delivery;
mod frto;
mod idle;
mod incoming;
mod initial_window;
mod loss_detection;
mod loss_recovery;
mod marks;
mod model_feed;
mod next;
mod offload;
mod pacing;
mod peers_window;
mod persist;
mod queue;
mod retransmission_timer;
mod scoreboard;
mod sent;
mod shown;
mod straight;
mod tail_probe;
mod time_order;
mod timeout;
mod timer_wheel;
mod undo;
mod validation;

pub(crate) use incoming::IncomingAck;
pub(crate) use loss_recovery::Phase;
pub(crate) use next::Outgoing;
pub use offload::offload_rate;
pub(crate) use queue::FinProgress;
pub(crate) use sent::SentState;
pub(crate) use straight::Next;

use crate::config::Config;
use crate::congestion::{CongestionControl, Established};
use crate::loss::LossDetector;
use crate::nagle::Nagle;
use crate::recovery::{Flight, Recovery};
use crate::trace::Trace;
use crate::ts_clock::TsClock;
use ackord_events::{CwndReason, Event, Sink};
use ackord_units::{Bytes, Seq, Time};
use control::Control;
use frto::Frto;
use idle::Usage;
use initial_window::Sizes;
use loss_detection::LossDetection;
use loss_recovery::LossRecovery;
use marks::Marks;
use offload::OpenPacket;
use pacing::Pacer;
use peers_window::PeerWindow;
use persist::Persist;
use queue::SendQueue;
use retransmission_timer::RetransmissionTimer;
use scoreboard::Scoreboard;
use tail_probe::TailProbe;
use undo::UndoState;

// In this order: what every packet asks for comes first, in as few lines of the processor's cache as it can.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// Whether nothing it is made of has to hear of every segment, see `straight.rs`.
    plain: bool,
    queue: SendQueue,
    peer_window: PeerWindow,
    sizes: Sizes,
    congestion: Control,
    board: Scoreboard,
    recovery: LossRecovery,
    frto: Frto,
    persist: Persist,
    usage: Usage,
    timer: RetransmissionTimer,
    peer: PeerOptions,
    undo: UndoState,
    last_reported_window: (Bytes, Bytes),
    nagle: Box<dyn Nagle>,
    detection: LossDetection,
    /// Tail loss probes, where the detector asks for them.
    tail: Option<TailProbe>,
    marks: Marks,
    packet: OpenPacket,
    pacer: Pacer,
}

/// What the peer speaks, as the handshake has settled it.
#[derive(Clone, Copy, Debug, Default)]
struct PeerOptions {
    /// SACK, with a recovery that reads it.
    sack: bool,
    /// Duplicates that the peer reports (RFC 2883) mean something to any sender.
    dsack: bool,
    /// The clock of our timestamps, where they are in use.
    ts_clock: Option<TsClock>,
}

impl PeerOptions {
    #[inline]
    fn sack(&self) -> bool {
        self.sack
    }

    #[inline]
    fn dsack(&self) -> bool {
        self.dsack
    }

    #[inline]
    fn ts_clock(&self) -> Option<TsClock> {
        self.ts_clock
    }
}

/// The four choices of the sending half.
#[derive(Clone, Debug)]
pub(crate) struct SenderChoices {
    pub(crate) congestion: Box<dyn CongestionControl>,
    pub(crate) loss: Box<dyn LossDetector>,
    pub(crate) recovery: Box<dyn Recovery>,
    pub(crate) nagle: Box<dyn Nagle>,
}

impl Sender {
    pub(crate) fn new(config: &Config, iss: Seq, choices: SenderChoices) -> Sender {
        let SenderChoices { mut congestion, loss, recovery, nagle } = choices;
        let board = Scoreboard::new(congestion.path_model().is_some());
        Sender {
            queue: SendQueue::new(config, iss),
            peer: PeerOptions::default(),
            peer_window: PeerWindow::new(config.sending.shrunk_window),
            persist: Persist::new(config.sending.closed_window),
            sizes: Sizes::new(config),
            board,
            timer: RetransmissionTimer::new(config),
            congestion: Control::new(congestion),
            nagle,
            detection: LossDetection::new(loss),
            recovery: LossRecovery::new(recovery, config.sending.timeout_in_recovery, iss),
            undo: UndoState::new(config),
            frto: Frto::new(config.sending.frto),
            tail: None,
            marks: Marks::Off,
            usage: Usage::new(config, iss),
            packet: OpenPacket::new(config),
            pacer: Pacer::new(config.pacing),
            last_reported_window: (Bytes::ZERO, Bytes::ZERO),
            plain: false,
        }
    }

    /// The handshake is complete: sizes are final. RFC 5681 §3.1: where the SYN was lost too often
    /// for an initial window of its size, that is one segment.
    pub(crate) fn establish<S: Sink>(&mut self, trace: &mut Trace<'_, S>, syn_lost: bool) {
        if !self.peer.dsack() {
            self.recovery.do_without_sack();
        }
        if !self.peer.sack() {
            self.detection.do_without_sack();
        }
        let initial_window = if syn_lost { self.sizes.smss() } else { self.sizes.initial_window() };
        let established = Established {
            smss: self.sizes.smss(),
            initial_window,
            paced: self.pacer.is_on(),
            srtt: self.timer.rtt().srtt(),
            iss: self.queue.iss(),
            selective_acks: self.peer.sack(),
        };
        self.congestion.on_established(trace.now, established);
        self.pacer.establish(self.congestion.may_pace());
        self.usage.establish(trace.now);
        self.establish_detection();
        self.emit_window(trace, CwndReason::Initial);
        self.queue.grow_buffer(|| self.congestion.cwnd());
        self.plain = self.is_plain();
    }

    /// Whether both ends speak SACK, and the clock of the timestamps if they use them.
    pub(crate) fn agree(&mut self, sack: bool, ts_clock: Option<TsClock>) {
        let reads_sack = self.recovery.reads_sack();
        self.peer = PeerOptions { sack: sack && reads_sack, dsack: sack, ts_clock };
    }

    /// The handshake is taken back: as before it began. What was written stays.
    pub(crate) fn start_over(&mut self, config: &Config) {
        self.queue.start_over();
        self.peer_window.set_scale(0);
        self.sizes.set_smss(config.mss);
        self.timer.start_over(config);
    }

    /// Whether anything waits for the peer: sent and not acknowledged, or not sent yet.
    pub(crate) fn has_anything_unacknowledged(&self) -> bool {
        !self.board.is_empty() || self.queue.has_unsent() || self.persist.byte_out()
    }

    pub(crate) fn write(&mut self, bytes: Bytes, push: bool) -> Bytes {
        self.note_if_app_limited();
        self.queue.write(bytes, push)
    }

    fn flight(&self) -> Flight {
        Flight {
            flight_size: self.queue.flight_size(),
            sacked: self.board.sacked(),
            pipe: self.board.pipe(),
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            smss: self.sizes.smss(),
        }
    }

    /// Tells of cwnd and ssthresh if they have changed since they were last reported.
    #[inline(always)]
    fn emit_window<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: CwndReason) {
        if !S::ACTIVE {
            return;
        }
        let window = (self.congestion.cwnd(), self.congestion.ssthresh());
        if window != self.last_reported_window {
            self.last_reported_window = window;
            let (cwnd, ssthresh) = window;
            trace.emit(|endpoint| Event::CwndChanged { endpoint, cwnd, ssthresh, reason });
        }
    }

    /// Starts the retransmission timer anew, or stops it when nothing is outstanding
    /// (RFC 6298 §5.2, §5.3).
    #[inline]
    fn restart_rto(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timer.stop();
        } else {
            self.timer.start(now);
        }
        if self.peer_window.is_closed() {
            self.hand_over_to_persist(now);
            if !self.has_anything_unacknowledged() {
                self.persist.reset();
            }
        }
    }

    /// When a timer of the sending half is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        if self.plain {
            // Without detector timers, tail probes and pacing.
            return earlier(self.timer.at(), self.persist.at());
        }
        let watchers = earlier(self.detection.at(), self.probe_at());
        let timers = earlier(earlier(self.timer.at(), self.persist.at()), self.pacer.wake_at());
        earlier(timers, watchers)
    }

    /// Nothing is left to wait for.
    pub(crate) fn stop_timers(&mut self) {
        self.timer.stop();
        self.persist.stop();
        self.detection.stop();
        self.pacer.stop();
        self.tail = None;
    }

    /// Whether there is anything that the windows might let out.
    #[inline]
    pub(crate) fn has_something_to_send(&self) -> bool {
        self.queue.has_unsent()
            || self.board.has_lost()
            || !self.recovery.is_open()
            || self.probe_is_ready()
    }
}

/// The earlier of two times, if there is one.
#[inline]
pub(crate) fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
