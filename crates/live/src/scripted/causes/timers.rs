//! Timers, and the samples they follow.

use super::Cause;

pub(super) const WHEEL: Cause = Cause {
    title: "A timer of seconds is as coarse as the timer wheel",
    how: "Keepalive, FIN-WAIT-2 without its owner and TIME-WAIT have timers of the same wheel as a \
          retransmission (`sk_timer`, `tw_timer`; `calc_wheel_index`): 60 s of 15000 ticks are kept in \
          slots of 512, two seconds, and two hours in slots of four minutes. The simulator's profile has \
          these to the nanosecond.",
    scripts: &[
        "close/linux_fin_wait_2_ends",
        "keepalive/anything_heard_postpones",
        "keepalive/dead_peer",
        "keepalive/half_closed",
        "keepalive/one_answer_is_enough",
        "keepalive/reset_answers",
        "keepalive/two_hours",
        "keepalive/with_a_user_timeout",
        "profile_rfc/keepalive_asked_for",
    ],
};

pub(super) const LEAST_TIMEOUT: Cause = Cause {
    title: "The least retransmission timeout is whole ticks",
    how: "`tcp_rto_min_us` of 1 or 10 ms becomes `icsk_rto_min` in ticks, 4 or 12 ms, and the timeout is \
          rounded up to a tick besides (`__tcp_set_rto`).",
    scripts: &[
        "rack_tlp/probe_gives_way_to_the_timer",
        "retransmit/granularity_is_a_floor_of_the_variance",
    ],
};

pub(super) const SLACK: Cause = Cause {
    title: "Held acknowledgments leave at the end of their slack",
    how: "The timer of compressed acknowledgments is given 100 us of slack (`tcp_comp_sack_slack_ns`; \
          `hrtimer_start_range_ns` in `__tcp_ack_snd_check`). Where no other interrupt comes meanwhile \
          it expires at the end of that.",
    scripts: &["profile_linux/duplicates_are_held"],
};

pub(super) const PART_OF_A_SEGMENT: Cause = Cause {
    title: "A part of a segment acknowledged does not restart the timer",
    how: "A segment that is acknowledged in part stays one that is outstanding (`tcp_clean_rtx_queue`), \
          and only one that is gone sets the timer anew (`FLAG_SET_XMIT_TIMER`).",
    scripts: &[
        "frto/part_of_the_retransmission_acknowledged",
        "retransmit/from_the_first_octet_missing",
    ],
};

pub(super) const ANSWERED_PROBE: Cause = Cause {
    title: "An answered probe of a closed window starts the timer anew",
    how: "`tcp_ack_probe` waits the whole interval from the answer on, not from the probe.",
    scripts: &[
        "profile_linux/probe_of_a_closed_window",
        "user_timeout/answered_window_probes",
        "zero_window/answered_probe_is_no_timeout",
        "zero_window/second_closing_is_probed_anew",
    ],
};

pub(super) const PROBE_INTERVAL: Cause = Cause {
    title: "The interval between probes grows to two minutes",
    how: "`tcp_probe0_when` knows no ceiling but that of the retransmission timeout, 120 s.",
    scripts: &["zero_window/interval_has_a_ceiling"],
};

pub(super) const SACK_SAMPLES: Cause = Cause {
    title: "What SACK reports is a sample of the round trip",
    how: "`tcp_ack_update_rtt` takes `sack_rtt_us` where what is acknowledged cumulatively, if anything, \
          is no sample.",
    scripts: &[
        "frto/sack_genuine_loss",
        "frto/sack_reports_before_the_first_advance",
        "frto/sack_spurious",
        "profile_linux/reports_of_others",
        "profile_rfc/reports_of_others",
        "prr/acknowledgment_with_new_loss_is_not_safe",
        "rack_tlp/one_widening_a_round_trip",
        "rack_tlp/timeout_loses_only_what_is_overdue",
        "sack/no_second_reduction_after_a_timeout",
    ],
};

pub(super) const USER_TIMEOUT: Cause = Cause {
    title: "The user timeout counts from the first retransmission",
    how: "`tcp_write_timeout` looks at `retrans_stamp`, which is set when something is retransmitted.",
    scripts: &["user_timeout/linux_gives_up_in_silence"],
};
