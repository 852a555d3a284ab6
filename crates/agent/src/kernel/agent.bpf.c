/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the agent has in the kernel: it gathers facts of each connection, and does what it was told to. What is to be
 * done is decided in Rust.
 *
 *   created  (cgroup/sock_create)  whose socket it is
 *   chosen   (cgroup/setsockopt)   which options the application has set itself
 *   told     (sockops)             connections that open and close, acknowledgments that leave; levers are pulled here
 *   arrived  (cgroup_skb/ingress)  data that comes in
 *   each     (iter/tcp)            a pass over the sockets that are there: adopted, or put back as they were
 *
 * Never TCP_NODELAY from a header-option callback: kernels up to 6.18 at least crash on it (a null pointer, the segment
 * being sent is taken for one that is still to come).
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "agent.h"

/* "MIT" is not among the words that the kernel knows for this. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define SOL_SOCKET 1
#define SO_MARK 36
#define SOL_TCP 6
#define TCP_NODELAY 1
#define TCP_QUICKACK 12
#define TCP_DELACK_MAX_US 46
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define TCP_NAGLE_OFF 1
/* From linux/bpf.h of Linux 6.12; older headers lack it. */
#define SOCK_OPS_CB_FLAGS 1008

/* Longer gaps are pauses of the application. */
#define IDLE_US 300000
/* A shorter wait is no stall worth a lever: a quarter of the shortest delayed acknowledgment of Linux (40 ms). */
#define STALL_US 10000
/* No acknowledgment is delayed for longer. */
#define LONGEST_US 500000
/* A peer that waited for an acknowledgment needs no longer than this, beside the path. */
#define ANSWER_US 2000
/* `orders` is asked so often at most. */
#define ASK_US 50000

/* A connection of so many packets between two reports, of which none waited, moves data in bulk: it is looked at for one
 * report in so many seconds, since there is nothing to be gained and much to be counted. */
#define BULK_PACKETS 64
#define ASLEEP_S 2
/* Callbacks of a connection that is looked at, and of one that is not: the second wakes it, once a round trip. */
#define AWAKE_FLAGS (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
#define ASLEEP_FLAGS (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG)

/* The kernel's own types, as far as they are looked at; places are found by BTF. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct kernfs_node {
	__u64 id;
};
struct cgroup {
	struct kernfs_node *kn;
};
struct sock_cgroup_data {
	struct cgroup *cgroup;
};
struct sock_common {
	__u16 skc_dport; /* network order */
	__u16 skc_num;
	volatile unsigned char skc_state;
};
struct sock {
	struct sock_common __sk_common;
	struct sock_cgroup_data sk_cgrp_data;
	__u32 sk_mark;
};
struct inet_sock {
	struct sock sk;
};
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u32 icsk_delack_max;
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 packets_out;
	__u32 mss_cache;
	__u32 reordering;
	__u32 reord_seen;
	__u32 dsack_dups;
	__u8 nonagle : 4;
};
struct bpf_iter_meta {
	void *seq;
};
struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct facts);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} reports SEC(".maps");

/* Which class an application belongs to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u16);
} applications SEC(".maps");

/* The first is for applications that are not known yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct class);
} classes SEC(".maps");

/* By cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct order);
} orders SEC(".maps");

/* Sockets of which only the journal knows that Nagle's algorithm was switched off for them. By cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u64);
	__type(value, __u8);
} journaled SEC(".maps");

/* Control groups whose sockets are adopted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, __u8);
} adopted SEC(".maps");

/* 0 where the kernel does not say. */
extern unsigned int CONFIG_HZ __kconfig __weak;

struct settings settings = {};
struct counts counts = {};

static __always_inline __u64 now_us(void)
{
	return bpf_ktime_get_ns() / 1000;
}

static __always_inline __u64 cgroup_of(struct tcp_sock *tcp)
{
	struct sock *sk = &tcp->inet_conn.icsk_inet.sk;

	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}

/* FNV-1a, 64 bits, up to the end of the name. */
static __always_inline __u64 hash_of(const char *command)
{
	__u64 hash = 0xcbf29ce484222325ULL;

#pragma unroll
	for (int at = 0; at < 16; at++) {
		if (!command[at])
			break;
		hash = (hash ^ (__u8)command[at]) * 0x100000001b3ULL;
	}
	return hash;
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

/* Whether nothing is looked at. What moved data before it fell asleep and does so now has done so meanwhile. */
static __always_inline int is_asleep(struct facts *facts)
{
	__u32 now;

	if (!facts->asleep)
		return 0;
	if ((__s32)(facts->asleep - (__u32)bpf_jiffies64()) > 0)
		return 1;
	now = now_us();
	if (now - facts->asleep_us < ASLEEP_S * 1000000 + IDLE_US)
		facts->active_us += now - facts->asleep_us;
	facts->event_us = facts->data_us = facts->sent_us = facts->reported_us = now;
	facts->unacknowledged = 0;
	facts->wait_us = 0;
	facts->asleep = 0;
	return 0;
}

/* The part of a report that does not depend on who makes it. */
static __always_inline struct report *begin_report(struct facts *facts, __u64 now, __u8 kind)
{
	struct report *report = bpf_ringbuf_reserve(&reports, sizeof(*report), 0);

	if (!report) {
		__sync_fetch_and_add(&counts.reports_lost, 1);
		return 0;
	}
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
	bpf_ringbuf_submit(report, 0);
}

/* Whether the last packet of an exchange came just before: then the time since belongs to it. */
static __always_inline void note_event(struct facts *facts, __u32 now)
{
	__u32 gap = now - facts->event_us;

	if (gap < IDLE_US)
		facts->active_us += gap;
	facts->event_us = now;
}

static __always_inline long set_delack(struct bpf_sock_ops *ops, __u32 us)
{
	int value = us ? us : settings.delack_stock_us;

	return bpf_setsockopt(ops, SOL_TCP, TCP_BPF_DELACK_MAX, &value, sizeof(value));
}

static __always_inline long set_mark(struct bpf_sock_ops *ops, int on)
{
	int mark = 0;
	long failed = bpf_getsockopt(ops, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));

	if (failed)
		return failed;
	mark = on ? mark | settings.mark : mark & ~settings.mark;
	return bpf_setsockopt(ops, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

/* The delayed acknowledgment's timer is to be no longer than this. */
static __always_inline void pull_delack(struct bpf_sock_ops *ops, struct facts *facts, __u32 us)
{
	if (us == facts->delack_max_us || facts->own & OWN_DELACK)
		return;
	if (set_delack(ops, us)) {
		__sync_fetch_and_add(&counts.refused, 1);
		return;
	}
	facts->delack_max_us = us;
	facts->levers = us ? facts->levers | LEVER_DELACK : facts->levers & ~LEVER_DELACK;
}

/* Data segments are to be acknowledged at once, by a route that says so, or as the kernel likes. */
static __always_inline void pull_quick(struct bpf_sock_ops *ops, struct facts *facts, int on)
{
	int is_on = !!(facts->levers & LEVER_QUICK);

	if (on == is_on || !settings.mark || facts->own & (OWN_MARK | OWN_QUICKACK))
		return;
	if (set_mark(ops, on)) {
		__sync_fetch_and_add(&counts.refused, 1);
		return;
	}
	facts->levers ^= LEVER_QUICK;
}

static __always_inline void pull_nodelay(struct bpf_sock_ops *ops, struct facts *facts)
{
	int on = 0;

	if (facts->own & OWN_NODELAY)
		return;
	/* Inherited from the socket that listens, say, or set before this program was here. */
	if (!bpf_getsockopt(ops, SOL_TCP, TCP_NODELAY, &on, sizeof(on)) && on) {
		facts->own |= OWN_NODELAY;
		return;
	}
	on = 1;
	if (bpf_setsockopt(ops, SOL_TCP, TCP_NODELAY, &on, sizeof(on)))
		__sync_fetch_and_add(&counts.refused, 1);
	else
		facts->levers |= LEVER_NODELAY;
}

static __always_inline __u64 application_of(struct bpf_sock_ops *ops, struct facts *facts, __u8 way)
{
	if (settings.by == BY_CGROUP)
		return facts->cgroup;
	if (settings.by == BY_PORT)
		return way == WAY_PASSIVE ? ops->local_port : bpf_ntohl(ops->remote_port);
	/* As `created` has found it; nothing of a socket that was there before. */
	return facts->application;
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
	facts->application = application_of(ops, facts, way);
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
		if (class->nodelay)
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

/* What has come is acknowledged, by a packet that carries nothing else or by one with data. */
static __always_inline void note_ack(struct facts *facts, __u32 now, int is_pure)
{
	__u32 wait = now - facts->data_us;
	int is_alone;

	/* Another processor has just seen the next segment; or nobody waits for so long (RFC 5681 section 4.2). */
	if (wait > LONGEST_US)
		wait = 0;
	is_alone = is_pure && wait >= STALL_US / 2;

	if (is_pure) {
		facts->acks_alone++;
		facts->wait_us = wait;
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
	if (ops->skb_len)
		facts->sent_us = now;
	if (facts->unacknowledged)
		note_ack(facts, now, !ops->skb_len);
	facts->unacknowledged = 0;
	if (facts->arm == ARM_CONTROL || now - facts->asked_us < ASK_US)
		return;
	facts->asked_us = now;
	order = bpf_map_lookup_elem(&orders, &facts->cookie);
	if (order)
		pull_delack(ops, facts, order->delack_max_us);
	pull_quick(ops, facts, facts->quick_left > 0 || (order && order->quick));
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
	if (facts && !is_asleep(facts))
		bpf_sock_ops_cb_flags_set(ops, AWAKE_FLAGS);
}

static __always_inline void closed(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct facts *facts;

	if (!sk)
		return;
	facts = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!facts || !facts->cookie)
		return;
	report_by_ops(ops, facts, (struct tcp_sock *)bpf_skc_to_tcp_sock(sk), now_us(), REPORT_CLOSED);
	bpf_map_delete_elem(&orders, &facts->cookie);
	facts->cookie = 0;
}

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

/* ARI in practice: the count begins anew with each transfer of a connection that persists. */
static __always_inline void begin_quick(struct facts *facts)
{
	__u32 index = facts->class;
	struct class *class = bpf_map_lookup_elem(&classes, &index);

	if (class && facts->arm == ARM_TREATED)
		facts->quick_left = class->quick_segments;
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
	bpf_ringbuf_submit(report, 0);
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
	if (!facts || !facts->cookie || is_asleep(facts))
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
	look_at_nagle(facts, sk, bpf_ntohl(ack), now);
	if (skb->len > ip_len + tcp_len)
		another = note_data(facts, now);
	if (another || (__u32)now - facts->reported_us >= settings.report_every_us)
		report_by_packet(facts, sk, now, another);
	return 1;
}

SEC("cgroup/sock_create")
int created(struct bpf_sock *sk)
{
	struct facts *facts;
	char command[16] = {};

	if (sk->type != SOCK_STREAM || (sk->family != AF_INET && sk->family != AF_INET6))
		return 1;
	facts = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!facts)
		return 1;
	facts->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(command, sizeof(command));
	facts->application = hash_of(command);
	return 1;
}

SEC("cgroup/setsockopt")
int chosen(struct bpf_sockopt *option)
{
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
	facts = bpf_sk_storage_get(&sockets, option->sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!facts)
		return 1;
	facts->own |= own;
	/* From now on it is the application's. */
	if (own == OWN_NODELAY)
		facts->levers &= ~LEVER_NODELAY;
	return 1;
}

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
		adopt(tcp, common);
	else if (settings.pass == PASS_CLEAN)
		clean(tcp);
	return 0;
}
