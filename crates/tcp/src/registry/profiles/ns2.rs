//! Profile `ns2`.

use super::{Profile, set};

/// The one-way agents of ns-2.35, for papers that were simulated with them. Values are those of
/// Debian's ns2 2.35, asked of the program itself.
pub(super) const NS2: Profile = Profile {
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
        set("mss", "1460 B", "packetSize_ is 1000 and set by every script; a scenario sets mss"),
        set("rto_variance", "every-sample", "rfc2988_ 1"),
        set("dsack", "on", "generateDSacks_ false: nothing is told while sack is off"),
        set("window_scaling", "on", "a window counts packets and has no largest"),
        set("ecn", "off", "ecn_ 0"),
        set("pacing", "auto", "an agent sends what the window allows: none of its controls asks"),
        set("idle_restart", "off", "slow_start_restart_ 1 acts only under QOption_, which is 0"),
        set("frto", "off", "frto_enabled_ 0, sfrto_enabled_ 0"),
        set("timeout_in_recovery", "reduces", "TcpAgent::timeout slows down whatever goes on"),
        set("undo_growth", "off", "nothing is undone"),
        set("shrunk_window", "recent", "no window is advertised"),
        set("duplicate_reports", "own", "generateDSacks_ false: no report comes"),
        set("closed_window", "probe", "no window is advertised, so none closes"),
        set("syn_linear_timeouts", "0", "TcpAgent::rtt_backoff doubles from the first timeout on"),
        set("time_wait", "60 s", "an agent never closes"),
        set("sack", "off", "Agent/TCP/Reno; Agent/TCP/Sack1 has it"),
    ],
};
