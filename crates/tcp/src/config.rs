//! What an endpoint is made of: sizes, options, timers and the five choices.

use crate::ack::AckPolicy;
use crate::congestion::CongestionControl;
use crate::ecn::EcnUse;
use crate::loss::LossDetector;
use crate::nagle::Nagle;
use crate::recovery::Recovery;
use crate::registry;
use crate::rtt::{RtoBounds, Sampling, Variance};
use crate::sender::{
    ClosedWindow, CwndUse, DuplicateReports, FrtoUse, IdleRestart, Pacing, ShrunkWindow,
    TimeoutInRecovery, UndoGrowth,
};
use ackord_units::{Bytes, Choice, Span};
use ackord_wire::IpVersion;

/// Sizes, options and timers of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Maximum segment size announced and used (RFC 6691: options come out of it).
    pub mss: Bytes,
    /// Initial congestion window in segments.
    pub initial_window_segments: u64,
    /// Bound on what is in flight, in segments.
    pub max_window_segments: Option<u64>,
    /// What the receiver can hold.
    pub receive_buffer: Bytes,
    /// What may be written and not yet acknowledged.
    pub send_buffer: Bytes,
    /// Options to offer.
    pub offers: Offers,
    /// Whether congestion is notified explicitly (RFC 3168).
    pub ecn: EcnUse,
    /// Whether data is paced.
    pub pacing: Pacing,
    /// Whether timeouts are looked into (RFC 5682).
    pub frto: FrtoUse,
    /// What becomes of cwnd after an idle time.
    pub idle_restart: IdleRestart,
    /// When cwnd counts as used, so that it may grow.
    pub cwnd_use: CwndUse,
    /// Whether a timeout in fast recovery lowers ssthresh once more.
    pub timeout_in_recovery: TimeoutInRecovery,
    /// Whether the acknowledgment that shows a repair to be spurious also lets cwnd grow.
    pub undo_growth: UndoGrowth,
    /// Which reports of duplicates are taken in.
    pub duplicate_reports: DuplicateReports,
    /// Which acknowledgments may take back what was offered.
    pub shrunk_window: ShrunkWindow,
    /// What watches over what is outstanding while the peer's window is closed.
    pub closed_window: ClosedWindow,
    /// The retransmission timeout's bounds.
    pub rto: RtoBounds,
    /// Timeouts in a row after which the connection is given up (R2).
    pub max_retransmissions: u32,
    /// The same for a SYN; as for data, if absent.
    pub syn_retransmissions: Option<u32>,
    /// The same for a SYN-ACK; as for data, if absent.
    pub syn_ack_retransmissions: Option<u32>,
    /// Timeouts of a SYN that do not double the next one.
    pub syn_linear_timeouts: u32,
    /// Length of TIME-WAIT.
    pub time_wait: Span,
    /// Which IP the connection runs over; bounds nothing, but is kept with the connection.
    pub ip: IpVersion,
}

/// Options an endpoint offers on its SYN; each is used if the peer offers it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// RFC 2018.
    pub sack: Offer,
    /// RFC 2883: reporting of octets received twice, where SACK is in use. Nothing on the wire
    /// offers it.
    pub dsack: Offer,
    /// RFC 7323 §3.
    pub timestamps: Offer,
    /// RFC 7323 §2.
    pub window_scaling: Offer,
}

/// Whether an option is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// The five separate choices of an endpoint, by value.
#[derive(Clone, Debug)]
pub struct Mechanisms {
    /// How much may be outstanding.
    pub congestion: Box<dyn CongestionControl>,
    /// When is a segment lost.
    pub loss: Box<dyn LossDetector>,
    /// How much may be sent while repairing.
    pub recovery: Box<dyn Recovery>,
    /// When to acknowledge.
    pub ack: Box<dyn AckPolicy>,
    /// Whether small segments wait.
    pub nagle: Box<dyn Nagle>,
}

impl Default for Config {
    fn default() -> Config {
        Config::from_choice(&Choice::of(&registry::ENDPOINT))
    }
}

impl Default for Mechanisms {
    /// CUBIC, three duplicates, SACK with PRR, delayed acknowledgments, Nagle: what a scenario
    /// gets that says nothing.
    fn default() -> Mechanisms {
        let choice = |table, name| {
            Choice::of(registry::find(table, name).expect("the default is registered"))
        };
        Mechanisms {
            congestion: registry::build_congestion(&choice(registry::CONGESTION, "cubic")),
            loss: registry::build_loss(&choice(registry::LOSS, "fixed")),
            recovery: registry::build_recovery(&choice(registry::RECOVERY, "sack")),
            ack: registry::build_ack(&choice(registry::ACK, "delayed")),
            nagle: registry::build_nagle(&choice(registry::NAGLE, "on")),
        }
    }
}

impl Config {
    /// The configuration a checked choice of [`registry::ENDPOINT`] describes.
    pub fn from_choice(choice: &Choice) -> Config {
        let span = |name| registry::span(choice, name);
        let optional_count = |name| choice.value(name).and_then(|value| value.as_count());
        let offer = |name| match registry::word(choice, name).as_str() {
            "on" => Offer::Yes,
            _ => Offer::No,
        };
        Config {
            mss: registry::bytes(choice, "mss"),
            initial_window_segments: registry::count(choice, "initial_window"),
            max_window_segments: optional_count("max_window"),
            receive_buffer: registry::bytes(choice, "receive_buffer"),
            send_buffer: registry::bytes(choice, "send_buffer"),
            offers: Offers {
                sack: offer("sack"),
                dsack: offer("dsack"),
                timestamps: offer("timestamps"),
                window_scaling: offer("window_scaling"),
            },
            ecn: match registry::word(choice, "ecn").as_str() {
                "on" => EcnUse::On,
                "accept" => EcnUse::Accept,
                _ => EcnUse::Off,
            },
            pacing: match registry::word(choice, "pacing").as_str() {
                "on" => Pacing::On,
                "off" => Pacing::Off,
                _ => Pacing::Auto,
            },
            frto: match registry::word(choice, "frto").as_str() {
                "on" => FrtoUse::On,
                _ => FrtoUse::Off,
            },
            idle_restart: match registry::word(choice, "idle_restart").as_str() {
                "initial-window" => IdleRestart::InitialWindow,
                "decay" => IdleRestart::Decay,
                _ => IdleRestart::Off,
            },
            cwnd_use: match registry::word(choice, "cwnd_use").as_str() {
                "half-in-slow-start" => CwndUse::HalfInSlowStart,
                "any" => CwndUse::Any,
                _ => CwndUse::Full,
            },
            timeout_in_recovery: match registry::word(choice, "timeout_in_recovery").as_str() {
                "keeps" => TimeoutInRecovery::Keeps,
                _ => TimeoutInRecovery::Reduces,
            },
            duplicate_reports: match registry::word(choice, "duplicate_reports").as_str() {
                "plausible" => DuplicateReports::Plausible,
                _ => DuplicateReports::Own,
            },
            undo_growth: match registry::word(choice, "undo_growth").as_str() {
                "on" => UndoGrowth::On,
                _ => UndoGrowth::Off,
            },
            shrunk_window: match registry::word(choice, "shrunk_window").as_str() {
                "advancing-or-closed" => ShrunkWindow::AdvancingOrClosed,
                _ => ShrunkWindow::Recent,
            },
            closed_window: match registry::word(choice, "closed_window").as_str() {
                "timeout" => ClosedWindow::Timeout,
                _ => ClosedWindow::Probe,
            },
            rto: RtoBounds {
                initial: span("rto_initial"),
                min: span("rto_min"),
                max: span("rto_max"),
                granularity: span("clock_granularity"),
                variance: match registry::word(choice, "rto_variance").as_str() {
                    "peak-of-round" => Variance::PeakOfRound,
                    _ => Variance::EverySample,
                },
                sampling: match registry::word(choice, "rtt_sampling").as_str() {
                    "one-at-a-time" => Sampling::OneAtATime,
                    _ => Sampling::EveryAck,
                },
            },
            max_retransmissions: registry::count(choice, "max_retransmissions") as u32,
            syn_retransmissions: optional_count("syn_retransmissions").map(|n| n as u32),
            syn_ack_retransmissions: optional_count("syn_ack_retransmissions").map(|n| n as u32),
            syn_linear_timeouts: registry::count(choice, "syn_linear_timeouts") as u32,
            time_wait: span("time_wait"),
            ip: IpVersion::V4,
        }
    }
}
