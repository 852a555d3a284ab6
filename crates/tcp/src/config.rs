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
use crate::registry;
use crate::rtt::RtoBounds;
use crate::sender::{
    ClosedWindow, CwndUse, DuplicateReports, FrtoUse, IdleRestart, InitialWindowBound, Offload,
    Pacing, ShrunkWindow, TimeoutInRecovery, UndoGrowth,
};
use crate::words::{Worded, worded};
use ackord_units::{Bytes, Choice, Span};
use ackord_wire::IpVersion;

/// Sizes, options and timers of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Maximum segment size announced and used (RFC 6691: options come out of it).
    pub mss: Bytes,
    /// Initial congestion window in segments.
    pub initial_window_segments: u64,
    /// What bounds it in octets.
    pub initial_window_bound: InitialWindowBound,
    /// How often a SYN may be sent again before the initial window is one segment.
    pub syn_losses_tolerated: u32,
    /// Bound on what is in flight, in segments.
    pub max_window_segments: Option<u64>,
    /// What the receiver can hold.
    pub receive_buffer: Bytes,
    /// Whether it begins with less and grows with what the application reads.
    pub receive_buffer_tuning: BufferTuning,
    /// What it can hold at first then.
    pub receive_buffer_initial: Bytes,
    /// What may be written and not yet acknowledged.
    pub send_buffer: Bytes,
    /// Whether that begins with less and grows with cwnd.
    pub send_buffer_tuning: BufferTuning,
    /// What it is at first then.
    pub send_buffer_initial: Bytes,
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
    /// Whether several segments are handed over at once.
    pub offload: Offload,
    /// The retransmission timeout's bounds.
    pub rto: RtoBounds,
    /// Length of a tick of the timers of the sending half; zero if they expire to the nanosecond.
    pub timer_tick: Span,
    /// Timeouts in a row after which the connection is given up (R2).
    pub max_retransmissions: u32,
    /// The same for a SYN; as for data, if absent.
    pub syn_retransmissions: Option<u32>,
    /// The same for a SYN-ACK; as for data, if absent.
    pub syn_ack_retransmissions: Option<u32>,
    /// Timeouts of a SYN that do not double the next one.
    pub syn_linear_timeouts: u32,
    /// Timeouts in a row that are reported (R1).
    pub r1_retransmissions: u32,
    /// How long what was sent may stay unacknowledged; as long as R2 allows, if absent.
    pub user_timeout: Option<Span>,
    /// What a peer hears that does not answer.
    pub give_up: GiveUp,
    /// How silent peers are watched.
    pub keepalive: Keepalive,
    /// How often segments without data that are refused may be answered.
    pub answers: AnswerLimit,
    /// What becomes of segments without a timestamp where timestamps are in use.
    pub missing_timestamps: MissingTimestamps,
    /// What answers a SYN that comes again before the handshake is complete.
    pub repeated_syn: RepeatedSyn,
    /// How long FIN-WAIT-2 lasts once nobody reads any more; for ever, if absent.
    pub fin_wait_2_timeout: Option<Span>,
    /// Length of TIME-WAIT.
    pub time_wait: Span,
    /// Whether a reset may cut TIME-WAIT short.
    pub time_wait_resets: TimeWaitResets,
    /// What the clock of the timestamps option shows at time zero; follows from the initial sequence
    /// number where absent. A host gives all connections between the same two ports the same, so
    /// that one which follows another does not look older than it to PAWS (RFC 7323 §5.3, RFC 6191).
    pub timestamp_offset: Option<u32>,
    /// Which IP the connection runs over: says which MSS a peer has that does not say.
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

worded!(Offer { "on" => Yes, "off" => No });

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
        let knobs = Knobs(choice);
        Config {
            mss: knobs.bytes("mss"),
            initial_window_segments: registry::count(choice, "initial_window"),
            initial_window_bound: knobs.word("initial_window_bound"),
            syn_losses_tolerated: knobs.times("syn_losses_tolerated"),
            max_window_segments: knobs.optional_count("max_window"),
            receive_buffer: knobs.bytes("receive_buffer"),
            receive_buffer_tuning: knobs.word("receive_buffer_tuning"),
            receive_buffer_initial: knobs.bytes("receive_buffer_initial"),
            send_buffer: knobs.bytes("send_buffer"),
            send_buffer_tuning: knobs.word("send_buffer_tuning"),
            send_buffer_initial: knobs.bytes("send_buffer_initial"),
            offers: Offers {
                sack: knobs.word("sack"),
                dsack: knobs.word("dsack"),
                timestamps: knobs.word("timestamps"),
                window_scaling: knobs.word("window_scaling"),
            },
            ecn: knobs.word("ecn"),
            pacing: knobs.word("pacing"),
            frto: knobs.word("frto"),
            idle_restart: knobs.word("idle_restart"),
            cwnd_use: knobs.word("cwnd_use"),
            timeout_in_recovery: knobs.word("timeout_in_recovery"),
            duplicate_reports: knobs.word("duplicate_reports"),
            undo_growth: knobs.word("undo_growth"),
            shrunk_window: knobs.word("shrunk_window"),
            closed_window: knobs.word("closed_window"),
            offload: knobs.word("offload"),
            rto: knobs.rto(),
            timer_tick: knobs.span("timer_tick"),
            max_retransmissions: knobs.times("max_retransmissions"),
            syn_retransmissions: knobs.optional_times("syn_retransmissions"),
            syn_ack_retransmissions: knobs.optional_times("syn_ack_retransmissions"),
            syn_linear_timeouts: knobs.times("syn_linear_timeouts"),
            r1_retransmissions: knobs.times("r1_retransmissions"),
            user_timeout: knobs.optional_span("user_timeout"),
            give_up: knobs.word("give_up"),
            keepalive: Keepalive {
                wanted: knobs.word("keepalive"),
                idle: knobs.span("keepalive_idle"),
                interval: knobs.span("keepalive_interval"),
                probes: knobs.times("keepalive_probes"),
            },
            answers: AnswerLimit {
                most: knobs.times("challenge_ack_limit"),
                per: knobs.span("challenge_ack_interval"),
            },
            missing_timestamps: knobs.word("missing_timestamps"),
            repeated_syn: knobs.word("repeated_syn"),
            fin_wait_2_timeout: knobs.optional_span("fin_wait_2_timeout"),
            time_wait: knobs.span("time_wait"),
            time_wait_resets: knobs.word("time_wait_resets"),
            timestamp_offset: None,
            ip: IpVersion::V4,
        }
    }
}

/// The values of a choice, in the types of [`Config`].
struct Knobs<'a>(&'a Choice);

impl Knobs<'_> {
    fn rto(&self) -> RtoBounds {
        RtoBounds {
            initial: self.span("rto_initial"),
            min: self.span("rto_min"),
            max: self.span("rto_max"),
            granularity: self.span("clock_granularity"),
            variance: self.word("rto_variance"),
            sampling: self.word("rtt_sampling"),
        }
    }

    fn span(&self, knob: &str) -> Span {
        registry::span(self.0, knob)
    }

    fn optional_span(&self, knob: &str) -> Option<Span> {
        self.0.value(knob).and_then(|value| value.as_span())
    }

    fn bytes(&self, knob: &str) -> Bytes {
        registry::bytes(self.0, knob)
    }

    fn word<T: Worded>(&self, knob: &str) -> T {
        T::of_word(&registry::word(self.0, knob))
    }

    /// The registry's ranges keep counts of times far below what fits.
    fn times(&self, knob: &str) -> u32 {
        registry::count(self.0, knob) as u32
    }

    fn optional_count(&self, knob: &str) -> Option<u64> {
        self.0.value(knob).and_then(|value| value.as_count())
    }

    fn optional_times(&self, knob: &str) -> Option<u32> {
        self.optional_count(knob).map(|times| times as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::{KnobKind, KnobValue};

    #[test]
    fn every_word_that_the_registry_lists_is_understood() {
        for knob in registry::ENDPOINT.knobs {
            let KnobKind::Choice(words) = knob.kind else { continue };
            for word in words {
                let value = knob.kind.parse(word).expect("its own word");
                assert!(matches!(value, KnobValue::Choice(_)), "{}", knob.name);
                Config::from_choice(&Choice::of(&registry::ENDPOINT).with(knob.name, value));
            }
        }
    }
}
