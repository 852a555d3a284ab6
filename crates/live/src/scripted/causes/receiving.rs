//! What is made of segments that arrive.

use super::Cause;

pub(super) const ACK_OF_UNSENT: Cause = Cause {
    title: "An acknowledgment of what was never sent has no answer",
    how: "`tcp_ack` drops the segment (`SKB_DROP_REASON_TCP_ACK_UNSENT_DATA`) where RFC 9293 §3.10.7.4 \
          and RFC 5961 §5.2 have it answered. Where a script acknowledges what only another endpoint \
          would have sent, such as the byte of a window probe, all that follows differs.",
    scripts: &[
        "challenge_ack/ack_of_unsent",
        "ncr/reordering_ends_the_doubt",
        "paws/forged_acknowledgment_leaves_no_stamp",
        "profile_ns2/small_packets_do_not_wait",
        "profile_rfc/nagle",
        "retransmit/close_waits_for_what_is_sent_again",
        "zero_window/ack_of_an_octet_never_sent",
        "zero_window/lost_window_update_costs_one_probe",
        "zero_window/probe_accepted_window_still_closed",
        "zero_window/probe_is_accepted",
    ],
};

pub(super) const ACK_TOO_OLD: Cause = Cause {
    title: "Data far below what was acknowledged is challenged",
    how: "Since 6.7 an acknowledgment is too old that lies further below SND.UNA than bytes were ever \
          acknowledged, not only than the largest window (`tcp_ack`: `min_t(u64, tp->max_window, \
          tp->bytes_acked)`).",
    scripts: &["challenge_ack/ack_too_old"],
};

pub(super) const BEYOND_FIN: Cause = Cause {
    title: "What comes after a FIN that waits above a hole is kept",
    how: "`tcp_data_queue_ofo` does not look for a FIN among what waits.",
    scripts: &["overlap/nothing_beyond_the_end"],
};

pub(super) const PAWS: Cause = Cause {
    title: "PAWS forgives one tick, and everything after 24.8 days",
    how: "`tcp_paws_check` with `TCP_PAWS_WINDOW`, for hosts whose processors' clocks differ.",
    scripts: &["paws/idle_for_24_days", "paws/older_is_refused"],
};

pub(super) const FOUR_BLOCKS: Cause = Cause {
    title: "Four SACK blocks are remembered, and a fifth is forgotten",
    how: "`tcp_sack_new_ofo_skb` keeps `TCP_NUM_SACKS`; what a forgotten block touches is reported \
          without it.",
    scripts: &["sack/receiver_reports_the_latest_block_first"],
};

pub(super) const WINDOW_BEFORE_6_6: Cause = Cause {
    title: "An acknowledgment that says nothing new closes no window before 6.6",
    how: "`tcp_may_update_window` of older kernels takes a window of the same segment number only if it \
          is larger, and not if it is zero.",
    scripts: &["profile_linux/a_window_that_shrinks"],
};
