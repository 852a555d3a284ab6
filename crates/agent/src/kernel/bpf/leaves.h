/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What leaves: which acknowledgments had waited, and the moment at which an order is carried out.
 */
#ifndef ACKORD_BPF_LEAVES_H
#define ACKORD_BPF_LEAVES_H

#include "clock.h"
#include "levers.h"

/* No acknowledgment is delayed for longer. */
#define LONGEST_US 500000
/* `orders` is asked so often at most. */
#define ASK_US 50000

/* Whether the delayed acknowledgment's timer has struck: its bit is gone before the packet is made. Otherwise the
 * application has read, and what waited until then has waited for that; its processor may have been busy. */
static __always_inline int is_by_timer(struct bpf_sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);

	return tcp && !(tcp->inet_conn.icsk_ack.pending & ICSK_ACK_TIMER);
}

/* What has come is acknowledged, by a packet that carries nothing else or by one with data. */
static __always_inline void note_ack(struct facts *facts, struct bpf_sock *sk, __u32 now, int is_pure)
{
	__u32 wait = now - facts->data_us;
	int is_alone;

	/* Another processor has just seen the next segment; or nobody waits for so long (RFC 5681 section 4.2). */
	if (wait > LONGEST_US)
		wait = 0;
	is_alone = is_pure && wait >= STALL_US / 2 && is_by_timer(sk);

	if (is_pure) {
		facts->acks_alone++;
		facts->wait_us = is_alone ? wait : 0;
		facts->acked_us = now;
	}
	if (facts->arrivals)
		facts->arrival[(facts->arrivals - 1) & (ARRIVALS - 1)].acked_us =
			((wait | 1) & ~ALONE) | (is_alone ? ALONE : 0);
}

/* A packet is about to leave. */
static __always_inline void leaves(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct facts *facts;
	struct order *order;
	__u32 now;

	/* Only how long options would be. */
	if (ops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS || !sk)
		return;
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!facts || !facts->cookie)
		return;
	if (facts->asleep) {
		bpf_sock_ops_cb_flags_set(ops, ASLEEP_FLAGS);
		return;
	}
	now = now_us();
	note_event(facts, now);
	note_old(facts, now);
	if (ops->skb_len)
		facts->sent_us = now;
	if (facts->unacknowledged)
		note_ack(facts, sk, now, !ops->skb_len);
	facts->unacknowledged = 0;
	if (facts->arm == ARM_CONTROL || settings.untreated || now - facts->asked_us < ASK_US)
		return;
	facts->asked_us = now;
	order = bpf_map_lookup_elem(&orders, &facts->cookie);
	if (order)
		pull_delack(ops, facts, order->delack_max_us);
	pull_quick(ops, facts, facts->quick_left > 0 || (order && order->quick));
}

#endif
