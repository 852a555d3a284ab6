//! Profiles: named sets of choices and knob values that stand for a whole stack.
//!
//! A profile replaces everything an endpoint has been given so far; what a scenario says beside it
//! overrides it. Each value has its source, which `ackord list profiles` shows.

/// A stack by name.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// What a user writes.
    pub name: &'static str,
    /// What it stands for, in a line.
    pub summary: &'static str,
    /// Its values; what is not here is as the registries have it.
    pub settings: &'static [Setting],
}

/// One value of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// A choice (`congestion`), a knob of that choice (`congestion.growth`), or a knob of the
    /// endpoint (`rto_min`).
    pub key: &'static str,
    /// As a user would write it.
    pub value: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

const fn set(key: &'static str, value: &'static str, source: &'static str) -> Setting {
    Setting { key, value, source }
}

/// Every profile.
pub static PROFILES: &[Profile] = &[RFC, LINUX, NS2];

/// The current RFCs: what the registries' defaults are, said aloud.
const RFC: Profile = Profile {
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

/// A stock Linux kernel of 2025, with its default settings.
const LINUX: Profile = Profile {
    name: "linux",
    summary: "A stock Linux kernel with its default settings",
    settings: &[
        set("congestion", "cubic", "net.ipv4.tcp_congestion_control as built by default"),
        set("congestion.c", "0.4", "tcp_cubic's bic_scale = 41: 410/1024"),
        set("congestion.beta", "0.7", "tcp_cubic's beta = 717: 717/1024"),
        set("congestion.fast_convergence", "on", "tcp_cubic's fast_convergence = 1"),
        set(
            "congestion.growth",
            "per-segment",
            "Linux since 3.18 counts all segments acknowledged; measured, see docs/linux-outage.md",
        ),
        set("congestion.hystart", "delay-and-train", "tcp_cubic's hystart = 1, hystart_detect = 3"),
        set("congestion.rules", "linux", "measured on Linux 6.18, see docs/linux-outage.md"),
        set("loss", "rack", "net.ipv4.tcp_recovery = 1; measured, see docs/linux-sender.md"),
        set("loss.tlp", "on", "net.ipv4.tcp_early_retrans = 3"),
        set("loss.max_ack_delay", "200 ms", "TCP_RTO_MIN is added for a lone segment"),
        set("loss.undo", "on", "Documentation/networking/ip-sysctl.rst: tcp_dsack, tcp_frto"),
        set("recovery", "sack", "net.ipv4.tcp_sack = 1"),
        set("recovery.prr", "on", "RFC 6937; Linux since 3.2"),
        set("recovery.partial_ack_timer", "each", "measured, see docs/linux-outage.md"),
        set("ack", "linux", "measured on Linux 6.18, see docs/linux-receiver.md"),
        set("nagle", "minshall", "Minshall's variant, Linux since 2.2"),
        set("initial_window", "10", "RFC 6928; Linux since 2.6.39"),
        set("sack", "on", "net.ipv4.tcp_sack = 1"),
        set("timestamps", "on", "net.ipv4.tcp_timestamps = 1"),
        set("window_scaling", "on", "net.ipv4.tcp_window_scaling = 1"),
        set("ecn", "accept", "net.ipv4.tcp_ecn = 2"),
        set("rto_initial", "1 s", "TCP_TIMEOUT_INIT"),
        set("rto_min", "200 ms", "net.ipv4.tcp_rto_min_us = 200000"),
        set("rto_max", "120 s", "net.ipv4.tcp_rto_max_ms = 120000"),
        set(
            "rto_variance",
            "peak-of-round",
            "Sarolahti and Kuznetsov 2002 §4; measured on Linux 6.18, see docs/linux-sender.md",
        ),
        set("frto", "on", "net.ipv4.tcp_frto = 2; measured, see docs/linux-sender.md"),
        set(
            "idle_restart",
            "decay",
            "net.ipv4.tcp_slow_start_after_idle = 1; measured, see docs/linux-sender.md",
        ),
        set(
            "cwnd_use",
            "half-in-slow-start",
            "Linux since 3.16; measured on Linux 6.18, see docs/linux-sender.md",
        ),
        set("timeout_in_recovery", "keeps", "measured, see docs/linux-outage.md"),
        set("undo_growth", "on", "measured on Linux 6.18, see docs/linux-outage.md"),
        set("loss.rules", "linux", "measured on Linux 6.18, see docs/linux-outage.md"),
        set("duplicate_reports", "plausible", "measured on Linux 6.18, see docs/linux-outage.md"),
        set(
            "shrunk_window",
            "advancing-or-closed",
            "measured on Linux 6.18, see docs/linux-outage.md",
        ),
        set("closed_window", "timeout", "measured on Linux 6.18, see docs/linux-outage.md"),
        set("clock_granularity", "1 ms", "timestamps tick in milliseconds"),
        set("max_retransmissions", "15", "net.ipv4.tcp_retries2 = 15"),
        set(
            "syn_retransmissions",
            "10",
            "net.ipv4.tcp_syn_retries = 6, beside the four linear ones (ip-sysctl.rst)",
        ),
        set("syn_ack_retransmissions", "5", "net.ipv4.tcp_synack_retries = 5"),
        set("syn_linear_timeouts", "4", "net.ipv4.tcp_syn_linear_timeouts = 4"),
        set("time_wait", "60 s", "TCP_TIMEWAIT_LEN"),
    ],
};

/// The one-way agents of ns-2.35, for papers that were simulated with them. Values are those of
/// Debian's ns2 2.35, asked of the program itself.
const NS2: Profile = Profile {
    name: "ns2",
    summary: "The one-way TCP agents of ns-2.35 (Reno; another recovery stands for another agent)",
    settings: &[
        set("congestion", "ns2", "TcpAgent: cwnd_ in packets, windowOption_ 1"),
        set("loss", "fixed", "numdupacks_ 3"),
        set("loss.threshold", "3", "numdupacks_ 3"),
        set("loss.limited_transmit", "every", "singledup_ 1"),
        set("recovery", "ns2-reno", "Agent/TCP/Reno"),
        set("ack", "immediate", "Agent/TCPSink acknowledges every packet"),
        set("nagle", "off", "packets are always full"),
        set(
            "initial_window",
            "2",
            "windowInit_ 2, after a SYN of one packet (syn_, delay_growth_)",
        ),
        set("cwnd_use", "any", "every acknowledgment opens the window (QOption_ 0)"),
        set("receive_buffer", "64 MiB", "a TCPSink holds everything"),
        set("send_buffer", "64 MiB", "an agent holds everything"),
        set("rto_initial", "3 s", "rtxcur_init_ 3"),
        set("rto_min", "200 ms", "minrto_ 0.2"),
        set("rto_max", "60 s", "maxrto_ 60"),
        set("rtt_sampling", "one-at-a-time", "rtt_active_: one packet is timed at a time"),
        set("clock_granularity", "10 ms", "tcpTick_ 0.01"),
        set("max_retransmissions", "255", "an agent never gives up"),
        set("timestamps", "off", "timestamps_ false"),
        set("sack", "off", "Agent/TCP/Reno; Agent/TCP/Sack1 has it"),
    ],
};

/// The profile of this name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Setting {
    /// The choice whose mechanism or knob it sets, and the knob's name if it is a knob's; nothing
    /// for a knob of the endpoint.
    pub fn of_choice(&self) -> Option<(&'static str, Option<&'static str>)> {
        match self.key.split_once('.') {
            Some((choice, knob)) => Some((choice, Some(knob))),
            None if super::ENDPOINT.knob(self.key).is_some() => None,
            None => Some((self.key, None)),
        }
    }
}
