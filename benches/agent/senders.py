#!/usr/bin/env python3
"""What the settings gain that have to be asked for: `pingpong_thresh`, and a route's `reordering` and `initcwnd`.

  benches/agent/senders.py [TURNS]      6 turns

- *pingpong_thresh*: exchanges of two small writes and an answer over the loopback interface of a network of their own,
  20 on each of five connections, without an agent, where the setting is 1 and 255: mean time of the first ten, and of
  the others.
- *[routes]*: downloads of 300 kB, a connection each, between stock kernels over a path of 20 Mbit/s and 15 ms each way
  on which each packet takes up to 4 ms longer (`ackord live run`); the agent is in the sender's network: without,
  with `[routes]`, and with `initcwnd = 32` besides. The first downloads, in which reordering is seen, are not counted.

Means with 95 % intervals by Student's t over the turns. Root; says SKIPPED where something lacks. Nothing is left behind.
"""
import os, statistics, subprocess, sys, time
from hosts import Hosts, told
from programs import EXCHANGES, SERVER

LEARNT_FROM, COUNTED = 5, 8
HEAD = """version = 1
name = "reordering"
purpose = "Short downloads over a path on which packets overtake each other"
seed = {seed}
duration = "{duration} s"
[hosts.client]
[hosts.server]
[[links]]
name = "access"
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "15 ms"
jitter = {{ kind = "per-packet", distribution = "uniform", deviation = "{deviation} ms", floor = "13 ms", order = "free" }}
queue = {{ kind = "drop-tail", limit = "200 packets" }}
[tcp]
profile = "linux"
"""
FLOW = """[[flows]]
name = "transfer-{number}"
from = "client"
to = "server"
sends = "server"
start = "{start} s"
traffic = {{ kind = "transfers", size = "300 kB", count = 1 }}
"""
EACH = EXCHANGES.replace("print(sorted(took)[count // 2] * 1e3)", "print(' '.join(str(one * 1e3) for one in took))")


def scenario(seed):
    starts = [3 + 1.5 * number for number in range(LEARNT_FROM + COUNTED)]
    flows = [FLOW.format(number=n, start=start) for n, start in enumerate(starts)]
    return HEAD.format(seed=seed, duration=starts[-1] + 3, deviation="1.2") + "".join(flows)


def pingpong(turns):
    name = f"ackord-pingpong-{os.getpid()}"
    inside = ["ip", "netns", "exec", name]
    subprocess.run(["ip", "netns", "add", name], check=True)
    server = None
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        server = subprocess.Popen(inside + [sys.executable, "-c", SERVER], stdin=subprocess.DEVNULL)
        time.sleep(1)
        words = ["127.0.0.1", "7901", "20", "a" * 50, "b" * 50, "100"]
        times = {}
        for _ in range(turns):
            for threshold in (1, 255):
                subprocess.run(inside + ["sysctl", "-qw", f"net.ipv4.tcp_pingpong_thresh={threshold}"], check=True)
                done = [subprocess.run(inside + [sys.executable, "-c", EACH, *words], check=True, capture_output=True, text=True)
                        for _ in range(5)]
                took = [[float(one) for one in run.stdout.split()] for run in done]
                first, later = times.setdefault(threshold, ([], []))
                first.append(statistics.mean(one for run in took for one in run[:10]))
                later.append(statistics.mean(one for run in took for one in run[10:]))
        for threshold, (first, later) in times.items():
            print(f"tcp_pingpong_thresh {threshold:<4} exchange, ms: 1 to 10 {told(first):>14}   11 to 20 {told(later):>14}")
    finally:
        if server:
            server.terminate()
            server.wait()
        subprocess.run(["ip", "netns", "del", name], check=True)


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    with Hosts() as hosts:
        pingpong(turns)
        ways = {"without": None, "[routes]": "levers = \"none\"\n[routes]\n",
                "[routes], initcwnd = 32": "levers = \"none\"\n[routes]\ninitcwnd = 32\n"}
        figures = {way: ([], []) for way in ways}
        for turn in range(turns):
            for way, agent in ways.items():
                flows = hosts.live(scenario(turn + 1), (), agent, host=1)[LEARNT_FROM:]
                times, again = figures[way]
                times.append(statistics.mean(flow["transfers"]["time_ms"]["mean"] for flow in flows))
                again.append(statistics.mean(flow["retransmitted_segments"] for flow in flows))
        print(f"{'download of 300 kB, packets overtake each other':48} {'ms':>16} {'sent again':>14}   ({turns} turns)")
        for way, (times, again) in figures.items():
            print(f"{way:48} {told(times):>16} {told(again):>14}")


if __name__ == "__main__":
    main()
