//! What is lost, and how it is recovered.

use super::Cause;

pub(super) const FIRST_ACKNOWLEDGMENT: Cause = Cause {
    title: "The first acknowledgment after the handshake is a window update, not a duplicate",
    how: "SND.WL1 is the sequence number of the peer's SYN (`tcp_init_wl`), so the first segment with \
          the number after it updates the window even if it says the same one (`tcp_may_update_window`: \
          `after(ack_seq, tp->snd_wl1)`), and what updates the window is no duplicate (`FLAG_NOT_DUP`). \
          Without SACK one more duplicate is needed.",
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
        "frto/timer_in_its_own_repair",
        "limited_transmit/each_of_two_duplicates_lets_one_out",
        "limited_transmit/every_duplicate_where_chosen",
        "limited_transmit/nothing_new_to_send",
        "limited_transmit/off_leaves_the_timer",
        "limited_transmit/peers_window_holds_it",
        "limited_transmit/reordering_ends_it",
        "limited_transmit/room_below_cwnd_is_used_as_usual",
        "limited_transmit/saves_a_small_window_from_the_timer",
        "paws/acknowledgments_too",
        "profile_linux/duplicates_without_sack",
        "profile_linux/partial_acknowledgments",
        "profile_ns2/limited_transmit",
        "profile_rfc/partial_acknowledgments",
        "rack_tlp/without_sack_three_duplicates_take_over",
    ],
};

pub(super) const WITHOUT_SACK: Cause = Cause {
    title: "Without SACK a recovery goes on until more than what was lost is acknowledged",
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
};

pub(super) const COLLAPSE: Cause = Cause {
    title: "Small segments are retransmitted as one",
    how: "`tcp_retrans_try_collapse` joins neighbours up to a full segment.",
    scripts: &[
        "known_problems/same_octets_again",
        "retransmit/smaller_segments_keep_their_borders",
    ],
};

pub(super) const ROOM_FOR_BLOCKS: Cause = Cause {
    title: "A retransmission leaves room for SACK blocks",
    how: "`tcp_current_mss` is what the options of the moment leave of a segment, blocks among them, and \
          `tcp_send_loss_probe` and `__tcp_retransmit_skb` cut what they retransmit to it.",
    scripts: &["buffers/blocks_leave_beside_a_full_retransmission"],
};

pub(super) const RENEGING: Cause = Cause {
    title: "A peer that takes back what it has reported is noticed at once",
    how: "Where the first segment that is outstanding has been reported, it is retransmitted after half a \
          round trip, or 10 ms (`tcp_check_sack_reneging`).",
    scripts: &["sack/receiver_that_reneges"],
};

pub(super) const FRTO_AT_ONCE: Cause = Cause {
    title: "A timeout is undone by the first acknowledgment of anything that was sent once",
    how: "F-RTO with SACK: `tcp_process_loss` looks for data that was never retransmitted and is \
          acknowledged now (`FLAG_ORIG_SACK_ACKED`, step 3 b of RFC 5682 §3.1) in the first \
          acknowledgment already, where RFC 5682 has it sent new data first.",
    scripts: &[
        "abc/limit_kept_after_a_timeout",
        "abc/one_after_a_timeout",
        "idle/small_window_stays_small",
        "retransmit/acknowledged_late_needs_no_more",
    ],
};

pub(super) const FRTO_NEW_DATA: Cause = Cause {
    title: "After a timeout new data leaves as far as the window allows",
    how: "Where F-RTO tries new data (RFC 5682 §2.1 step 2 b: up to two segments), `tcp_xmit_recovery` \
          pushes what is pending, and with everything outstanding taken for lost all of the window is \
          free.",
    scripts: &["profile_rfc/slow_start"],
};

pub(super) const DUPTHRESH: Cause = Cause {
    title: "DupThresh counts segments, however small",
    how: "`tcp_rack_reo_wnd` waits no longer once `sacked_out` packets are DupThresh. The simulator's \
          RACK counts bytes in full segments.",
    scripts: &[
        "fast_retransmit/small_segments_count_as_segments",
        "sack/cumulative_and_report_at_once",
        "sack/three_sequences_of_small_segments",
    ],
};

pub(super) const TWO_INSTANTS: Cause = Cause {
    title: "The segments of one write leave at two instants",
    how: "The first skb is pushed before the rest is copied (`tcp_push_one`), a look at the clock \
          earlier, and may bear another microsecond. RACK's round trip is that of the segment looked at \
          last, one that is acknowledged cumulatively (`tcp_rack_advance`): by the first skb's, what \
          left with the rest is not yet overdue.",
    scripts: &["dsack/sender_waits_for_every_repair_to_be_reported"],
};

pub(super) const PROBE_WITHOUT_SAMPLE: Cause = Cause {
    title: "After a timeout a tail may be probed without a new sample of the round trip",
    how: "`tcp_send_loss_probe` asks only whether an earlier probe is still outstanding \
          (`tlp_high_seq`), and a timeout forgets that one (`tcp_enter_loss`). RFC 8985 §7.3 wants a \
          sample since the last probe as well.",
    scripts: &["profile_rfc/retransmission_timer"],
};

pub(super) const PROBE_ASKED_LATE: Cause = Cause {
    title: "Whether a tail may be probed is asked when the probe's timer expires",
    how: "`tcp_schedule_loss_probe` arms it in place of the retransmission timer while an earlier probe \
          is outstanding, too. `tcp_send_loss_probe` then finds that one and arms the retransmission \
          timer with a tick at least (`tcp_rearm_rto`), which strikes two ticks later.",
    scripts: &[
        "rack_tlp/no_probe_without_a_new_sample",
        "retransmit/timer_of_a_segment_sent_later",
    ],
};
