//! How much may leave: the congestion window, its growth and its reduction.

use super::Cause;

pub(super) const DEFERRED: Cause = Cause {
    title: "What could leave waits for more to leave with",
    how: "New data of more than one segment is deferred while less than a third of the window is free, \
          something left within the last millisecond and the next acknowledgment is due \
          (`tcp_tso_should_defer`, `tcp_tso_win_divisor`). Card or no card, the kernel builds segments \
          larger than one. So the last of an odd number, or what the second of two acknowledgments \
          within a millisecond lets out, leaves later and together with more.",
    scripts: &[
        "abc/a_window_for_a_segment",
        "ecn/echo_halves_the_window_once",
        "ecn/marks_do_not_let_the_window_grow",
        "ecn/reduction_is_spread_with_prr",
        "eifel/duplicate_report_is_no_proof",
        "eifel/receiver_known_to_report_duplicates",
        "eifel/spurious_fast_retransmit",
        "eifel/spurious_timeout",
        "eifel/timer_learns_from_new_data",
        "eifel/without_timestamps_nothing_is_known",
        "fast_recovery/sack_sends_by_pipe",
        "frto/sack_everything_acknowledged_first",
        "hystart/delay_ends_slow_start",
        "hystart/plus_plus_slows_down_when_the_delay_rises",
        "known_problems/congestion_avoidance_adds_one_segment",
        "ncr/aggressive",
        "ncr/careful",
        "profile_ns2/reno",
        "profile_rfc/limited_transmit",
        "profile_rfc/slow_start_on_a_queue",
        "reordering/ncr_waits_for_a_window",
        "reordering/two_places_late",
    ],
};

pub(super) const WHOLE_PACKETS: Cause = Cause {
    title: "The window grows by whole packets",
    how: "`tcp_slow_start` and `tcp_cong_avoid_ai` add the packets that were delivered \
          (`tcp_clean_rtx_queue`, `tcp_skb_pcount`): a small segment and a FIN are one each, and a part \
          of a segment is none (`tcp_tso_acked`).",
    scripts: &[
        "abc/limit_of_two",
        "retransmit/fin_is_sent_again",
        "retransmit/lone_fin_is_sent_again",
    ],
};

pub(super) const GROWTH_AT_THE_END: Cause = Cause {
    title: "The congestion window grows with the acknowledgment that ends a recovery",
    how: "`tcp_cong_control` lets the window grow (`tcp_may_raise_cwnd`) when `tcp_fastretrans_alert` \
          has ended the recovery for the same acknowledgment: CUBIC counts all that it acknowledges.",
    scripts: &[
        "dsack/sender_ignores_what_it_did_not_send_twice",
        "dsack/sender_of_rfc_5681_keeps_the_reduction",
        "dsack/sender_undoes_when_all_repairs_are_reported",
        "fast_recovery/acknowledgment_beyond_recover_ends_it",
        "fast_recovery/second_window_second_reduction",
        "fast_recovery/zero_window_in_recovery",
        "profile_linux/a_repair_in_vain",
        "profile_rfc/cubic",
        "profile_rfc/spurious_reports",
        "prr/ends_at_ssthresh",
        "reordering/dupthresh_follows_reordering",
    ],
};

pub(super) const GROWTH_STAYS: Cause = Cause {
    title: "What another acknowledgment of the same instant let the window grow by stays",
    how: "`tcp_cong_control` either reduces the window for an acknowledgment or lets it grow, and keeps \
          what earlier ones let it grow by. The simulator's CUBIC takes back all growth of the instant \
          at which a loss is found.",
    scripts: &["fast_retransmit/overtaken_reports_count"],
};

pub(super) const TWICE_IS_DELIVERED: Cause = Cause {
    title: "What arrived twice counts as delivered",
    how: "`tcp_dsack_seen` adds a segment that was retransmitted, probes among them, and is reported as a \
          duplicate to what was delivered (`sack_delivered`), by which the window grows.",
    scripts: &["profile_linux/timers_with_slack"],
};

pub(super) const FIRST_TEN: Cause = Cause {
    title: "The first ten segments of a connection are not paced",
    how: "`tcp_update_skb_after_send`: `data_segs_out >= 10`, as fq has it.",
    scripts: &[
        "hystart/plus_plus_paced_counts_all",
        "pacing/a_pause_saves_nothing_up",
        "pacing/acknowledgments_are_not_paced",
        "pacing/beyond_slow_start",
        "pacing/initial_window_is_spread",
    ],
};

pub(super) const PRR_ROUNDS_UP: Cause = Cause {
    title: "Proportional rate reduction rounds up to whole segments",
    how: "`tcp_cwnd_reduction` rounds the share of what was delivered up to packets: three delivered of \
          twenty let 14 * 3 / 20 out, that is 3, the retransmission among them. The simulator counts \
          bytes, and waits until they are a whole segment.",
    scripts: &[
        "profile_rfc/proportional_rate_reduction",
        "profile_rfc/third_duplicate",
        "prr/cubic_sends_seven_for_ten",
        "prr/lost_acknowledgments",
        "prr/one_loss_of_twenty",
        "prr/without_prr_half_a_window_of_silence",
        "sack/pipe_walkthrough",
    ],
};
