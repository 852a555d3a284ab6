/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is followed: connections that open, that are looked at again, and that close.
 */
#ifndef ACKORD_BPF_FOLLOW_H
#define ACKORD_BPF_FOLLOW_H

#include "levers.h"
#include "program.h"
#include "tell.h"

static __always_inline __u64 cgroup_of(struct tcp_sock *tcp)
{
	struct sock *sk = &tcp->inet_conn.icsk_inet.sk;

	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}

/* Identifies the application by cgroup, program or both; by port, the caller does. */
static __always_inline __u64 application_of(struct facts *facts)
{
	if (settings.by == BY_CGROUP)
		return facts->cgroup;
	if (settings.by == BY_SERVICE)
		return mixed(mixed(HASH_BEGIN, facts->cgroup), facts->program);
	/* As `created` or a pass has found it; 0 if neither has. */
	return facts->program;
}

static __always_inline void opened(struct bpf_sock_ops *ops, __u8 way)
{
	struct bpf_sock *sk = ops->sk;
	__u64 now = now_us();
	struct facts *facts;
	struct class *class;
	struct tcp_sock *tcp;
	__u16 *of_application;
	__u32 index;

	if (!sk)
		return;
	facts = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!facts || !tcp)
		return;
	if (facts->pid && facts->pid == settings.own_pid)
		return;
	/* What was inherited from the socket that listens is who made it, and what that has set. */
	facts->cookie = bpf_get_socket_cookie(ops);
	facts->cgroup = cgroup_of(tcp);
	facts->application = application_of(facts);
	if (settings.by == BY_PORT)
		facts->application = way == WAY_PASSIVE ? ops->local_port : bpf_ntohl(ops->remote_port);
	facts->opened_us = facts->event_us = facts->data_us = facts->asked_us = facts->transfer_began_us = now;
	facts->way = way;
	facts->levers = 0;
	of_application = bpf_map_lookup_elem(&applications, &facts->application);
	index = of_application ? *of_application : 0;
	facts->class = index;
	class = bpf_map_lookup_elem(&classes, &index);
	if (!class)
		return;
	facts->arm = ARM_OBSERVED;
	if (class->nodelay || class->quick_segments || class->delack_max_us)
		facts->arm = bpf_get_prandom_u32() % 1000 < class->control_per_mille ? ARM_CONTROL : ARM_TREATED;
	if (facts->arm == ARM_TREATED) {
		if (class->nodelay && !settings.nodelay_held)
			pull_nodelay(ops, facts);
		if (class->delack_max_us)
			pull_delack(ops, facts, class->delack_max_us);
		if (class->quick_segments) {
			facts->quick_left = class->quick_segments;
			pull_quick(ops, facts, 1);
		}
	}
	bpf_sock_ops_cb_flags_set(ops, AWAKE_FLAGS);
	__sync_fetch_and_add(&counts.followed, 1);
	report_by_ops(ops, facts, tcp, now, REPORT_OPENED);
}

/* A round trip is over, of a connection that was not looked at. One that only receives has none and is not looked at
 * again: nobody waits for its acknowledgments but for the window. */
static __always_inline void round_trip(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct facts *facts;

	if (!sk)
		return;
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (facts && !is_asleep(facts, sk))
		bpf_sock_ops_cb_flags_set(ops, AWAKE_FLAGS);
}

static __always_inline void closed(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	__u64 now = now_us();
	struct tcp_sock *tcp;
	struct facts *facts;

	if (!sk)
		return;
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!facts || !facts->cookie)
		return;
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (facts->asleep)
		wake(facts, tcp, now);
	report_by_ops(ops, facts, tcp, now, REPORT_CLOSED);
	bpf_map_delete_elem(&orders, &facts->cookie);
	facts->cookie = 0;
}

#endif
