#!/usr/bin/env python3
"""What the agent costs a host that only opens and closes connections: processor time without and with it, in pairs.

  benches/agent/churn.py [PAIRS] [--hooks] [--older] [--long]      200 pairs of 2,000 connections

A client and a server in C (`churn.c`, built with cc) on one processor, in a network namespace of their own, exchange one
request (100 bytes) and one answer (1,000 bytes) on each connection. There are two such pairs of programs, each in a control
group of its own, and an agent that observes one of the two: pairs of works of 2,000 connections in random order, of which
other processes of the machine disturb both alike. Counted are the control group (`usage_usec`, with the network's work that
is done in place of its processes), kernel threads that free memory or do deferred work (ksoftirqd, rcu, kworker), and what
the agent's process takes more than without connections. Of the logarithms of the ratios: mean and 95 % interval (Student's
t). Then, with the kernel's count on, calls and time of each program per connection (both ends).

  --hooks   in place of the agent programs that do nothing, at its hooks: what the kernel takes to call any
  --older   the server is older than the agent, which cannot assign it to a process in another network namespace
  --long    beside them a connection lasts and carries a byte every 10 ms, so that arriving packets are observed throughout

Root; prints SKIPPED where something is missing. Leaves nothing behind.
"""
import contextlib, glob, math, os, random, shutil, subprocess, sys, time
import bpf
from programs import World, interval, numbers, remove

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT, PORT, PROGRAMS = 2_000, "7908", ["chosen", "told", "arrived"]
# The agent knows the programs by then, and has seen that no connection lasts.
SETTLED_S = 6
# Both ends on one processor: where the scheduler puts them changes what a connection costs by a factor of two.
ON_ONE = ["taskset", "--cpu-list", "0"]
LONG = """
import socket, threading, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
c = socket.create_connection(s.getsockname()); a, _ = s.accept()
while True: c.send(b"x"); a.recv(1); time.sleep(0.01)
"""


def used(group):
    with open(os.path.join(group, "cpu.stat")) as stat:
        return int(next(line.split()[1] for line in stat if line.startswith("usage_usec ")))


def kernel_threads():
    """Processor time of each of the kernel's threads for deferred work, us."""
    times = {}
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as comm:
                if not comm.read().startswith(("ksoftirqd/", "rcu", "kworker/")):
                    continue
            with open(path.replace("/comm", "/schedstat")) as schedstat:
                times[path] = int(schedstat.read().split()[0]) / 1e3
        except OSError:
            continue  # it has just ended
    return times


class Churn:
    """A server and clients in a control group."""

    def __init__(self, world, group, inside, program):
        self.world, self.group, self.inside, self.program = world, group, inside, program
        self.server = None

    def enter(self):
        self.world.enter(self.group)

    def begin(self, port):
        self.port = port
        self.server = self.world.start(ON_ONE + self.inside + [self.program, "serve", port], preexec_fn=self.enter)
        time.sleep(0.3)

    def work(self):
        subprocess.run(ON_ONE + self.inside + [self.program, "connect", self.port, str(COUNT)], preexec_fn=self.enter,
                       stdin=subprocess.DEVNULL, check=True, timeout=60)

    def spent(self):
        """Processor time of a connection, us: both ends, and kernel threads meanwhile."""
        mine, threads = used(self.group), kernel_threads()
        self.work()
        # Memory is freed after a grace period of RCU.
        time.sleep(0.03)
        after = kernel_threads()
        deferred = sum(time - threads.get(path, 0) for path, time in after.items())
        return (used(self.group) - mine) / COUNT, deferred / COUNT


def figures(world, churns, pairs, idle):
    """Of each pair both ends and kernel threads, us a connection: without and with; and the agent's process."""
    before, began, found = used(world.agents_group), time.monotonic(), []
    for _ in range(pairs):
        both = {}
        for how in random.sample([0, 1], 2):
            both[how] = churns[how].spent()
        found.append((both[0], both[1]))
    more = used(world.agents_group) - before - idle * (time.monotonic() - began)
    return found, more / pairs / COUNT


def idle_of(world):
    """What the agent's process takes without connections, us a second."""
    before = used(world.agents_group)
    time.sleep(5)
    return (used(world.agents_group) - before) / 5


def by_program(churn, pairs):
    """Calls and time of each program per connection, by the kernel's count, whose own time is in it."""
    with bpf.counting():
        before = bpf.programs(PROGRAMS)
        for _ in range(pairs):
            churn.work()
        after = bpf.programs(PROGRAMS)
    print("\n| program | calls a connection | ns a call | ns a connection | BPF instructions |")
    print("| --- | --- | --- | --- | --- |")
    for name in (name for name in PROGRAMS if name in after and name in before):
        calls, time_ns = (after[name][at] - before[name][at] for at in (0, 1))
        count = pairs * COUNT
        print(f"| `{name}` | {calls / count:.1f} | {time_ns / max(calls, 1):.0f} | {time_ns / count:.0f} "
              f"| {after[name][2]} |")


@contextlib.contextmanager
def observer(world):
    """The agent, or programs that do nothing, at the first control group."""
    if "--hooks" in sys.argv:
        with bpf.empty_at(world.group):
            yield False
        return
    agent = world.agent("")
    yield True
    world.end(agent)


def told(values):
    mean, half = interval(values)
    return f"{mean:.2f} ± {half:.2f}"


def compare(world, churns, pairs):
    if "--older" in sys.argv:
        churns[1].begin(PORT)
    churns[0].begin(str(int(PORT) + 1))
    with observer(world) as is_agent:
        if "--older" not in sys.argv:
            churns[1].begin(PORT)
        if "--long" in sys.argv:
            world.start(churns[1].inside + [sys.executable, "-c", LONG])
        churns[1].work()
        time.sleep(SETTLED_S if is_agent else 0)
        idle = idle_of(world)
        found, own = figures(world, churns, pairs, idle)
        logs = [math.log((sum(with_) + own) / sum(without)) for without, with_ in found]
        mean, half = interval(logs)
        print(f"{pairs} pairs of {COUNT} connections, 95 % intervals; us of processor time a connection, both ends\n")
        print("| | both ends | kernel threads | the agent's process |\n| --- | --- | --- | --- |")
        for how, name in enumerate(["without", "with"]):
            ends, deferred = (told([one[how][at] for one in found]) for at in (0, 1))
            print(f"| {name} | {ends} | {deferred} | {f'{own:.2f}' if how else ''} |")
        print("\nwith to without: x{:.3f} [{:.3f}, {:.3f}]".format(*(math.exp(mean + at) for at in (0, -half, half))))
        if is_agent:
            print(f"The agent's process takes {idle / 1e4:.2f} % of a core without connections.")
            by_program(churns[1], max(pairs // 20, 5))


def main():
    for tool in ("cc", "unshare", "nsenter", "ip", "taskset"):
        if not shutil.which(tool):
            sys.exit(f"SKIPPED: no {tool}")
    with World() as world:
        program = os.path.join(world.folder, "churn")
        subprocess.run(["cc", "-O2", "-o", program, os.path.join(HERE, "churn.c")], check=True)
        keeper = world.start(["unshare", "--net", "sh", "-c", "ip link set lo up && exec sleep infinity"], outside=True)
        inside = ["nsenter", f"--net=/proc/{keeper.pid}/ns/net", "--"]
        time.sleep(0.5)
        unobserved = world.group + "-unobserved"
        os.mkdir(unobserved)
        churns = [Churn(world, group, inside, program) for group in (unobserved, world.group)]
        try:
            compare(world, churns, numbers(200))
        finally:
            if churns[0].server:
                world.end(churns[0].server)
            remove(unobserved)


if __name__ == "__main__":
    main()
