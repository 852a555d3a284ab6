//! The sending half of a connection: what was written, what is outstanding, the windows and the
//! timers.
//!
//! | file | what |
//! | --- | --- |
//! | `scoreboard.rs` | one record per outstanding segment |
//! | `by_time.rs` | the same in order of transmission, for detectors that judge by time |
//! | `ack_in.rs` | an acknowledgment arrives: windows, samples, duplicates, recovery |
//! | `doubt.rs` | what the loss detector is asked, and what follows from its verdicts |
//! | `timing.rs` | round-trip samples |
//! | `undo.rs` | repairs that were not needed: DSACK, timestamps, and what is given back |
//! | `tail_probe.rs` | tail loss probes (RFC 8985 §7) |
//! | `marks.rs` | marks that come back (RFC 3168) |
//! | `frto.rs` | whether a timeout was needed (RFC 5682) |
//! | `initial_window.rs` | what a connection begins with |
//! | `idle.rs` | windows that are not used |
//! | `validation.rs` | windows that are used in part (RFC 2861, RFC 7661) |
//! | `next.rs` | which segment leaves next |
//! | `timeout.rs` | the retransmission and the persist timer |
//! | `peers_window.rs` | the window the peer offers, and what it does when that closes |
//! | `pacing.rs` | how fast segments may leave |
//! | `delivery.rs` | delivery-rate samples, for a control that models the path |
//! | `shown.rs` | what it shows of itself, and what may be changed while it runs |
//! | `model_feed.rs` | what such a control is told, and when |
//!
//! It deals in sequence ranges and stream offsets; whoever drives the connection owns the octets.

mod ack_in;
mod by_time;
mod delivery;
mod doubt;
mod frto;
mod idle;
mod initial_window;
mod marks;
mod model_feed;
mod next;
mod offload;
mod pacing;
mod peers_window;
mod scoreboard;
mod shown;
mod tail_probe;
mod timeout;
mod timer_wheel;
mod timing;
mod undo;
mod validation;

pub(crate) use ack_in::{IncomingAck, Marked};
pub use frto::FrtoUse;
pub use idle::{CwndUse, IdleRestart};
pub use initial_window::InitialWindowBound;
pub(crate) use marks::SaysCwr;
pub(crate) use next::Outgoing;
pub use offload::{Offload, offload_rate, offload_segments};
pub use pacing::Pacing;
pub use peers_window::{ClosedWindow, ShrunkWindow};
pub(crate) use scoreboard::{Attempts, Fin, SentState};
pub use timeout::TimeoutInRecovery;
pub use undo::{DuplicateReports, UndoGrowth};

use crate::config::Config;
use crate::congestion::{CongestionControl, Established, SelectiveAcks};
use crate::loss::{Heeds, LossDetector, LostRetransmission};
use crate::nagle::Nagle;
use crate::receiver::BufferTuning;
use crate::recovery::{Flight, Recovery};
use crate::rtt::{RttEstimator, Window};
use crate::trace::Trace;
use crate::ts_clock::TsClock;
use ackord_events::{CwndReason, Event, RecoveryKind, Sink};
use ackord_units::{Bytes, Seq, Span, Time};
use frto::Frto;
use idle::{Extent, Used};
use marks::Marks;
use offload::OpenPacket;
use pacing::Pacer;
use scoreboard::Scoreboard;
use tail_probe::TailProbe;
use timer_wheel::TimerWheel;
use timing::{Conservative, Timed};
use undo::Repairs;
use validation::Validation;

/// Where the sender stands with respect to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery until `recover` is acknowledged.
    FastRecovery { recover: Seq, partial_acks: PartialAcks },
    /// Slow start after a timeout (or Tahoe's fast retransmit) until `recover` is acknowledged.
    SlowStartRecovery { recover: Seq },
}

impl Phase {
    /// Which kind of repair is going on, as events call it; the one that has just ended otherwise.
    fn kind(self) -> RecoveryKind {
        match self {
            Phase::Open | Phase::FastRecovery { .. } => RecoveryKind::Fast,
            Phase::SlowStartRecovery { .. } => RecoveryKind::Timeout,
        }
    }
}

/// Whether this fast recovery has seen a partial acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialAcks {
    None,
    Some,
}

/// Whether the acknowledgment that advanced last also reported something new by SACK: with SACK it
/// is a duplicate acknowledgment too (RFC 6675 §2, §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    BegunByReport,
    BegunSilently,
}

/// How far the FIN has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinProgress {
    /// The application may still write.
    Open,
    /// It has closed; the FIN follows the last octet.
    Queued,
    Sent,
    Acked,
}

/// Whether the next retransmission leaves regardless of the windows (the fast retransmit itself,
/// the one after a timeout, the one a partial acknowledgment calls for).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forced {
    No,
    Retransmission,
}

/// The probing of a closed window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Persist {
    /// When the next probe is due.
    pub(crate) at: Option<Time>,
    /// A probe may leave now.
    pub(crate) due: bool,
    /// An octet beyond snd_nxt is on its way as a probe.
    pub(crate) octet_out: bool,
    pub(crate) probes: u32,
    /// Expiries of the timer since anything came from the peer.
    pub(crate) unanswered: u32,
    /// When the first of those was.
    pub(crate) asking_since: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) iss: Seq,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
    /// Stream offset of snd_una.
    pub(crate) una_offset: u64,
    /// Stream offset of snd_nxt.
    pub(crate) nxt_offset: u64,
    /// Stream offset up to which the application has written.
    pub(crate) written: u64,
    send_buffer: Bytes,
    /// What it may grow to.
    most_send_buffer: Bytes,
    pub(crate) fin: FinProgress,
    /// The peer's window and the segments it came from (RFC 9293 §3.3.1).
    pub(crate) snd_wnd: u32,
    pub(crate) max_snd_wnd: u32,
    snd_wl1: Seq,
    snd_wl2: Seq,
    /// The peer's window scale shift.
    pub(crate) scale: u8,
    /// Payload of a full-sized segment, options already taken off.
    pub(crate) smss: Bytes,
    initial_window_segments: u64,
    initial_window_bound: InitialWindowBound,
    max_window_segments: Option<u64>,
    uses_sack: bool,
    /// Duplicates that the peer reports (RFC 2883) mean something to any sender.
    reads_dsack: bool,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    congestion: Box<dyn CongestionControl>,
    loss: Box<dyn LossDetector>,
    /// What the loss detector has to be asked.
    heeds: Heeds,
    recovery: Box<dyn Recovery>,
    nagle: Box<dyn Nagle>,
    phase: Phase,
    duplicate_acks: u32,
    run: Run,
    /// What the acknowledgment at hand delivered; nothing while a timer acts.
    delivered_now: Bytes,
    /// Octets that SACK alone has reported since the last acknowledgment that advanced, while
    /// nothing was being repaired and reordering was known: no sign of loss.
    sacked_in_peace: Bytes,
    /// When the first sign came that the oldest segment is missing.
    missed_since: Option<Time>,
    /// When a fast recovery last reduced the window, and what a retransmission sent since means that
    /// is lost.
    reduced_at: Time,
    lost_retransmission: LostRetransmission,
    /// What limited transmit allows beyond cwnd, and what it has let out.
    beyond_cwnd: Bytes,
    limited_sent: Bytes,
    /// RescueRxt (RFC 6675 §4): the tail may be sent again once more than this is acknowledged.
    rescue_rxt: Seq,
    /// A new repair may not start before this is acknowledged (RFC 6582 §3.2 step 2).
    recover: Option<Seq>,
    forced: Forced,
    /// The segment whose round trip is being timed, where one is at a time.
    timed: Option<Timed>,
    /// A spurious timeout that the timer has yet to learn from.
    conservative: Option<Conservative>,
    pub(crate) rto_at: Option<Time>,
    /// When the loss detector wants to look again.
    pub(crate) detector_at: Option<Time>,
    /// When the next segment falls due under a detector that judges by time.
    overdue_at: Option<Time>,
    /// How much later its timer strikes.
    timer_slack: Span,
    /// By which the timers above expire.
    timers: TimerWheel,
    repairs: Repairs,
    pub(crate) marks: Marks,
    /// Tail loss probes, where the detector asks for them.
    tail: Option<TailProbe>,
    /// Whether a timeout needs looking into, and how much new data that may take.
    frto: Frto,
    frto_use: FrtoUse,
    frto_allowance: Bytes,
    idle_restart: IdleRestart,
    validation: Validation,
    cwnd_use: CwndUse,
    timeout_in_recovery: TimeoutInRecovery,
    undo_growth: UndoGrowth,
    duplicate_reports: DuplicateReports,
    shrunk_window: ShrunkWindow,
    closed_window: ClosedWindow,
    packet: OpenPacket,
    used: Used,
    /// When data last left.
    last_sent_at: Option<Time>,
    /// The clock of our timestamps, where they are in use.
    ts_clock: Option<TsClock>,
    pub(crate) timeouts_in_row: u32,
    pub(crate) persist: Persist,
    pub(crate) pacer: Pacer,
    told_window: (Bytes, Bytes),
}

/// What the handshake says of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakePath {
    /// The SYN had to be sent again too often for an initial window of its size.
    Lossy,
    Clean,
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
            iss,
            snd_una: iss,
            snd_nxt: iss,
            una_offset: 0,
            nxt_offset: 0,
            written: 0,
            send_buffer: match config.send_buffer_tuning {
                BufferTuning::Off => config.send_buffer,
                BufferTuning::On => config.send_buffer_initial.min(config.send_buffer),
            },
            most_send_buffer: config.send_buffer,
            fin: FinProgress::Open,
            snd_wnd: 0,
            max_snd_wnd: 0,
            snd_wl1: Seq(0),
            snd_wl2: Seq(0),
            scale: 0,
            smss: config.mss,
            initial_window_segments: config.initial_window_segments,
            initial_window_bound: config.initial_window_bound,
            max_window_segments: config.max_window_segments,
            uses_sack: false,
            reads_dsack: false,
            board,
            rtt: RttEstimator::new(config.rto),
            congestion,
            loss,
            heeds: Heeds::EveryAck,
            recovery,
            nagle,
            phase: Phase::Open,
            duplicate_acks: 0,
            run: Run::BegunSilently,
            delivered_now: Bytes::ZERO,
            sacked_in_peace: Bytes::ZERO,
            missed_since: None,
            reduced_at: Time::ZERO,
            lost_retransmission: LostRetransmission::Repeats,
            beyond_cwnd: Bytes::ZERO,
            limited_sent: Bytes::ZERO,
            rescue_rxt: iss,
            recover: None,
            forced: Forced::No,
            timed: None,
            conservative: None,
            rto_at: None,
            detector_at: None,
            overdue_at: None,
            timer_slack: Span::ZERO,
            timers: TimerWheel::new(config.timer_tick),
            repairs: Repairs::default(),
            marks: Marks::Off,
            tail: None,
            frto: Frto::Off,
            frto_use: config.frto,
            frto_allowance: Bytes::ZERO,
            idle_restart: config.idle_restart,
            validation: Validation::new(config.idle_restart),
            cwnd_use: config.cwnd_use,
            timeout_in_recovery: config.timeout_in_recovery,
            undo_growth: config.undo_growth,
            duplicate_reports: config.duplicate_reports,
            shrunk_window: config.shrunk_window,
            closed_window: config.closed_window,
            packet: OpenPacket::new(config.offload),
            used: Used { most: Bytes::ZERO, extent: Extent::Part, until: iss },
            last_sent_at: None,
            ts_clock: None,
            timeouts_in_row: 0,
            persist: Persist::default(),
            pacer: Pacer::new(config.pacing),
            told_window: (Bytes::ZERO, Bytes::ZERO),
        }
    }

    /// The handshake is complete: sizes are final. RFC 5681 §3.1: after a lost SYN the initial
    /// window is one segment.
    pub(crate) fn establish<S: Sink>(&mut self, trace: &mut Trace<'_, S>, path: HandshakePath) {
        self.do_without_sack();
        let established = Established {
            smss: self.smss,
            initial_window: match path {
                HandshakePath::Lossy => self.smss,
                HandshakePath::Clean => self.initial_window(),
            },
            bursts: self.pacer.bursts(),
            srtt: self.rtt.srtt(),
            iss: self.iss,
            selective_acks: self.selective_acks(),
        };
        self.congestion.on_established(trace.now, established);
        self.pacer.establish(self.congestion.pacing_rate());
        self.validation.establish(trace.now);
        self.heeds = self.loss.heeds();
        if let Some(by_time) = self.loss.by_time() {
            self.timer_slack = by_time.timer_slack();
            let slack = self.timer_slack;
            self.tail = by_time.tail_probe().map(|delay| TailProbe::new(delay, slack));
            self.lost_retransmission = by_time.lost_retransmission();
            self.board.keep_time_order(by_time.judged());
        }
        self.tell_window(trace, CwndReason::Initial);
        self.grow_send_buffer();
    }

    /// Room for what is in flight and for as much that replaces it (Linux's tcp_sndbuf_expand). It
    /// does not shrink.
    #[inline]
    pub(super) fn grow_send_buffer(&mut self) {
        if self.send_buffer < self.most_send_buffer {
            let wanted = (self.congestion.cwnd() * 2).min(self.most_send_buffer);
            self.send_buffer = self.send_buffer.max(wanted);
        }
    }

    /// Whether both ends speak SACK, and the clock of the timestamps if they use them.
    pub(crate) fn agree(&mut self, sack: bool, ts_clock: Option<TsClock>) {
        // Tahoe, Reno and NewReno know nothing of the blocks, whoever sends them.
        let reads_sack = self.recovery.without_sack().is_some();
        self.uses_sack = sack && reads_sack;
        self.reads_dsack = sack;
        self.ts_clock = ts_clock;
    }

    /// What presumes a peer that speaks SACK is replaced where there is none.
    fn do_without_sack(&mut self) {
        if !self.reads_dsack
            && let Some(instead) = self.recovery.without_sack()
        {
            self.recovery = instead;
        }
        if !self.uses_sack
            && let Some(instead) = self.loss.without_sack()
        {
            self.loss = instead;
        }
    }

    /// The handshake is taken back: as before it began. What was written stays.
    pub(crate) fn start_over(&mut self, config: &Config) {
        self.snd_una = self.iss;
        self.snd_nxt = self.iss;
        self.scale = 0;
        self.smss = config.mss;
        self.rtt = RttEstimator::new(config.rto);
        self.rto_at = None;
        self.timeouts_in_row = 0;
    }

    /// Whether anything waits for the peer: sent and not acknowledged, or not sent yet.
    pub(crate) fn has_anything_unacknowledged(&self) -> bool {
        !self.board.is_empty()
            || self.written > self.nxt_offset
            || self.fin == FinProgress::Queued
            || self.persist.octet_out
    }

    fn selective_acks(&self) -> SelectiveAcks {
        if self.uses_sack { SelectiveAcks::Agreed } else { SelectiveAcks::Absent }
    }

    /// Takes the window of the segment that completes the handshake.
    pub(crate) fn first_window(&mut self, window: u32, seq: Seq, ack: Seq) {
        self.snd_wnd = window;
        self.max_snd_wnd = window;
        self.snd_wl1 = seq;
        self.snd_wl2 = ack;
    }

    /// What is outstanding, as the round-trip estimator wants it.
    #[inline]
    pub(crate) fn window(&self) -> Window {
        Window { snd_una: self.snd_una, snd_nxt: self.snd_nxt }
    }

    /// Octets sent and not acknowledged.
    #[inline]
    pub(crate) fn flight_size(&self) -> Bytes {
        Bytes(u64::from(self.snd_nxt.since(self.snd_una)))
    }

    #[inline]
    pub(crate) fn writable(&self) -> Bytes {
        if self.fin != FinProgress::Open {
            return Bytes::ZERO;
        }
        Bytes((self.una_offset + self.send_buffer.get()).saturating_sub(self.written))
    }

    pub(crate) fn write(&mut self, bytes: Bytes) -> Bytes {
        self.note_if_app_limited();
        let accepted = bytes.min(self.writable());
        self.written += accepted.get();
        accepted
    }

    /// The application has closed.
    pub(crate) fn close(&mut self) {
        if self.fin == FinProgress::Open {
            self.fin = FinProgress::Queued;
        }
    }

    pub(crate) fn cwnd(&self) -> Bytes {
        self.congestion.cwnd()
    }

    pub(crate) fn ssthresh(&self) -> Bytes {
        self.congestion.ssthresh()
    }

    fn flight(&self) -> Flight {
        Flight {
            flight_size: self.flight_size(),
            sacked: self.board.sacked(),
            pipe: self.board.pipe(),
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            smss: self.smss,
        }
    }

    /// Tells of cwnd and ssthresh if they have changed since they were last told.
    fn tell_window<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: CwndReason) {
        if !S::ACTIVE {
            return;
        }
        let window = (self.congestion.cwnd(), self.congestion.ssthresh());
        if window != self.told_window {
            self.told_window = window;
            let (cwnd, ssthresh) = window;
            trace.emit(|endpoint| Event::CwndChanged { endpoint, cwnd, ssthresh, reason });
        }
    }

    /// Starts the retransmission timer.
    #[inline]
    pub(crate) fn start_rto(&mut self, now: Time) {
        self.rto_at = Some(self.timers.expires_at(now, self.rtt.rto()));
    }

    /// Starts the retransmission timer anew, or stops it when nothing is outstanding
    /// (RFC 6298 §5.2, §5.3).
    #[inline]
    pub(crate) fn restart_rto(&mut self, now: Time) {
        if self.board.is_empty() {
            self.rto_at = None;
        } else {
            self.start_rto(now);
        }
        if self.snd_wnd == 0 {
            self.hand_over_to_persist(now);
            if !self.has_anything_unacknowledged() {
                self.persist = Persist::default();
            }
        }
    }

    /// When a timer of the sending half is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        let watchers = earlier(self.detector_at, self.probe_at());
        let timers = earlier(earlier(self.rto_at, self.persist.at), self.pacer.wake_at);
        earlier(timers, watchers)
    }

    /// Nothing is left to wait for.
    pub(crate) fn stop_timers(&mut self) {
        self.rto_at = None;
        self.persist.at = None;
        self.detector_at = None;
        self.pacer.wake_at = None;
        self.tail = None;
    }

    /// Whether there is anything that the windows might let out.
    #[inline]
    pub(crate) fn has_something_to_send(&self) -> bool {
        self.written > self.nxt_offset
            || self.board.has_lost()
            || self.fin == FinProgress::Queued
            || !matches!(self.phase, Phase::Open)
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
