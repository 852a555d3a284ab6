//! What bounds the congestion window.

use ackord_units::{Keyword, Knobs};

/// Bounds of the congestion window, at the start and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct WindowLimits {
    /// Congestion window at the start of a connection
    #[knob(
        name = "initial_window",
        min = 1,
        max = 100,
        unit = "segments",
        default = "10",
        source = "RFC 6928 §2"
    )]
    pub initial_segments: u64,
    /// What bounds initial_window in bytes: nothing, 14600, 4380 (two segments if that is more),
    /// or two to four segments by their size. Segments of up to 1460 bytes leave ten within RFC
    /// 6928's
    #[knob(
        name = "initial_window_bound",
        default = "none",
        source = "RFC 6928 §2, RFC 3390 §1, RFC 5681 §3.1"
    )]
    pub initial_bound: InitialWindowBound,
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
    pub max_segments: Option<u64>,
}

/// What bounds the initial window in bytes, beside its number of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum InitialWindowBound {
    /// Nothing does.
    None,
    /// 14600 bytes, or two segments if that is more (RFC 6928 §2).
    #[keyword = "rfc-6928"]
    Rfc6928,
    /// 4380 bytes, or two segments if that is more, and four segments (RFC 3390 §1).
    #[keyword = "rfc-3390"]
    Rfc3390,
    /// Two, three or four segments, by their size (RFC 5681 §3.1).
    #[keyword = "rfc-5681"]
    Rfc5681,
}
