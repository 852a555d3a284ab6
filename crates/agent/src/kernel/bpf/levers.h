/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is done to a connection: options of its socket, unless the application has set them itself.
 */
#ifndef ACKORD_BPF_LEVERS_H
#define ACKORD_BPF_LEVERS_H

#include "kept.h"

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

/* ARI in practice: the count begins anew with each transfer of a connection that persists. */
static __always_inline void begin_quick(struct facts *facts)
{
	__u32 index = facts->class;
	struct class *class = bpf_map_lookup_elem(&classes, &index);

	if (class && facts->arm == ARM_TREATED)
		facts->quick_left = class->quick_segments;
}

#endif
