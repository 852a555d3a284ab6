#!/usr/bin/env python3
"""How many retransmissions tools count, beside what the sending kernel says: captures of the self-test.

Usage: benches/diagnose/retransmissions.py [NAME]...    parts of names of cases; a dozen families unless said otherwise

`tshark` counts tcp.analysis.retransmission (fast and spurious ones among them) and tcp.analysis.out_of_order, `tcptrace`
its `rexmt data pkts` and `outoforder pkts`; those that are not there are left out.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ACKORD = os.environ.get("ACKORD", os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "ackord"))
FAMILIES = ["random-loss", "burst-loss", "congestion-loss", "lost-retransmission", "reordering", "held-back", "outage",
            "spurious-delay", "ack-path"]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ours(capture, truth):
    found = json.loads(output(ACKORD, "diagnose", capture, "--no-predict", "--json", "-"))
    for one in found["connections"]:
        if one["client"] == truth["client"] and one["server"] == truth["server"]:
            return one["path"]["lost"], one["path"]["reordered"]
    return 0, 0


def ends(truth):
    client, server = (address.rsplit(":", 1) for address in (truth["client"], truth["server"]))
    return (server, client) if truth["sends"] == "server" else (client, server)


def by_tshark(capture, truth):
    (src, sport), (dst, dport) = ends(truth)
    mine = f"ip.src=={src} && tcp.srcport=={sport} && ip.dst=={dst} && tcp.dstport=={dport}"
    fields = output("tshark", "-r", capture, "-Y", mine, "-T", "fields", "-e", "tcp.analysis.retransmission",
                    "-e", "tcp.analysis.out_of_order").split("\n")
    rows = [line.split("\t") for line in fields if "\t" in line]
    return sum(bool(row[0]) for row in rows), sum(bool(row[1]) for row in rows)


def by_tcptrace(capture, truth, folder):
    (src, sport), (dst, dport) = ends(truth)
    classic = os.path.join(folder, "classic.pcap")
    output("editcap", "-F", "pcap", capture, classic)
    lines = output("tcptrace", "-n", "-l", "--csv", classic).split("\n")
    header = next((line.split(",") for line in lines if line.startswith("conn_#")), [])
    for line in lines:
        row = dict(zip(header, (cell.strip() for cell in line.split(","))))
        a, b = ((row.get(f"host_{end}"), row.get(f"port_{end}")) for end in "ab")
        if {a, b} == {(src, sport), (dst, dport)}:
            way = "a2b" if a == (src, sport) else "b2a"
            return int(row[f"rexmt_data_pkts_{way}"]), int(row[f"outoforder_pkts_{way}"])
    return 0, 0


def main():
    wanted = sys.argv[1:] or FAMILIES
    with tempfile.TemporaryDirectory() as folder:
        only = [part for name in wanted for part in ("--only", name)]
        output(ACKORD, "diagnose", "--self-test", *only, "--out", folder)
        cases = os.path.join(folder, "cases")
        tools = {"ackord": lambda capture, truth: ours(capture, truth)}
        if shutil.which("tshark"):
            tools["tshark"] = by_tshark
        if shutil.which("tcptrace") and shutil.which("editcap"):
            tools["tcptrace"] = lambda capture, truth: by_tcptrace(capture, truth, folder)
        rows = collections.defaultdict(lambda: collections.Counter())
        for case in sorted(os.listdir(cases)):
            truth = json.load(open(os.path.join(cases, case, "truth.json")))
            kernel = truth["kernels"][1 if truth["sends"] == "server" else 0]
            if not kernel or "+" in case:
                continue
            for place in ("server", "router", "client"):
                row = rows[truth["family"], place]
                row["captures"] += 1
                row["kernel"] += kernel["retransmitted"]
                for name, count in tools.items():
                    retransmitted, overtaken = count(os.path.join(cases, case, f"{place}.pcapng"), truth)
                    row[name, "retransmitted"] += retransmitted
                    row[name, "overtaken"] += overtaken
                    row[name, "wrong"] += abs(retransmitted - kernel["retransmitted"])
    print("| family | capture at | sent again by the kernel | " +
          " | ".join(f"{name}: retransmitted | out of order" for name in tools) + " |")
    print("| --- | --- |" + " ---: |" * (1 + 2 * len(tools)))
    for (family, place), row in rows.items():
        counts = " | ".join(f"{row[name, 'retransmitted']} | {row[name, 'overtaken']}" for name in tools)
        print(f"| {family} | {place} | {row['kernel']} | {counts} |")
    total = sum(row["kernel"] for row in rows.values())
    for name in tools:
        wrong = sum(row[name, "wrong"] for row in rows.values())
        print(f"\n{name}: {100 * wrong / total:.1f} % too many or too few, capture by capture")


if __name__ == "__main__":
    main()
