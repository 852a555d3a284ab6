/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A pass over the sockets that are there: adopted, or put back as they were.
 */
#ifndef ACKORD_BPF_SWEEP_H
#define ACKORD_BPF_SWEEP_H

#include "follow.h"

/* A connection that was there before is followed from now on. */
static __always_inline void adopt(struct tcp_sock *tcp, struct sock_common *common)
{
	int flags = AWAKE_FLAGS;
	__u16 local = common->skc_num, remote = bpf_ntohs(common->skc_dport);
	__u64 cgroup = cgroup_of(tcp);
	struct facts *facts;

	if (common->skc_state != BPF_TCP_ESTABLISHED && common->skc_state != BPF_TCP_CLOSE_WAIT)
		return;
	if (!bpf_map_lookup_elem(&adopted, &cgroup))
		return;
	facts = bpf_sk_storage_get(&sockets, tcp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!facts || facts->cookie)
		return;
	if (bpf_setsockopt(tcp, SOL_TCP, SOCK_OPS_CB_FLAGS, &flags, sizeof(flags))) {
		__sync_fetch_and_add(&counts.refused, 1);
		return;
	}
	facts->cgroup = cgroup;
	if (settings.by == BY_CGROUP)
		facts->application = cgroup;
	else if (settings.by == BY_PORT)
		/* Who listens is not known; well-known ports are low. */
		facts->application = local < remote ? local : remote;
	if (BPF_CORE_READ_BITFIELD(tcp, nonagle) & TCP_NAGLE_OFF)
		facts->own |= OWN_NODELAY;
	facts->way = WAY_ADOPTED;
	facts->opened_us = facts->event_us = facts->data_us = facts->asked_us = now_us();
	facts->arm = bpf_get_prandom_u32() % 1000 < settings.control_per_mille ? ARM_CONTROL : ARM_TREATED;
	facts->cookie = bpf_get_socket_cookie(tcp);
	__sync_fetch_and_add(&counts.followed, 1);
}

/* Put back as it was, as far as it has what an agent gave it. */
static __always_inline void clean(struct tcp_sock *tcp)
{
	struct facts *facts = bpf_sk_storage_get(&sockets, tcp, 0, 0);
	__u32 mark = tcp->inet_conn.icsk_inet.sk.sk_mark;
	__u64 cookie = bpf_get_socket_cookie(tcp);
	int value;

	if ((facts && facts->levers & LEVER_NODELAY) || bpf_map_lookup_elem(&journaled, &cookie)) {
		value = 0;
		bpf_setsockopt(tcp, SOL_TCP, TCP_NODELAY, &value, sizeof(value));
		__sync_fetch_and_add(&counts.cleaned, 1);
	}
	if (mark & settings.mark && !(facts && facts->own & OWN_MARK)) {
		value = mark & ~settings.mark;
		bpf_setsockopt(tcp, SOL_SOCKET, SO_MARK, &value, sizeof(value));
		__sync_fetch_and_add(&counts.cleaned, 1);
	}
	/* HZ / 5 is the kernel's own (TCP_DELACK_MAX). */
	if (tcp->inet_conn.icsk_delack_max != CONFIG_HZ / 5 && !(facts && facts->own & OWN_DELACK)) {
		value = settings.delack_stock_us;
		bpf_setsockopt(tcp, SOL_TCP, TCP_BPF_DELACK_MAX, &value, sizeof(value));
		__sync_fetch_and_add(&counts.cleaned, 1);
	}
	if (facts) {
		facts->levers = 0;
		facts->delack_max_us = 0;
		facts->quick_left = 0;
		facts->arm = ARM_OBSERVED;
	}
}

#endif
