#!/usr/bin/env python3
"""Runs the paper's path in ns-2 with the senders that ns-2 has, and writes band.json.

The band is what another, independent simulator says about the same path: Reno, NewReno and SACK,
and NewReno with larger fixed thresholds, at every tau of the paper and both intervals. ns-2 has
none of the paper's own senders. Needs Debian's ns2 and nothing else. Takes about twenty minutes on
one core; `--jobs N` uses more.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "reordering.tcl"
TAUS = [round(0.2 * step, 1) for step in range(11)]
INTERVALS_MS = (50, 250)
# Name, ns-2's agent, numdupacks_, seeds.
SENDERS = [("reno", "Reno", 3, 20), ("newreno", "Newreno", 3, 20), ("sack", "Sack1", 3, 20),
           ("newreno-10", "Newreno", 10, 10), ("newreno-30", "Newreno", 30, 10)]
# Student's t at 97.5 % for seeds - 1 degrees of freedom.
STUDENT = {20: 2.093, 10: 2.262}


def ns2(**settings):
    command = ["ns", str(SCRIPT)]
    for name, value in settings.items():
        command += [f"-{name}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def late_share(tau, interval_ms):
    """Packets at R2 that come after one sent later, in per cent of one Reno run's."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "r2.tr"
        ns2(agent="Reno", tau=tau, interval=interval_ms / 1000, seed=1, trace=trace)
        late = packets = 0
        highest = -1
        with trace.open() as lines:
            for line in lines:
                if line.startswith("+"):
                    # Packets in the order in which they were sent: ns-2 numbers them.
                    number = int(line.split()[11])
                    packets += 1
                    late += number < highest
                    highest = max(highest, number)
    return round(100 * late / packets, 2)


def estimate(values):
    half = STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return {"mean": round(statistics.mean(values), 5), "ci95": round(half, 5)}


def point(runs):
    rows = {name: [run[name] for run in runs] for name in runs[0]}
    return {"goodput_mbit_s": estimate(rows["goodput_mbit_s"]),
            "timeouts": estimate(rows["timeouts"]),
            "retransmitted": estimate(rows["retransmitted"]),
            "window_cuts": estimate(rows["window_cuts"]),
            "each": rows["goodput_mbit_s"]}


def version():
    query = ["dpkg-query", "-W", "-f", "${Version}", "ns2"]
    if shutil.which("dpkg-query") is None:
        return "unknown"
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or "unknown"


def main():
    if shutil.which("ns") is None:
        sys.exit("ns-2 is missing: apt-get install ns2")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    jobs = parser.parse_args().jobs
    plan = [(name, agent, dupthresh, interval, tau, seed)
            for name, agent, dupthresh, seeds in SENDERS
            for interval in INTERVALS_MS for tau in TAUS for seed in range(1, seeds + 1)]

    def one(job):
        _, agent, dupthresh, interval, tau, seed = job
        return ns2(agent=agent, dupthresh=dupthresh, interval=interval / 1000, tau=tau, seed=seed)

    found = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for job, run in zip(plan, pool.map(one, plan)):
            found[job[0], job[3], job[4]].append(run)
    senders = []
    for name, agent, dupthresh, seeds in SENDERS:
        curves = []
        for interval in INTERVALS_MS:
            points = [{"tau": tau, **point(found[name, interval, tau])} for tau in TAUS]
            curves.append({"interval_ms": interval, "points": points})
            line = " ".join(f"{p['goodput_mbit_s']['mean']:.3f}" for p in points)
            print(f"{name:12} {interval:3} ms  {line}")
        senders.append({"name": name, "agent": agent, "dupthresh": dupthresh, "seeds": seeds,
                        "curves": curves})
    late = [{"interval_ms": interval,
             "late_percent": [{"tau": tau, "of_reno": late_share(tau, interval)} for tau in TAUS]}
            for interval in INTERVALS_MS]
    result = {
        "what": "TCP over a path whose delay is drawn anew at intervals, in ns-2: goodput in "
                "Mbit/s of payload, means and 95 % intervals over seeds",
        "set_up": {"payload_bytes": 1500, "header_bytes": 40, "queue_packets": 400,
                   "window_packets": 500, "loss": 0.001, "start_s": 10, "stop_s": 1010,
                   "delay_mean_ms": "50 + 200 tau", "delay_deviation_ms": "200 tau / 3",
                   "delay_floor_ms": 1},
        "command": "python3 papers/dad-sd/ns2/band.py",
        "version": f"ns2 {version()}",
        "senders": senders,
        "late": late,
    }
    (HERE / "band.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
