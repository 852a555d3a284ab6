//! What an endpoint is made of: sizes, options, timers and the five choices.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Config`], and the [`Mechanisms`] that stand beside it |
//! | `window.rs` | what bounds the congestion window |
//! | `buffers.rs` | what the buffers hold |
//! | `sending.rs` | how the sending half behaves |
//! | `retries.rs` | when a connection is given up, and how silent peers are watched |
//! | `answers.rs` | what segments out of the ordinary are answered |
//! | `closing.rs` | how a connection closes |

mod answers;
mod buffers;
mod closing;
mod retries;
mod sending;
mod window;

use crate::ack::AckPolicy;
use crate::congestion::CongestionControl;
use crate::ecn::EcnUse;
use crate::loss::LossDetector;
use crate::nagle::Nagle;
use crate::recovery::Recovery;
use crate::rtt::RtoBounds;
use ackord_units::{Bytes, Contradiction, Knobs, Span};
use ackord_wire::IpVersion;

pub use answers::{AnswerLimit, MissingTimestamps, RepeatedSyn, SynWithFin};
pub use buffers::Buffers;
pub use closing::{Closing, TimeWaitAnswers, TimeWaitResets};
pub use retries::{GiveUp, Keepalive, Retries};
pub use sending::{
    ClosedWindow, CwndUse, DuplicateReports, IdleRestart, Pacing, Sending, ShrunkWindow,
    TimeoutInRecovery,
};
pub use window::{InitialWindowBound, WindowLimits};

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
    /// What bounds the congestion window.
    #[knob(flatten)]
    pub window: WindowLimits,
    /// What the buffers hold.
    #[knob(flatten)]
    pub buffers: Buffers,
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
    /// How the sending half behaves.
    #[knob(flatten)]
    pub sending: Sending,
    /// When the connection is given up.
    #[knob(flatten)]
    pub retries: Retries,
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
    /// What becomes of a SYN that also carries FIN, at a listener: it opens a connection, or is dropped
    #[knob(
        default = "accept",
        source = "RFC 9293 §3.10.7.2; drop is Linux's (tcp_rcv_state_process)"
    )]
    pub syn_with_fin: SynWithFin,
    /// How it closes.
    #[knob(flatten)]
    pub closing: Closing,
    /// What the clock of the timestamps option shows at time zero; follows from the initial sequence
    /// number where absent. A host gives all connections between the same two ports the same, so
    /// that one which follows another does not look older than it to PAWS (RFC 7323 §5.3, RFC 6191).
    pub timestamp_offset: Option<u32>,
    /// Fewest segments of a packet where segmentation is offloaded and as many may be sent
    /// (net.ipv4.tcp_min_tso_segs); two where absent.
    pub min_tso_segments: Option<u64>,
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
