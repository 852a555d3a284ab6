/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What arrives: data, and acknowledgments that end a wait of Nagle's algorithm.
 */
#ifndef ACKORD_BPF_ARRIVES_H
#define ACKORD_BPF_ARRIVES_H

#include "clock.h"

/* A peer that waited for an acknowledgment needs no longer than this, beside the path. */
#define ANSWER_US 2000

/* What is outstanding is acknowledged, and something smaller than a segment has waited for that. */
static __always_inline void look_at_nagle(struct facts *facts, struct bpf_sock *sk, __u32 ack, __u32 now)
{
	__u32 waited = now - facts->sent_us;
	struct tcp_sock *tcp;
	__u32 held;

	if (waited < STALL_US || waited >= IDLE_US || !facts->sent_us)
		return;
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tcp || !tcp->packets_out || ack != tcp->snd_nxt)
		return;
	held = tcp->write_seq - tcp->snd_nxt;
	if (!held || held >= tcp->mss_cache || BPF_CORE_READ_BITFIELD(tcp, nonagle) & TCP_NAGLE_OFF)
		return;
	facts->nagle_us += waited;
	facts->nagle_stalls++;
}

/* A data segment has come. Answers whether it begins another transfer: one after a pause. */
static __always_inline int note_data(struct facts *facts, __u32 now)
{
	__u32 gap = now - facts->data_us;

	/* The peer had waited for our acknowledgment: what comes about a round trip after it is the answer to it. */
	if (facts->wait_us >= STALL_US && now - facts->acked_us < 2 * facts->srtt_us + ANSWER_US) {
		facts->delack_us += facts->wait_us;
		facts->delack_stalls++;
	}
	facts->wait_us = 0;
	if (facts->arrivals < ARRIVALS) {
		struct arrival *arrival = &facts->arrival[facts->arrivals & (ARRIVALS - 1)];

		arrival->gap_us = gap;
		arrival->acked_us = 0;
		facts->arrivals++;
	}
	facts->before_us = facts->data_us;
	facts->data_us = now;
	facts->unacknowledged = 1;
	if (facts->quick_left)
		facts->quick_left--;
	return gap >= IDLE_US;
}

#endif
