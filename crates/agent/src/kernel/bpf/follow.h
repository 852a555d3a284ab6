/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is followed: connections that open, that are looked at again, and that close.
 */
#ifndef ACKORD_BPF_FOLLOW_H
#define ACKORD_BPF_FOLLOW_H

#include "levers.h"
#include "program.h"
#include "tell.h"

/* Connections of a class that are followed per window of about a quarter of a second, on each processor, as long as nothing
 * is to be done for them. Others are followed when they are older than the shortest stall: what ends before has lost
 * nothing. */
#define WINDOW_SHIFT 18
#define FOLLOWED 32
/* The same for those that have become old enough, of all classes: with a long round trip these are all. */
#define FOLLOWED_LATE 128

static __always_inline __u64 cgroup_of(struct tcp_sock *tcp)
{
	return tcp->inet_conn.icsk_inet.sk.sk_cgrp_data.cgroup->kn->id;
}

/* Identifies the application by cgroup, program or both; by port, the caller does. */
static __always_inline __u64 application_of(__u64 cgroup, __u64 program)
{
	if (settings.by == BY_CGROUP)
		return cgroup;
	if (settings.by == BY_SERVICE)
		return mixed(mixed(HASH_BEGIN, cgroup), program);
	/* As a socket's own process or a pass has found it; 0 if neither has. */
	return program;
}

static __always_inline __u32 check_of(const struct young *one)
{
	__u64 mix = one->cookie ^ one->origin.program ^ one->origin.pid ^ one->opened_us;

	return mix ^ mix >> 32;
}

static __always_inline struct young *young_of(__u64 cookie)
{
	__u32 index = cookie & (YOUNG - 1);

	return bpf_map_lookup_elem(&young, &index);
}

static __always_inline void remember(__u64 cookie, const struct origin *origin, __u32 now)
{
	struct young *one = young_of(cookie);

	if (!one)
		return;
	one->cookie = cookie;
	one->origin = *origin;
	one->opened_us = now;
	one->check = check_of(one);
}

/* Answers whether this connection's entry is still there. */
static __always_inline struct young *recall(__u64 cookie)
{
	struct young *one = young_of(cookie);

	return one && one->cookie == cookie && one->check == check_of(one) ? one : 0;
}

/* A process opens a connection: the only moment at which it can be identified without a storage for each socket. */
static __always_inline void connects(struct bpf_sock_ops *ops)
{
	struct origin origin = {};

	identify(&origin);
	remember(bpf_get_socket_cookie(ops), &origin, tick_us());
}

/* Every field is read whatever the family: the verifier wants each at its own place in the context. */
static __always_inline void local_end(struct listening *at, struct bpf_sock_ops *ops)
{
	__u32 ip = ops->local_ip4;

	at->netns = bpf_get_netns_cookie(ops);
	at->port = ops->local_port;
	at->family = ops->family;
	at->ip[0] = ops->local_ip6[0];
	at->ip[1] = ops->local_ip6[1];
	at->ip[2] = ops->local_ip6[2];
	at->ip[3] = ops->local_ip6[3];
	if (at->family == AF_INET) {
		at->ip[0] = ip;
		at->ip[1] = at->ip[2] = at->ip[3] = 0;
	}
}

/* A process listens. */
static __always_inline void listens(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct listening at = {};
	struct origin origin = {};
	struct facts *facts;

	if (!sk)
		return;
	identify(&origin);
	/* Options that were set before. */
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (facts)
		origin.own = facts->own;
	local_end(&at, ops);
	bpf_map_update_elem(&listeners, &at, &origin, BPF_ANY);
}

/* An option that the application sets on a socket that listens already: connections inherit it. */
static __always_inline void inherited(struct bpf_sockopt *option, __u8 own)
{
	struct bpf_sock *sk = option->sk;
	struct listening at = {.port = sk->src_port, .family = sk->family};
	struct origin *origin;

	at.netns = bpf_get_netns_cookie(option);
	if (at.family == AF_INET) {
		at.ip[0] = sk->src_ip4;
	} else {
		at.ip[0] = sk->src_ip6[0];
		at.ip[1] = sk->src_ip6[1];
		at.ip[2] = sk->src_ip6[2];
		at.ip[3] = sk->src_ip6[3];
	}
	origin = bpf_map_lookup_elem(&listeners, &at);
	if (origin)
		origin->own |= own;
}

/* The socket that has accepted a connection, bound to its address or to any. */
static __always_inline struct origin *accepted_by(struct bpf_sock_ops *ops)
{
	struct listening at = {};
	struct origin *origin;

	local_end(&at, ops);
	origin = bpf_map_lookup_elem(&listeners, &at);
	if (origin)
		return origin;
	__builtin_memset(at.ip, 0, sizeof(at.ip));
	return bpf_map_lookup_elem(&listeners, &at);
}

static __always_inline struct budget *budget_of(__u32 class, __u64 now)
{
	struct budget *budget = bpf_map_lookup_elem(&budgets, &class);
	__u32 window = now >> WINDOW_SHIFT;

	if (budget && budget->window != window) {
		budget->window = window;
		budget->followed = budget->late = 0;
	}
	return budget;
}

/* Answers whether a connection for which nothing is to be done has to go without being followed. */
static __always_inline int is_passed_over(__u32 class, __u64 now)
{
	struct budget *budget = budget_of(class, now);

	if (!budget)
		return 0;
	if (budget->followed >= FOLLOWED) {
		budget->passed_over++;
		return 1;
	}
	budget->followed++;
	return 0;
}

/* What a connection is followed by. */
struct begins {
	struct origin origin;
	__u64 cookie;
	__u64 cgroup;
	__u64 application;
	__u64 now;
	__u32 opened_us;
	__u32 class;
	__u8 way;
};

static __always_inline void know(struct begins *one, struct bpf_sock_ops *ops, struct tcp_sock *tcp, int is_passive)
{
	__u16 *class;

	one->cgroup = cgroup_of(tcp);
	one->application = application_of(one->cgroup, one->origin.program);
	if (settings.by == BY_PORT)
		one->application = is_passive ? ops->local_port : bpf_ntohl(ops->remote_port);
	class = bpf_map_lookup_elem(&applications, &one->application);
	one->class = class ? *class : 0;
}

static __always_inline struct facts *follow(const struct begins *one, struct bpf_sock *sk, struct tcp_sock *tcp)
{
	struct facts *facts = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!facts)
		return 0;
	facts->cookie = one->cookie;
	facts->cgroup = one->cgroup;
	facts->application = one->application;
	facts->program = one->origin.program;
	facts->pid = one->origin.pid;
	facts->own |= one->origin.own;
	facts->class = one->class;
	facts->way = one->way;
	facts->opened_us = one->opened_us;
	facts->event_us = facts->data_us = facts->asked_us = facts->transfer_began_us = one->now;
	facts->levers = 0;
	facts->arm = ARM_OBSERVED;
	/* Inherited from the socket that listens, say, or set while nobody looked. */
	if (BPF_CORE_READ_BITFIELD(tcp, nonagle) & TCP_NAGLE_OFF)
		facts->own |= OWN_NODELAY;
	__sync_fetch_and_add(&counts.followed, 1);
	return facts;
}

static __always_inline void apply(struct bpf_sock_ops *ops, struct facts *facts, struct class *class)
{
	facts->arm = bpf_get_prandom_u32() % 1000 < class->control_per_mille ? ARM_CONTROL : ARM_TREATED;
	if (facts->arm != ARM_TREATED)
		return;
	if (class->nodelay && !settings.nodelay_held)
		pull_nodelay(ops, facts);
	if (class->delack_max_us)
		pull_delack(ops, facts, class->delack_max_us);
	if (class->quick_segments) {
		facts->quick_left = class->quick_segments;
		pull_quick(ops, facts, 1);
	}
}

static __always_inline void opened(struct bpf_sock_ops *ops, __u8 way)
{
	struct bpf_sock *sk = ops->sk;
	struct begins one = {.way = way, .now = tick_us()};
	struct tcp_sock *tcp;
	struct origin *origin = 0;
	struct facts *facts;
	struct class *class;
	int is_something;

	if (!sk)
		return;
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return;
	one.cookie = bpf_get_socket_cookie(ops);
	if (way == WAY_PASSIVE) {
		origin = accepted_by(ops);
	} else {
		struct young *young = recall(one.cookie);

		if (young)
			origin = &young->origin;
	}
	if (origin)
		one.origin = *origin;
	if (one.origin.pid && one.origin.pid == settings.own_pid)
		return;
	know(&one, ops, tcp, way == WAY_PASSIVE);
	class = bpf_map_lookup_elem(&classes, &one.class);
	if (!class)
		return;
	is_something = class->nodelay || class->quick_segments || class->delack_max_us;
	if (!is_something && is_passed_over(one.class, one.now)) {
		remember(one.cookie, &one.origin, one.now);
		bpf_sock_ops_cb_flags_set(ops, YOUNG_FLAGS);
		return;
	}
	one.opened_us = one.now = now_us();
	facts = follow(&one, sk, tcp);
	if (!facts)
		return;
	if (is_something && settings.untreated)
		facts->waits = WAITS_SETTINGS;
	else if (is_something)
		apply(ops, facts, class);
	bpf_sock_ops_cb_flags_set(ops, AWAKE_FLAGS);
	report_by_ops(ops, facts, tcp, one.now, REPORT_OPENED);
}

/* A round trip is over, of a connection that was passed over: it is followed if it has become old enough for a stall. */
static __always_inline void grown(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct begins one = {.way = WAY_LATE};
	__u64 now = tick_us();
	struct budget *budget;
	struct origin *origin;
	struct tcp_sock *tcp;
	struct young *young;
	struct facts *facts;

	one.cookie = bpf_get_socket_cookie(ops);
	young = recall(one.cookie);
	if (young && (__u32)now - young->opened_us < STALL_US)
		return;
	/* Its next round trip is another chance. */
	budget = budget_of(0, now);
	if (!budget || budget->late >= FOLLOWED_LATE)
		return;
	budget->late++;
	tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return;
	origin = accepted_by(ops);
	one.now = now_us();
	one.opened_us = young ? young->opened_us : one.now;
	if (young)
		one.origin = young->origin;
	else if (origin)
		one.origin = *origin;
	know(&one, ops, tcp, !!origin);
	facts = follow(&one, sk, tcp);
	if (!facts)
		return;
	facts->transfer_from = tcp->bytes_received;
	is_old_seen = 1;
	bpf_sock_ops_cb_flags_set(ops, AWAKE_FLAGS);
	report_by_ops(ops, facts, tcp, one.now, REPORT_OPENED);
}

/* A round trip is over, of a connection that was not looked at. One that only receives has none and is not looked at
 * again: nobody waits for its acknowledgments but for the window. */
static __always_inline void round_trip(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct facts *facts;

	if (!sk)
		return;
	if (ops->bpf_sock_ops_cb_flags == YOUNG_FLAGS) {
		grown(ops, sk);
		return;
	}
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (facts && facts->cookie && !is_asleep(facts, sk))
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
