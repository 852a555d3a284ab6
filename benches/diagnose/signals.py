#!/usr/bin/env python3
"""Sends SIGTERM or Ctrl-C to `ackord diagnose` at random instants and measures how soon it ends.

Usage: benches/diagnose/signals.py [--program ackord] [--times 20] [--each] [--json] CAPTURE...

Each capture is diagnosed once undisturbed. Then it is interrupted `--times` times, at instants drawn from its whole
duration. With --each all captures are one call, with predictions and a new data set each time. A process that is
interrupted has to exit with 130 within 0.2 s, and what it prints with --json has to be whole.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

# Seconds that a program may take to end.
MOST = 0.2


def run(command, signal_after=None, number=signal.SIGTERM):
    """Runs `command`; returns its exit code, duration, and time from the signal to its end, and its output."""
    with tempfile.TemporaryFile() as out:
        begun = time.monotonic()
        program = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        sent = None
        if signal_after is not None:
            time.sleep(signal_after)
            sent = time.monotonic()
            program.send_signal(number)
        code = program.wait()
        ended = time.monotonic()
        out.seek(0)
        return code, ended - begun, ended - sent if sent else None, out.read()


def judge(name, make, options, rng):
    """Interrupts the command that `make` returns; prints a line, and returns the number of violations."""
    _, whole, _, _ = run(make())
    waits, late, wrong, broken, over = [], 0, 0, 0, 0
    for turn in range(options.times):
        number = signal.SIGTERM if turn % 2 == 0 else signal.SIGINT
        code, _, waited, output = run(make(), rng.uniform(options.after, max(whole, options.after)), number)
        if code == 0:
            over += 1
            continue
        waits.append(waited)
        late += waited > MOST
        wrong += code != 130
        if options.json and output:
            try:
                json.loads(output)
            except ValueError:
                broken += 1
    most = max(waits, default=0)
    print(f"{name[-60:]:60} {whole:6.2f} s  interrupted {len(waits):3}  over before {over:3}  slowest {most:6.3f} s  "
          f"late {late}  exit {wrong}  broken {broken}", flush=True)
    return late + wrong + broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", metavar="CAPTURE")
    parser.add_argument("--program", default="ackord")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--after", type=float, default=0.05, help="earliest instant of a signal, s")
    parser.add_argument("--each", action="store_true", help="one call for all captures")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    more = ["--json", "-"] if options.json else []
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.each:
            turns = iter(range(10**9))

            def make():
                out = os.path.join(folder, str(next(turns)))
                return [options.program, "diagnose", *options.captures, "--each", "--predict", "--out", out, *more]

            wrong = judge(f"{len(options.captures)} captures", make, options, rng)
        else:
            for path in options.captures:
                wrong += judge(path, lambda path=path: [options.program, "diagnose", path, *more], options, rng)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
