//! Buffers, and the peer's window.

use super::Cause;

pub(super) const SEND_BUFFER: Cause = Cause {
    title: "A write takes more than the send buffer says",
    how: "Memory is counted, and looked at before a segment is begun that may hold as much as half of \
          the peer's largest window (`sk_stream_memory_free` in `tcp_sendmsg_locked`, \
          `tcp_xmit_size_goal`); `tcp_init_buffer_space` has made room for twice the initial window \
          before (`tcp_sndbuf_expand`).",
    scripts: &["profile_linux/buffers", "profile_rfc/first_flight_of_large_segments"],
};

pub(super) const RECEIVE_BUFFER: Cause = Cause {
    title: "How much of the receive buffer is window follows from what segments take of memory",
    how: "`tcp_measure_rcv_mss` sets `scaling_ratio` by a segment's length and its memory (6.1: half, \
          `tcp_adv_win_scale`): 1000 bytes take 5376 here, and of 131072 bytes 24000 are left as \
          window, where the profile has 83000 whatever comes. A window that does not grow adds nothing \
          to the acknowledgments at once (`tcp_grow_window`), and while it does not move a full segment \
          with a FIN waits for the timer (`__tcp_ack_snd_check`, `tcp_fin`).",
    scripts: &[
        "buffers/receive_buffer_tunes_itself",
        "close/released_unread_in_last_ack",
        "known_problems/every_second_segment_is_acknowledged",
        "overlap/fin_beyond_the_window_is_cut",
        "profile_ns2/every_packet_is_acknowledged",
        "window_scale/a_full_buffer_takes_no_more",
    ],
};

pub(super) const HALF_WINDOW: Cause = Cause {
    title: "No segment is larger than half of the largest window",
    how: "`tcp_bound_to_half_wnd`: where the peer has never offered more than two segments, they are \
          made smaller.",
    scripts: &[
        "ecn/window_probe_is_not_capable",
        "nagle/half_of_the_largest_window",
        "window_scale/more_than_fourteen",
        "window_scale/not_offered",
        "window_scale/scaled_both_ways",
    ],
};

pub(super) const REST_OF_WINDOW: Cause = Cause {
    title: "A small rest of the window is used with a whole segment before it",
    how: "6.12 joins what is written to skbs of two segments and more (`tcp_grow_skb`), asks the window \
          about the first (`tcp_snd_wnd_test`) and cuts the skb where the window ends \
          (`tcp_mss_split_point`), unless a small segment is outstanding (`tcp_nagle_check`). 6.1 does \
          not join them, and waits.",
    scripts: &["nagle/small_window_waits_for_what_is_out"],
};

pub(super) const LOOKS_AT_THE_CLOCK: Cause = Cause {
    title: "A write into a small window looks at the clock more than four times",
    how: "`tcp_sendmsg_locked` pushes whenever half of the peer's largest window was written \
          (`forced_push`), and each push is a look at the clock. The last segments leave just later than \
          is allowed here.",
    scripts: &["fast_recovery/peers_window_bounds_new_data", "frto/window_keeps_new_data_back"],
};

pub(super) const FIN_NEEDS_ROOM: Cause = Cause {
    title: "A FIN needs room in the peer's window",
    how: "`tcp_snd_wnd_test` counts the FIN as a byte of its segment: data that just fits stays with \
          it.",
    scripts: &["close/fin_of_the_peer_while_ours_waits", "zero_window/fin_waits_for_nobody"],
};
