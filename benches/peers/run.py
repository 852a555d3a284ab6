#!/usr/bin/env python3
"""What one data packet costs in ns-2, ns-3 and Ackord: the same dumbbell in all three.

CPU time (user and system) of the whole process for 20 simulated seconds, less that of the same
command for a thousandth of a second, which builds everything and simulates nothing; divided by the
data packets that left the bottleneck. Repeated in turn, so that a busy machine troubles all
alike; the median counts. Nothing is traced. README.md beside this file says what is alike and
what is not.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SECONDS = 20
NOTHING = 0.001
REPEATS = {1: 7, 10: 7, 100: 5}
# The kernel counts CPU time in ticks and starts up with caches cold: a run shorter than this (CPU
# seconds) is made so many times in a row that a turn takes as long.
TURN = 1.0
# Short runs scatter, long ones do not: a job that has had two turns and this many CPU seconds sits
# the rest out.
ENOUGH = 30
NS3_LIBRARIES = ["applications", "core", "internet", "network", "nix-vector-routing",
                 "point-to-point", "traffic-control"]
# At most this share of the peer's cost, with 10 flows or more.
GOALS = {"ns-2": 1 / 2, "ns-3": 1 / 20}
# Runs count as the same work if their packets over the bottleneck differ by less than this.
SAME_WORK = 0.10


class Job:
    """One simulator on one topology with one number of flows."""

    def __init__(self, simulator, topology, flows, command, counted):
        self.simulator, self.topology, self.flows = simulator, topology, flows
        self.command = command  # seconds -> the command line to be timed
        self.counts = json.loads(output(counted))
        self.costs = []
        first = self.difference()
        self.in_a_row = max(1, round(TURN / max(first, TURN / 20)))
        if self.in_a_row == 1:
            self.add(first)

    def measure(self):
        if len(self.costs) >= 2 and sum(self.costs) * self.counts["packets"] > ENOUGH * 1e9:
            return
        self.add(sum(self.difference() for _ in range(self.in_a_row)) / self.in_a_row)

    def add(self, spent):
        self.costs.append(spent * 1e9 / self.counts["packets"])

    def difference(self):
        return cpu_seconds(self.command(SECONDS)) - cpu_seconds(self.command(NOTHING))

    @property
    def cost(self):
        return statistics.median(self.costs)


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {done.stderr.strip()}")
    return done.stdout


def cpu_seconds(command):
    """User and system time of one run of `command`."""
    pid = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(pid.pid, 0)
    pid.returncode = os.waitstatus_to_exitcode(status)
    if pid.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime


def ns2_job(topology, flows):
    """ns-2 with whichever of its two good event queues is quicker on this topology."""
    def command(seconds, purpose="timed", queue="Calendar"):
        return ["ns", str(HERE / "dumbbell.tcl"), str(flows), topology, str(seconds), purpose,
                queue]
    cost = {queue: cpu_seconds(command(SECONDS, queue=queue)) for queue in ("Calendar", "Splay")}
    best = min(cost, key=cost.get)
    return Job("ns-2", topology, flows, lambda seconds: command(seconds, queue=best),
               command(SECONDS, "counted", best))


def ns3_job(program, flows):
    def command(seconds, counted="false"):
        return [str(program), f"--flows={flows}", f"--seconds={seconds}", f"--counted={counted}"]
    return Job("ns-3", "leaf", flows, command, command(SECONDS, "true"))


def ackord_job(program, topology, flows):
    def command(seconds):
        return [str(program), "bench", "dumbbell", "--flows", str(flows), "--topology", topology,
                "--duration", f"{seconds} s", "--json", "-"]
    return Job("ackord", topology, flows, command, command(SECONDS))


def build_ns3():
    """Compiles our ns-3 program, optimised, against Debian's shared libraries."""
    program = TARGET / "bench-peers" / "dumbbell"
    source = HERE / "dumbbell.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        # Not through pkg-config: Debian's files for ns-3 name development packages it lacks.
        output(["g++", "-std=c++17", "-O3", "-DNDEBUG", "-w", str(source), "-o", str(program)]
               + [f"-lns3-{library}" for library in NS3_LIBRARIES])
    return program


def build_ackord():
    print("building the dist profile ...", flush=True)
    subprocess.run(["cargo", "build", "--quiet", "--profile", "dist", "-p", "ackord-cli"],
                   cwd=ROOT, check=True)
    return TARGET / "dist" / "ackord"


def jobs_for(flows, peers_only, ns3_program, ackord_program):
    jobs = [ns2_job("leaf", flows), ns2_job("host", flows), ns3_job(ns3_program, flows)]
    if not peers_only:
        jobs += [ackord_job(ackord_program, topology, flows) for topology in ("leaf", "host")]
    return jobs


def row(job, jobs):
    ackord = next((j for j in jobs if (j.simulator, j.topology) == ("ackord", job.topology)), None)
    result = {
        "simulator": job.simulator, "topology": job.topology, "flows": job.flows,
        "cpu_ns_per_packet": round(job.cost, 1),
        "cpu_ns_per_packet_lowest": round(min(job.costs), 1),
        "cpu_ns_per_packet_highest": round(max(job.costs), 1),
        "repeats": len(job.costs), **{k: job.counts[k] for k in ("packets", "utilisation")},
        "command": " ".join(pathlib.Path(word).name if word.startswith("/") else word
                            for word in job.command(SECONDS)),
        "ackord_ratio": None, "times_as_fast": None, "same_work": None, "goal_met": None,
    }
    if ackord is not None:
        ratio = ackord.cost / job.cost
        packets = [ackord.counts["packets"], job.counts["packets"]]
        result["ackord_ratio"] = round(ratio, 4)
        result["times_as_fast"] = round(1 / ratio, 2)
        result["same_work"] = max(packets) <= (1 + SAME_WORK) * min(packets)
        if job.simulator in GOALS and job.flows >= 10:
            result["goal_met"] = ratio <= GOALS[job.simulator]
    return result


def show(rows):
    print(f"\n{'simulator':10} {'topology':9} {'flows':>5} {'packets':>9} {'link use':>9} "
          f"{'CPU ns/packet':>14} {'(lowest-highest)':>19} {'Ackord takes':>13}  goal")
    for r in rows:
        spread = f"({r['cpu_ns_per_packet_lowest']:.0f}-{r['cpu_ns_per_packet_highest']:.0f})"
        share = "" if r["ackord_ratio"] is None or r["simulator"] == "ackord" \
            else f"1/{r['times_as_fast']:.1f}"
        goal = {None: "", True: "met", False: "MISSED"}[r["goal_met"]]
        if r["same_work"] is False:
            goal += "  NOT THE SAME WORK"
        print(f"{r['simulator']:10} {r['topology']:9} {r['flows']:5} {r['packets']:9} "
              f"{100 * r['utilisation']:7.1f} % {r['cpu_ns_per_packet']:14.0f} {spread:>19} "
              f"{share:>13}  {goal}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--peers-only", action="store_true", help="leave Ackord out")
    arguments.add_argument("--flows", type=int, nargs="+", default=sorted(REPEATS))
    options = arguments.parse_args()
    for program, package in (("ns", "ns2"), ("g++", "g++")):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: scripts/install.sh bench-peers ({package})")
    ns3_program = build_ns3()
    ackord_program = None if options.peers_only else build_ackord()

    rows = []
    for flows in options.flows:
        print(f"{flows} flows: counting packets ...", flush=True)
        jobs = jobs_for(flows, options.peers_only, ns3_program, ackord_program)
        repeats = REPEATS.get(flows, 3)
        for turn in range(repeats):
            print(f"{flows} flows: turn {turn + 1} of {repeats}", flush=True)
            for job in jobs:
                job.measure()
        rows += [row(job, jobs) for job in jobs]
    show(rows)
    result = {
        "what": "CPU nanoseconds (user + system) per data packet over the bottleneck of a "
                "dumbbell: 10 Mbit/s per flow, 40 ms round trip, drop-tail of one "
                "bandwidth-delay product, NewReno, one ACK per segment, random starts within a "
                "second, no traces",
        "simulated_s": SECONDS,
        "ackord_ratio": "cost in Ackord on the same topology / cost in that simulator",
        "goals": GOALS,
        "rows": rows,
    }
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "bench-peers.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwritten: {os.path.relpath(TARGET / 'bench-peers.json', ROOT)}")


if __name__ == "__main__":
    main()
