/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What of the kernel is used: numbers of its interface, and its own structures as far as they are looked at.
 */
#ifndef ACKORD_BPF_KERNEL_H
#define ACKORD_BPF_KERNEL_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

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
#define TCP_LISTEN 10
#define TCP_NAGLE_OFF 1
#define ICSK_ACK_TIMER 2
/* From linux/bpf.h of Linux 6.12; older headers lack it. */
#define SOCK_OPS_CB_FLAGS 1008

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
/* Read as a whole. */
struct in6_addr {
	__u32 words[4];
};
struct net {
	__u64 net_cookie;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct sock_common {
	__u32 skc_daddr; /* network order, as all addresses */
	__u32 skc_rcv_saddr;
	__u16 skc_dport; /* network order */
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};
struct inode {
	unsigned long i_ino;
};
struct qstr {
	const unsigned char *name;
};
struct dentry {
	struct qstr d_name;
	struct inode *d_inode;
};
struct path {
	struct dentry *dentry;
};
struct file {
	struct path f_path;
	struct inode *f_inode;
};
struct fs_struct {
	struct path pwd;
};
struct mm_struct {
	unsigned long arg_start;
	unsigned long arg_end;
	struct file *exe_file;
};
struct task_struct {
	int tgid;
	__u64 start_time;
	__u64 self_exec_id; /* counts execve */
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct fs_struct *fs;
	char comm[16];
};
struct socket {
	struct file *file;
};
struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	struct sock_cgroup_data sk_cgrp_data;
	__u32 sk_mark;
};
struct inet_sock {
	struct sock sk;
};
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct {
		__u8 pending; /* what of an acknowledgment is still to come, as bits */
		__u32 lrcvtime; /* when data came, jiffies */
	} icsk_ack;
	__u32 icsk_delack_max;
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 bytes_received;
	__u64 bytes_acked;
	__u32 data_segs_in;
	__u32 data_segs_out;
	__u32 lsndtime; /* when data left, jiffies */
	__u32 total_retrans;
	__u32 srtt_us;
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 packets_out;
	__u32 mss_cache;
	__u32 reordering;
	__u32 reord_seen;
	__u32 dsack_dups;
	__u8 nonagle : 4;
};
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};
#pragma clang attribute pop

#endif
