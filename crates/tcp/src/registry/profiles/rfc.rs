//! Profile `rfc`.

use super::{Profile, set};

/// The current RFCs: what the registries' defaults are, said aloud.
pub(super) const RFC: Profile = Profile {
    name: "rfc",
    summary: "The current RFCs, as a scenario has it that says nothing",
    settings: &[
        set("congestion", "cubic", "RFC 9438"),
        set("loss", "fixed", "RFC 5681 §3.2"),
        set("loss.threshold", "3", "RFC 5681 §3.2"),
        set("loss.limited_transmit", "on", "RFC 3042"),
        set("recovery", "sack", "RFC 6675"),
        set("recovery.prr", "on", "RFC 9937"),
        set("ack", "delayed", "RFC 5681 §4.2"),
        set("nagle", "on", "RFC 1122 §4.2.3.4"),
        set("initial_window", "10", "RFC 6928 §2"),
        set("rto_initial", "1 s", "RFC 6298 §2.1"),
        set("rto_min", "1 s", "RFC 6298 §2.4"),
    ],
};
