#!/usr/bin/env python3
"""Compares the diagnosis with captures of policers and shapers whose rate and burst are in the file name.

Usage: benches/diagnose/policing.py [--program ackord] [--json FILE] FOLDER [VALIDATION.csv.gz]

The captures are those of the validation of Flach et al., "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM
2016), folder data/validation of their repository USC-NSL/policing-detection: a router's policer (PCIR bit/s, PBC
bytes) or shaper (SCIR, SBC) on transfers of five chunks of 2 MB with a round trip of 100 ms, captured at the server.
With VALIDATION.csv.gz, their detector's verdicts on the same captures stand beside ours: the files in
which it marks at least one of the chunks.
"""

import argparse
import collections
import concurrent.futures
import csv
import gzip
import json
import os
import statistics
import subprocess
import sys

IDLE = ("client-idle", "server-idle", "set-up")
LEAST_BYTES = 1_000_000
# The policers of the files with two clients are shared by them, and by cross traffic.
GROUPS = (("policer, alone", lambda row: row["policed"] and not row["both"]),
          ("policer, shared", lambda row: row["policed"] and row["both"]),
          ("shaper", lambda row: not row["policed"] and not row["loss"]),
          ("shaper, random loss", lambda row: not row["policed"] and row["loss"]))


def truth(name):
    """Returns the parameters in the file's name."""
    fields = dict(part.split("=", 1) for part in name.split(".pcap")[0].split("-") if "=" in part)
    policed = "PCIR" in fields
    burst = fields.get("PBC" if policed else "SBC")
    return {"file": name, "policed": policed, "rate": float(fields["PCIR" if policed else "SCIR"]),
            "burst": burst and float(burst), "loss": float(fields["LOSS"].rstrip("%")), "cross": "XT" in fields,
            "both": "CP2" in fields}


def of_file(path, program):
    """Diagnoses one capture; returns a row for each connection that moved the chunks."""
    done = subprocess.run([program, "diagnose", path, "--no-predict", "--json", "-"], capture_output=True)
    if done.returncode:
        return [{**truth(os.path.basename(path)), "error": done.stderr.decode()[-200:]}]
    rows = []
    for one in json.loads(done.stdout)["connections"]:
        if one["bytes"] < LEAST_BYTES:
            continue
        seconds = {cause["cause"]: cause["seconds"] for cause in one["causes"]}
        working = {cause: took for cause, took in seconds.items() if cause not in IDLE}
        policer = one["path"].get("policer", {})
        rows.append({**truth(os.path.basename(path)), "client": one["client"], "bytes": one["bytes"],
                     "duration_s": one["duration_s"], "retransmitted": one["retransmitted_bytes"] / one["bytes"],
                     "top": max(working, key=working.get) if working else None, "seconds": seconds,
                     "said_rate": policer.get("rate_bit_s"),
                     "said_burst": policer.get("burst_bytes"),
                     "achieved": one["path"]["rate_bit_s"]})
    return rows


def of_detector(path):
    """Returns for each capture whether the study's detector marked any of its chunks, and how many it has."""
    chunks = collections.defaultdict(list)
    with gzip.open(path, "rt") as file:
        for row in csv.reader(file):
            chunks[row[0].rsplit(".filtered", 1)[0]].append(row[6].strip() == "True")
    return {name: (sum(marked), len(marked)) for name, marked in chunks.items()}


def summarise(rows, detector):
    """Prints the comparison."""
    print(f"{'':28} {'':>6} {'':>7} {'on top:':>8} {'':>7} {'':>11} {'':>6} {'rate':>9} {'within':>7} {'burst':>9} "
          f"{'detector':>9}")
    print(f"{'truth':28} {'conn.':>6} {'lost':>7} {'policer':>8} {'shaper':>7} {'random loss':>11} {'other':>6} "
          f"{'/ truth':>9} {'10 %':>7} {'/ truth':>9} {'marks':>9}")
    for name, belongs in GROUPS:
        for burst in sorted({row["burst"] for row in rows if belongs(row)}, key=lambda size: size or 0):
            group = [row for row in rows if belongs(row) and row["burst"] == burst]
            line(f"{name}, {burst / 1e3:.0f} kB" if burst else f"{name}, ? kB", group, detector)
        line(f"{name}, all", [row for row in rows if belongs(row)], detector)


def line(name, group, detector):
    """Prints one group of connections."""
    if not group:
        return
    tops = collections.Counter(row["top"] for row in group)
    found = [row for row in group if row["top"] == "policer"]
    ratios = [row["said_rate"] / row["rate"] for row in found if row["said_rate"]]
    bursts = [row["said_burst"] / row["burst"] for row in found if row["said_burst"] and row["burst"]]
    median, burst = (f"{statistics.median(values):.2f}" if values else "-" for values in (ratios, bursts))
    near = f"{sum(abs(ratio - 1) <= 0.1 for ratio in ratios)}/{len(ratios)}" if ratios else "-"
    files = {row["file"].split(".pcap")[0] for row in group} & set(detector)
    marked = f"{sum(detector[name][0] > 0 for name in files)}/{len(files)}" if files else "-"
    lost = statistics.median(row["retransmitted"] for row in group)
    other = len(group) - tops["policer"] - tops["shaper"] - tops["random-loss"]
    print(f"{name:28} {len(group):>6} {lost:>7.1%} {tops['policer']:>8} {tops['shaper']:>7} {tops['random-loss']:>11} "
          f"{other:>6} {median:>9} {near:>7} {burst:>9} {marked:>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("validation", nargs="?", help="verdicts of the study's detector")
    parser.add_argument("--program", default="ackord")
    parser.add_argument("--json", metavar="FILE", help="write a row per connection")
    options = parser.parse_args()
    paths = [os.path.join(options.folder, name) for name in sorted(os.listdir(options.folder)) if ".pcap" in name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [row for found in pool.map(lambda path: of_file(path, options.program), paths) for row in found]
    failed = [row for row in rows if "error" in row]
    rows = [row for row in rows if "error" not in row]
    print(f"{len(paths)} captures, {len(failed)} not read, {len(rows)} connections of {LEAST_BYTES / 1e6:.0f} MB or "
          "more\n")
    summarise(rows, of_detector(options.validation) if options.validation else {})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
