/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the agent is told: reports, made where a connection opens or closes and where a packet comes.
 */
#ifndef ACKORD_BPF_TELL_H
#define ACKORD_BPF_TELL_H

#include "clock.h"
#include "levers.h"

/* The part of a report that does not depend on who makes it. */
static __always_inline void fill(struct report *report, struct facts *facts, __u64 now, __u8 kind)
{
	__builtin_memset(report, 0, sizeof(*report));
	report->cookie = facts->cookie;
	report->application = facts->application;
	report->cgroup = facts->cgroup;
	report->at_us = now;
	report->active_us = facts->active_us;
	report->opened_us = facts->opened_us;
	report->nagle_us = facts->nagle_us;
	report->delack_us = facts->delack_us;
	report->nagle_stalls = facts->nagle_stalls;
	report->delack_stalls = facts->delack_stalls;
	report->acks_alone = facts->acks_alone;
	report->pid = facts->pid;
	report->delack_max_us = facts->delack_max_us;
	report->class = facts->class;
	report->kind = kind;
	report->arm = facts->arm;
	report->own = facts->own;
	report->levers = facts->levers;
	report->way = facts->way;
	report->arrivals = facts->arrivals;
	__builtin_memcpy(report->arrival, facts->arrival, sizeof(report->arrival));
}

/* The agent takes reports ten times a second by itself: waking it costs more than what it then does. It is woken for an
 * application that it does not know, whose process may soon be gone, and where the ring fills. Where no process was found
 * there is none to look at. */
static __always_inline void submit(struct report *report)
{
	int is_new = !report->class && report->pid && report->kind == REPORT_OPENED;
	int is_full = bpf_ringbuf_query(&reports, BPF_RB_AVAIL_DATA) > RING_BYTES / 4;

	bpf_ringbuf_submit(report, is_new || is_full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline struct report *begin_report(struct facts *facts, __u64 now, __u8 kind)
{
	struct report *report = bpf_ringbuf_reserve(&reports, sizeof(*report), 0);

	if (!report) {
		__sync_fetch_and_add(&counts.reports_lost, 1);
		return 0;
	}
	fill(report, facts, now, kind);
	facts->arrivals = 0;
	facts->reported_us = now;
	fall_asleep(facts, now);
	return report;
}

/* Every field is read whatever the family: the verifier wants each at its own place in the context. */
static __always_inline void tell_ends(struct report *report, struct bpf_sock_ops *ops)
{
	__u32 local = ops->local_ip4, remote = ops->remote_ip4;

	report->family = ops->family;
	report->local_port = ops->local_port;
	report->remote_port = bpf_ntohl(ops->remote_port);
	report->local_ip[0] = ops->local_ip6[0];
	report->local_ip[1] = ops->local_ip6[1];
	report->local_ip[2] = ops->local_ip6[2];
	report->local_ip[3] = ops->local_ip6[3];
	report->remote_ip[0] = ops->remote_ip6[0];
	report->remote_ip[1] = ops->remote_ip6[1];
	report->remote_ip[2] = ops->remote_ip6[2];
	report->remote_ip[3] = ops->remote_ip6[3];
	if (report->family == AF_INET) {
		report->local_ip[0] = local;
		report->remote_ip[0] = remote;
	}
}

static __always_inline void report_by_ops(struct bpf_sock_ops *ops, struct facts *facts,
					  struct tcp_sock *tcp, __u64 now, __u8 kind)
{
	struct report *report = begin_report(facts, now, kind);

	if (!report)
		return;
	tell_ends(report, ops);
	report->bytes_received = ops->bytes_received;
	report->bytes_acked = ops->bytes_acked;
	report->data_segments_in = ops->data_segs_in;
	report->data_segments_out = ops->data_segs_out;
	report->retransmitted = ops->total_retrans;
	report->srtt_us = facts->srtt_us = ops->srtt_us >> 3;
	report->mss = ops->mss_cache;
	if (tcp) {
		report->reordering = tcp->reordering;
		report->reordering_seen = tcp->reord_seen > 0;
		report->dsacks = tcp->dsack_dups;
	}
	if (kind == REPORT_CLOSED) {
		report->transfer_bytes = ops->bytes_received - facts->transfer_from;
		report->transfer_us = facts->data_us - facts->transfer_began_us;
	}
	submit(report);
}

static __always_inline void report_by_packet(struct facts *facts, struct bpf_sock *sk, __u64 now, int another)
{
	struct bpf_tcp_sock *tcp = bpf_tcp_sock(sk);
	struct report *report;
	__u64 transferred = 0;
	__u32 took = 0;

	if (!tcp)
		return;
	if (another) {
		/* This segment is not among them yet. */
		transferred = tcp->bytes_received - facts->transfer_from;
		took = facts->before_us - facts->transfer_began_us;
		facts->transfer_from = tcp->bytes_received;
		facts->transfer_began_us = now;
		begin_quick(facts);
	}
	report = begin_report(facts, now, REPORT_SAMPLE);
	if (!report)
		return;
	report->bytes_received = tcp->bytes_received;
	report->bytes_acked = tcp->bytes_acked;
	report->data_segments_in = tcp->data_segs_in;
	report->data_segments_out = tcp->data_segs_out;
	report->retransmitted = tcp->total_retrans;
	report->dsacks = tcp->dsack_dups;
	report->srtt_us = facts->srtt_us = tcp->srtt_us >> 3;
	report->mss = tcp->mss_cache;
	report->transfer_bytes = transferred;
	report->transfer_us = took;
	submit(report);
}

#endif
