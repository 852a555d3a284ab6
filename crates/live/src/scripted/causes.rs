//! Why a stock kernel does otherwise: what is known of the differences that were looked into.
//!
//! A difference is known by its script: what comes first in it. Where a kernel of another version does not
//! differ there, nothing is said.
//!
//! | file | causes of differences in |
//! | --- | --- |
//! | `causes/window.rs` | how much may leave: the congestion window |
//! | `causes/recovery.rs` | what is lost, and its recovery |
//! | `causes/timers.rs` | timers and their samples |
//! | `causes/buffers.rs` | buffers and the peer's window |
//! | `causes/receiving.rs` | what is made of arriving segments |
//! | `causes/opening.rs` | beginning and end of connections |

mod buffers;
mod opening;
mod receiving;
mod recovery;
mod timers;
mod window;

/// A mechanism of the kernel that makes a difference.
pub(super) struct Cause {
    /// What the kernel does, in a few words.
    pub(super) title: &'static str,
    /// How, and where in its source.
    pub(super) how: &'static str,
    /// The scripts, as FOLDER/NAME.
    pub(super) scripts: &'static [&'static str],
}

/// The cause of what comes first in this script.
pub(super) fn cause_of(file: &str) -> Option<&'static Cause> {
    let mut parts = file.trim_end_matches(".tcp").rsplit('/');
    let (name, folder) = (parts.next()?, parts.next()?);
    let is_it = |script: &&str| script.split_once('/') == Some((folder, name));
    CAUSES.iter().find(|cause| cause.scripts.iter().any(is_it))
}

/// All of them, in the order in which a page tells them.
pub(super) static CAUSES: &[Cause] = &[
    recovery::FIRST_ACKNOWLEDGMENT,
    window::DEFERRED,
    window::WHOLE_PACKETS,
    receiving::ACK_OF_UNSENT,
    receiving::ACK_TOO_OLD,
    window::GROWTH_AT_THE_END,
    window::GROWTH_STAYS,
    window::TWICE_IS_DELIVERED,
    timers::WHEEL,
    timers::LEAST_TIMEOUT,
    timers::SLACK,
    buffers::SEND_BUFFER,
    buffers::RECEIVE_BUFFER,
    recovery::WITHOUT_SACK,
    buffers::HALF_WINDOW,
    buffers::REST_OF_WINDOW,
    buffers::LOOKS_AT_THE_CLOCK,
    timers::PART_OF_A_SEGMENT,
    recovery::COLLAPSE,
    recovery::ROOM_FOR_BLOCKS,
    recovery::RENEGING,
    receiving::BEYOND_FIN,
    receiving::PAWS,
    opening::OLD_ACK_IN_SYN_SENT,
    opening::BOTH_AT_ONCE,
    opening::SECOND_SYN,
    opening::IPV6_MSS,
    opening::INITIAL_WINDOW,
    window::FIRST_TEN,
    buffers::FIN_NEEDS_ROOM,
    opening::RESET_IN_TIME_WAIT,
    recovery::FRTO_AT_ONCE,
    recovery::FRTO_NEW_DATA,
    timers::ANSWERED_PROBE,
    timers::PROBE_INTERVAL,
    timers::SACK_SAMPLES,
    window::PRR_ROUNDS_UP,
    recovery::DUPTHRESH,
    recovery::TWO_INSTANTS,
    recovery::PROBE_WITHOUT_SAMPLE,
    recovery::PROBE_ASKED_LATE,
    receiving::FOUR_BLOCKS,
    timers::USER_TIMEOUT,
    opening::SOCKET,
    receiving::WINDOW_BEFORE_6_6,
];
