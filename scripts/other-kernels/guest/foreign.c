/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program at a hook of the agent that does nothing; bpftool attaches it so that it shares the hook with no other. */
#include <linux/bpf.h>

__attribute__((section("sockops"), used)) int foreign(struct bpf_sock_ops *ops)
{
	(void)ops;
	return 1;
}

__attribute__((section("license"), used)) char LICENSE[] = "GPL";
