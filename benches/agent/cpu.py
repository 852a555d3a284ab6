#!/usr/bin/env python3
"""What the agent costs a client and a server in processor time: pairs of the same work without and with it.

  benches/agent/cpu.py [PAIRS] [--only NAME] [--noisy]      20 pairs; $ACKORD may name the program

Each pair does fixed works without an agent and with one (defaults, 5 % left alone), in random order: curl fetches 64 MiB
ten times, and 10 kB a thousand times, from Python's server, a connection each, all in one process, which is as much of a
work as connections can be; 10 kB again with a process each; iperf3 carries 8 GiB. All ends are on this machine and in
one control group. Counted is what that group has taken by the kernel's count (`usage_usec`; the network's work that is
done in place of its processes is in it), the kernel's own threads for that work (ksoftirqd), and, with the agent, its
process; not its start.

Per pair the ratio of both; of their logarithms the mean with its 95 % interval (Student's t). With the agent it may be 5 %
more: `yes` where the interval is below that, `no` where it is above, and `undecided` where it is not, or with fewer than 15
pairs. So noise makes no `yes`. Root; says SKIPPED where something lacks. Nothing is left behind.
"""
import glob, math, os, random, shutil, sys, time
from programs import World, interval, listening, numbers, quiet, told

LIMIT, ENOUGH = 5.0, 15


def used(group):
    with open(os.path.join(group, "cpu.stat")) as stat:
        return int(next(line.split()[1] for line in stat if line.startswith("usage_usec "))) / 1e6


def kernel_threads():
    """Files that tell how long each processor's thread for interrupts that were put off has run, ns."""
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        with open(path) as comm:
            if comm.read().startswith("ksoftirqd/"):
                found.append(path.replace("/comm", "/schedstat"))
    return found


def seconds_of(threads):
    total = 0
    for path in threads:
        with open(path) as schedstat:
            total += int(schedstat.read().split()[0])
    return total / 1e9


def works(world):
    """Name, and what does it."""
    files = os.path.join(world.folder, "files")
    os.mkdir(files)
    for name, size in (("bulk", 64 << 20), ("short", 10_000)):
        with open(os.path.join(files, name), "wb") as file:
            file.write(b"x" * size)
    world.start([sys.executable, "-m", "http.server", "7904", "--bind", "127.0.0.1", "--directory", files])
    listening(7904)
    # The server speaks HTTP/1.0: each number is a connection.
    curl = lambda name, count: ["curl", "-sS", "-o", "/dev/null", f"http://127.0.0.1:7904/{name}?[1-{count}]"]
    yield "curl, 64 MiB, ten times", curl("bulk", 10)
    yield "curl, 10 kB, 1000 times", curl("short", 1000)
    yield "curl, 10 kB, 50 times, a process each", ["sh", "-c", 'for one in $(seq 50); do "$@"; done', "sh", *curl("short", 1)]
    if shutil.which("iperf3"):
        world.start(["iperf3", "--server", "--port", "7907"])
        listening(7907)
        time.sleep(1)
        yield "iperf3, 8 GiB", ["iperf3", "--client", "127.0.0.1", "--port", "7907", "--bytes", "8G"]


def spent(world, threads, argv):
    """Processor time of a work, s: all, and the agent's own."""
    # Not the agent's last look at what was before.
    time.sleep(1.2)
    before = used(world.group) + seconds_of(threads), used(world.agents_group)
    world.run(argv)
    # Reports are taken every 100 ms, and looked at every second.
    time.sleep(1.2)
    ends, own = used(world.group) + seconds_of(threads) - before[0], used(world.agents_group) - before[1]
    return ends + own, own


def verdict(low, high, pairs):
    if pairs < ENOUGH or low <= LIMIT < high:
        return "undecided"
    return "yes" if high <= LIMIT else "no"


def main():
    pairs = numbers(20)
    only = next((sys.argv[at + 1] for at, word in enumerate(sys.argv) if word == "--only"), "")
    threads = kernel_threads()
    with World() as world:
        chosen = [(name, argv) for name, argv in works(world) if name.startswith(only)]
        figures = {name: {"without": [], "with": []} for name, _ in chosen}
        for _ in range(pairs):
            for how in random.sample(["without", "with"], 2):
                agent = world.agent("") if how == "with" else None
                for name, argv in random.sample(chosen, len(chosen)):
                    quiet()
                    # Either way: caches are warm, and the agent knows the program.
                    world.run(argv)
                    figures[name][how].append(spent(world, threads, argv))
                if agent:
                    world.end(agent)
    print(f"{pairs} pairs, 95 % intervals; processor time of client, server, the network's work and the agent\n")
    print("| work | without, s | with, s | of it the agent's process | with, more than without, % | at most 5 % more |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, _ in chosen:
        without, treated = ([one[0] for one in figures[name][how]] for how in ("without", "with"))
        own = [one[1] for one in figures[name]["with"]]
        mean, half = interval([math.log(after / before) for before, after in zip(without, treated)])
        more = [(math.exp(at) - 1) * 100 for at in (mean, mean - half, mean + half)]
        print(f"| {name} | {told(without).strip()} | {told(treated).strip()} | {told(own).strip()} "
              f"| {more[0]:+.1f} ({more[1]:+.1f} to {more[2]:+.1f}) | {verdict(*more[1:], pairs)} |")


if __name__ == "__main__":
    main()
