/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A pass over the sockets that are there: adopted, or put back as they were.
 */
#ifndef ACKORD_BPF_SWEEP_H
#define ACKORD_BPF_SWEEP_H

#include "follow.h"

/* Both ends of a connection, and what it has behind it. */
static __always_inline void tell_socket(struct report *report, struct tcp_sock *tcp, struct sock_common *common)
{
	report->family = common->skc_family;
	report->local_port = common->skc_num;
	report->remote_port = bpf_ntohs(common->skc_dport);
	if (report->family == AF_INET) {
		report->local_ip[0] = common->skc_rcv_saddr;
		report->remote_ip[0] = common->skc_daddr;
	} else if (bpf_core_field_exists(common->skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&report->local_ip, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&report->remote_ip, common, skc_v6_daddr);
	}
	report->bytes_received = tcp->bytes_received;
	report->bytes_acked = tcp->bytes_acked;
	report->data_segments_in = tcp->data_segs_in;
	report->data_segments_out = tcp->data_segs_out;
	report->retransmitted = tcp->total_retrans;
	report->dsacks = tcp->dsack_dups;
	report->srtt_us = tcp->srtt_us >> 3;
	report->mss = tcp->mss_cache;
}

/* A connection that was there before is followed from now on. It is told to whoever reads the pass, which waits for
 * its reader: the ring would have no room for all of a busy machine's. */
static __always_inline void adopt(struct tcp_sock *tcp, struct sock_common *common, struct seq_file *reader)
{
	int flags = AWAKE_FLAGS;
	__u16 local = common->skc_num, remote = bpf_ntohs(common->skc_dport);
	__u64 cgroup = cgroup_of(tcp), now = now_us();
	struct facts *facts;
	struct report report;

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
	facts->application = application_of(cgroup, facts->program);
	if (settings.by == BY_PORT)
		/* Who listens is not known; well-known ports are low. */
		facts->application = local < remote ? local : remote;
	if (BPF_CORE_READ_BITFIELD(tcp, nonagle) & TCP_NAGLE_OFF)
		facts->own |= OWN_NODELAY;
	facts->way = WAY_ADOPTED;
	facts->opened_us = facts->event_us = facts->data_us = facts->asked_us = facts->transfer_began_us = now;
	facts->transfer_from = tcp->bytes_received;
	facts->arm = bpf_get_prandom_u32() % 1000 < settings.control_per_mille ? ARM_CONTROL : ARM_TREATED;
	fill(&report, facts, now, REPORT_OPENED);
	tell_socket(&report, tcp, common);
	report.cookie = bpf_get_socket_cookie(tcp);
	/* Where there is no room left the pass comes here again. */
	if (bpf_seq_write(reader, &report, sizeof(report)))
		return;
	facts->cookie = report.cookie;
	__sync_fetch_and_add(&counts.followed, 1);
}

/* Assigns its process to a socket that was created before the programs were attached, and to connections that a listening
 * one accepts from now on. */
static __always_inline void own(struct tcp_sock *tcp, struct sock_common *common)
{
	struct sock *sk = &tcp->inet_conn.icsk_inet.sk;
	__u64 inode = BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino);
	struct owner *owner = bpf_map_lookup_elem(&owners, &inode);
	struct facts *facts;

	if (!inode || !owner)
		return;
	if (common->skc_state == TCP_LISTEN) {
		struct origin origin = {.program = owner->program, .pid = owner->pid}, *known;
		struct listening at = {
			.netns = common->skc_net.net->net_cookie,
			.port = common->skc_num,
			.family = common->skc_family,
		};

		if (at.family == AF_INET)
			at.ip[0] = common->skc_rcv_saddr;
		else if (bpf_core_field_exists(common->skc_v6_rcv_saddr))
			BPF_CORE_READ_INTO(&at.ip, common, skc_v6_rcv_saddr);
		known = bpf_map_lookup_elem(&listeners, &at);
		/* Then it has listened while the programs were there, and its options are known, too. */
		if (known && known->pid == origin.pid)
			return;
		if (!bpf_map_update_elem(&listeners, &at, &origin, BPF_ANY))
			__sync_fetch_and_add(&counts.owned, 1);
		return;
	}
	facts = bpf_sk_storage_get(&sockets, tcp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!facts || facts->pid)
		return;
	facts->pid = owner->pid;
	facts->program = owner->program;
	__sync_fetch_and_add(&counts.owned, 1);
}

/* Takes TCP_NODELAY back from a socket that could not be journaled. */
static __always_inline void back(struct tcp_sock *tcp)
{
	struct facts *facts = bpf_sk_storage_get(&sockets, tcp, 0, 0);
	__u64 cookie = bpf_get_socket_cookie(tcp);
	int off = 0;

	if (!facts || !(facts->levers & LEVER_NODELAY) || !bpf_map_lookup_elem(&journaled, &cookie))
		return;
	if (bpf_setsockopt(tcp, SOL_TCP, TCP_NODELAY, &off, sizeof(off)))
		return;
	facts->levers &= ~LEVER_NODELAY;
	__sync_fetch_and_add(&counts.cleaned, 1);
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

/* Sets an option; answers whether the kernel has taken it. */
static __always_inline int is_set(struct tcp_sock *tcp, int level, int name, int value)
{
	if (!bpf_setsockopt(tcp, level, name, &value, sizeof(value)))
		return 1;
	__sync_fetch_and_add(&counts.refused, 1);
	return 0;
}

/* A turn of the whole host without settings begins: connections lose them until it is over. */
static __always_inline void hold(struct tcp_sock *tcp)
{
	struct facts *facts = bpf_sk_storage_get(&sockets, tcp, 0, 0);
	__u32 mark = tcp->inet_conn.icsk_inet.sk.sk_mark;

	if (!facts || !facts->cookie)
		return;
	if (facts->levers & LEVER_NODELAY && is_set(tcp, SOL_TCP, TCP_NODELAY, 0)) {
		facts->levers &= ~LEVER_NODELAY;
		facts->held = 1;
	}
	if (facts->levers & LEVER_DELACK && is_set(tcp, SOL_TCP, TCP_BPF_DELACK_MAX, settings.delack_stock_us)) {
		facts->levers &= ~LEVER_DELACK;
		facts->delack_max_us = 0;
	}
	if (facts->levers & LEVER_QUICK && is_set(tcp, SOL_SOCKET, SO_MARK, mark & ~settings.mark))
		facts->levers &= ~LEVER_QUICK;
}

/* What a class has for a connection that is open already. */
static __always_inline void give_class(struct tcp_sock *tcp, struct facts *facts, struct class *class, int with_nodelay)
{
	if (BPF_CORE_READ_BITFIELD(tcp, nonagle) & TCP_NAGLE_OFF && !(facts->levers & LEVER_NODELAY))
		facts->own |= OWN_NODELAY;
	if (with_nodelay && class->nodelay && !settings.nodelay_held && !(facts->own & OWN_NODELAY) &&
	    is_set(tcp, SOL_TCP, TCP_NODELAY, 1))
		facts->levers |= LEVER_NODELAY;
	if (!class->delack_max_us || facts->own & OWN_DELACK)
		return;
	if (is_set(tcp, SOL_TCP, TCP_BPF_DELACK_MAX, class->delack_max_us)) {
		facts->levers |= LEVER_DELACK;
		facts->delack_max_us = class->delack_max_us;
	}
}

/* It is over: connections get back what they had, and those that opened meanwhile what their class has. These are reported
 * to the reader of the pass, as adopted ones are. Single orders are carried out when the next packet leaves. */
static __always_inline void give(struct tcp_sock *tcp, struct sock_common *common, struct seq_file *reader)
{
	struct facts *facts = bpf_sk_storage_get(&sockets, tcp, 0, 0);
	struct report report;
	struct class *class;
	__u32 index;

	if (!facts || !facts->cookie)
		return;
	index = facts->class;
	class = bpf_map_lookup_elem(&classes, &index);
	if (!class)
		return;
	if (facts->waits == WAITS_SETTINGS) {
		facts->arm = bpf_get_prandom_u32() % 1000 < class->control_per_mille ? ARM_CONTROL : ARM_TREATED;
		facts->waits = WAITS_REPORT;
		if (facts->arm == ARM_TREATED)
			give_class(tcp, facts, class, 1);
	} else if (!facts->waits && facts->arm == ARM_TREATED) {
		give_class(tcp, facts, class, facts->held);
		facts->held = 0;
	}
	if (facts->waits != WAITS_REPORT)
		return;
	fill(&report, facts, now_us(), REPORT_SAMPLE);
	tell_socket(&report, tcp, common);
	/* Where there is no room left the pass comes here again. */
	if (!bpf_seq_write(reader, &report, sizeof(report)))
		facts->waits = 0;
}

#endif
