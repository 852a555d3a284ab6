#!/usr/bin/env python3
"""What one data packet costs in ns-2, ns-3 and Ackord: the same dumbbell in all three, with peak memory.

CPU time (user and system) of the whole process for some simulated seconds, less that of the same command for a
thousandth of a second, which builds everything and simulates nothing; divided by the data packets that left the
bottleneck. Repeated in turn, so that a busy machine troubles all alike; the median counts. Nothing is traced.
Then what Ackord alone costs with very many flows, with everything traced, and with a large window in trouble.
README.md beside this file says what is alike and what is not.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import measuring
import ours
from measuring import Cost, in_turn, output, usage

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# Simulated seconds and turns by number of flows.
SECONDS = {1: 20, 10: 20, 100: 5, 1_000: 1.5}
TURNS = {1: 7, 10: 5, 100: 3, 1_000: 2}
NOTHING = 0.001
STACKS = ["newreno", "cubic"]
# What takes longer than the rest together: ns-2 computes routes between all pairs of nodes, and a packet costs ns-3
# a quarter of a millisecond with a thousand flows.
LEFT_OUT = {("ns-2", "leaf", "newreno", 1_000): "its routes between 2,002 nodes do not finish",
            ("ns-2", "leaf", "cubic", 1_000): "its routes between 2,002 nodes do not finish",
            ("ns-3", "leaf", "cubic", 1_000): "minutes; NewReno stands for it"}
NS3_LIBRARIES = ["applications", "core", "internet", "network", "nix-vector-routing",
                 "point-to-point", "traffic-control"]
# Ackord's cost at most, as a share of the peer's: with one flow, with more.
GOALS = {"ns-2": (1 / 3, 1 / 5), "ns-3": (1 / 100, 1 / 200)}
# Runs count as the same work if their packets differ by less than this share; a difference in use of the link is
# shown from this one on.
SAME_WORK, SAME_USE = 0.10, 0.01


class Job:
    """One simulator on one topology with one stack and one number of flows."""

    def __init__(self, simulator, topology, stack, flows, command, counted):
        """`command` makes a command line from seconds; `counted` is one that prints what it counts."""
        self.simulator, self.topology, self.stack, self.flows = simulator, topology, stack, flows
        self.command = command
        self.counts, spent = measuring.counted(counted)
        seconds = SECONDS.get(flows, 2)
        self.cost = Cost(command(seconds), command(NOTHING), self.counts["packets"], spent)


def ns2_job(topology, stack, flows):
    """ns-2 with whichever of its two good event queues is quicker on this topology."""
    seconds = SECONDS.get(flows, 2)

    def command(seconds, purpose="timed", queue="Calendar"):
        return ["ns", str(HERE / "dumbbell.tcl"), str(flows), topology, str(seconds), purpose, queue, stack]
    cost = {queue: usage(command(seconds, queue=queue))[0] for queue in ("Calendar", "Splay")}
    best = min(cost, key=cost.get)
    return Job("ns-2", topology, stack, flows, lambda seconds: command(seconds, queue=best),
               command(seconds, "counted", best))


def ns3_job(program, stack, flows):
    def command(seconds, counted="false"):
        return [str(program), f"--flows={flows}", f"--seconds={seconds}", f"--counted={counted}", f"--stack={stack}"]
    return Job("ns-3", "leaf", stack, flows, command, command(SECONDS.get(flows, 2), "true"))


def other_job(name, template, flows):
    """A simulator of the user's own: a command line with {flows}, {seconds} and {purpose} in it."""
    def command(seconds, purpose="timed"):
        return [word.format(flows=flows, seconds=seconds, purpose=purpose) for word in shlex.split(template)]
    return Job(name, "leaf", "newreno", flows, command, command(SECONDS.get(flows, 2), "counted"))


def ackord_job(program, topology, stack, flows):
    def command(seconds):
        return ours.bench(program, flows, topology, seconds, stack)
    return Job("ackord", topology, stack, flows, command, command(SECONDS.get(flows, 2)))


def build_ns3():
    """Compiles our ns-3 program, optimised, against Debian's shared libraries."""
    program = TARGET / "bench-peers" / "dumbbell"
    source = HERE / "dumbbell.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        print("building the ns-3 program ...", flush=True)
        program.parent.mkdir(parents=True, exist_ok=True)
        # Not through pkg-config: Debian's files for ns-3 name development packages it lacks.
        output(["g++", "-std=c++17", "-O3", "-DNDEBUG", "-w", str(source), "-o", str(program)]
               + [f"-lns3-{library}" for library in NS3_LIBRARIES])
    return program


def build_ackord(profile):
    print(f"building the {profile} profile ...", flush=True)
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, "-p", "ackord-cli"],
                   cwd=ROOT, check=True)
    return TARGET / profile / "ackord"


def jobs_for(flows, stack, options, ns3_program, ackord_program):
    """The peers and what each of them is compared with."""
    wanted = [("ns-2", "leaf", lambda: ns2_job("leaf", stack, flows)),
              ("ns-2", "host", lambda: ns2_job("host", stack, flows)),
              ("ns-3", "leaf", lambda: ns3_job(ns3_program, stack, flows))]
    jobs = []
    for simulator, topology, make in wanted:
        why = LEFT_OUT.get((simulator, topology, stack, flows))
        if why:
            print(f"{simulator}, {topology}, {stack}, {flows} flows is left out: {why}", flush=True)
        else:
            jobs.append(make())
    if stack == "newreno":
        jobs += [other_job(*peer.split("=", 1), flows) for peer in options.peer]
    if not options.peers_only:
        # ns-3 has SACK on with NewReno too.
        stacks = {"newreno": ["newreno", "reno-sack"]}.get(stack, [stack])
        jobs += [ackord_job(ackord_program, topology, ours_stack, flows)
                 for topology in ("leaf", "host") for ours_stack in stacks
                 if (topology, ours_stack) != ("host", "reno-sack")]
    return jobs


def row(job, jobs):
    like = "reno-sack" if (job.simulator, job.stack) == ("ns-3", "newreno") else job.stack
    ackord = next((j for j in jobs if (j.simulator, j.topology, j.stack) == ("ackord", job.topology, like)), None)
    result = {
        "simulator": job.simulator, "topology": job.topology, "stack": job.stack, "flows": job.flows,
        "simulated_s": SECONDS.get(job.flows, 2), **job.cost.figures(), "utilisation": job.counts["utilisation"],
        "command": " ".join(pathlib.Path(word).name if word.startswith("/") else word for word in job.cost.long),
        "ackord_ratio": None, "times_as_fast": None, "same_work": None, "use_differs": None, "goal_met": None,
    }
    if ackord is not None and job.simulator != "ackord":
        ratio = ackord.cost.ns / job.cost.ns
        packets = [ackord.cost.packets, job.cost.packets]
        result["ackord_ratio"] = round(ratio, 4)
        result["times_as_fast"] = round(1 / ratio, 2)
        result["same_work"] = max(packets) <= (1 + SAME_WORK) * min(packets)
        result["use_differs"] = round(ackord.counts["utilisation"] - job.counts["utilisation"], 4)
        # ns-2's leaf topology is dearer for it than one pair of hosts: the harder goal counts.
        if job.simulator in GOALS and (job.simulator, job.topology) != ("ns-2", "leaf"):
            result["goal_met"] = ratio <= GOALS[job.simulator][job.flows > 1]
    return result


def memory(figures):
    return f"{'<= ' if figures['memory_at_most'] else ''}{figures['memory_peak_mb']:.0f}"


def show_peers(rows):
    print(f"\n{'simulator':10} {'topology':8} {'stack':9} {'flows':>5} {'packets':>9} {'link use':>8} "
          f"{'CPU ns/packet':>13} {'(lowest-highest)':>17} {'memory MB':>9} {'Ackord takes':>12}  goal")
    for r in rows:
        spread = f"({r['cpu_ns_per_packet_lowest']:.0f}-{r['cpu_ns_per_packet_highest']:.0f})"
        share = "" if r["ackord_ratio"] is None else f"1/{r['times_as_fast']:.1f}"
        goal = {None: "", True: "met", False: "MISSED"}[r["goal_met"]]
        if r["same_work"] is False:
            goal += "  NOT THE SAME WORK"
        elif r["use_differs"] and abs(r["use_differs"]) > SAME_USE:
            goal += f"  (ours uses {100 * r['use_differs']:+.1f} % of the link)"
        print(f"{r['simulator']:10} {r['topology']:8} {r['stack']:9} {r['flows']:5} {r['packets']:9} "
              f"{100 * r['utilisation']:6.1f} % {r['cpu_ns_per_packet']:13.0f} {spread:>17} "
              f"{memory(r):>9} {share:>12}  {goal}")


def show_ours(title, rows, name, factor):
    print(f"\n{title}\n{'':50} {'packets':>10} {'CPU ns/packet':>13} {'memory MB':>9} {'factor':>7}  goal")
    for r in rows:
        goal = {None: "", True: "met", False: "MISSED"}[r["goal_met"]]
        print(f"{name(r):50} {r['packets']:10} {r['cpu_ns_per_packet']:13.0f} {memory(r):>9} "
              f"{r[factor]:7.2f}  {goal}")


def compare(options, ns3_program, ackord_program):
    rows = []
    for flows in options.flows:
        for stack in STACKS:
            print(f"{flows} flows, {stack}: counting packets ...", flush=True)
            jobs = jobs_for(flows, stack, options, ns3_program, ackord_program)
            in_turn([job.cost for job in jobs], 1 if options.quick else TURNS.get(flows, 2))
            rows += [row(job, jobs) for job in jobs]
    show_peers(rows)
    return rows


def alone(options, program):
    turns = 1 if options.quick else 3
    result = {"scale": ours.scale(program, turns, options.quick)}
    show_ours("Ackord, one pair of hosts, NewReno", result["scale"],
              lambda r: f"{r['flows']} flows for {r['simulated_s']} s", "times_100_flows")
    result["report_and_trace"] = ours.report_and_trace(program, turns, options.quick)
    show_ours("Ackord, ten flows", result["report_and_trace"], lambda r: r["what"], "factor")
    result["large_window"] = ours.large_window(program, turns, options.quick)
    show_ours(f"Ackord, one BBR flow on a path of {ours.WINDOW} packets", result["large_window"],
              lambda r: f"{r['profile']}, {r['what']} (mean window {r['mean_window_segments']})", "factor")
    return result


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peers-only", action="store_true", help="leave Ackord out")
    arguments.add_argument("--ours-only", action="store_true", help="leave the comparison out")
    arguments.add_argument("--flows", type=int, nargs="+", default=sorted(SECONDS))
    arguments.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND",
                           help="another simulator: README.md says what the command gets and prints")
    arguments.add_argument("--quick", action="store_true",
                           help="short runs, once each: to see that everything works, not how fast it is")
    arguments.add_argument("--long", action="store_true",
                           help="20 simulated seconds with any number of flows: hours, nearly all of them ns-3's")
    arguments.add_argument("--profile", default="dist", help="how Ackord is built (dist)")
    arguments.add_argument("--program", type=pathlib.Path, metavar="FILE",
                           help="Ackord's program, as it is, in place of one that is built")
    arguments.add_argument("--json", type=pathlib.Path, default=TARGET / "bench-peers.json", metavar="FILE")
    options = arguments.parse_args()
    if options.program and not options.program.is_file():
        arguments.error(f"--program {options.program}: there is no such file")
    if bad := next((peer for peer in options.peer if "=" not in peer), None):
        arguments.error(f"--peer {bad}: NAME=COMMAND is expected")
    if options.long:
        SECONDS.update(dict.fromkeys(SECONDS, 20))
    if options.quick:
        SECONDS.update({1: 4, 10: 2, 100: 1.2, 1_000: 1.1})
        LEFT_OUT["ns-3", "leaf", "newreno", 1_000] = "minutes, and this is --quick"
    result = {
        "what": "CPU nanoseconds (user + system) per data packet over the bottleneck of a "
                "dumbbell: 10 Mbit/s per flow, 40 ms round trip, drop-tail of one "
                "bandwidth-delay product, one ACK per segment, random starts within a "
                "second, no traces; and peak memory (MB) of the whole process",
        "ackord_ratio": "cost in Ackord on the same topology, with SACK and timestamps where the "
                        "other has them / cost in that simulator",
        "goals": GOALS,
    }
    ackord_program = options.program.resolve() if options.program else None
    if ackord_program is None and not options.peers_only:
        ackord_program = build_ackord(options.profile)
    if not options.ours_only:
        for program, package in (("ns", "ns2"), ("g++", "g++")):
            if shutil.which(program) is None:
                sys.exit(f"{program} is missing: scripts/install.sh bench-peers ({package})")
        result["rows"] = compare(options, build_ns3(), ackord_program)
    if not options.peers_only:
        result["ackord"] = alone(options, ackord_program)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwritten: {os.path.relpath(options.json, ROOT)}")


if __name__ == "__main__":
    main()
