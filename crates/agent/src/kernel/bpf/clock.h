/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Instants, pauses and waits; and which connections are not looked at for a while, since they move data in bulk.
 */
#ifndef ACKORD_BPF_CLOCK_H
#define ACKORD_BPF_CLOCK_H

#include "kept.h"

/* Longer gaps are pauses of the application. */
#define IDLE_US 300000
/* A shorter wait is no stall worth a lever: a quarter of the shortest delayed acknowledgment of Linux (40 ms). */
#define STALL_US 10000

/* A connection of so many packets between two reports, of which none waited, moves data in bulk: it is looked at for one
 * report in so many seconds, since there is nothing to be gained and much to be counted. */
#define BULK_PACKETS 64
#define ASLEEP_S 2
/* Callbacks of a connection that is looked at, and of one that is not: the second wakes it, once a round trip. One that
 * has no storage gets it at the end of a round trip, if it is old enough. */
#define AWAKE_FLAGS (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
#define YOUNG_FLAGS BPF_SOCK_OPS_RTT_CB_FLAG
#define ASLEEP_FLAGS (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG)

static __always_inline __u64 now_us(void)
{
	return bpf_ktime_get_ns() / 1000;
}

/* The time of the last tick, which costs a tenth of that. */
static __always_inline __u64 tick_us(void)
{
	return bpf_ktime_get_coarse_ns() / 1000;
}

/* A packet of a connection that is old enough for a stall. Written once per reading by the agent: other processors keep
 * their copy of the cache line. */
static __always_inline void note_old(struct facts *facts, __u32 now)
{
	if (!is_old_seen && now - facts->opened_us >= STALL_US)
		is_old_seen = 1;
}

/* Whether the last packet of an exchange came just before: then the time since belongs to it. */
static __always_inline void note_event(struct facts *facts, __u32 now)
{
	__u32 gap = now - facts->event_us;

	if (gap < IDLE_US)
		facts->active_us += gap;
	facts->event_us = now;
}

/* Bulk is not looked at for a while. */
static __always_inline void fall_asleep(struct facts *facts, __u32 now)
{
	__u16 stalls = facts->nagle_stalls + facts->delack_stalls;

	if (facts->packets >= BULK_PACKETS && stalls == facts->stalls && !facts->quick_left && CONFIG_HZ) {
		facts->asleep = (__u32)bpf_jiffies64() + ASLEEP_S * CONFIG_HZ;
		facts->asleep |= !facts->asleep;
		facts->asleep_us = now;
	}
	facts->packets = 0;
	facts->stalls = stalls;
}

/* It is looked at again. What has moved data since it fell asleep has done so until the kernel last saw data. */
static __always_inline void wake(struct facts *facts, struct tcp_sock *tcp, __u32 now)
{
	__u32 slept = now - facts->asleep_us, moved = 0;
	__s32 ticks;

	if (tcp && CONFIG_HZ) {
		__u32 came = tcp->inet_conn.icsk_ack.lrcvtime, left = tcp->lsndtime;

		ticks = ((__s32)(came - left) > 0 ? came : left) - (facts->asleep - ASLEEP_S * CONFIG_HZ);
		if (ticks > 0)
			moved = ticks * (1000000 / CONFIG_HZ);
	}
	facts->active_us += slept - moved < IDLE_US || moved > slept ? slept : moved;
	facts->event_us = facts->data_us = facts->sent_us = facts->reported_us = now;
	facts->unacknowledged = 0;
	facts->wait_us = 0;
	facts->asleep = 0;
}

/* Whether nothing is looked at. */
static __always_inline int is_asleep(struct facts *facts, struct bpf_sock *sk)
{
	if (!facts->asleep)
		return 0;
	if ((__s32)(facts->asleep - (__u32)bpf_jiffies64()) > 0)
		return 1;
	wake(facts, (struct tcp_sock *)bpf_skc_to_tcp_sock(sk), now_us());
	return 0;
}

#endif
