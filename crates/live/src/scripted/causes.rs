//! Why a stock kernel does otherwise: what is known of the differences that were looked into.
//!
//! A difference is known by its script: what comes first in it. Where a kernel of another version does not
//! differ there, nothing is said.

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
    Cause {
        title: "The first acknowledgment after the handshake is a window update, not a duplicate",
        how: "SND.WL1 is the sequence number of the peer's SYN (`tcp_init_wl`), so the first segment with \
              the number after it updates the window even if it says the same one \
              (`tcp_may_update_window`: `after(ack_seq, tp->snd_wl1)`), and what updates the window is no \
              duplicate (`FLAG_NOT_DUP`). Without SACK one more duplicate is needed.",
        scripts: &[
            "fast_recovery/newreno_bursts_no_more_than_two_at_the_end",
            "fast_recovery/newreno_deflates_by_what_is_acknowledged",
            "fast_recovery/newreno_ends_with_ssthresh",
            "fast_recovery/newreno_ends_without_a_burst",
            "fast_recovery/newreno_new_data_keeps_the_clock",
            "fast_recovery/newreno_partial_acknowledgment_takes_back",
            "fast_recovery/newreno_repairs_a_hole_per_round_trip",
            "fast_recovery/newreno_three_losses_one_round_trip_each",
            "fast_recovery/newreno_timer_at_each_partial_acknowledgment",
            "fast_recovery/newreno_timer_at_the_first_partial_acknowledgment",
            "fast_recovery/newreno_timer_is_reset_once",
            "fast_recovery/peers_window_bounds_new_data",
            "fast_recovery/reno_ends_with_any_new_acknowledgment",
            "fast_recovery/timeout_during_recovery",
            "fast_retransmit/fin_is_no_duplicate",
            "fast_retransmit/leaves_into_a_full_window",
            "fast_retransmit/restarts_the_timer",
            "fast_retransmit/tahoe_starts_slowly",
            "fast_retransmit/third_duplicate_retransmits",
            "fast_retransmit/threshold_is_half_of_flight",
            "fast_retransmit/two_duplicates_do_nothing",
            "frto/duplicate_first",
            "limited_transmit/each_of_two_duplicates_lets_one_out",
            "limited_transmit/every_duplicate_where_chosen",
            "limited_transmit/nothing_new_to_send",
            "limited_transmit/peers_window_holds_it",
            "limited_transmit/room_below_cwnd_is_used_as_usual",
            "limited_transmit/saves_a_small_window_from_the_timer",
            "paws/acknowledgments_too",
            "profile_linux/duplicates_without_sack",
            "profile_linux/partial_acknowledgments",
            "profile_ns2/limited_transmit",
            "profile_rfc/limited_transmit",
            "profile_rfc/partial_acknowledgments",
            "rack_tlp/without_sack_three_duplicates_take_over",
        ],
    },
    Cause {
        title: "What could leave waits for more to leave with",
        how: "New data of more than one segment is deferred while less than a third of the window is free \
              and the last write was no more than a millisecond ago (`tcp_tso_should_defer`, \
              `tcp_tso_win_divisor`). Card or no card, the kernel builds segments larger than one. Two \
              acknowledgments within a millisecond let out later, and together, what the simulator sends \
              one by one.",
        scripts: &[
            "abc/a_window_for_a_segment",
            "ecn/echo_halves_the_window_once",
            "ecn/marks_do_not_let_the_window_grow",
            "ecn/reduction_is_spread_with_prr",
            "fast_recovery/sack_sends_by_pipe",
            "limited_transmit/off_leaves_the_timer",
            "limited_transmit/reordering_ends_it",
            "ncr/aggressive",
            "ncr/careful",
            "profile_rfc/slow_start_on_a_queue",
            "profile_rfc/third_duplicate",
            "prr/one_loss_of_twenty",
            "reordering/ncr_waits_for_a_window",
            "reordering/two_places_late",
            "sack/pipe_walkthrough",
        ],
    },
    Cause {
        title: "An acknowledgment of what was never sent has no answer",
        how: "`tcp_ack` drops the segment (`SKB_DROP_REASON_TCP_ACK_UNSENT_DATA`) where RFC 9293 \
              §3.10.7.4 and RFC 5961 §5.2 have it answered. Where a script acknowledges what only another \
              endpoint would have sent, such as the octet of a window probe, all that follows differs.",
        scripts: &[
            "challenge_ack/ack_of_unsent",
            "paws/forged_acknowledgment_leaves_no_stamp",
            "profile_ns2/small_packets_do_not_wait",
            "profile_rfc/nagle",
            "retransmit/close_waits_for_what_is_sent_again",
            "zero_window/ack_of_an_octet_never_sent",
            "zero_window/lost_window_update_costs_one_probe",
            "zero_window/probe_accepted_window_still_closed",
            "zero_window/probe_is_accepted",
        ],
    },
    Cause {
        title: "Data far below what was acknowledged is challenged",
        how: "Since 6.7 an acknowledgment is too old that lies further below SND.UNA than octets were ever \
              acknowledged, not only than the largest window (`tcp_ack`: `min_t(u64, tp->max_window, \
              tp->bytes_acked)`).",
        scripts: &["challenge_ack/ack_too_old"],
    },
    Cause {
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
            "profile_rfc/spurious_reports",
            "prr/ends_at_ssthresh",
        ],
    },
    Cause {
        title: "A timer of seconds is as coarse as the timer wheel",
        how: "Keepalive, FIN-WAIT-2 without its owner and TIME-WAIT have timers of the same wheel as a \
              retransmission (`sk_timer`, `tw_timer`; `calc_wheel_index`): 60 s of 15000 ticks are kept in \
              slots of 512, two seconds, and two hours in slots of four minutes. The simulator's profile \
              has these to the nanosecond.",
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
    },
    Cause {
        title: "Held acknowledgments leave at the end of their slack",
        how: "The timer of compressed acknowledgments is given 100 us of slack \
              (`tcp_comp_sack_slack_ns`; `hrtimer_start_range_ns` in `__tcp_ack_snd_check`). Where no other \
              interrupt comes meanwhile it expires at the end of that.",
        scripts: &["profile_linux/duplicates_are_held"],
    },
    Cause {
        title: "A write takes more than the send buffer says",
        how: "Memory is counted, and looked at before a segment is begun that may hold as much as half of \
              the peer's largest window (`sk_stream_memory_free` in `tcp_sendmsg_locked`, \
              `tcp_xmit_size_goal`); `tcp_init_buffer_space` has made room for twice the initial window \
              before (`tcp_sndbuf_expand`).",
        scripts: &["profile_linux/buffers", "profile_rfc/first_flight_of_large_segments"],
    },
    Cause {
        title: "Without SACK a repair goes on until more than what was lost is acknowledged",
        how: "After a timeout, that of a SYN among them, a connection without SACK stays in the state Loss \
              until something above what was outstanding is acknowledged \
              (`tcp_is_non_sack_preventing_reopen`), with a retransmitted SYN until anything after it is. \
              Seen in `tcpi_ca_state`; the window grows meanwhile.",
        scripts: &[
            "close/lost_fin_is_sent_again",
            "ecn/syn_sent_again_does_not_ask",
            "handshake/lost_syn_is_sent_again",
            "initial_window/one_after_a_lost_syn",
            "keepalive/not_while_data_is_outstanding",
            "nagle/override_timeout",
            "profile_linux/growth_without_a_known_loss",
            "profile_rfc/a_lost_syn",
            "retransmit/duplicates_of_what_was_sent_for_nothing",
            "retransmit/new_data_waits_behind_what_is_lost",
            "retransmit/rto_after_a_lost_syn",
            "retransmit/rto_after_a_lost_syn_with_timestamps",
            "retransmit/rto_backs_off_until_karn_allows_a_sample",
            "retransmit/slow_start_repairs_a_lost_window",
            "timestamps/no_rtt_without_them",
            "timestamps/rtt_of_a_retransmission",
        ],
    },
    Cause {
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
    },
    Cause {
        title: "A part of a segment acknowledged does not restart the timer",
        how: "A segment that is acknowledged in part stays one that is outstanding \
              (`tcp_clean_rtx_queue`), and only one that is gone sets the timer anew \
              (`FLAG_SET_XMIT_TIMER`).",
        scripts: &[
            "frto/part_of_the_retransmission_acknowledged",
            "retransmit/from_the_first_octet_missing",
        ],
    },
    Cause {
        title: "Small segments are sent again as one",
        how: "`tcp_retrans_try_collapse` joins neighbours up to a full segment.",
        scripts: &[
            "known_problems/same_octets_again",
            "retransmit/smaller_segments_keep_their_borders",
        ],
    },
    Cause {
        title: "A peer that takes back what it has reported is noticed at once",
        how: "Where the first segment that is outstanding has been reported, it is sent again after half a \
              round trip, or 10 ms (`tcp_check_sack_reneging`).",
        scripts: &["sack/receiver_that_reneges"],
    },
    Cause {
        title: "What comes after a FIN that waits above a hole is kept",
        how: "`tcp_data_queue_ofo` does not look for a FIN among what waits.",
        scripts: &["overlap/nothing_beyond_the_end"],
    },
    Cause {
        title: "PAWS forgives one tick, and everything after 24.8 days",
        how: "`tcp_paws_check` with `TCP_PAWS_WINDOW`, for hosts whose processors' clocks differ.",
        scripts: &["paws/idle_for_24_days", "paws/older_is_refused"],
    },
    Cause {
        title: "An old acknowledgment in SYN-SENT has the SYN sent again at once",
        how: "`tcp_rcv_synsent_state_process` sets the timer to two ticks (`TCP_TIMEOUT_MIN`) beside the \
              reset.",
        scripts: &["handshake/ack_of_nothing_in_syn_sent", "handshake/half_open_is_discovered"],
    },
    Cause {
        title: "Where both open at once, the SYN-ACK offers what the SYN did",
        how: "`tcp_send_synack` of a connection in SYN-SENT sends the SYN again with ACK set, and \
              `tcp_syn_options` looks only at what is wanted here.",
        scripts: &[
            "ecn/both_open_at_once",
            "ecn/both_open_at_once_one_asks",
            "handshake/simultaneous_open",
            "handshake/simultaneous_open_reset",
        ],
    },
    Cause {
        title: "Over IPv6 the MSS is 20 octets less",
        how: "The kernel's MSS follows from the device's MTU of 1500 octets less 60 \
              (`tcp_mtu_to_mss`); the profile has 1460 over either.",
        scripts: &[
            "fast_retransmit/over_ipv6_across_the_wrap",
            "handshake/no_mss_is_1220_over_ipv6",
            "initial_window/mss_over_ipv6",
            "reordering/receiver_wraps_around",
            "retransmit/over_ipv6",
        ],
    },
    Cause {
        title: "The first ten segments of a connection are not paced",
        how: "`tcp_update_skb_after_send`: `data_segs_out >= 10`, as fq has it.",
        scripts: &[
            "hystart/plus_plus_paced_counts_all",
            "pacing/acknowledgments_are_not_paced",
            "pacing/a_pause_saves_nothing_up",
            "pacing/beyond_slow_start",
            "pacing/initial_window_is_spread",
        ],
    },
    Cause {
        title: "A FIN needs room in the peer's window",
        how: "`tcp_snd_wnd_test` counts the FIN as an octet of its segment: data that just fits stays with \
              it.",
        scripts: &["close/fin_of_the_peer_while_ours_waits", "zero_window/fin_waits_for_nobody"],
    },
    Cause {
        title: "A reset that does not fit is ignored in TIME-WAIT",
        how: "`tcp_timewait_state_process` answers everything else, but no reset.",
        scripts: &["reset/in_time_wait"],
    },
    Cause {
        title: "A timeout is undone by the first acknowledgment of anything that was sent once",
        how: "F-RTO with SACK: `tcp_process_loss` looks for data that was never sent again and is \
              acknowledged now (`FLAG_ORIG_SACK_ACKED`, step 3 b of RFC 5682 §3.1) in the first \
              acknowledgment already, where RFC 5682 has it sent new data first.",
        scripts: &[
            "abc/limit_kept_after_a_timeout",
            "abc/one_after_a_timeout",
            "idle/small_window_stays_small",
            "retransmit/acknowledged_late_needs_no_more",
        ],
    },
    Cause {
        title: "An answered probe of a closed window starts the timer anew",
        how: "`tcp_ack_probe` waits the whole interval from the answer on, not from the probe.",
        scripts: &[
            "profile_linux/probe_of_a_closed_window",
            "user_timeout/answered_window_probes",
            "zero_window/answered_probe_is_no_timeout",
            "zero_window/second_closing_is_probed_anew",
        ],
    },
    Cause {
        title: "The interval between probes grows to two minutes",
        how: "`tcp_probe0_when` knows no ceiling but that of the retransmission timeout, 120 s.",
        scripts: &["zero_window/interval_has_a_ceiling"],
    },
    Cause {
        title: "What SACK reports is a sample of the round trip",
        how: "`tcp_ack_update_rtt` takes `sack_rtt_us` where nothing is acknowledged cumulatively.",
        scripts: &[
            "frto/sack_genuine_loss",
            "frto/sack_reports_before_the_first_advance",
            "profile_linux/reports_of_others",
            "profile_rfc/reports_of_others",
            "prr/acknowledgment_with_new_loss_is_not_safe",
            "rack_tlp/one_widening_a_round_trip",
        ],
    },
    Cause {
        title: "Proportional rate reduction lets three out for the first three reported",
        how: "`tcp_cwnd_reduction` rounds the share of what was delivered up, 14 * 3 / 20 to 3, and the \
              retransmission is one of them.",
        scripts: &[
            "prr/cubic_sends_seven_for_ten",
            "prr/lost_acknowledgments",
            "prr/without_prr_half_a_window_of_silence",
        ],
    },
    Cause {
        title: "Four SACK blocks are remembered, and a fifth is forgotten",
        how: "`tcp_sack_new_ofo_skb` keeps `TCP_NUM_SACKS`; what a forgotten block touches is reported \
              without it.",
        scripts: &["sack/receiver_reports_the_latest_block_first"],
    },
    Cause {
        title: "The user timeout counts from the first retransmission",
        how: "`tcp_write_timeout` looks at `retrans_stamp`, which is set when something is sent again.",
        scripts: &["user_timeout/linux_gives_up_in_silence"],
    },
    Cause {
        title: "What a socket answers is not what the simulator's endpoint answers",
        how: "After its FIN a socket refuses to write (EPIPE), and before the connection is there send(2) \
              waits; the simulator takes nothing, or keeps it.",
        scripts: &["close/half_close", "handshake/written_before_it_is_open"],
    },
    Cause {
        title: "An acknowledgment that says nothing new closes no window before 6.6",
        how: "`tcp_may_update_window` of older kernels takes a window of the same segment number only if \
              it is larger, and not if it is zero.",
        scripts: &["profile_linux/a_window_that_shrinks"],
    },
];
