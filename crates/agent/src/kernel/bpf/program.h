/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which program a process runs, as a number: two processes with the same number run the same program. The converse does
 * not hold, and need not: user space gives each number a name, and numbers of one name are one application.
 *
 * The executable's name and the command's; for an interpreter, which runs many programs, also the working directory and
 * the command line up to the script.
 */
#ifndef ACKORD_BPF_PROGRAM_H
#define ACKORD_BPF_PROGRAM_H

#include "kept.h"

/* FNV-1a, 64 bits, by words. */
#define HASH_BEGIN 0xcbf29ce484222325ULL

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	return (hash ^ word) * 0x100000001b3ULL;
}

/* Bytes of a command line that are read in one go, and how many times. */
#define PART 64
#define PARTS 16
union part {
	char text[PART];
	__u64 words[PART / 8];
};

static __always_inline __u64 with_part(__u64 hash, const union part *part)
{
#pragma unroll
	for (int at = 0; at < PART / 8; at++)
		hash = mixed(hash, part->words[at]);
	return hash;
}

/* The command line up to the first argument that is neither an option nor may be an option's value. */
static __always_inline __u64 with_arguments(__u64 hash, struct task_struct *task)
{
	unsigned long at = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	int is_first = 1, is_option = 0, was_option = 0, goes_on = 0;
	union part part;
	long len;

	for (int parts = 0; parts < PARTS; parts++) {
		if (at >= end)
			return hash;
		__builtin_memset(&part, 0, sizeof(part));
		len = bpf_probe_read_user_str(part.text, sizeof(part.text), (void *)at);
		/* The page is not in memory: each such process is one of its own. */
		if (len <= 0)
			return mixed(hash, bpf_get_current_pid_tgid() >> 32);
		hash = with_part(hash, &part);
		if (!goes_on)
			is_option = part.text[0] == '-';
		goes_on = len == sizeof(part.text);
		at += goes_on ? len - 1 : len;
		if (goes_on)
			continue;
		if (!is_first && !is_option && !was_option)
			return hash;
		was_option = is_option;
		is_first = 0;
	}
	/* A class path, say: what differs is at the end. */
	__builtin_memset(&part, 0, sizeof(part));
	bpf_probe_read_user(&part, sizeof(part), (void *)(end - sizeof(part)));
	return mixed(with_part(hash, &part), end - at);
}

static __always_inline int is_interpreter(__u64 name)
{
	for (int at = 0; at < INTERPRETERS; at++) {
		if (!interpreters[at].mask)
			return 0;
		if ((name & interpreters[at].mask) == interpreters[at].name)
			return 1;
	}
	return 0;
}

static __always_inline __u64 program_of_current(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const unsigned char *name = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	__u64 hash = HASH_BEGIN;
	union part part = {};

	bpf_probe_read_kernel_str(part.text, PART / 2, name);
	/* The main thread's: others often have names of their own. */
	bpf_probe_read_kernel_str(part.text + PART / 2, 16, &leader->comm);
	hash = with_part(hash, &part);
	if (!is_interpreter(part.words[0]))
		return hash;
	hash = mixed(hash, BPF_CORE_READ(task, fs, pwd.dentry, d_inode, i_ino));
	return with_arguments(hash, task);
}

/* The same for a thread that was identified before, unless it has called execve since. */
static __always_inline void identify(struct origin *origin)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 began = BPF_CORE_READ(task, start_time), execs = BPF_CORE_READ(task, self_exec_id);
	__u64 key = mixed(mixed(mixed(HASH_BEGIN, (unsigned long)task), began), execs);
	__u32 index = (key ^ key >> 32) % KNOWN;
	struct known *of = bpf_map_lookup_elem(&known, &index);

	if (of && of->key == key && of->check == (key ^ of->program ^ of->pid)) {
		origin->program = of->program;
		origin->pid = of->pid;
		return;
	}
	origin->program = program_of_current();
	origin->pid = BPF_CORE_READ(task, tgid);
	if (!of)
		return;
	of->key = key;
	of->program = origin->program;
	of->pid = origin->pid;
	of->check = key ^ origin->program ^ origin->pid;
}

#endif
