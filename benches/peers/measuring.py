"""How a cost is measured: CPU time (user and system) and peak memory of whole processes.

A cost is that of a run less that of the same command for almost no simulated time, which builds everything and
simulates nothing. The kernel counts CPU time in ticks and starts up with caches cold, so that runs shorter than
`TURN` are made several times in a row.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

# CPU seconds of a turn at least; and what a job with two turns may have spent before it sits the rest out.
TURN = 1.0
ENOUGH = 30


def output(command):
    """What `command` prints; ends the program where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {done.stderr.strip()}")
    return done.stdout


def usage(command, stdout=subprocess.DEVNULL):
    """CPU seconds and peak memory in MB of one run of `command`."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=stdout, stderr=said)
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            sys.exit(f"{' '.join(map(str, command))}\nfailed: {said.read().decode(errors='replace').strip()}")
    return spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1e3


def counted(command):
    """What `command` prints of what it counts, as JSON, and its `usage`."""
    with tempfile.TemporaryFile(mode="w+") as printed:
        spent = usage(command, printed)
        printed.seek(0)
        text = printed.read()
    # ns-2's copy of Linux also says, in between, which congestion control it has loaded.
    found = re.search(r'\{[^{}]*"packets"[^{}]*\}', text)
    if found is None:
        sys.exit(f"{' '.join(command)}\nprinted no JSON with `packets`, but: {text[:200]}")
    return json.loads(found[0]), spent


class Cost:
    """What `long` costs more than `short`, per packet, in several turns."""

    def __init__(self, long, short, packets, known=(0.0, 0.0)):
        """`known` is the usage of a run like `long` that there was already; a very long one is not made again."""
        self.long, self.short, self.packets = long, short, packets
        self.turns = []
        seconds, self.memory_mb = known
        if seconds > 2 * ENOUGH:
            self.in_a_row = 1
            self.add(seconds - usage(short)[0])
            return
        first = self.difference()
        self.in_a_row = max(1, round(TURN / max(first, TURN / 20)))
        if self.in_a_row == 1:
            self.add(first)

    def measure(self):
        """One turn more, if another is worth its time."""
        if len(self.turns) >= 2 and sum(self.turns) * self.packets > ENOUGH * 1e9:
            return
        if self.turns and self.turns[0] * self.packets > 2 * ENOUGH * 1e9:
            return
        self.add(sum(self.difference() for _ in range(self.in_a_row)) / self.in_a_row)

    def add(self, seconds):
        self.turns.append(seconds * 1e9 / self.packets)

    def difference(self):
        seconds, memory = usage(self.long)
        self.memory_mb = max(self.memory_mb, memory)
        return seconds - usage(self.short)[0]

    @property
    def ns(self):
        """Nanoseconds of CPU time per packet: the median of the turns."""
        return statistics.median(self.turns)

    def figures(self):
        """What a table and JSON show of it."""
        return {
            "cpu_ns_per_packet": round(self.ns, 1),
            "cpu_ns_per_packet_lowest": round(min(self.turns), 1),
            "cpu_ns_per_packet_highest": round(max(self.turns), 1),
            "turns": len(self.turns),
            "packets": self.packets,
            "memory_peak_mb": round(self.memory_mb, 1),
            # A process begins as a copy of this one, whose memory counts as a peak of its own.
            "memory_at_most": self.memory_mb <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        }


def in_turn(costs, turns):
    """Measures all `costs` in turn, so that a busy machine troubles all alike."""
    for _ in range(turns):
        for cost in costs:
            if len(cost.turns) < turns:
                cost.measure()
