/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is kept: facts of each socket, what was ordered, and what the agent and its programs tell each other.
 */
#ifndef ACKORD_BPF_KEPT_H
#define ACKORD_BPF_KEPT_H

#include "kernel.h"
#include "../agent.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct facts);
} sockets SEC(".maps");

/* Owners of listening sockets. A clone of a listening socket's storage would cost an allocation for each connection. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct listening);
	__type(value, struct origin);
} listeners SEC(".maps");

/* Connections that have no storage (yet): a direct-mapped cache by cookie, without locks and without deletions. A
 * connection whose entry is overwritten is identified by its listening socket, if it has one. */
#define YOUNG (1 << 15)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, YOUNG);
	__type(key, __u32);
	__type(value, struct young);
} young SEC(".maps");

/* Programs of processes: a direct-mapped cache by thread. */
#define KNOWN 1024
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KNOWN);
	__type(key, __u32);
	__type(value, struct known);
} known SEC(".maps");

#define RING_BYTES (1 << 20)
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} reports SEC(".maps");

/* Which class an application belongs to. Programs come and go: what is forgotten here is reported as new again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct budget);
} budgets SEC(".maps");

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

/* Processes of sockets, by the socket's inode, during a pass that assigns them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u64);
	__type(value, struct owner);
} owners SEC(".maps");

/* Jiffies per second, set before the programs are loaded; 0 if unknown. Not the kernel's configuration file: few kernels
 * have /proc/config.gz, and a machine need not have /boot. */
const volatile unsigned int CONFIG_HZ = 0;

struct settings settings = {};
struct interpreter interpreters[INTERPRETERS] = {};
struct counts counts = {};
/* Whether a connection older than the shortest stall had a packet since the agent last cleared this. */
__u32 is_old_seen = 0;

#endif
