#!/usr/bin/env python3
"""What middle boxes are worth to a stock kernel's sender, in simulated time.

Runs papers/proxy-tcp/stock-linux.toml with a kernel at both ends (`ackord run --kernel all`), every box, kind of
sender, length of the outage and phase of its beginning, and prints what was delivered, in MB, as JSON:

    scripts/proxy-kernel.py --ackord target/release/ackord > papers/proxy-tcp/kernel/simulated.json

160 runs of ten simulated seconds: some minutes on two processors.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "papers/proxy-tcp/stock-linux.toml"
SENDERS = {
    "cubic": [],
    "reno": ["tcp.congestion=reno"],
    "no-timestamps": ["tcp.timestamps=off"],
    "no-sack": ["tcp.sack=off"],
}
BOXES = {
    "none": "none",
    "snoop": "snoop",
    "paper": '{ kind = "proxy-tcp", mode = "paper" }',
    "practical": "proxy-tcp",
}
OUTAGES_S = [1.5, 2.5]
# Phases of crates/papers/src/proxy_tcp/stock.rs, which compares one by one.
FROM_S, PHASE_S, PHASES = 3.0, 0.0012, [0, 2, 4, 6, 8]


def delivered_mb(ackord, kernel, sender, box, outage_s, phase):
    outage = f'{{ kind = "schedule", from = ["{(FROM_S + PHASE_S * phase) * 1e6:.0f} us"], for = ["{outage_s} s"] }}'
    changes = SENDERS[sender] + [f"proxies.base.proxy={BOXES[box]}", f"links.air.outage={outage}"]
    command = [ackord, "run", str(FILE), "--kernel", f"all={kernel}", "--json", "-"]
    for change in changes:
        command += ["--set", change]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["flows"][0]["bytes_delivered"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ackord", default="ackord", help="the program (ackord)")
    parser.add_argument("--kernel", default="6.12", help="a kernel that is built (6.12)")
    parser.add_argument("--parallel", type=int, default=2, help="runs side by side (2)")
    options = parser.parse_args()
    setups = [(s, b, o) for s in SENDERS for b in BOXES for o in OUTAGES_S]
    with ThreadPoolExecutor(options.parallel) as pool:
        runs = {
            setup: [pool.submit(delivered_mb, options.ackord, options.kernel, *setup, n) for n in PHASES]
            for setup in setups
        }
        lines = []
        for (sender, box, outage_s), each in runs.items():
            values = [round(run.result(), 4) for run in each]
            lines.append(json.dumps({"sender": sender, "box": box, "outage_s": outage_s, "mbytes": values}))
            print(f"{len(lines)} of {len(setups)}", file=sys.stderr)
    print(f'{{"kernel": "Linux {options.kernel}", "phases": {PHASES}, "setups": [\n' + ",\n".join(lines) + "\n]}")


if __name__ == "__main__":
    main()
