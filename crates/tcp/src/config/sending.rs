//! How the sending half behaves where the RFCs or stacks leave a choice.

use ackord_units::{Keyword, Knobs};

/// What the sending half does where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct Sending {
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
    pub frto: bool,
    /// Whether a timeout in fast recovery lowers ssthresh once more; keeps: it does not, F-RTO
    /// does not look into it, but into the next if that follows without any acknowledgment of new
    /// data
    #[knob(default = "reduces", source = "RFC 5681 §3.1; keeps is Linux's")]
    pub timeout_in_recovery: TimeoutInRecovery,
    /// Whether the acknowledgment that shows a recovery to be spurious lets cwnd grow too, by what
    /// it covers, once cwnd is given back
    #[knob(default = "off", source = "RFC 4015 §3 says nothing of it; on is Linux's")]
    pub undo_growth: bool,
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
    /// Segmentation offload as it shows on the wire: PSH on the last of two or more segments that
    /// are sent as one packet, new or retransmitted, as many as leave in a millisecond; and one
    /// that could leave by itself waits for another where the next acknowledgment is due. A kernel
    /// that receives acknowledges by itself what carries PSH
    #[knob(
        default = "off",
        source = "Linux's tcp_tso_autosize, __tcp_transmit_skb, tcp_tso_should_defer"
    )]
    pub offload: bool,
}

/// What becomes of cwnd when nothing was sent for longer than a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum IdleRestart {
    /// It stays.
    Off,
    /// It becomes the initial window, or stays if that is less (RFC 5681 §4.1).
    InitialWindow,
    /// It is halved for each timeout that passed, down to the initial window, and ssthresh
    /// remembers three quarters of it: what Linux has kept of RFC 2861 §3.
    Decay,
    /// The same down to one segment, and a window that is used in part for a whole timeout falls
    /// half of the way to what was used (RFC 2861 §3).
    #[keyword = "rfc-2861"]
    Rfc2861,
    /// It stays for five minutes, but does not count for more than the path has carried lately
    /// (RFC 7661).
    #[keyword = "rfc-7661"]
    Rfc7661,
}

/// When cwnd may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum CwndUse {
    /// While less than one segment more would fit (RFC 9293 §3.8.2, RFC 7661 §3).
    Full,
    /// While it was full at some time during the round trip, and in slow start while it is less
    /// than twice what was in use at most: what will be needed a round trip later is there then.
    HalfInSlowStart,
    /// Always: nobody asks how much of it is in use (RFC 5681 §3.1 by itself).
    Any,
}

/// Whether a timeout in fast recovery lowers ssthresh, which the loss has lowered already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TimeoutInRecovery {
    /// It does (RFC 5681 §3.1 makes no difference).
    Reduces,
    /// It does not, and what the loss took may still be given back. F-RTO does not look into it,
    /// but into the next one, if no new data is acknowledged in between.
    Keeps,
}

/// Which acknowledgments may take back window that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ShrunkWindow {
    /// Each recent one (RFC 9293 §3.10.7.4).
    Recent,
    /// One that acknowledges new data, or closes the window altogether.
    AdvancingOrClosed,
}

/// Which reports of duplicates are taken in (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum DuplicateReports {
    /// Those of bytes that were retransmitted lately.
    Own,
    /// None while more duplicates have been reported than segments were ever retransmitted: something
    /// else on the path makes them. Below that any counts for RACK's reordering window; for the
    /// recovery they are about, as above.
    Plausible,
}

/// What watches over what is outstanding while the peer's window is closed, and how that is probed
/// where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ClosedWindow {
    /// The persist timer (RFC 9293 §3.8.6): its probe is the oldest segment, and neither cwnd nor
    /// the retransmission timeout change. With nothing outstanding, a new byte (§3.8.6.1).
    Probe,
    /// The retransmission timer. Each of its expiries lowers ssthresh as a first one does and takes
    /// the place of what could have been given back; the connection is never given up. With nothing
    /// outstanding, an empty segment from below the window.
    Timeout,
}

/// Whether new and retransmitted data is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Pacing {
    /// If the congestion control asks for it.
    Auto,
    /// Never.
    Off,
    /// Always: at the control's rate, or else at twice cwnd/SRTT in slow start and 1.2 times
    /// beyond.
    On,
}
