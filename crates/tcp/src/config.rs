//! What an endpoint is made of: sizes, options, timers and the five choices.

use crate::ack::AckPolicy;
use crate::congestion::CongestionControl;
use crate::connection::{
    AnswerLimit, GiveUp, Keepalive, MissingTimestamps, RepeatedSyn, TimeWaitResets,
};
use crate::ecn::EcnUse;
use crate::loss::LossDetector;
use crate::nagle::Nagle;
use crate::receiver::BufferTuning;
use crate::recovery::Recovery;
use crate::registry::Stack;
use crate::rtt::RtoBounds;
use crate::sender::{
    ClosedWindow, CwndUse, DuplicateReports, FrtoUse, IdleRestart, InitialWindowBound, Offload,
    Pacing, ShrunkWindow, TimeoutInRecovery, UndoGrowth,
};
use ackord_units::{Bytes, Contradiction, Knobs, Span};
use ackord_wire::IpVersion;

/// The TCP endpoint: sizes, options and timers
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "endpoint", name = "tcp", source = "RFC 9293", check = in_order)]
pub struct Config {
    /// Maximum segment size announced and used; options come out of it
    #[knob(
        min = Bytes(88), max = Bytes(65_495), default = "1460 B",
        source = "RFC 9293 §3.7.1, RFC 6691"
    )]
    pub mss: Bytes,
    /// Congestion window at the start of a connection
    #[knob(
        name = "initial_window",
        min = 1,
        max = 100,
        unit = "segments",
        default = "10",
        source = "RFC 6928 §2"
    )]
    pub initial_window_segments: u64,
    /// What bounds initial_window in bytes: nothing, 14600, 4380 (two segments if that is more),
    /// or two to four segments by their size. Segments of up to 1460 bytes leave ten within RFC
    /// 6928's
    #[knob(default = "none", source = "RFC 6928 §2, RFC 3390 §1, RFC 5681 §3.1")]
    pub initial_window_bound: InitialWindowBound,
    /// How often a SYN or SYN-ACK may have been retransmitted without the initial window falling
    /// to one segment
    #[knob(
        min = 0,
        max = 255,
        unit = "times",
        default = "0",
        source = "RFC 5681 §3.1 tolerates none, Linux one"
    )]
    pub syn_losses_tolerated: u32,
    /// Upper bound on what the sender keeps in flight; none when absent
    #[knob(
        name = "max_window",
        min = 1,
        max = 1_000_000,
        unit = "segments",
        source = "the base window of Chae and Choi 2004 §3.1; window_ in ns-2"
    )]
    pub max_window_segments: Option<u64>,
    /// What the receiver can hold; bounds the advertised window
    #[knob(
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "4 MiB",
        source = "RFC 9293 §3.8.6"
    )]
    pub receive_buffer: Bytes,
    /// What the application may have written that is not yet acknowledged
    #[knob(
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "4 MiB",
        source = "RFC 9293 §3.9.1.2"
    )]
    pub send_buffer: Bytes,
    /// Whether the receive buffer begins at receive_buffer_initial and grows to receive_buffer, by
    /// twice what the application reads in a round trip
    #[knob(default = "off", source = "Weigle and Feng 2001; Linux's tcp_moderate_rcvbuf")]
    pub receive_buffer_tuning: BufferTuning,
    /// What a receive buffer that tunes itself holds at first, in bytes of data
    #[knob(
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "64 KiB",
        source = "Linux's tcp_rmem[1] of 131072 bytes announces 65535 at first"
    )]
    pub receive_buffer_initial: Bytes,
    /// Whether the send buffer begins at send_buffer_initial and grows to send_buffer, to twice
    /// cwnd
    #[knob(
        default = "off",
        source = "Linux's tcp_sndbuf_expand; tcp_wmem in its ip-sysctl documentation"
    )]
    pub send_buffer_tuning: BufferTuning,
    /// What a send buffer that tunes itself holds at first
    #[knob(
        min = Bytes(1_000), max = Bytes(1_073_725_440), default = "16 KiB",
        source = "Linux's tcp_wmem[1]"
    )]
    pub send_buffer_initial: Bytes,
    /// Options to offer.
    #[knob(flatten)]
    pub offers: Offers,
    /// Explicit congestion notification: not at all, asked for and agreed to, or only agreed to
    /// when the peer asks
    #[knob(default = "off", source = "RFC 3168 §6.1; accept is Linux's net.ipv4.tcp_ecn = 2")]
    pub ecn: EcnUse,
    /// Whether data leaves no faster than a rate: if the congestion control asks for it, never, or
    /// always (without a rate of the control's own at 2 cwnd/SRTT in slow start, 1.2 cwnd/SRTT
    /// beyond)
    #[knob(
        default = "auto",
        source = "draft-ietf-ccwg-bbr-06 §5.6.2; Linux's tcp_pacing_ss_ratio \
                  and tcp_pacing_ca_ratio"
    )]
    pub pacing: Pacing,
    /// The retransmission timeout's bounds.
    #[knob(flatten)]
    pub rto: RtoBounds,
    /// Tick of the timers of the sending half, 1/HZ of a kernel: they expire one tick late, an
    /// eighth of the timeout where it is long; 0 s expires to the nanosecond
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1), default = "0 s",
        source = "Linux, kernel/time/timer.c: calc_wheel_index"
    )]
    pub timer_tick: Span,
    /// What becomes of cwnd when nothing was sent for longer than a retransmission timeout:
    /// nothing, the initial window at once, or half of it for each timeout (decay); rfc-2861 also
    /// lowers a window that is used in part for a timeout, rfc-7661 keeps it for five minutes but
    /// answers a loss by what the path has carried lately
    #[knob(default = "off", source = "RFC 5681 §4.1; decay is Linux's; RFC 2861 §3; RFC 7661")]
    pub idle_restart: IdleRestart,
    /// When cwnd may grow: while it is full, in slow start also while half is in use, or with
    /// every acknowledgment of new data, however little is in use
    #[knob(
        default = "full",
        source = "RFC 9293 §3.8.2, RFC 7661 §3; half-in-slow-start is Linux's; \
                  any is RFC 5681 §3.1 by itself, ns-2 and ns-3"
    )]
    pub cwnd_use: CwndUse,
    /// F-RTO: after a timeout, new data shows whether anything was lost; if not, cwnd and ssthresh
    /// are given back
    #[knob(default = "off", source = "RFC 5682, which leaves it to the sender")]
    pub frto: FrtoUse,
    /// Whether a timeout in fast recovery lowers ssthresh once more; keeps: it does not, F-RTO
    /// does not look into it, but into the next if that follows without any acknowledgment of new
    /// data
    #[knob(default = "reduces", source = "RFC 5681 §3.1; keeps is Linux's")]
    pub timeout_in_recovery: TimeoutInRecovery,
    /// Whether the acknowledgment that shows a recovery to be spurious lets cwnd grow too, by what
    /// it covers, once cwnd is given back
    #[knob(default = "off", source = "RFC 4015 §3 says nothing of it; on is Linux's")]
    pub undo_growth: UndoGrowth,
    /// Which acknowledgments may take back window that was offered: each recent one, or only those
    /// that acknowledge new data or close the window
    #[knob(
        default = "recent",
        source = "RFC 9293 §3.10.7.4; advancing-or-closed is Linux's since 6.6"
    )]
    pub shrunk_window: ShrunkWindow,
    /// Which reports of duplicates (D-SACK) are taken in: those of bytes retransmitted lately; or
    /// none while more duplicates have been reported than segments were ever retransmitted, as
    /// behind a box that recovers losses itself (below that any report widens RACK's window)
    #[knob(default = "own", source = "RFC 2883 §5, RFC 3708 §4; plausible is Linux's")]
    pub duplicate_reports: DuplicateReports,
    /// What watches over what is outstanding while the peer's window is closed: the persist timer,
    /// whose probes change nothing, or the retransmission timer, each of whose expiries counts as
    /// the first. Where nothing is outstanding, the probe is a new byte, or with timeout an empty
    /// segment from below the window
    #[knob(default = "probe", source = "RFC 9293 §3.8.6, §3.8.6.1; timeout is Linux's")]
    pub closed_window: ClosedWindow,
    /// Segmentation offload as it shows on the wire: PSH on the last of two or more segments of
    /// new data that leave together, as many as leave in a millisecond; and one that could leave
    /// by itself waits for another where the next acknowledgment is due. A kernel that receives
    /// acknowledges by itself what carries PSH
    #[knob(
        default = "off",
        source = "Linux's tcp_tso_autosize, __tcp_transmit_skb, tcp_tso_should_defer"
    )]
    pub offload: Offload,
    /// Timeouts in a row after which the connection is given up
    #[knob(min = 1, max = 255, unit = "times", default = "15", source = "RFC 9293 §3.8.3 (R2)")]
    pub max_retransmissions: u32,
    /// Timeouts of a SYN after which opening is given up; max_retransmissions when absent
    #[knob(
        min = 1,
        max = 255,
        unit = "times",
        source = "RFC 9293 §3.8.3 asks for three minutes at least"
    )]
    pub syn_retransmissions: Option<u32>,
    /// Timeouts of a SYN-ACK after which the connection is forgotten; max_retransmissions when
    /// absent
    #[knob(min = 1, max = 255, unit = "times", source = "RFC 9293 §3.8.3")]
    pub syn_ack_retransmissions: Option<u32>,
    /// The first timeouts of a SYN that do not double the next one
    #[knob(
        min = 0,
        max = 255,
        unit = "times",
        default = "0",
        source = "RFC 6298 §5.5 doubles each; Linux's net.ipv4.tcp_syn_linear_timeouts"
    )]
    pub syn_linear_timeouts: u32,
    /// Timeouts in a row after which the application is told that delivery is in trouble
    #[knob(min = 1, max = 255, unit = "times", default = "3", source = "RFC 9293 §3.8.3 (R1)")]
    pub r1_retransmissions: u32,
    /// How long data may stay unacknowledged before the connection is given up; as long as
    /// max_retransmissions allows when absent. Looked at when a timer expires; a closed window
    /// whose probes are answered does not count
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(86_400),
        source = "RFC 9293 §3.9.1.2, RFC 5482 §2"
    )]
    pub user_timeout: Option<Span>,
    /// What a peer hears when an open connection is given up because it does not answer: a reset,
    /// or nothing. Keepalive ends with a reset in any case
    #[knob(
        default = "reset",
        source = "RFC 9293 §3.8.3 says \"close\"; reset is BSD's, silence is Linux's"
    )]
    pub give_up: GiveUp,
    /// How silent peers are watched.
    #[knob(flatten)]
    pub keepalive: Keepalive,
    /// How often segments without data that are refused may be answered.
    #[knob(flatten)]
    pub answers: AnswerLimit,
    /// What becomes of a segment without a timestamp where both ends agreed on timestamps
    #[knob(default = "accept", source = "RFC 7323 §3.2 (SHOULD drop); accept is Linux's")]
    pub missing_timestamps: MissingTimestamps,
    /// What answers a SYN that comes again before the handshake is complete: an acknowledgment, or
    /// the SYN-ACK again
    #[knob(default = "acknowledged", source = "RFC 9293 §3.10.7.4; syn-ack is Linux's")]
    pub repeated_syn: RepeatedSyn,
    /// How long a connection that nobody reads any more waits for the peer's FIN; for ever when
    /// absent
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(3600),
        source = "RFC 9293 has none; Linux's net.ipv4.tcp_fin_timeout"
    )]
    pub fin_wait_2_timeout: Option<Span>,
    /// Whether a reset may cut TIME-WAIT short
    #[knob(default = "accept", source = "RFC 9293 §3.10.7.4; ignore is the remedy of RFC 1337 §4")]
    pub time_wait_resets: TimeWaitResets,
    /// How long TIME-WAIT lasts (2 MSL)
    #[knob(
        min = Span::ZERO, max = Span::from_secs(240), default = "60 s",
        source = "RFC 9293 §3.6.1 asks for 4 min; 60 s is what common stacks use"
    )]
    pub time_wait: Span,
    /// What the clock of the timestamps option shows at time zero; follows from the initial sequence
    /// number where absent. A host gives all connections between the same two ports the same, so
    /// that one which follows another does not look older than it to PAWS (RFC 7323 §5.3, RFC 6191).
    pub timestamp_offset: Option<u32>,
    /// Which IP the connection runs over: says which MSS a peer has that does not say.
    pub ip: IpVersion,
}

/// Options an endpoint offers on its SYN; each is used if the peer offers it too. Nothing on the wire
/// offers DSACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Offers {
    /// Selective acknowledgments, if the peer agrees
    #[knob(default = "on", source = "RFC 2018")]
    pub sack: bool,
    /// Report bytes received twice in the first SACK block, where SACK is in use
    #[knob(default = "on", source = "RFC 2883 §4")]
    pub dsack: bool,
    /// Timestamps option, if the peer agrees
    #[knob(default = "on", source = "RFC 7323 §3")]
    pub timestamps: bool,
    /// Window scale option, if the peer agrees
    #[knob(default = "on", source = "RFC 7323 §2")]
    pub window_scaling: bool,
}

/// The five separate choices of an endpoint, by value.
#[derive(Clone, Debug)]
pub struct Mechanisms {
    /// How much may be outstanding.
    pub congestion: Box<dyn CongestionControl>,
    /// When is a segment lost.
    pub loss: Box<dyn LossDetector>,
    /// How much may be sent while recovering.
    pub recovery: Box<dyn Recovery>,
    /// When to acknowledge.
    pub ack: Box<dyn AckPolicy>,
    /// Whether small segments wait.
    pub nagle: Box<dyn Nagle>,
}

impl Default for Mechanisms {
    /// CUBIC, three duplicates, SACK with PRR, delayed acknowledgments, Nagle: what a scenario
    /// gets that says nothing.
    fn default() -> Mechanisms {
        Stack::default().mechanisms()
    }
}

fn in_order(config: &Config) -> Result<(), Contradiction> {
    let max = ("rto_max", config.rto.max);
    for smaller in [("rto_min", config.rto.min), ("rto_initial", config.rto.initial)] {
        if smaller.1 > max.1 {
            let named = |(name, value): (&'static str, Span)| (name, value.to_string());
            return Err(Contradiction::out_of_order(named(smaller), named(max)));
        }
    }
    Ok(())
}
