#!/usr/bin/env python3
"""Phase effects: Reno and Vegas where the access links are as fast as the bottleneck.

Prints Vegas's rate in percent of Reno's, in ns-2 and, where `ackord` is given as an argument, in our
simulator: which of two packets at one instant comes first, start times within a second, random times
of hosts. Needs Debian's ns2.
"""

import json
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = range(1, 21)
SERVICE_S = 0.000832  # what the bottleneck takes for a packet


def answer(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def ns2(queue, later, starts, overhead=0, headers="none"):
    settings = {"rate": "10Mb", "delay": "1ms", "queue": queue, "later": later, "headers": headers,
                "overhead": overhead, "senders": f"Reno {starts[0]} Vegas {starts[1]}"}
    command = ["ns", str(HERE / "reno_vegas.tcl")]
    for name, value in settings.items():
        command += [f"-{name}", str(value)]
    reno, vegas = (flow["goodput_kbit_s"] for flow in answer(command)["flows"])
    return 100 * vegas / reno


def ours(program, queue, later, starts, jitter_us=0):
    changes = [f'links.bottleneck.queue.limit="{queue} packets"']
    changes += [f"flows.{flow}.start={at * 1000:.0f} ms" for flow, at in zip(("reno", "vegas"), starts)]
    if later:
        changes.append(f"links.{later.lower()}-access.delay=1000001 ns")
    if jitter_us:
        changes += [f'hosts.{host}.processing={{ kind = "jitter", up_to = "{jitter_us} us" }}'
                    for host in ("reno", "vegas", "receiver")]
    command = [program, "run", str(HERE.parent / "in-step.toml"), "--json", "-"]
    for change in changes:
        command += ["--set", change]
    reno, vegas = (flow["bytes_delivered"] for flow in answer(command)["flows"])
    return 100 * vegas / reno


def starts(seed):
    draw = random.Random(seed)
    return (draw.randrange(1000) / 1000, draw.randrange(1000) / 1000)


def told(run):
    values = [run(starts(seed)) for seed in SEEDS]
    return (f"{statistics.mean(values):5.1f} +- {statistics.stdev(values):4.1f} "
            f"({min(values):.1f} to {max(values):.1f})")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else None
    for queue in (50, 25):
        print(f"queue of {queue} packets: both at once; start times within a second")
        for later, first in (("Vegas", "Reno's first"), ("Reno", "Vegas's first")):
            print(f"  ns-2, {first:14} {ns2(queue, later, (0, 0)):5.1f}; "
                  f"{told(lambda at: ns2(queue, later, at))}")
            if program:
                print(f"  ours, {first:14} {ours(program, queue, later, (0, 0)):5.1f}; "
                      f"{told(lambda at: ours(program, queue, later, at))}", flush=True)
        print(f"  ns-2, its own headers {ns2(queue, '', (0, 0), headers='as-ns2'):5.1f}; "
              f"{told(lambda at: ns2(queue, '', at, headers='as-ns2'))}")
        print(f"  ns-2, overhead_ of a packet's time    {told(lambda at: ns2(queue, '', at, SERVICE_S))}")
        if program:
            for later in ("Vegas", "Reno"):
                run = lambda at: ours(program, queue, later, at, round(SERVICE_S * 1e6))
                print(f"  ours, processing, {later}'s later {told(run)}", flush=True)


if __name__ == "__main__":
    main()
