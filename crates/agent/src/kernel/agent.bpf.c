/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the agent has in the kernel: it gathers facts of each connection, and does what it was told to. What is to be
 * done is decided in Rust.
 *
 *   chosen   (cgroup/setsockopt)   which options the application has set itself
 *   told     (sockops)             sockets that connect or listen, and whose they are; connections that open and close;
 *                                  acknowledgments that leave; levers are pulled here
 *   arrived  (cgroup_skb/ingress)  data that comes in
 *   each     (iter/tcp)            a pass over the sockets that are there: adopted, assigned to their processes, or put
 *                                  back as they were
 *
 * Never TCP_NODELAY from a header-option callback: kernels up to 6.18 at least crash on it (a null pointer, the segment
 * being sent is taken for one that is still to come).
 *
 *   bpf/kernel.h   numbers and structures of the kernel
 *   bpf/kept.h     facts of each socket, orders, settings
 *   bpf/clock.h    pauses, waits, and connections that are not looked at for a while
 *   bpf/levers.h   options of sockets
 *   bpf/program.h  which program a process runs
 *   bpf/tell.h     reports
 *   bpf/follow.h   connections that open and close
 *   bpf/leaves.h   packets that leave
 *   bpf/arrives.h  packets that arrive
 *   bpf/sweep.h    sockets that are there already
 */
#include "bpf/follow.h"
#include "bpf/leaves.h"
#include "bpf/arrives.h"
#include "bpf/sweep.h"

/* "MIT" is not among the words that the kernel knows for this. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("sockops")
int told(struct bpf_sock_ops *ops)
{
	switch (ops->op) {
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		leaves(ops);
		break;
	case BPF_SOCK_OPS_RTT_CB:
		round_trip(ops);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		connects(ops);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		listens(ops);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		opened(ops, WAY_ACTIVE);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		opened(ops, WAY_PASSIVE);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (ops->args[1] == BPF_TCP_CLOSE)
			closed(ops);
		break;
	}
	return 1;
}

SEC("cgroup_skb/ingress")
int arrived(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct bpf_sock *sk = skb->sk;
	struct facts *facts;
	__u32 ip_len, tcp_len, ack;
	int another = 0;
	__u8 *tcp;
	__u64 now;

	if (!sk)
		return 1;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != IPPROTO_TCP)
		return 1;
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!facts || !facts->cookie || is_asleep(facts, sk))
		return 1;
	facts->packets++;
	if (data + 1 > end)
		return 1;
	/* Extension headers are left alone: such a packet is not counted. */
	if (*(__u8 *)data >> 4 == 4)
		ip_len = (*(__u8 *)data & 15) * 4;
	else
		ip_len = 40;
	if (ip_len > 60)
		return 1;
	tcp = data + ip_len;
	if ((void *)tcp + 20 > end)
		return 1;
	tcp_len = (tcp[12] >> 4) * 4;
	__builtin_memcpy(&ack, tcp + 8, 4);
	now = now_us();
	note_event(facts, now);
	note_old(facts, now);
	look_at_nagle(facts, sk, bpf_ntohl(ack), now);
	if (skb->len > ip_len + tcp_len)
		another = note_data(facts, now);
	if (another || (__u32)now - facts->reported_us >= settings.report_every_us)
		report_by_packet(facts, sk, now, another);
	return 1;
}

SEC("cgroup/setsockopt")
int chosen(struct bpf_sockopt *option)
{
	int *value = option->optval;
	struct facts *facts;
	__u8 own = 0;

	if (option->level == SOL_TCP && option->optname == TCP_NODELAY)
		own = OWN_NODELAY;
	else if (option->level == SOL_TCP && option->optname == TCP_QUICKACK)
		own = OWN_QUICKACK;
	else if (option->level == SOL_TCP && option->optname == TCP_DELACK_MAX_US)
		own = OWN_DELACK;
	else if (option->level == SOL_SOCKET && option->optname == SO_MARK)
		own = OWN_MARK;
	if (!own || !option->sk)
		return 1;
	if (option->sk->state == TCP_LISTEN)
		inherited(option, own);
	/* TCP_NODELAY that is on shows by itself, which most of those have that set it. */
	facts = bpf_sk_storage_get(&sockets, option->sk, 0, 0);
	if (!facts && own == OWN_NODELAY && (void *)(value + 1) <= option->optval_end && *value)
		return 1;
	if (!facts)
		facts = bpf_sk_storage_get(&sockets, option->sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!facts)
		return 1;
	facts->own |= own;
	/* From now on it is the application's. */
	if (own == OWN_NODELAY)
		facts->levers &= ~LEVER_NODELAY;
	return 1;
}

SEC("iter/tcp")
int each(struct bpf_iter__tcp *context)
{
	struct sock_common *common = context->sk_common;
	struct tcp_sock *tcp;

	if (!common)
		return 0;
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(common);
	if (!tcp)
		return 0;
	if (settings.pass == PASS_ADOPT)
		adopt(tcp, common, context->meta->seq);
	else if (settings.pass == PASS_CLEAN)
		clean(tcp);
	else if (settings.pass == PASS_OWN)
		own(tcp, common);
	else if (settings.pass == PASS_BACK)
		back(tcp);
	else if (settings.pass == PASS_HOLD)
		hold(tcp);
	else if (settings.pass == PASS_GIVE)
		give(tcp, common, context->meta->seq);
	return 0;
}
