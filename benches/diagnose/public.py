#!/usr/bin/env python3
"""Runs `ackord diagnose` on folders of captures and checks what it answers, without knowing the truth.

Usage: benches/diagnose/public.py [--program ackord] [--json FILE] [--no-predict] FOLDER...

Every regular file in the folders is tried. Checked are exit codes, crashes and hangs; time and memory, and that
predictions stay within their bounds and have sound sentences, intervals and rates (`predictions.py`); that causes add up, intervals have no gaps, no loss is reported where none was
seen and no number exceeds what the connection contains (`claims.py`); and that the number of TCP frames is tshark's.
Captures are not part of this repository: test folders of packet tools have thousands.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import lzma
import os
import subprocess
import sys
import tempfile

import claims
import predictions

# Runs a program with limits and reports its exit code, time and peak memory. In a process of its own: the peak that
# the kernel reports for a child is at least that of the process that started it.
LAUNCHER = """
import os, resource, sys, time
out, err, address, cpu, *command = sys.argv[1:]
begun = time.monotonic()
child = os.fork()
if child == 0:
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    resource.setrlimit(resource.RLIMIT_AS, (int(address), int(address)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.execvp(command[0], command)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
"""


def run(command, options, folder):
    """Runs `command` within the limits; returns a dict with exit, seconds, cpu_s and rss_mb, and its two outputs."""
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    limits = [str(int(options.memory_mb * 1e6)), str(int(options.seconds))]
    launcher = subprocess.Popen([sys.executable, "-I", "-S", "-c", LAUNCHER, out, err, *limits, *command],
                                stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        answer = launcher.communicate(timeout=options.seconds * 2 + 10)[0].split()
        code, seconds, cpu, rss = int(answer[0]), *map(float, answer[1:])
    except subprocess.TimeoutExpired:
        os.killpg(launcher.pid, 9)
        launcher.communicate()
        code, seconds, cpu, rss = "hang", options.seconds * 2 + 10, None, None
    with open(out, "rb") as output, open(err, "rb") as errors:
        return {"exit": code, "seconds": seconds, "cpu_s": cpu, "rss_mb": rss}, output.read(), errors.read()


def by_tshark(path, options, folder):
    """Counts the TCP frames that tshark finds: all, those quoted by ICMP, those found by reassembly."""
    with open(path, "rb") as file:
        data = file.read()
    kept = options.cache and os.path.join(options.cache, hashlib.sha256(data).hexdigest() + ".json")
    if kept and os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    if data.startswith(b"\xfd7zXZ"):
        path = os.path.join(folder, "unpacked")
        with open(path, "wb") as file:
            file.write(lzma.decompress(data))
    command = ["tshark", "-n", "-r", path, "-Y", "tcp", "-T", "fields", "-e", "frame.number", "-e", "frame.protocols",
               "-e", "ip.fragment", "-e", "ipv6.fragment"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=options.seconds * 2)
    except subprocess.TimeoutExpired:
        return None
    counts, chains = collections.Counter(), collections.Counter()
    for line in done.stdout.decode("utf8", "replace").splitlines():
        _, protocols, *pieces = line.split("\t")
        # Several packets in one frame are separated by commas.
        before = protocols.split(":tcp")[0]
        counts["tcp"] += 1
        if "icmp" in before:
            counts["quoted"] += 1
        elif any(pieces):
            counts["reassembled"] += 1
        chains[before] += 1
    found = {**counts, "chains": dict(chains.most_common(20)), "exit": done.returncode,
             "message": done.stderr.decode("utf8", "replace").replace("\n", " ")[-200:]}
    if kept:
        with open(kept, "w") as file:
            json.dump(found, file)
    return found


def compare(tcp, theirs):
    """Classifies `tcp`, ackord's number of TCP frames, against tshark's counts."""
    total, quoted, whole = (theirs.get(key, 0) for key in ("tcp", "quoted", "reassembled"))
    if tcp == total:
        return "equal"
    if tcp == total - quoted:
        return "equal without TCP headers quoted by ICMP"
    if tcp in (total - whole, total - quoted - whole):
        return "equal without reassembled fragments"
    return "fewer than tshark" if tcp < total else "more than tshark"


def predicted(path, options, folder, row):
    """Runs `path` with predictions; notes what they cost beyond the run without, and returns the JSON."""
    answer = os.path.join(folder, "answer.json")
    ran, text, errors = run([options.program, "diagnose", path, "--json", answer], options, folder)
    row["predict"] = ran
    if ran["exit"] != 0:
        row["problems"].append(claims.problem("predictions-exit", f"exit {ran['exit']}: {errors[-300:]}"))
        return None
    for name, more, most in (("seconds", ran["seconds"] - row["seconds"], options.predict_seconds),
                             ("rss_mb", ran["rss_mb"] - row["rss_mb"], options.predict_mb)):
        if more > most:
            row["problems"].append(claims.problem("predictions-over-bound", f"{name}: {more:.1f} more", more))
    with open(answer, "rb") as file:
        output = file.read()
    row["remarks"], problems = predictions.check(json.loads(output), text.decode("utf8", "replace"))
    row["problems"] += problems
    return output


def judge(path, options):
    """Runs everything on one file; returns a dict for the report."""
    with tempfile.TemporaryDirectory() as folder:
        ran, output, errors = run([options.program, "diagnose", path, "--json", "-", "--no-predict"], options, folder)
        row = {"file": path, "bytes": os.path.getsize(path), **ran, "problems": [], "connections": 0}
        message = errors.decode("utf8", "replace").strip()
        if ran["exit"] == 2 and message and "panicked" not in message:
            row["refused"] = message[-300:]
        elif ran["exit"] != 0:
            row["problems"].append(claims.problem("crash", f"exit {ran['exit']}: {message[-300:]}"))
        elif options.predict:
            output = predicted(path, options, folder, row) or output
        theirs = by_tshark(path, options, folder) if options.tshark else None
        if ran["exit"] == 0:
            try:
                found = json.loads(output)
                row["problems"] += claims.check(found)
            except (ValueError, KeyError, TypeError) as error:
                row["problems"].append(claims.problem("json", repr(error)))
                return row
            row["connections"] = len(found["connections"])
            row["frames"] = sum(capture["frames"] for capture in found["captures"])
            row["tcp"] = sum(capture["tcp"] for capture in found["captures"])
            row["malformed"] = sum(capture["malformed"] for capture in found["captures"])
            row["others"] = found["captures"][0]["others"][:6]
            row["damage"] = found["captures"][0]["damage"]
            row["causes"] = dict(total_by_cause(found))
            row["predictions"] = sum(bool(one["remedies"]) for one in found["connections"])
        if theirs:
            row["tshark"] = theirs
            row["against_tshark"] = compare(row["tcp"], theirs) if ran["exit"] == 0 else (
                "refused, tshark finds TCP" if theirs.get("tcp") else "refused, no TCP by tshark either")
        return row


def total_by_cause(found):
    """Adds up the seconds of all connections by cause."""
    total = collections.Counter()
    for one in found["connections"]:
        for cause in one["causes"]:
            total[cause["cause"]] += cause["seconds"]
    return total


def files_of(folders):
    """Returns all regular files in `folders`, sorted."""
    return sorted(os.path.join(where, name) for folder in folders for where, _, names in os.walk(folder)
                  for name in names if os.path.isfile(os.path.join(where, name)))


def summarise(rows):
    """Returns the counts over all files."""
    kinds, files, amounts = collections.Counter(), collections.defaultdict(set), collections.Counter()
    for row in rows:
        for one in row["problems"]:
            kinds[one["kind"]] += 1
            files[one["kind"]].add(row["file"])
            amounts[one["kind"]] += one["amount"] or 0.0
    answered = [row for row in rows if row["exit"] == 0]
    return {
        "files": len(rows), "answered": len(answered), "refused": sum("refused" in row for row in rows),
        "connections": sum(row["connections"] for row in rows),
        "frames": sum(row.get("frames", 0) for row in rows), "tcp": sum(row.get("tcp", 0) for row in rows),
        "seconds_most": max((row["seconds"] for row in rows), default=0),
        "rss_mb_most": max((row["rss_mb"] or 0 for row in rows), default=0),
        "predictions": sum(row.get("predictions", 0) for row in rows),
        "predicted": dict(collections.Counter(kind for row in rows for _, kind, _ in row.get("remarks", []))),
        "predict_seconds_most": max((row["predict"]["seconds"] - row["seconds"] for row in rows if "predict" in row),
                                    default=0),
        "predict_cpu_s_most": max((row["predict"]["cpu_s"] or 0 for row in rows if "predict" in row), default=0),
        "predict_rss_mb_most": max(((row["predict"]["rss_mb"] or 0) - row["rss_mb"] for row in rows
                                    if "predict" in row), default=0),
        "against_tshark": dict(collections.Counter(row.get("against_tshark", "not compared") for row in rows)),
        "problems": {kind: {"count": count, "files": len(files[kind]), "amount": amounts[kind],
                            "smallest": min(files[kind], key=lambda name: (os.path.getsize(name), name))}
                     for kind, count in kinds.most_common()},
    }


def table(summary):
    """Prints the counts."""
    for name in ("files", "answered", "refused", "connections", "frames", "tcp", "predictions"):
        print(f"{name:14} {summary[name]:>12,}")
    print(f"{'slowest':14} {summary['seconds_most']:>12.2f} s\n{'largest':14} {summary['rss_mb_most']:>12.1f} MB")
    print(f"{'predictions':14} {summary['predict_seconds_most']:>12.2f} s more at most, "
          f"{summary['predict_cpu_s_most']:.2f} s of processor time, {summary['predict_rss_mb_most']:.1f} MB more")
    print("\nRemarks on predictions")
    for name, count in sorted(summary["predicted"].items(), key=lambda pair: -pair[1]):
        print(f"  {name:45} {count:>6}")
    print("\nTCP frames against tshark")
    for name, count in sorted(summary["against_tshark"].items(), key=lambda pair: -pair[1]):
        print(f"  {name:45} {count:>6}")
    print(f"\n{'problem':28} {'count':>7} {'files':>6}  smallest file")
    for kind, one in summary["problems"].items():
        print(f"{kind:28} {one['count']:>7} {one['files']:>6}  {one['smallest']}")


def arguments():
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--program", default="ackord")
    parser.add_argument("--json", metavar="FILE", help="write the summary and a row per file")
    parser.add_argument("--no-predict", dest="predict", action="store_false", help="leave predictions out")
    parser.add_argument("--no-tshark", dest="tshark", action="store_false", help="do not compare with tshark")
    parser.add_argument("--cache", metavar="FOLDER", help="keep tshark's counts in this folder, for the next run")
    parser.add_argument("--seconds", type=float, default=120, help="processor time for each file")
    parser.add_argument("--memory-mb", type=float, default=4000, help="address space for each file")
    parser.add_argument("--predict-seconds", type=float, default=10, help="bound of the predictions of one capture")
    parser.add_argument("--predict-mb", type=float, default=300, help="bound of the memory of predictions")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time")
    return parser.parse_args()


def main():
    options = arguments()
    if options.cache:
        os.makedirs(options.cache, exist_ok=True)
    rows = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        pending = [pool.submit(judge, path, options) for path in files_of(options.folders)]
        for done in concurrent.futures.as_completed(pending):
            rows.append(done.result())
            if sys.stderr.isatty() or len(rows) % 500 == 0:
                print(f"\r{len(rows)} of {len(pending)}", end="", file=sys.stderr, flush=True)
    rows.sort(key=lambda row: row["file"])
    summary = summarise(rows)
    table(summary)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"summary": summary, "files": rows}, file, indent=1)
    return 1 if summary["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
