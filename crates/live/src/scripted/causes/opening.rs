//! How connections begin and end, and what belongs to a host.

use super::Cause;

pub(super) const OLD_ACK_IN_SYN_SENT: Cause = Cause {
    title: "An old acknowledgment in SYN-SENT has the SYN retransmitted at once",
    how: "`tcp_rcv_synsent_state_process` sets the timer to two ticks (`TCP_TIMEOUT_MIN`) beside the \
          reset.",
    scripts: &["handshake/ack_of_nothing_in_syn_sent", "handshake/half_open_is_discovered"],
};

pub(super) const BOTH_AT_ONCE: Cause = Cause {
    title: "Where both open at once, the SYN-ACK offers what the SYN did",
    how: "`tcp_send_synack` of a connection in SYN-SENT sends the SYN again with ACK set, and \
          `tcp_syn_options` looks only at what is wanted here.",
    scripts: &[
        "ecn/both_open_at_once",
        "ecn/both_open_at_once_one_asks",
        "handshake/simultaneous_open",
        "handshake/simultaneous_open_reset",
    ],
};

pub(super) const SECOND_SYN: Cause = Cause {
    title: "A SYN within the window of one that was answered is reset",
    how: "`tcp_check_req` resets it (`embryonic_reset`) and forgets the request, where RFC 9293 \
          §3.10.7.4 has a passive open return to LISTEN in silence.",
    scripts: &["handshake/syn_in_window_goes_back_to_listen"],
};

pub(super) const IPV6_MSS: Cause = Cause {
    title: "Over IPv6 the MSS is 20 bytes less",
    how: "The kernel's MSS follows from the device's MTU of 1500 bytes less 60 (`tcp_mtu_to_mss`); the \
          profile has 1460 over either.",
    scripts: &[
        "fast_retransmit/over_ipv6_across_the_wrap",
        "handshake/no_mss_is_1220_over_ipv6",
        "initial_window/mss_over_ipv6",
        "reordering/receiver_wraps_around",
        "retransmit/over_ipv6",
    ],
};

pub(super) const INITIAL_WINDOW: Cause = Cause {
    title: "A route's initial window is in segments, whatever their size",
    how: "`tcp_init_cwnd` takes `initcwnd` of the route, which is told before the peer's MSS is known: \
          RFC 3390 has three segments of 1460 bytes, and four of 1000 or 536.",
    scripts: &["eifel/response_within_the_initial_window", "initial_window/rfc_3390_small"],
};

pub(super) const RESET_IN_TIME_WAIT: Cause = Cause {
    title: "A reset that does not fit is ignored in TIME-WAIT",
    how: "`tcp_timewait_state_process` answers everything else, but no reset.",
    scripts: &["reset/in_time_wait"],
};

pub(super) const SOCKET: Cause = Cause {
    title: "What a socket answers is not what the simulator's endpoint answers",
    how: "After its FIN a socket refuses to write (EPIPE), and before the connection is there send(2) \
          waits; the simulator takes nothing, or keeps it.",
    scripts: &["close/half_close", "handshake/written_before_it_is_open"],
};
