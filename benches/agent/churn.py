#!/usr/bin/env python3
"""What the agent costs hosts that only open and close connections: processor time without and with it, in pairs.

  benches/agent/churn.py [PAIRS] [--count=N] [--hooks] [--older] [--noisy]      20 pairs of 20,000 connections

A client and a server in C (`churn.c`, built with cc), both in one control group and in a network namespace of its own,
exchange one request (100 bytes) and one answer (1,000 bytes) on each connection. Each pair does the same work without and
with the agent (defaults), in random order, in ten parts of which the least counts, as
the least disturbed by other processes; `--hooks` adds a third: programs that do nothing at the agent's hooks, which is
what the kernel takes to call any program there. With
`--older` the server was there before the agent, which cannot assign it to its process in another network namespace. Counted is the control group (`usage_usec`, with the network's work that is
done in place of its processes), kernel threads that free memory or do deferred work (ksoftirqd, rcu, kworker), and the
agent's process until its last reports are taken. Not its start.

Of the logarithms of the ratios: mean and 95 % interval (Student's t). Then, with the kernel's count on, calls and time of
each program per connection (both ends). Root; prints SKIPPED where something is missing. Leaves nothing behind.
"""
import contextlib, glob, math, os, random, shutil, subprocess, sys, time
import bpf
from programs import World, interval, numbers, quiet, told

HERE = os.path.dirname(os.path.abspath(__file__))
PORT, PARTS, IDLE_S = "7908", 10, 0.2
# The agent knows the programs by then, and has seen that no connection lasts.
SETTLED_S = 5.5
# Both ends on one processor: where the scheduler puts them changes what a connection costs by a factor of two.
ON_ONE = ["taskset", "--cpu-list", "0"]
PROGRAMS = ["chosen", "told", "arrived"]


def used(group):
    with open(os.path.join(group, "cpu.stat")) as stat:
        return int(next(line.split()[1] for line in stat if line.startswith("usage_usec "))) / 1e6


def kernel_threads():
    """Processor time of the kernel's threads for deferred work, s."""
    total = 0
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as comm:
                if not comm.read().startswith(("ksoftirqd/", "rcu", "kworker/")):
                    continue
            with open(path.replace("/comm", "/schedstat")) as schedstat:
                total += int(schedstat.read().split()[0])
        except OSError:
            continue  # it has just ended
    return total / 1e9


class Churn:
    """A server, and clients, in a network namespace of their own."""

    def __init__(self, world, count):
        self.world, self.count = world, count
        self.program = os.path.join(world.folder, "churn")
        subprocess.run(["cc", "-O2", "-o", self.program, os.path.join(HERE, "churn.c")], check=True)
        keeper = world.start(["unshare", "--net", "sh", "-c", "ip link set lo up && exec sleep infinity"], outside=True)
        self.inside = ["nsenter", f"--net=/proc/{keeper.pid}/ns/net", "--"]
        for _ in range(100):
            time.sleep(0.05)
            if b"sleep" in open(f"/proc/{keeper.pid}/cmdline", "rb").read():
                break
        self.server = None
        self.begin()

    def begin(self):
        """Starts the server, anew if there is one."""
        if self.server:
            self.world.end(self.server)
        self.server = self.world.start(ON_ONE + self.inside + [self.program, "serve", PORT])
        time.sleep(0.3)

    def work(self, count=None):
        self.world.run(ON_ONE + self.inside + [self.program, "connect", PORT, str(count or self.count)])

    def spent(self, has_agent):
        """Processor time of a work, s: all, and of it the agent's process and kernel threads."""
        time.sleep(IDLE_S)
        before = used(self.world.group), kernel_threads(), used(self.world.agents_group)
        self.work()
        mine = used(self.world.group) - before[0]
        # Reports are taken every 100 ms, freed memory is given back within as much.
        time.sleep(0.2)
        threads = kernel_threads() - before[1]
        own = used(self.world.agents_group) - before[2] if has_agent else 0.0
        return mine + threads + own, own, threads


def measure(world, churn, how):
    agent = world.agent("") if how == "with" else None
    try:
        if "--older" not in sys.argv:
            churn.begin()
        churn.work(2_000)
        if agent:
            time.sleep(SETTLED_S)
        quiet()
        with bpf.empty_at(world.group) if how == "hooks" else contextlib.nullcontext():
            parts = [churn.spent(agent is not None) for _ in range(PARTS)]
        own = sum(part[1] for part in parts) / PARTS
        least = min(parts, key=lambda part: part[0] - part[1])
        return least[0] - least[1] + own, own, least[2]
    finally:
        if agent:
            world.end(agent)


def compared(of, against):
    mean, half = interval([math.log(one[0] / other[0]) for one, other in zip(of, against)])
    return "x{:.3f} [{:.3f}, {:.3f}]".format(*(math.exp(at) for at in (mean, mean - half, mean + half)))


def by_program(world, churn):
    """Calls and time of each program per connection, by the kernel's count, whose own time is in it."""
    agent = world.agent("")
    if "--older" not in sys.argv:
        churn.begin()
    churn.work(2_000)
    time.sleep(SETTLED_S)
    with bpf.counting():
        before = bpf.programs(PROGRAMS)
        churn.work()
        after = bpf.programs(PROGRAMS)
    world.end(agent)
    print("\n| program | calls a connection | ns a call | ns a connection | BPF instructions |")
    print("| --- | --- | --- | --- | --- |")
    for name in (name for name in PROGRAMS if name in after):
        calls, time_ns = (after[name][at] - before[name][at] for at in (0, 1))
        print(f"| `{name}` | {calls / churn.count:.1f} | {time_ns / max(calls, 1):.0f} | {time_ns / churn.count:.0f} "
              f"| {after[name][2]} |")


def main():
    for tool in ("cc", "unshare", "nsenter", "ip", "taskset"):
        if not shutil.which(tool):
            sys.exit(f"SKIPPED: no {tool}")
    pairs = numbers(20)
    count = int(next((word.split("=")[1] for word in sys.argv if word.startswith("--count=")), 20_000))
    ways = ["without", "with"] + (["hooks"] if "--hooks" in sys.argv else [])
    with World() as world:
        churn = Churn(world, count // PARTS)
        figures = {how: [] for how in ways}
        for _ in range(pairs):
            for how in random.sample(ways, len(ways)):
                figures[how].append(measure(world, churn, how))
        print(f"{pairs} pairs of {count} connections, 95 % intervals; us of processor time a connection, both ends\n")
        print("| | all | of it kernel threads | of it the agent's process | to without |\n| --- | --- | --- | --- | --- |")
        for how in ways:
            each = [told([one[at] / churn.count * 1e6 for one in figures[how]], 2).strip() for at in (0, 2, 1)]
            ratio = "" if how == "without" else compared(figures[how], figures["without"])
            print(f"| {how} | {each[0]} | {each[1]} | {each[2]} | {ratio} |")
        by_program(world, churn)


if __name__ == "__main__":
    main()
