"""What a packet costs in Ackord alone: with very many flows, with everything traced, with a large window in trouble."""

import json
import pathlib
import tempfile

from measuring import Cost, in_turn, output

# Flows, and the simulated seconds: all flows have started after the first.
SCALE = {100: 2, 1_000: 2, 10_000: 2, 100_000: 1}
FLAT = 1.5  # cost with 10,000 flows against that with 100, at most
WINDOW = 10_000
# A path of 1 Gbit/s that holds a window of so many packets of 1500 bytes.
LARGE_WINDOW = ["links.path.rate=1 Gbit/s", f"links.path.delay={WINDOW * 12 // 2} us",
                f"links.path.queue.limit={2 * WINDOW} packets", "tcp.congestion=bbr",
                "tcp.send_buffer=100 MB", "tcp.receive_buffer=100 MB"]
TROUBLES = {
    "clean": [],
    "1 % lost": ["links.path.loss={ kind = 'random', per_packet = '1 %' }"],
    "1 in 10 held back by 5 ms": ["links.path.jitter={ kind = 'held-back', share = '10 %', by = '5 ms' }"],
}
TROUBLE_AT_MOST = 2.0
TRACE_AT_MOST, REPORT_AT_MOST = 2.0, 1.3


def bench(program, flows, topology, seconds, tcp="newreno"):
    """The untraced dumbbell."""
    return [str(program), "bench", "dumbbell", "--flows", str(flows), "--topology", topology, "--tcp", tcp,
            "--duration", f"{seconds} s"]


def scale(program, turns, quick):
    """One pair of hosts with more and more flows."""
    costs, rows = {}, []
    for flows, seconds in SCALE.items():
        if quick and flows > 10_000:
            continue
        print(f"{flows} flows ...", flush=True)
        counts = json.loads(output(bench(program, flows, "host", seconds)))
        costs[flows] = Cost(bench(program, flows, "host", seconds), bench(program, flows, "host", 0.001),
                            counts["packets"])
        in_turn([costs[flows]], turns)
        ratio = costs[flows].ns / costs[100].ns
        rows.append({"flows": flows, "simulated_s": seconds, "utilisation": counts["utilisation"],
                     **costs[flows].figures(), "times_100_flows": round(ratio, 2),
                     "goal_met": ratio <= FLAT if flows == 10_000 else None})
    return rows


def report_and_trace(program, turns, quick):
    """Ten flows untraced, with the standard report, and with every packet in captures at both ends of the bottleneck."""
    long, captured = ("4 s", "2 s") if quick else ("20 s", "5 s")
    # All flows have started by then, and none may start after a run's end.
    short = "1001 ms"
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        file = pathlib.Path(folder) / "dumbbell.toml"
        output(bench(program, 10, "host", 1) + ["--scenario", str(file)])
        pcap = ["--pcap", str(pathlib.Path(folder) / "captures"), "--set", 'record.captures=["bottleneck"]']

        def untraced(duration):
            return [*bench(program, 10, "host", 1)[:-1], duration]

        def packets(duration):
            return json.loads(output(untraced(duration)))["packets"]

        def run(duration, *more):
            return [str(program), "run", str(file), "--set", f"duration={duration}", *more]
        before = packets(short)
        beginnings = [*pcap, "--snaplen", "128"]
        costs = {
            "untraced": Cost(untraced(long), untraced(short), packets(long) - before),
            "standard report": Cost(run(long), run(short), packets(long) - before),
            "captures of every packet": Cost(run(captured, *pcap), run(short, *pcap), packets(captured) - before),
            "captures of their first 128 bytes": Cost(run(captured, *beginnings), run(short, *beginnings),
                                                      packets(captured) - before),
        }
        in_turn(list(costs.values()), turns)
    limits = {"standard report": REPORT_AT_MOST, "captures of every packet": TRACE_AT_MOST,
              "captures of their first 128 bytes": TRACE_AT_MOST}
    return factors(costs, "untraced", limits)


def large_window(program, turns, quick):
    """One BBR flow whose window holds ten thousand segments: clean, with losses, with reordering."""
    rows = []
    for profile in ("rfc", "linux"):
        costs = {}
        for trouble, keys in TROUBLES.items():
            def run(duration, keys=keys, profile=profile):
                words = [f"tcp.profile={profile}", *LARGE_WINDOW, *keys, f"duration={duration}"]
                sets = [word for key in words for word in ("--set", key)]
                return [str(program), "run", "one-flow", *sets, "--json", "-"]
            seconds = "6 s" if quick else "15 s"
            flow = json.loads(output(run(seconds)))["flows"][0]
            costs[trouble] = Cost(run(seconds), run("1 ms"), flow["segments_sent"])
            costs[trouble].window = round(flow["cwnd_mean_bytes"] / 1_460)
        in_turn(list(costs.values()), turns)
        limits = {trouble: TROUBLE_AT_MOST for trouble, keys in TROUBLES.items() if keys}
        for row, cost in zip(factors(costs, "clean", limits), costs.values(), strict=True):
            # A window that has collapsed is another question.
            if cost.window < WINDOW / 2:
                row["goal_met"] = None
            rows.append({"profile": profile, "mean_window_segments": cost.window, **row})
    return rows


def factors(costs, plain, limits):
    """What each costs against the plain one, and whether that is within its limit."""
    return [{"what": what, **cost.figures(), "factor": round(cost.ns / costs[plain].ns, 2),
             "goal_met": cost.ns / costs[plain].ns <= limits[what] if what in limits else None}
            for what, cost in costs.items()]
